#include "kernel/operations/given.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "kernel/host.h"
#include "kernel/look.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/trace.h"

struct soc_slice soc_given_text(struct soc_given *given, const char *name)
{
    struct soc_slice text = soc_param_text(soc_given_json(given, name), &given->texts);
    if (text.data != NULL)
        soc_buf_put_byte(&given->texts, '\0'); /* some are passed on as C strings */
    return text;
}

struct soc_slice soc_given_json(const struct soc_given *given, const char *name)
{
    const struct soc_param *param;
    struct soc_slice value = {0};
    for (size_t i = 0; (param = soc_operation_param(given->operation, i)) != NULL; i++) {
        if (strcmp(param->name, name) != 0)
            continue;
        value = soc_param_value(param, given->members);
        break;
    }
    return soc_param_is_absent(value) ? (struct soc_slice){0} : value;
}

int64_t soc_given_integer(const struct soc_given *given, const char *name, int64_t fallback)
{
    int64_t number = fallback;
    struct soc_slice value = soc_given_json(given, name);
    if (value.data != NULL)
        soc_json_integer(value, &number);
    return number;
}

int64_t soc_given_time(const struct soc_given *given, const char *name, int64_t fallback)
{
    int64_t time_ms = fallback;
    struct soc_buf scratch = {0};
    struct soc_slice value = soc_given_json(given, name);
    if (value.data != NULL)
        soc_param_time(value, &scratch, &time_ms);
    soc_buf_fini(&scratch);
    return time_ms;
}

bool soc_given_flag(const struct soc_given *given, const char *name)
{
    struct soc_slice value = soc_given_json(given, name);
    return value.data != NULL && soc_json_kind(value) == SOC_JSON_TRUE;
}

void soc_given_keep_key(struct soc_given *given, struct soc_slice list)
{
    soc_call_keep_key(given->call, list);
}

void soc_given_answer(struct soc_given *given, struct soc_slice list)
{
    soc_call_keep_key(given->call, list);
    soc_call_answer(given->call, list);
}

void soc_given_answer_when_durable(struct soc_given *given, struct soc_buf *list)
{
    soc_call_answer_when_durable(given->call, list);
}

void soc_given_refuse(struct soc_given *given, struct soc_slice error)
{
    soc_call_refuse(given->call, error);
}

static void put_detail(const struct soc_given *given, struct soc_slice target,
                       struct soc_buf *detail)
{
    assert(given->operation->changes);
    soc_buf_put_byte(detail, '{');
    soc_json_put_text_member(detail, "by", given->caller->name);
    soc_json_put_text_member(detail, "op", soc_slice_text(given->operation->name));
    if (target.data != NULL) {
        soc_json_put_name(detail, "target");
        soc_buf_put_slice(detail, target);
    }
    soc_buf_put_byte(detail, '}');
}

static void put_order(struct soc_given *given, struct soc_slice target)
{
    struct soc_buf detail = {0};
    assert(!given->society->host->turn.is_open);
    put_detail(given, target, &detail);
    soc_trace_keep(given->society->host, "order", soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

void soc_given_defer(struct soc_given *given, struct soc_slice target)
{
    assert(given->call->order.length == 0);
    put_detail(given, target, &given->call->order);
}

void soc_given_fault(struct soc_given *given, const char *name, const char *sentence)
{
    soc_call_fault(given->call, name, sentence);
}

void soc_given_note(struct soc_given *given, struct soc_slice target)
{
    const struct soc_host *host = given->society->host;
    if (host->next_sequence != given->sequence || host->batch.length != given->length)
        put_order(given, target);
}

void soc_given_note_always(struct soc_given *given)
{
    if (!soc_host_is_full(given->society->host))
        put_order(given, (struct soc_slice){0});
}

void soc_given_finish(struct soc_given *given, int rc, struct soc_slice target,
                      struct soc_buf *answer)
{
    if (rc < 0) {
        soc_call_refuse(given->call, soc_buf_slice(answer));
    } else {
        struct soc_buf json = {0};
        soc_json_put_string(&json, target);
        soc_given_note(given, soc_buf_slice(&json));
        soc_buf_fini(&json);
        soc_call_answer_when_durable(given->call, answer);
    }
    soc_buf_fini(answer);
}

void soc_given_answer_page(int rc, struct soc_slice rows, const struct soc_page *page, void *user)
{
    struct soc_call *call = user;
    call->next = page->next;
    call->previous = page->previous;
    call->as_of = page->as_of != 0 ? page->as_of : soc_look_last_line(call->host);
    if (rc == SOC_EGONE)
        soc_call_fail_gone(call, page->first);
    else if (rc == SOC_ETOOLARGE)
        soc_call_fail(call, rc, "the rows are too many for one answer; ask by pages with `after`");
    else if (rc < 0)
        soc_call_fail(call, rc, NULL);
    else
        soc_call_answer(call, rows);
}

/* Asks for a page, if the call or its parameters say so. */
static void set_page(const struct soc_call *call, struct soc_query *query)
{
    query->is_page |= call->is_paged;
    if (!query->is_page)
        return;
    if (query->limit == 0)
        query->limit = SOC_PAGE_ROWS;
    if (query->limit > SOC_PAGE_ROWS_MAX)
        query->limit = SOC_PAGE_ROWS_MAX;
}

static void fail_foreign(struct soc_call *call)
{
    soc_call_fail(call, SOC_EFORBIDDEN, "the caller sees only what is its agent's");
}

/* Sees to it that one who speaks as an agent gets the rows of that agent only. */
static bool narrow(const struct soc_given *given, struct soc_query *query)
{
    struct soc_slice self = given->caller->agent;
    if (self.data == NULL)
        return true;
    if (query->agent.data != NULL && !soc_slice_equal(query->agent, self))
        return false;
    query->agent = self;
    return true;
}

/* Answers that no living agent has that id. */
static void fail_no_agent(struct soc_call *call, struct soc_slice id)
{
    struct soc_buf error = {0};
    soc_refuse(&error, SOC_ENOAGENT, "no live agent has that id", "agentId", id);
    soc_call_refuse(call, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

bool soc_given_may_see(struct soc_given *given, struct soc_slice agent)
{
    struct soc_slice self = given->caller->agent;
    bool may_see = self.data == NULL || soc_slice_equal(agent, self);
    if (!may_see)
        fail_foreign(given->call);
    return may_see;
}

struct soc_agent *soc_given_agent(struct soc_given *given)
{
    struct soc_slice id = soc_given_text(given, "agent");
    struct soc_agent *agent = soc_registry_find_known(given->society->host, id);
    if (!soc_given_may_see(given, id))
        return NULL;
    if (agent == NULL)
        fail_no_agent(given->call, id);
    return agent;
}

/* Tells whether items are wanted that memory does not have. */
static bool is_of_past(const struct soc_query *query)
{
    return query->state.data != NULL && !soc_slice_equal(query->state, SOC_SLICE("open"));
}

/* Answers with a page of a list from memory: by the keys of its rows, or of a short one by
 * their positions. */
static void look_at_page(struct soc_given *given, struct soc_query *query)
{
    const struct soc_view *view = given->operation->view;
    struct soc_host *host = given->society->host;
    struct soc_call *call = given->call;
    struct soc_page page = {0};
    struct soc_buf list = {0};
    if (view->page != NULL) {
        view->page(host, query, &page, &list);
    } else {
        struct soc_query all = *query;
        all.limit = 0;
        view->look(host, &all, &list);
        soc_lookup_cut(query, &page, &list);
    }
    call->next = page.next;
    call->previous = page.previous;
    call->as_of = soc_look_last_line(host);
    soc_call_answer_when_durable(call, &list);
}

bool soc_given_query(struct soc_given *given, struct soc_query *query)
{
    const char *fault =
        soc_operation_read_query(given->operation, given->params, &given->texts, query);
    assert(fault == NULL); /* checked before */
    (void)fault;
    if (!narrow(given, query)) {
        fail_foreign(given->call);
        return false;
    }
    set_page(given->call, query);
    return true;
}

void soc_given_look(struct soc_given *given)
{
    const struct soc_view *view = given->operation->view;
    struct soc_host *host = given->society->host;
    struct soc_query query;
    struct soc_buf list = {0};
    if (!soc_given_query(given, &query))
        return;
    if (view->is_of_living && query.agent.data != NULL &&
        soc_registry_find_known(host, query.agent) == NULL) {
        fail_no_agent(given->call, query.agent);
    } else {
        bool is_stored = is_of_past(&query) || (view->look == NULL && view->page == NULL);
        if (is_stored || (view->look == NULL && !query.is_page)) {
            soc_look_page(host, &query, soc_given_answer_page, given->call);
        } else if (query.is_page) {
            look_at_page(given, &query);
        } else {
            given->call->as_of = soc_look_last_line(host);
            view->look(host, &query, &list);
            soc_call_answer_when_durable(given->call, &list);
        }
    }
}

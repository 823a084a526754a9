#include "kernel/operations/operation.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "env/clock.h"
#include "env/ids.h"
#include "kernel/gate.h"
#include "kernel/host.h"
#include "kernel/look.h"
#include "kernel/operations/call_keys.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/trace.h"

const struct soc_caller soc_caller_owner = {
    .name = {"owner", sizeof("owner") - 1},
    .scopes = SOC_SCOPE_ALL,
};

static const char *const item_states[] = {"open", "decided", "withdrawn", "all", NULL};

const struct soc_param soc_view_filters[SOC_FILTER_COUNT + 1] = {
    {.name = "agent", .most = SOC_KEY_BYTES_MAX, .summary = "rows about this agent"},
    {.name = "task", .most = SOC_KEY_BYTES_MAX, .summary = "rows that belong to this task"},
    {.name = "type",
     .most = SOC_KEY_BYTES_MAX,
     .summary = "messages of this type, lines of this event, tasks of this type or state"},
    {.name = "correlation_id", .most = SOC_KEY_BYTES_MAX, .summary = "rows of this chain"},
    {.name = "since", .kind = SOC_PARAM_TIME, .summary = "rows from this time on"},
    {.name = "until", .kind = SOC_PARAM_TIME, .summary = "rows before this time"},
    {.name = "limit",
     .kind = SOC_PARAM_INTEGER,
     .most = INT64_MAX,
     .summary = "the latest so many rows; 0: all"},
    {.name = "from", .most = SOC_KEY_BYTES_MAX, .summary = "messages of this sender"},
    {.name = "to", .most = SOC_KEY_BYTES_MAX, .summary = "messages to this receiver"},
    {.name = "reason", .most = SOC_KEY_BYTES_MAX, .summary = "messages that ended with this code"},
    {.name = "state",
     .kind = SOC_PARAM_CHOICE,
     .choices = item_states,
     .summary = "items that are open (default), decided or withdrawn, or all"},
    {.name = "after",
     .kind = SOC_PARAM_INTEGER,
     .most = INT64_MAX,
     .summary = "a page of the rows after this line"},
    {.name = "before",
     .kind = SOC_PARAM_INTEGER,
     .least = 1,
     .most = INT64_MAX,
     .summary = "a page of the rows before this line"},
    {.name = NULL},
};

const struct soc_param soc_operation_agent[] = {
    {.name = "agent",
     .most = SOC_KEY_BYTES_MAX,
     .is_needed = true,
     .summary = "the id of a living agent"},
    {.name = NULL},
};

static const struct soc_param *at(const struct soc_param *list, uint32_t chosen, size_t index)
{
    for (size_t i = 0; list != NULL && list[i].name != NULL; i++)
        if ((chosen == 0 || chosen >> i & 1) && index-- == 0)
            return &list[i];
    return NULL;
}

const struct soc_param *soc_operation_param(const struct soc_operation *operation, size_t index)
{
    return at(operation->params, operation->takes, index);
}

const struct soc_param *soc_operation_member(const struct soc_operation *operation, size_t index)
{
    return at(operation->answer, operation->tells, index);
}

const char *soc_scope_name(enum soc_scope scope)
{
    switch (scope) {
#define S(tag, name, bit)                                                                          \
    case SOC_SCOPE_##tag:                                                                          \
        return name;
        SOC_SCOPE_MAP(S)
#undef S
    }
    return "";
}

const char *soc_param_kind_name(enum soc_param_kind kind)
{
    static const char *const names[] = {
#define K(tag, name) name,
        SOC_PARAM_MAP(K)
#undef K
    };
    assert(kind < SOC_PARAM_KIND_COUNT);
    return names[kind];
}

static void succeed(struct soc_call *call, struct soc_slice list)
{
    assert(list.length >= 2 && list.data[0] == '[');
    call->answer(call, false, call->is_dropped ? (struct soc_slice){0} : list);
}

/* Forgets the key of a call that has failed; those that waited for it fail with it. */
static void drop_key(struct soc_call *call, struct soc_slice error)
{
    struct soc_call_key *key = call->key;
    struct soc_call *joined;
    call->key = NULL;
    while ((joined = soc_call_keys_take_joined(key)) != NULL)
        joined->answer(joined, true, joined->is_dropped ? (struct soc_slice){0} : error);
    soc_call_keys_drop(call->host, key);
}

static void fail(struct soc_call *call, struct soc_slice error)
{
    assert(error.length >= 2 && error.data[0] == '{');
    if (call->key != NULL)
        drop_key(call, error);
    call->answer(call, true, call->is_dropped ? (struct soc_slice){0} : error);
}

void soc_call_answer(struct soc_call *call, struct soc_slice list)
{
    succeed(call, list);
}

void soc_call_refuse(struct soc_call *call, struct soc_slice error)
{
    fail(call, error);
}

void soc_call_fail(struct soc_call *call, int code, const char *message)
{
    struct soc_buf error = {0};
    soc_refuse(&error, code, message, NULL, (struct soc_slice){0});
    fail(call, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

void soc_call_drop(struct soc_call *call)
{
    call->is_dropped = true;
    if (call->host != NULL)
        soc_look_drop(call->host, call);
}

static void fail_member(struct soc_call *call, const char *name)
{
    struct soc_buf error = {0};
    soc_refuse(&error, SOC_EINVAL, NULL, "member", soc_slice_text(name));
    fail(call, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

static void succeed_now(void *user)
{
    struct soc_call *call = user;
    struct soc_buf list = call->held;
    call->held = (struct soc_buf){0};
    succeed(call, soc_buf_slice(&list));
    soc_buf_fini(&list);
}

static void answer_copy(struct soc_call *call, struct soc_slice list)
{
    assert(call->held.data == NULL);
    soc_buf_put_slice(&call->held, list);
    soc_gate_when_durable(call->host, succeed_now, call);
}

/* Records the key of a call that is done, and answers those that waited for it. */
static void keep_key(struct soc_call *call, struct soc_slice list)
{
    struct soc_call_key *key = call->key;
    struct soc_call *joined;
    if (key == NULL)
        return;
    call->key = NULL;
    soc_call_keys_keep(call->host, key, list);
    while ((joined = soc_call_keys_take_joined(key)) != NULL)
        answer_copy(joined, list);
}

/* Takes the bytes of `list` and answers with them when everything so far is durable. */
static void succeed_when_durable(struct soc_call *call, struct soc_buf *list)
{
    assert(call->held.data == NULL);
    keep_key(call, soc_buf_slice(list));
    call->held = *list;
    *list = (struct soc_buf){0};
    soc_gate_when_durable(call->host, succeed_now, call);
}

static bool is_absent(struct soc_slice value)
{
    return value.data == NULL || soc_json_kind(value) == SOC_JSON_NULL;
}

static bool is_text(const struct soc_param *param, struct soc_slice value, struct soc_buf *scratch)
{
    scratch->length = 0;
    struct soc_slice text = soc_json_text(value, (size_t)param->most, scratch);
    return text.data != NULL && text.length >= (size_t)param->least;
}

static bool is_choice(const struct soc_param *param, struct soc_slice value,
                      struct soc_buf *scratch)
{
    scratch->length = 0;
    struct soc_slice text = soc_json_text(value, SOC_KEY_BYTES_MAX, scratch);
    for (const char *const *choice = param->choices; text.data != NULL && *choice != NULL; choice++)
        if (soc_slice_equal(text, soc_slice_text(*choice)))
            return true;
    return false;
}

/* Tells whether a value is a time, and which: RFC 3339, or ms since 1970. */
static bool read_time(struct soc_slice value, struct soc_buf *scratch, int64_t *time_ms)
{
    if (soc_json_kind(value) != SOC_JSON_STRING)
        return soc_json_integer(value, time_ms) && *time_ms >= 0;
    scratch->length = 0;
    struct soc_slice text = soc_json_text(value, SOC_KEY_BYTES_MAX, scratch);
    return text.data != NULL && soc_time_parse(text, time_ms);
}

static bool is_within(const struct soc_param *param, double number)
{
    return (param->least == 0 && param->most == 0) ||
           (number >= (double)param->least && number <= (double)param->most);
}

static bool is_message_id(struct soc_slice value, struct soc_buf *scratch)
{
    uint64_t key;
    scratch->length = 0;
    struct soc_slice text = soc_json_text(value, SOC_KEY_BYTES_MAX, scratch);
    return text.data != NULL && soc_message_id_parse(text, &key);
}

/* Tells whether a value that is not null fits its parameter. */
static bool fits(const struct soc_param *param, struct soc_slice value, struct soc_buf *scratch)
{
    enum soc_json_kind kind = soc_json_kind(value);
    int64_t integer;
    double number;
    switch (param->kind) {
    case SOC_PARAM_TEXT:
        return is_text(param, value, scratch);
    case SOC_PARAM_ID:
        return is_message_id(value, scratch);
    case SOC_PARAM_INTEGER:
        return soc_json_integer(value, &integer) &&
               ((param->least == 0 && param->most == 0) ||
                (integer >= param->least && integer <= param->most));
    case SOC_PARAM_NUMBER:
        return soc_json_number(value, &number) && is_within(param, number);
    case SOC_PARAM_FLAG:
        return kind == SOC_JSON_TRUE || kind == SOC_JSON_FALSE;
    case SOC_PARAM_TIME:
        return read_time(value, scratch, &integer);
    case SOC_PARAM_CHOICE:
        return is_choice(param, value, scratch);
    case SOC_PARAM_OBJECT:
        return kind == SOC_JSON_OBJECT;
    case SOC_PARAM_LIST:
        return kind == SOC_JSON_ARRAY;
    case SOC_PARAM_RECEIVER:
        return kind == SOC_JSON_STRING || kind == SOC_JSON_ARRAY;
    case SOC_PARAM_JSON:
    case SOC_PARAM_KIND_COUNT:
        break;
    }
    return true;
}

/* Lends the value of a parameter, under its name or its alias. */
static struct soc_slice value_of(const struct soc_param *param, struct soc_slice params)
{
    struct soc_slice value = soc_json_member(params, param->name);
    return is_absent(value) && param->alias != NULL ? soc_json_member(params, param->alias) : value;
}

static bool is_given_twice(const struct soc_param *param, struct soc_slice params)
{
    return param->alias != NULL && !is_absent(soc_json_member(params, param->name)) &&
           !is_absent(soc_json_member(params, param->alias));
}

/* Lends the name of the first parameter that is missing or does not fit; NULL: none. */
static const char *find_unfit(const struct soc_operation *operation, struct soc_slice params)
{
    const struct soc_param *param;
    struct soc_buf scratch = {0};
    const char *fault = NULL;
    for (size_t i = 0; fault == NULL && (param = soc_operation_param(operation, i)) != NULL; i++) {
        struct soc_slice value = value_of(param, params);
        if (is_absent(value) ? param->is_needed : !fits(param, value, &scratch))
            fault = param->name;
        else if (is_given_twice(param, params))
            fault = param->alias;
    }
    soc_buf_fini(&scratch);
    return fault;
}

/* Lends the name of a filter that is set and does not apply: ignoring it would return
 * wrong rows. */
static const char *find_inapt(const struct soc_operation *operation, struct soc_slice params)
{
    for (int i = 0; i < SOC_FILTER_COUNT; i++) {
        struct soc_slice value = soc_json_member(params, soc_view_filters[i].name);
        bool applies = operation->params != NULL && operation->takes >> i & 1;
        if (!applies && !is_absent(value) && !soc_slice_equal(value, SOC_SLICE("0")))
            return soc_view_filters[i].name;
    }
    return NULL;
}

static const char *find_fault(const struct soc_operation *operation, struct soc_slice params)
{
    const char *fault = operation->checks_itself ? NULL : find_unfit(operation, params);
    return fault == NULL && operation->view != NULL ? find_inapt(operation, params) : fault;
}

static bool has_param(const struct soc_operation *operation, struct soc_slice name)
{
    const struct soc_param *param;
    for (size_t i = 0; (param = soc_operation_param(operation, i)) != NULL; i++)
        if (soc_json_name_is(name, soc_slice_text(param->name)) ||
            (param->alias != NULL && soc_json_name_is(name, soc_slice_text(param->alias))))
            return true;
    return false;
}

/* Answers with an error if there is a parameter that the operation does not have. */
static bool fail_if_unknown(const struct soc_operation *operation, struct soc_call *call,
                            struct soc_slice params)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, params);
    while (soc_json_next(&walk)) {
        if (has_param(operation, walk.name))
            continue;
        struct soc_buf error = {0};
        soc_refusal_begin(&error, SOC_EINVAL, "the operation has no such parameter");
        soc_json_put_name(&error, "member");
        soc_buf_put_byte(&error, '"'); /* still escaped */
        soc_buf_put_slice(&error, walk.name);
        soc_buf_put_byte(&error, '"');
        soc_refusal_end(&error, SOC_EINVAL);
        fail(call, soc_buf_slice(&error));
        soc_buf_fini(&error);
        return true;
    }
    return false;
}

static bool may_do(const struct soc_operation *operation, const struct soc_caller *caller)
{
    return (caller->scopes & operation->scope) != 0 &&
           (caller->agent.data == NULL || operation->is_for_agents);
}

/* Hashes the operation and the parameters it has; what else is given does not matter. */
static uint64_t hash_body(const struct soc_operation *operation, struct soc_slice params)
{
    uint64_t hash = soc_hash(operation->name, strlen(operation->name), 0);
    const struct soc_param *param;
    for (size_t i = 0; (param = soc_operation_param(operation, i)) != NULL; i++) {
        const char *const names[] = {param->name, param->alias};
        for (size_t k = 0; k < 2 && names[k] != NULL; k++) {
            struct soc_slice value = soc_json_member(params, names[k]);
            if (value.data == NULL)
                continue;
            hash = soc_hash(names[k], strlen(names[k]), hash);
            hash = soc_hash(value.data, value.length, hash);
        }
    }
    return hash >> 1; /* an integer of SQL */
}

/* Begins an order under its key. False: it is answered, or will be. While the disk is full
 * nothing can be remembered. */
static bool begin_key(struct soc_given *given)
{
    const struct soc_operation *operation = given->operation;
    struct soc_call *call = given->call;
    struct soc_slice answer = {0};
    if (given->caller->key.data == NULL || !operation->changes || soc_host_is_full(call->host))
        return true;
    if (operation->takes_no_key) {
        soc_call_fail(call, SOC_EINVAL, "this operation takes no idempotency key");
        return false;
    }
    struct soc_call_key *key;
    struct soc_call_key_words words = {
        .caller = given->caller->name,
        .key = given->caller->key,
        .body = hash_body(operation, given->params),
    };
    switch (soc_call_keys_begin(call->host, &words, &key, &answer)) {
    case SOC_CALL_KEY_NEW:
        call->key = key;
        return true;
    case SOC_CALL_KEY_DONE:
        if (operation->again != NULL)
            operation->again(given, answer);
        else
            answer_copy(call, answer);
        break;
    case SOC_CALL_KEY_OPEN:
        soc_call_keys_join(key, call);
        break;
    case SOC_CALL_KEY_REUSED:
        soc_call_fail(call, SOC_EKEYREUSED, NULL);
        break;
    }
    return false;
}

void soc_operation_do(const struct soc_operations *society, const struct soc_operation *operation,
                      const struct soc_caller *caller, struct soc_call *call,
                      struct soc_slice params)
{
    struct soc_host *host = society->host;
    assert(call->answer != NULL && soc_json_kind(params) == SOC_JSON_OBJECT);
    call->host = host;
    const char *fault = NULL;
    if (soc_host_is_full(host) && !operation->works_if_full) {
        /* Changes cannot be stored, and query results must be durable. */
        soc_call_fail(call, SOC_EDISKFULL, NULL);
    } else if (!may_do(operation, caller)) {
        soc_call_fail(call, SOC_EFORBIDDEN, "the caller may not do that");
    } else if ((fault = find_fault(operation, params)) != NULL) {
        fail_member(call, fault);
    } else if (!call->is_strict || !fail_if_unknown(operation, call, params)) {
        struct soc_given given = {
            .society = society,
            .operation = operation,
            .caller = caller,
            .call = call,
            .params = params,
            .sequence = host->next_sequence,
            .length = host->batch.length,
        };
        soc_buf_reserve(&given.texts, params.length);
        if (begin_key(&given))
            operation->run(&given);
        soc_buf_fini(&given.texts);
    }
}

/* Lends the unescaped text of a value; absent if it is none. */
static struct soc_slice text_of(struct soc_slice value, struct soc_buf *texts)
{
    if (is_absent(value))
        return (struct soc_slice){0};
    size_t first = texts->length;
    if (!soc_json_string(value, texts))
        return (struct soc_slice){0};
    return soc_slice(texts->data + first, texts->length - first);
}

static int64_t time_of(struct soc_slice params, const char *name)
{
    struct soc_slice value = soc_json_member(params, name);
    struct soc_buf scratch = {0};
    int64_t time_ms = 0;
    if (!is_absent(value))
        read_time(value, &scratch, &time_ms);
    soc_buf_fini(&scratch);
    return time_ms;
}

struct soc_slice soc_given_text(struct soc_given *given, const char *name)
{
    struct soc_slice text = text_of(soc_given_json(given, name), &given->texts);
    if (text.data != NULL)
        soc_buf_put_byte(&given->texts, '\0'); /* some are passed on as C strings */
    return text;
}

struct soc_slice soc_given_json(const struct soc_given *given, const char *name)
{
    const struct soc_param *param;
    struct soc_slice value = {0};
    for (size_t i = 0; (param = soc_operation_param(given->operation, i)) != NULL; i++)
        if (strcmp(param->name, name) == 0)
            value = value_of(param, given->params);
    return is_absent(value) ? (struct soc_slice){0} : value;
}

int64_t soc_given_integer(const struct soc_given *given, const char *name, int64_t fallback)
{
    int64_t number = fallback;
    struct soc_slice value = soc_given_json(given, name);
    if (value.data != NULL)
        soc_json_integer(value, &number);
    return number;
}

bool soc_given_flag(const struct soc_given *given, const char *name)
{
    struct soc_slice value = soc_given_json(given, name);
    return value.data != NULL && soc_json_kind(value) == SOC_JSON_TRUE;
}

void soc_given_keep_key(struct soc_given *given, struct soc_slice list)
{
    keep_key(given->call, list);
}

void soc_given_answer(struct soc_given *given, struct soc_slice list)
{
    keep_key(given->call, list);
    succeed(given->call, list);
}

void soc_given_answer_when_durable(struct soc_given *given, struct soc_buf *list)
{
    succeed_when_durable(given->call, list);
}

void soc_given_refuse(struct soc_given *given, struct soc_slice error)
{
    fail(given->call, error);
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

void soc_call_finish(struct soc_call *call, int rc, bool has_changed, struct soc_slice answer)
{
    struct soc_buf list = {0};
    assert(call->order.length > 0 && !call->host->turn.is_open);
    if (rc < 0) {
        fail(call, answer);
        return;
    }
    if (has_changed)
        soc_trace_keep(call->host, "order", soc_buf_slice(&call->order));
    soc_buf_put_slice(&list, answer);
    succeed_when_durable(call, &list);
}

void soc_call_fini(struct soc_call *call)
{
    soc_buf_fini(&call->held);
    soc_buf_fini(&call->order);
    if (call->free_work != NULL)
        call->free_work(call->work);
    else
        free(call->work);
    call->work = NULL;
    call->free_work = NULL;
}

void soc_given_fault(struct soc_given *given, const char *name)
{
    fail_member(given->call, name);
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
        fail(given->call, soc_buf_slice(answer));
    } else {
        struct soc_buf json = {0};
        soc_json_put_string(&json, target);
        soc_given_note(given, soc_buf_slice(&json));
        soc_buf_fini(&json);
        succeed_when_durable(given->call, answer);
    }
    soc_buf_fini(answer);
}

static bool is_given(struct soc_slice params, const char *name)
{
    return !is_absent(soc_json_member(params, name));
}

/* A page is asked for by where it begins or ends. */
static void read_page(struct soc_slice params, struct soc_query *query)
{
    int64_t line = 0;
    query->has_after = is_given(params, "after");
    query->is_page = query->has_after || is_given(params, "before");
    if (query->has_after && soc_json_integer(soc_json_member(params, "after"), &line))
        query->after = (uint64_t)line;
    line = 0;
    if (is_given(params, "before") && soc_json_integer(soc_json_member(params, "before"), &line))
        query->before = (uint64_t)line;
}

const char *soc_operation_read_query(const struct soc_operation *operation, struct soc_slice params,
                                     struct soc_buf *texts, struct soc_query *query)
{
    int64_t limit = 0;
    const char *fault = find_fault(operation, params);
    *query = (struct soc_query){.what = operation->name};
    if (fault != NULL)
        return fault;
    soc_buf_reserve(texts, params.length);
    soc_json_integer(soc_json_member(params, "limit"), &limit);
    query->agent = text_of(soc_json_member(params, "agent"), texts);
    query->task = text_of(soc_json_member(params, "task"), texts);
    query->type = text_of(soc_json_member(params, "type"), texts);
    query->correlation_id = text_of(soc_json_member(params, "correlation_id"), texts);
    query->from = text_of(soc_json_member(params, "from"), texts);
    query->to = text_of(soc_json_member(params, "to"), texts);
    query->reason = text_of(soc_json_member(params, "reason"), texts);
    query->state = text_of(soc_json_member(params, "state"), texts);
    query->since_ms = time_of(params, "since");
    query->until_ms = time_of(params, "until");
    query->limit = limit;
    read_page(params, query);
    return NULL;
}

static void fail_gone(struct soc_call *call, uint64_t first)
{
    struct soc_buf error = {0};
    soc_refusal_begin(&error, SOC_EGONE, NULL);
    soc_json_put_name(&error, "first");
    soc_json_put_integer(&error, (int64_t)first);
    soc_refusal_end(&error, SOC_EGONE);
    fail(call, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

static void answer_page(int rc, struct soc_slice rows, const struct soc_page *page, void *user)
{
    struct soc_call *call = user;
    call->next = page->next;
    call->previous = page->previous;
    call->as_of = page->as_of != 0 ? page->as_of : soc_look_last_line(call->host);
    if (rc == SOC_EGONE)
        fail_gone(call, page->first);
    else if (rc == SOC_ETOOLARGE)
        soc_call_fail(call, rc, "the rows are too many for one answer; ask by pages with `after`");
    else if (rc < 0)
        soc_call_fail(call, rc, NULL);
    else
        succeed(call, rows);
}

/* Keeps a page of a list from memory. */
static void cut_list(struct soc_call *call, const struct soc_query *query, struct soc_buf *list)
{
    struct soc_page page = {0};
    soc_lookup_cut(query, &page, list);
    call->next = page.next;
    call->previous = page.previous;
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
    fail(call, soc_buf_slice(&error));
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
    struct soc_agent *agent = soc_registry_find(given->society->host, id);
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

void soc_given_look(struct soc_given *given)
{
    const struct soc_view *view = given->operation->view;
    struct soc_host *host = given->society->host;
    struct soc_query query;
    struct soc_buf list = {0};
    const char *fault =
        soc_operation_read_query(given->operation, given->params, &given->texts, &query);
    assert(fault == NULL); /* checked before */
    (void)fault;
    if (!narrow(given, &query)) {
        fail_foreign(given->call);
    } else if (view->is_of_living && query.agent.data != NULL &&
               soc_registry_find(host, query.agent) == NULL) {
        fail_no_agent(given->call, query.agent);
    } else if (view->look == NULL || is_of_past(&query)) {
        set_page(given->call, &query);
        soc_look_page(host, &query, answer_page, given->call);
    } else {
        struct soc_query all = query;
        set_page(given->call, &query);
        all.limit = query.is_page ? 0 : query.limit;
        given->call->as_of = soc_look_last_line(host);
        view->look(host, &all, &list);
        if (query.is_page)
            cut_list(given->call, &query, &list);
        succeed_when_durable(given->call, &list);
    }
}

#include "bridge/control/operations.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "env/clock.h"
#include "env/ids.h"
#include "kernel/agents.h"
#include "kernel/gate.h"
#include "kernel/look.h"
#include "kernel/mail/dead.h"
#include "kernel/mail/receivers.h"
#include "kernel/mail/router.h"
#include "kernel/mail/send_reader.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "parts/human/human.h"
#include "parts/policies/policies.h"
#include "parts/subjects.h"
#include "parts/supervision/hold.h"

/* One request being read. */
struct op {
    const struct soc_operations *society;
    struct soc_call *call;
    struct soc_slice line;
    const char *name;     /* of the op */
    struct soc_buf texts; /* unescaped; reserved in full, so it never moves */
    const char *fault;    /* name of an invalid member, or NULL */
};

static void succeed(struct soc_call *call, struct soc_slice list)
{
    assert(list.length >= 2 && list.data[0] == '[');
    call->answer(call, false, list);
}

static void fail(struct soc_call *call, struct soc_slice error)
{
    assert(error.length >= 2 && error.data[0] == '{');
    call->answer(call, true, error);
}

void soc_call_fail(struct soc_call *call, int code, const char *message)
{
    struct soc_buf error = {0};
    soc_refuse(&error, code, message, NULL, (struct soc_slice){0});
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

/* Takes the bytes of `list` and answers with them when everything so far is durable. */
static void succeed_when_durable(struct soc_call *call, struct soc_buf *list)
{
    assert(call->held.data == NULL);
    call->held = *list;
    *list = (struct soc_buf){0};
    soc_gate_when_durable(call->host, succeed_now, call);
}

/* Lends the text of member `name`; absent if it is missing or null. */
static struct soc_slice text_of(struct op *op, const char *name, size_t bytes_max)
{
    struct soc_slice value = soc_json_member(op->line, name);
    if (value.data == NULL || soc_json_kind(value) == SOC_JSON_NULL)
        return (struct soc_slice){0};
    struct soc_slice text = soc_json_text(value, bytes_max, &op->texts);
    if (text.data == NULL)
        op->fault = name;
    return text;
}

static int64_t integer_of(struct op *op, const char *name, int64_t least, int64_t most,
                          int64_t fallback)
{
    assert(least <= most);
    struct soc_slice value = soc_json_member(op->line, name);
    int64_t number = fallback;
    if (value.data == NULL || soc_json_kind(value) == SOC_JSON_NULL)
        return fallback;
    if (!soc_json_integer(value, &number) || number < least || number > most)
        op->fault = name;
    return number;
}

/* Reads a time: RFC 3339, or ms since 1970. */
static int64_t time_of(struct op *op, const char *name)
{
    struct soc_slice value = soc_json_member(op->line, name);
    if (value.data == NULL || soc_json_kind(value) != SOC_JSON_STRING)
        return integer_of(op, name, 0, INT64_MAX, 0);
    int64_t time_ms = 0;
    if (!soc_time_parse(text_of(op, name, SOC_KEY_BYTES_MAX), &time_ms))
        op->fault = name;
    return time_ms;
}

static bool fail_if_faulty(struct op *op)
{
    if (op->fault == NULL)
        return false;
    struct soc_buf error = {0};
    soc_refuse(&error, SOC_EINVAL, NULL, "member", soc_slice_text(op->fault));
    fail(op->call, soc_buf_slice(&error));
    soc_buf_fini(&error);
    return true;
}

/* Answers the call with `answer`, a result or an error. */
static void finish_order(struct op *op, int rc, struct soc_buf *answer)
{
    if (rc < 0)
        fail(op->call, soc_buf_slice(answer));
    else
        succeed_when_durable(op->call, answer);
    soc_buf_fini(answer);
}

static void answer_request(void *user, struct soc_slice answer)
{
    if (answer.length > 0 && answer.data[0] == '[')
        succeed(user, answer);
    else
        fail(user, answer);
}

/* Sends the input as `user`, which waits for the reply if `waits`. */
static int send_input(struct op *op, struct soc_send_input *input, bool waits,
                      struct soc_buf *answer)
{
    struct soc_host *host = op->society->host;
    struct soc_agent *user = soc_registry_user(host);
    soc_send_input_settle(input, soc_clock_now(soc_host_clock(host)));
    if (!soc_send_input_has(input, SOC_MESSAGE_FIELD_TO))
        soc_human_address(host, &input->send);
    if (input->receivers != NULL) {
        soc_gate_begin_as(host, user);
        int rc = soc_receivers_send(host, user, input, answer);
        soc_gate_end_as(host, rc == SOC_OK);
        return rc;
    }
    if (!waits)
        return soc_gate_send_as(host, user, &input->send, answer);
    int64_t timeout_ms = SOC_REQUEST_TIMEOUT_MS;
    if (soc_send_input_has(input, SOC_MESSAGE_FIELD_TIMEOUT_MS))
        timeout_ms = input->timeout_ms > 0 ? input->timeout_ms : 1;
    return soc_gate_request_as(host, user, &input->send, timeout_ms, answer_request, op->call,
                               answer);
}

static void send_or_request(struct op *op, bool waits)
{
    struct soc_send_reader reader = {0};
    struct soc_send_input input = {0};
    struct soc_send_input_fault fault;
    struct soc_buf answer = {0};
    unsigned context = SOC_SEND_FROM_SOCKET | (waits ? SOC_SEND_FROM_WAIT : 0);
    int rc = soc_send_reader_read(&reader, op->line, context, &input, &fault);
    if (rc < 0)
        soc_send_reader_refuse(&answer, rc, &fault);
    else
        rc = send_input(op, &input, waits, &answer);
    if (rc < 0)
        fail(op->call, soc_buf_slice(&answer));
    else if (!waits)
        succeed_when_durable(op->call, &answer);
    soc_send_reader_fini(&reader);
    soc_buf_fini(&answer);
}

static void do_send(struct op *op)
{
    send_or_request(op, false);
}

static void do_request(struct op *op)
{
    send_or_request(op, true);
}

static void answer_query(int rc, struct soc_slice rows, void *user)
{
    if (rc < 0)
        soc_call_fail(user, rc, NULL);
    else
        succeed(user, rows);
}

/* Returns true if the request sets that filter. */
static bool has_filter(struct soc_slice line, const char *name)
{
    struct soc_slice value = soc_json_member(line, name);
    return value.data != NULL && soc_json_kind(value) != SOC_JSON_NULL &&
           !soc_slice_equal(value, SOC_SLICE("0"));
}

static void read_query(struct op *op, const struct soc_subject *subject, struct soc_query *query)
{
    *query = (struct soc_query){
        .what = subject->name,
        .agent = text_of(op, "agent", SOC_KEY_BYTES_MAX),
        .task = text_of(op, "task", SOC_KEY_BYTES_MAX),
        .type = text_of(op, "type", SOC_KEY_BYTES_MAX),
        .correlation_id = text_of(op, "correlation_id", SOC_KEY_BYTES_MAX),
        .from = text_of(op, "from", SOC_KEY_BYTES_MAX),
        .to = text_of(op, "to", SOC_KEY_BYTES_MAX),
        .reason = text_of(op, "reason", SOC_KEY_BYTES_MAX),
        .since_ms = time_of(op, "since"),
        .until_ms = time_of(op, "until"),
        .limit = integer_of(op, "limit", 0, INT64_MAX, 0),
    };
    /* A filter that does not apply is an error: ignoring it would return wrong rows. */
    for (int i = 0; i < SOC_FILTER_COUNT; i++)
        if ((subject->filters & 1u << i) == 0 && has_filter(op->line, soc_subject_filters[i]))
            op->fault = soc_subject_filters[i];
}

const char *soc_operations_read_query(struct soc_slice request, const struct soc_subject *subject,
                                      struct soc_buf *texts, struct soc_query *query)
{
    struct op op = {.line = request};
    soc_buf_reserve(&op.texts, request.length + 3);
    read_query(&op, subject, query);
    *texts = op.texts;
    return op.fault;
}

/* Returns true if agent `id` exists or no id is given; otherwise answers with an error. */
static bool has_agent(struct op *op, struct soc_slice id)
{
    if (id.data == NULL || soc_registry_find(op->society->host, id) != NULL)
        return true;
    struct soc_buf error = {0};
    soc_refuse(&error, SOC_ENOAGENT, "no live agent has that id", "agentId", id);
    fail(op->call, soc_buf_slice(&error));
    soc_buf_fini(&error);
    return false;
}

static void look(struct op *op, const struct soc_subject *subject)
{
    struct soc_query query;
    struct soc_buf list = {0};
    read_query(op, subject, &query);
    if (fail_if_faulty(op) || (subject->is_of_living && !has_agent(op, query.agent)))
        return;
    if (subject->look == NULL) {
        soc_look_query(op->society->host, &query, answer_query, op->call);
        return;
    }
    subject->look(op->society->host, &query, &list);
    succeed_when_durable(op->call, &list);
}

/* Reads the filter of an order. A name that is none of the filters must not pass: the
 * order would be about more letters than was meant. */
static void read_filter(struct op *op, struct soc_slice filter, bool may_be_empty,
                        struct soc_query *query)
{
    const struct soc_subject *subject = soc_subjects_find(SOC_SLICE("dead_letters"));
    struct soc_json_walk walk;
    struct op inner = *op;
    inner.line = filter;
    if (soc_json_kind(filter) != SOC_JSON_OBJECT)
        inner.fault = "filter";
    else
        read_query(&inner, subject, query);
    soc_json_walk(&walk, filter);
    while (inner.fault == NULL && soc_json_next(&walk)) {
        int i = 0;
        while (i < SOC_FILTER_COUNT &&
               !soc_json_name_is(walk.name, soc_slice_text(soc_subject_filters[i])))
            i++;
        if (i == SOC_FILTER_COUNT || 1u << i == SOC_FILTER_LIMIT)
            inner.fault = "filter";
    }
    soc_json_walk(&walk, filter);
    if (inner.fault == NULL && !may_be_empty && !soc_json_next(&walk))
        inner.fault = "expected"; /* all of them: only if it is said how many */
    op->texts = inner.texts;
    op->fault = inner.fault;
}

static void answer_order(void *user, int rc, struct soc_slice answer)
{
    struct soc_buf copy = {0};
    if (rc < 0) {
        fail(user, answer);
        return;
    }
    soc_buf_put_slice(&copy, answer);
    succeed_when_durable(user, &copy);
}

static void change_dead_letters(struct op *op, bool is_drop)
{
    uint64_t key;
    struct soc_slice filter = soc_json_member(op->line, "filter");
    struct soc_dead_order order = {
        .is_drop = is_drop,
        .id = text_of(op, "message_id", SOC_KEY_BYTES_MAX),
        .expected = integer_of(op, "expected", 0, INT64_MAX, -1),
    };
    if (filter.data != NULL && order.id.data == NULL)
        read_filter(op, filter, order.expected >= 0, &order.filter);
    else if (filter.data != NULL)
        op->fault = "filter";
    else if (order.id.data == NULL || !soc_message_id_parse(order.id, &key))
        op->fault = "message_id";
    else if (order.expected >= 0)
        op->fault = "expected";
    if (!fail_if_faulty(op))
        soc_dead_do(op->society->host, &order, answer_order, op->call);
}

static void do_redeliver(struct op *op)
{
    change_dead_letters(op, false);
}

static void do_drop(struct op *op)
{
    change_dead_letters(op, true);
}

/* Appends the active policies of that kind. */
static void put_kind(struct soc_buf *out, struct soc_slice list, struct soc_slice kind)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, list);
    soc_buf_put_byte(out, '[');
    while (soc_json_next(&walk)) {
        if (!soc_slice_equal(soc_json_plain_string(soc_json_member(walk.value, "kind")), kind))
            continue;
        if (out->length > 1)
            soc_buf_put_byte(out, ',');
        soc_buf_put_slice(out, walk.value);
    }
    soc_buf_put_byte(out, ']');
}

static void do_policy(struct op *op)
{
    struct soc_detail detail = {{0}};
    struct soc_buf list = {0};
    struct soc_slice kind = text_of(op, "kind", SOC_KEY_BYTES_MAX);
    soc_buf_put_byte(&op->texts, '\0'); /* both are passed on as C strings */
    struct soc_slice name = text_of(op, "name", SOC_PATH_BYTES_MAX);
    soc_buf_put_byte(&op->texts, '\0');
    if (kind.data == NULL || name.data == NULL)
        op->fault = kind.data == NULL ? "kind" : "name";
    if (fail_if_faulty(op))
        return;
    int rc = SOC_EREFUSED;
    if (op->society->use_policy != NULL)
        rc = op->society->use_policy(op->society->user, kind.data, name.data, &detail);
    if (rc < 0) {
        soc_call_fail(op->call, rc, detail.text[0] == '\0' ? NULL : detail.text);
        return;
    }
    put_kind(&list, soc_policies_recorded(op->society->host), kind);
    succeed_when_durable(op->call, &list);
}

static void do_decide(struct op *op)
{
    struct soc_slice changes = soc_json_member(op->line, "changes");
    struct soc_slice choice = soc_json_member(op->line, "choice");
    bool has_changes = changes.data != NULL && soc_json_kind(changes) != SOC_JSON_NULL;
    bool has_choice = choice.data != NULL && soc_json_kind(choice) != SOC_JSON_NULL;
    struct soc_verdict verdict = {
        .item_id = text_of(op, "item_id", SOC_KEY_BYTES_MAX),
        .decision = text_of(op, "decision", SOC_KEY_BYTES_MAX),
        .changes = has_changes ? changes : (struct soc_slice){0},
        .comment = text_of(op, "comment", SOC_PAYLOAD_BYTES_MAX),
        .choice = has_choice ? choice : (struct soc_slice){0},
    };
    struct soc_buf answer = {0};
    if (verdict.item_id.data == NULL)
        op->fault = "item_id";
    if (fail_if_faulty(op))
        return;
    finish_order(op, soc_human_decide_now(op->society->host, &verdict, &answer), &answer);
}

static void do_hold(struct op *op)
{
    struct soc_slice subtree = soc_json_member(op->line, "subtree");
    struct soc_buf answer = {0};
    struct soc_hold_order order = {
        .id = text_of(op, "agent", SOC_KEY_BYTES_MAX),
        .reason = text_of(op, "reason", SOC_REASON_BYTES_MAX),
        .is_resume = strcmp(op->name, "resume") == 0,
        .has_subtree = subtree.data != NULL && soc_json_kind(subtree) == SOC_JSON_TRUE,
    };
    if (order.id.data == NULL)
        op->fault = "agent";
    if (fail_if_faulty(op))
        return;
    finish_order(op, soc_hold_order_now(op->society->host, &order, &answer), &answer);
}

static void do_stop(struct op *op)
{
    assert(op->society->stop != NULL);
    succeed(op->call, SOC_SLICE("[]"));
    op->society->stop(op->society->user);
}

/* The operations that change something; queries are in parts/subjects.h. */
static const struct order {
    const char *name;
    void (*run)(struct op *op);
} orders[] = {
    {"send", do_send},  {"request", do_request},     {"decide", do_decide},
    {"drop", do_drop},  {"redeliver", do_redeliver}, {"policy", do_policy},
    {"pause", do_hold}, {"resume", do_hold},         {"stop", do_stop},
};

#define ORDER_COUNT (sizeof(orders) / sizeof(orders[0]))

static const struct order *find_order(struct soc_slice name)
{
    for (size_t i = 0; i < ORDER_COUNT; i++)
        if (soc_slice_equal(name, soc_slice_text(orders[i].name)))
            return &orders[i];
    return NULL;
}

static void fail_unknown_op(struct soc_call *call)
{
    struct soc_buf sentence = {0};
    const struct soc_subject *subject;
    soc_buf_put_text(&sentence, "unknown op; known ones are");
    for (size_t i = 0; i < ORDER_COUNT; i++)
        soc_buf_printf(&sentence, " %s,", orders[i].name);
    for (size_t i = 0; (subject = soc_subjects_at(i)) != NULL; i++)
        soc_buf_printf(&sentence, "%s %s", i == 0 ? "" : ",", subject->name);
    soc_call_fail(call, SOC_EINVAL, soc_buf_text(&sentence));
    soc_buf_fini(&sentence);
}

void soc_operations_do(const struct soc_operations *society, struct soc_call *call,
                       struct soc_slice request)
{
    struct op op = {.society = society, .call = call, .line = request};
    assert(call->answer != NULL && soc_json_kind(request) == SOC_JSON_OBJECT);
    call->host = society->host;
    soc_buf_reserve(&op.texts, request.length + 3);
    struct soc_slice name = text_of(&op, "op", SOC_KEY_BYTES_MAX);
    const struct order *order = find_order(name);
    const struct soc_subject *subject = order == NULL ? soc_subjects_find(name) : NULL;
    if (order == NULL && subject == NULL) {
        fail_unknown_op(call);
    } else if (soc_host_is_full(society->host) && (order == NULL || order->run != do_stop)) {
        /* Changes cannot be stored, and query results must be durable. */
        soc_call_fail(call, SOC_EDISKFULL, NULL);
    } else if (order != NULL) {
        op.name = order->name;
        order->run(&op);
    } else {
        look(&op, subject);
    }
    soc_buf_fini(&op.texts);
}

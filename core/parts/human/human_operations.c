/* Human operations: what the person sends, sees and decides, asked from outside. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/clock.h"
#include "env/ids.h"
#include "kernel/gate.h"
#include "kernel/host.h"
#include "kernel/look.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/receivers.h"
#include "kernel/mail/requests.h"
#include "kernel/mail/router.h"
#include "kernel/mail/send_reader.h"
#include "kernel/operations/awaiting.h"
#include "kernel/operations/looks.h"
#include "kernel/operations/message_looks.h"
#include "kernel/operations/message_params.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "parts/human/human.h"
#include "parts/human/human_state.h"

static const struct soc_column inbox_columns[] = {
    {"ID", "id", SOC_LOOKS_ID_WIDTH},
    {"AGENT", "agent", SOC_LOOKS_ID_WIDTH},
    {"PRIORITY", "priority", 8},
    {"OVERDUE", "overdue", 8},
    {"TITLE", "title", SOC_LOOKS_TEXT_WIDTH},
    {"BODY", "body", SOC_LOOKS_TEXT_WIDTH},
    {"OPTIONS", "options", SOC_LOOKS_TEXT_WIDTH},
    {"DEADLINE", "deadline", SOC_LOOKS_TIME_WIDTH},
    {"CREATED", "created_at", SOC_LOOKS_TIME_WIDTH},
    {NULL, NULL, 0},
};

static const struct soc_param inbox_members[] = {
    {.name = "id", .is_needed = true, .summary = "its id"},
    {.name = "agent", .is_needed = true, .summary = "who asks"},
    {.name = "title", .is_needed = true, .summary = "what is asked"},
    {.name = "body", .kind = SOC_PARAM_JSON, .summary = "more about it"},
    {.name = "options", .kind = SOC_PARAM_LIST, .summary = "what can be chosen"},
    {.name = "priority", .is_needed = true, .summary = "urgent, high, normal or low"},
    {.name = "overdue", .kind = SOC_PARAM_FLAG, .summary = "its deadline has passed"},
    {.name = "deadline", .kind = SOC_PARAM_TIME, .summary = "until when it is to be decided"},
    {.name = "created_at", .kind = SOC_PARAM_TIME, .is_needed = true, .summary = "when asked"},
    {.name = "task_id", .summary = "its task"},
    {.name = "correlation_id", .summary = "its chain"},
    {.name = "decided_at", .kind = SOC_PARAM_TIME, .summary = "when it was decided or withdrawn"},
    {.name = "decision", .summary = "approve, modify, reject or withdrawn; none while it is open"},
    {.name = "choice", .kind = SOC_PARAM_JSON, .summary = "which option was chosen"},
    {.name = "changes", .kind = SOC_PARAM_JSON, .summary = "what was changed"},
    {.name = "comment", .summary = "a word to the agent"},
    {.name = "chain",
     .kind = SOC_PARAM_LIST,
     .is_needed = true,
     .summary = "the messages it came by, from the first to the one it is about"},
    {.name = NULL},
};

/* `chain` is last, and `inbox` does not tell it. */
#define ALL_BUT_CHAIN ((1u << (sizeof(inbox_members) / sizeof(inbox_members[0]) - 2)) - 1)
#define CHAIN_MAX     200 /* messages that are looked at */

static const struct soc_param receipt_members[] = {
    {.name = "messageId", .kind = SOC_PARAM_ID, .summary = "of what was sent"},
    {.name = "duplicate", .kind = SOC_PARAM_FLAG, .summary = "it was sent before, under its key"},
    {.name = "count", .kind = SOC_PARAM_INTEGER, .summary = "to All: how many receive it"},
    {.name = "messageIds",
     .kind = SOC_PARAM_LIST,
     .summary = "to a list: in its order, null where a send failed"},
    {.name = "partialErrors",
     .kind = SOC_PARAM_LIST,
     .summary = "who does not receive it, and why"},
    {.name = NULL},
};

static const char *const decisions[] = {"approve", "modify", "reject", NULL};

/* The second is of `decide_feature` only, instead of the first. */
static const struct soc_param decide_params[] = {
    {.name = "item_id",
     .most = SOC_KEY_BYTES_MAX,
     .is_needed = true,
     .summary = "the inbox item's id"},
    {.name = "feature",
     .most = SOC_KEY_BYTES_MAX,
     .is_needed = true,
     .summary = "an item's id, or the task or chain of the one open item"},
    {.name = "decision",
     .most = SOC_KEY_BYTES_MAX,
     .choices = decisions,
     .alias = "action",
     .summary = "what is decided; without it a choice approves"},
    {.name = "choice", .kind = SOC_PARAM_JSON, .summary = "one of the item's options, or its text"},
    {.name = "changes", .kind = SOC_PARAM_JSON, .summary = "an object or a list, with modify"},
    {.name = "comment",
     .most = SOC_PAYLOAD_BYTES_MAX,
     .alias = "feedback",
     .summary = "a word to the agent"},
    {.name = NULL},
};

#define DECIDE_VERDICT 60u /* all but the first two */
#define DECIDE_ITEM    (1u | DECIDE_VERDICT)
#define DECIDE_FEATURE (2u | DECIDE_VERDICT)

static const struct soc_param item_params[] = {
    {.name = "item_id",
     .most = SOC_KEY_BYTES_MAX,
     .is_needed = true,
     .summary = "the inbox item's id"},
    {.name = NULL},
};

static const struct soc_param decide_members[] = {
    {.name = "agent", .is_needed = true, .summary = "who asked"},
    {.name = "decision", .is_needed = true, .summary = "what was decided"},
    {.name = "choice", .kind = SOC_PARAM_JSON, .summary = "which option was chosen"},
    {.name = "delivered",
     .kind = SOC_PARAM_FLAG,
     .is_needed = true,
     .summary = "whether the agent still learns of it"},
    {.name = "item_id", .is_needed = true, .summary = "the item's id"},
    {.name = "messageId", .kind = SOC_PARAM_ID, .summary = "the message that tells the agent"},
    {.name = "note", .summary = "what else there is to say"},
    {.name = NULL},
};

static void answer_request(void *user, struct soc_slice answer)
{
    struct soc_call *call = user;
    bool is_error = answer.length == 0 || answer.data[0] != '[';
    call->answer(call, is_error, call->is_dropped ? (struct soc_slice){0} : answer);
}

/* Sends the input as `from`, which waits for the reply if `waits`. */
static int send_input(struct soc_given *given, struct soc_agent *from, struct soc_send_input *input,
                      bool waits, struct soc_buf *answer)
{
    struct soc_host *host = given->society->host;
    soc_send_input_settle(input, soc_host_clock(host));
    if (!soc_send_input_has(input, SOC_MESSAGE_FIELD_TO))
        soc_human_address(host, &input->send);
    if (input->receivers != NULL) {
        soc_gate_begin_as(host, from);
        int rc = soc_receivers_send(host, from, input, answer);
        soc_gate_end_as(host, rc == SOC_OK);
        return rc;
    }
    if (!waits)
        return soc_gate_send_as(host, from, &input->send, answer);
    int64_t timeout_ms = -1;
    if (soc_send_input_has(input, SOC_MESSAGE_FIELD_TIMEOUT_MS))
        timeout_ms = input->timeout_ms > 0 ? input->timeout_ms : 1;
    return soc_gate_request_as(host, from, &input->send, timeout_ms, answer_request, given->call,
                               answer);
}

/* Notes who receives it: a list as it was given. */
static void note_receivers(struct soc_given *given, const struct soc_send_input *input)
{
    struct soc_buf target = {0};
    if (input->receivers != NULL)
        soc_buf_put_slice(&target, soc_given_json(given, "to"));
    else
        soc_json_put_string(&target, input->send.to);
    soc_given_note(given, soc_buf_slice(&target));
    soc_buf_fini(&target);
}

/* Tells whether the receipt is that of an earlier message: nothing was ordered anew. */
static bool is_duplicate(struct soc_slice receipt)
{
    static const char begin[] = "[{\"duplicate\":true";
    return receipt.length >= sizeof(begin) && memcmp(receipt.data, begin, sizeof(begin) - 1) == 0;
}

static void send_or_request(struct soc_given *given, bool waits)
{
    struct soc_host *host = given->society->host;
    struct soc_slice as = given->caller->agent;
    struct soc_agent *from =
        as.data == NULL ? soc_registry_user(host) : soc_registry_find(host, as);
    struct soc_send_reader reader = {0};
    struct soc_send_input input = {0};
    struct soc_send_input_fault fault;
    struct soc_buf answer = {0};
    unsigned context = SOC_SEND_FROM_SOCKET | (waits ? SOC_SEND_FROM_WAIT : 0);
    int rc = SOC_ESTOPPED;
    if (from == NULL)
        soc_refuse(&answer, rc, NULL, "agentId", as);
    else if ((rc = soc_send_reader_read(&reader, given->params, context, &input, &fault)) < 0)
        soc_send_reader_refuse(&answer, rc, &fault);
    else
        rc = send_input(given, from, &input, waits, &answer);
    if (rc < 0) {
        soc_given_refuse(given, soc_buf_slice(&answer));
    } else {
        if (!is_duplicate(soc_buf_slice(&answer)))
            note_receivers(given, &input);
        if (!waits)
            soc_given_answer_when_durable(given, &answer);
    }
    soc_send_reader_fini(&reader);
    soc_buf_fini(&answer);
}

static void send(struct soc_given *given)
{
    send_or_request(given, false);
}

static void request(struct soc_given *given)
{
    send_or_request(given, true);
}

static const struct soc_param intake_params[] = {
    {.name = "payload",
     .kind = SOC_PARAM_JSON,
     .alias = "content",
     .summary = "the content; a text stands for { text }"},
    {.name = "text", .most = SOC_PAYLOAD_BYTES_MAX, .summary = "or a text"},
    {.name = "type", .most = SOC_ID_BYTES_MAX, .summary = "the message type"},
    {.name = "priority",
     .kind = SOC_PARAM_CHOICE,
     .choices = soc_message_params_priorities,
     .summary = "which mail is handled first"},
    {.name = "dedupe_key",
     .most = SOC_KEY_BYTES_MAX,
     .summary = "what has the same key is not sent again"},
    {.name = "wait_ms",
     .kind = SOC_PARAM_INTEGER,
     .most = SOC_WAIT_MS_MAX,
     .summary = "how long to wait for the reply; 0: not at all"},
    {.name = NULL},
};

static const struct soc_param intake_members[] = {
    {.name = "messageId",
     .kind = SOC_PARAM_ID,
     .is_needed = true,
     .summary = "of what was sent; an error while waiting has it, too"},
    {.name = "duplicate", .kind = SOC_PARAM_FLAG, .summary = "it was sent before, under its key"},
    {.name = "route_to", .summary = "the agent that the gatekeeper has chosen"},
    {.name = "intent", .summary = "what the gatekeeper took it for"},
    {.name = "reply", .kind = SOC_PARAM_OBJECT, .summary = "the reply that was waited for"},
    {.name = NULL},
};

/* Writes the message that the parameters describe; false if they have two contents. */
static bool put_intake(const struct soc_given *given, struct soc_buf *out)
{
    static const char *const contents[] = {"payload", "text"};
    static const char *const others[] = {"type", "priority", "dedupe_key"};
    int count = 0;
    soc_buf_put_byte(out, '{');
    for (int i = 0; i < 2; i++) {
        struct soc_slice content = soc_given_json(given, contents[i]);
        if (content.data == NULL || count++ > 0)
            continue;
        soc_json_put_name(out, "payload");
        soc_buf_put_slice(out, content);
    }
    for (int i = 0; i < 3; i++) {
        struct soc_slice value = soc_given_json(given, others[i]);
        if (value.data == NULL)
            continue;
        soc_json_put_name(out, others[i]);
        soc_buf_put_slice(out, value);
    }
    soc_buf_put_byte(out, '}');
    return count <= 1;
}

/* Writes the receipt of an intake, without its end: a reply may follow. */
static void put_intake_receipt(struct soc_buf *out, const struct soc_message *message,
                               const struct soc_send *send, const struct soc_buf *intent)
{
    char id[SOC_MESSAGE_ID_BYTES];
    soc_envelope_id(id, message);
    out->length = 0;
    soc_buf_put_text(out, "[{");
    if (intent->length > 0)
        soc_json_put_text_member(out, "intent", soc_buf_slice(intent));
    soc_json_put_text_member(out, "messageId", soc_slice(id, sizeof(id)));
    if (!send->is_intake) /* else it is kept for a gatekeeper */
        soc_json_put_text_member(out, "route_to", send->to);
}

/* Ends an intake that waits; `held` has its receipt. */
static void answer_intake(void *user, struct soc_slice answer)
{
    struct soc_call *call = user;
    struct soc_buf out = {0};
    struct soc_json_walk walk;
    bool is_error = answer.length == 0 || answer.data[0] != '[';
    if (is_error) {
        struct soc_slice head = soc_buf_slice(&call->held);
        soc_buf_put(&out, answer.data, answer.length - 1);
        soc_buf_put_byte(&out, ',');
        soc_buf_put(&out, head.data + 2, head.length - 2); /* its members */
        soc_buf_put_byte(&out, '}');
    } else {
        soc_json_walk(&walk, answer);
        soc_json_next(&walk);
        soc_buf_put_slice(&out, soc_buf_slice(&call->held));
        soc_json_put_name(&out, "reply");
        soc_buf_put_slice(&out, walk.value);
        soc_buf_put_text(&out, "}]");
    }
    call->answer(call, is_error, call->is_dropped ? (struct soc_slice){0} : soc_buf_slice(&out));
    soc_buf_fini(&out);
}

/* Ends an intake that was asked again; `held` has its receipt. */
static void answer_again(struct soc_call *call, struct soc_slice reply)
{
    struct soc_buf answer = {0};
    if (reply.data == NULL) {
        soc_refuse(&answer, SOC_ETIMEOUT, NULL, NULL, (struct soc_slice){0});
    } else {
        soc_buf_put_byte(&answer, '[');
        soc_buf_put_slice(&answer, reply);
        soc_buf_put_byte(&answer, ']');
    }
    answer_intake(call, soc_buf_slice(&answer));
    soc_buf_fini(&answer);
}

/* What was sent under the key is waited for again. */
static void intake_again(struct soc_given *given, struct soc_slice answer)
{
    struct soc_json_walk walk;
    int64_t wait_ms = soc_given_integer(given, "wait_ms", 0);
    struct soc_buf list = {0};
    if (wait_ms == 0) {
        soc_buf_put_slice(&list, answer);
        soc_given_answer_when_durable(given, &list);
        return;
    }
    soc_json_walk(&walk, answer);
    soc_json_next(&walk);
    soc_buf_put(&given->call->held, answer.data, answer.length - 2); /* a reply follows */
    soc_message_looks_find(given, soc_json_plain_string(soc_json_member(walk.value, "messageId")),
                           wait_ms, answer_again);
}

/* Keeps the receipt in `held` for calls that repeat this one. */
static void keep_receipt(struct soc_given *given)
{
    struct soc_buf list = {0};
    soc_buf_put_slice(&list, soc_buf_slice(&given->call->held));
    soc_buf_put_text(&list, "}]");
    soc_given_keep_key(given, soc_buf_slice(&list));
    soc_buf_fini(&list);
}

/* Sends the input and answers, or refuses it. */
static void send_intake(struct soc_given *given, struct soc_send *send, int64_t wait_ms)
{
    struct soc_host *host = given->society->host;
    struct soc_agent *user = soc_registry_user(host);
    struct soc_buf intent = {0};
    struct soc_buf answer = {0};
    struct soc_message *message;
    soc_human_route(host, send, &intent);
    send->wants_reply = wait_ms > 0;
    soc_gate_begin_as(host, user);
    int rc = soc_router_send(host, user, send, &message, &answer);
    if (rc == SOC_OK) {
        put_intake_receipt(&answer, message, send, &intent);
        if (wait_ms > 0) {
            given->call->held = answer; /* before anything can answer */
            soc_request_open_door(host, message, wait_ms, answer_intake, given->call);
        }
    }
    soc_gate_end_as(host, rc == SOC_OK);
    if (rc == SOC_OK && wait_ms > 0) {
        struct soc_buf target = {0};
        soc_json_put_string(&target, send->to);
        soc_given_note(given, soc_buf_slice(&target));
        soc_buf_fini(&target);
        keep_receipt(given);
    } else {
        if (rc == SOC_OK)
            soc_buf_put_text(&answer, "}]");
        soc_given_finish(given, rc < 0 ? rc : SOC_OK, send->to, &answer);
    }
    soc_buf_fini(&intent);
}

static void intake(struct soc_given *given)
{
    struct soc_send_reader reader = {0};
    struct soc_send_input input = {0};
    struct soc_send_input_fault fault;
    struct soc_buf params = {0};
    struct soc_buf error = {0};
    int64_t wait_ms = 0;
    soc_json_integer(soc_given_json(given, "wait_ms"), &wait_ms);
    if (!put_intake(given, &params)) {
        soc_given_fault(given, "text");
    } else {
        int rc = soc_send_reader_read(&reader, soc_buf_slice(&params), SOC_SEND_FROM_SOCKET, &input,
                                      &fault);
        if (rc < 0) {
            soc_send_reader_refuse(&error, rc, &fault);
            soc_given_refuse(given, soc_buf_slice(&error));
        } else {
            soc_send_input_settle(&input, soc_host_clock(given->society->host));
            send_intake(given, &input.send, wait_ms);
        }
    }
    soc_send_reader_fini(&reader);
    soc_buf_fini(&params);
    soc_buf_fini(&error);
}

static void decide_item(struct soc_given *given, struct soc_slice item_id)
{
    struct soc_verdict verdict = {
        .item_id = item_id,
        .decision = soc_given_text(given, "decision"),
        .changes = soc_given_json(given, "changes"),
        .comment = soc_given_text(given, "comment"),
        .choice = soc_given_json(given, "choice"),
    };
    struct soc_buf answer = {0};
    int rc = soc_human_decide_now(given->society->host, &verdict, &answer);
    soc_given_finish(given, rc, verdict.item_id, &answer);
}

static void decide(struct soc_given *given)
{
    decide_item(given, soc_given_text(given, "item_id"));
}

/* Answers that several items are open; names them. */
static void refuse_ambiguous(struct soc_given *given, struct soc_item *const *items, size_t count)
{
    struct soc_buf error = {0};
    char id[SOC_ITEM_ID_BYTES];
    soc_refusal_begin(&error, SOC_EAMBIGUOUS, "several open items belong to it; decide one by id");
    soc_json_put_name(&error, "items");
    soc_buf_put_byte(&error, '[');
    for (size_t i = 0; i < count; i++) {
        soc_item_id_format(id, items[i]->time_ms, items[i]->key);
        if (i > 0)
            soc_buf_put_byte(&error, ',');
        soc_json_put_string(&error, soc_slice(id, sizeof(id)));
    }
    soc_buf_put_byte(&error, ']');
    soc_refusal_end(&error, SOC_EAMBIGUOUS);
    soc_given_refuse(given, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

static bool is_of_feature(const struct soc_item *item, struct soc_slice feature)
{
    return (item->task_id != NULL && soc_slice_equal(feature, soc_slice_text(item->task_id))) ||
           (item->correlation_id != NULL &&
            soc_slice_equal(feature, soc_slice_text(item->correlation_id)));
}

static void decide_feature(struct soc_given *given)
{
    struct soc_slice feature = soc_given_text(given, "feature");
    char id[SOC_ITEM_ID_BYTES];
    uint64_t key;
    size_t count;
    size_t fitting = 0;
    struct soc_item **items =
        soc_inbox_sorted(&soc_human_state(given->society->host)->inbox, &count);
    for (size_t i = 0; i < count; i++)
        if (is_of_feature(items[i], feature))
            items[fitting++] = items[i];
    if (fitting > 1 && !soc_item_id_parse(feature, &key)) {
        refuse_ambiguous(given, items, fitting);
    } else if (fitting == 1) {
        soc_item_id_format(id, items[0]->time_ms, items[0]->key);
        decide_item(given, soc_slice(id, sizeof(id)));
    } else {
        decide_item(given, feature);
    }
    free(items);
}

static struct soc_slice text_member(struct soc_slice row, const char *name)
{
    return soc_json_plain_string(soc_json_member(row, name));
}

/* Tells whether a message was sent before the item was opened: their ids sort alike. */
static bool is_before(struct soc_slice message_id, struct soc_slice item_id)
{
    return message_id.length > 4 && item_id.length == message_id.length + 1 &&
           memcmp(message_id.data + 4, item_id.data + 5, message_id.length - 4) < 0;
}

/* Appends those of the messages that led to the item: the last one to its agent, the last one
 * before that to the sender, and so on. */
static void put_path(struct soc_buf *out, struct soc_slice rows, struct soc_slice item)
{
    struct soc_slice agent = text_member(item, "agent");
    struct soc_slice id = text_member(item, "id");
    struct soc_slice list[CHAIN_MAX];
    struct soc_json_walk walk;
    size_t count = 0;
    size_t first = CHAIN_MAX;
    for (soc_json_walk(&walk, rows); count < CHAIN_MAX && soc_json_next(&walk);)
        list[count++] = walk.value;
    while (count-- > 0) {
        if (!soc_slice_equal(text_member(list[count], "to"), agent) ||
            !is_before(text_member(list[count], "id"), id))
            continue;
        agent = text_member(list[count], "from");
        list[--first] = list[count]; /* never below `count` */
    }
    soc_buf_put_byte(out, '[');
    for (size_t i = first; i < CHAIN_MAX; i++) {
        if (i > first)
            soc_buf_put_byte(out, ',');
        soc_buf_put_slice(out, list[i]);
    }
    soc_buf_put_byte(out, ']');
}

/* Answers with the item that `held` has, and the messages it came by. */
static void answer_item(int rc, struct soc_slice rows, void *user)
{
    struct soc_call *call = user;
    struct soc_buf list = call->held;
    call->held = (struct soc_buf){0};
    if (rc < 0) {
        soc_call_fail(call, rc, NULL);
    } else {
        struct soc_buf path = {0};
        struct soc_json_walk walk;
        soc_json_walk(&walk, soc_buf_slice(&list));
        soc_json_next(&walk);
        put_path(&path, rows, walk.value);
        list.length -= 2; /* more members follow */
        soc_json_put_name(&list, "chain");
        soc_buf_put_slice(&list, soc_buf_slice(&path));
        soc_buf_put_text(&list, "}]");
        soc_buf_fini(&path);
        soc_call_answer(call, soc_buf_slice(&list));
    }
    soc_buf_fini(&list);
}

/* Asks for the messages of the chain that were sent before the item in `held`. */
static void ask_for_chain(struct soc_call *call)
{
    struct soc_json_walk walk;
    struct soc_buf chain = {0};
    struct soc_buf time = {0};
    struct soc_query query = {.what = "messages", .limit = CHAIN_MAX};
    soc_json_walk(&walk, soc_buf_slice(&call->held));
    soc_json_next(&walk);
    if (soc_json_string(soc_json_member(walk.value, "created_at"), &time) &&
        soc_time_parse(soc_buf_slice(&time), &query.until_ms))
        query.until_ms++;
    if (soc_json_string(soc_json_member(walk.value, "correlation_id"), &chain)) {
        query.correlation_id = soc_buf_slice(&chain);
        soc_look_query(call->host, &query, answer_item, call);
    } else {
        answer_item(SOC_OK, SOC_SLICE("[]"), call);
    }
    soc_buf_fini(&chain);
    soc_buf_fini(&time);
}

static void take_item(int rc, struct soc_slice rows, void *user)
{
    struct soc_call *call = user;
    struct soc_json_walk walk;
    soc_json_walk(&walk, rows);
    if (rc < 0) {
        soc_call_fail(call, rc, NULL);
    } else if (!soc_json_next(&walk) ||
               !soc_slice_equal(text_member(walk.value, "id"), soc_slice_text(call->work))) {
        soc_call_fail(call, SOC_ENOITEM, NULL);
    } else {
        soc_buf_put_slice(&call->held, rows);
        ask_for_chain(call);
    }
}

static void look_at_item(struct soc_given *given)
{
    struct soc_host *host = given->society->host;
    struct soc_slice id = soc_given_text(given, "item_id");
    struct soc_query query = {.what = "item"};
    const struct soc_item *item = NULL;
    if (soc_item_id_parse(id, &query.key))
        item = soc_inbox_find(&soc_human_state(host)->inbox, query.key);
    if (item == NULL || !soc_item_id_is(id, item->time_ms, item->key)) {
        given->call->work = soc_copy_text(id.data, id.length);
        soc_look_query(host, &query, take_item, given->call);
        return;
    }
    soc_buf_put_byte(&given->call->held, '[');
    soc_human_look_item(host, item, &given->call->held);
    soc_buf_put_byte(&given->call->held, ']');
    ask_for_chain(given->call);
}

const struct soc_operation soc_human_operations[] = {
    {.name = "send",
     .summary = "sends a message; without a receiver the gatekeeper decides",
     .scope = SOC_SCOPE_WRITE,
     .changes = true,
     .is_for_agents = true,
     .checks_itself = true,
     .params = soc_message_params,
     .takes = SOC_MESSAGE_PARAMS_SEND,
     .answer = receipt_members,
     .run = send},
    {.name = "request",
     .summary = "sends a message and answers with the reply",
     .scope = SOC_SCOPE_WRITE,
     .changes = true,
     .takes_no_key = true,
     .needs_running = true,
     .is_for_agents = true,
     .checks_itself = true,
     .params = soc_message_params,
     .takes = SOC_MESSAGE_PARAMS_REQUEST,
     .answer = soc_message_members,
     .tells = SOC_MESSAGE_PARAMS_ENVELOPE,
     .run = request},
    {.name = "intake",
     .summary = "takes what a person says; the gatekeeper decides who receives it",
     .scope = SOC_SCOPE_WRITE,
     .changes = true,
     .needs_running = true,
     .params = intake_params,
     .answer = intake_members,
     .run = intake,
     .again = intake_again},
    {.name = "inbox",
     .summary = "items waiting for your decision, or those of the past",
     .scope = SOC_SCOPE_READ,
     .params = soc_view_filters,
     .takes = (SOC_FILTER_ALL & ~SOC_FILTER_TYPE) | SOC_FILTER_STATE,
     .answer = inbox_members,
     .tells = ALL_BUT_CHAIN,
     .view = &(const struct soc_view){.is_stored = true,
                                      .look = soc_human_look,
                                      .columns = inbox_columns},
     .run = soc_given_look},
    {.name = "item",
     .summary = "one item of the inbox, with the messages it came by",
     .scope = SOC_SCOPE_READ,
     .needs_running = true,
     .params = item_params,
     .answer = inbox_members,
     .run = look_at_item},
    {.name = "decide",
     .summary = "decides an item of the inbox; the first decision stands",
     .scope = SOC_SCOPE_DECIDE,
     .changes = true,
     .params = decide_params,
     .takes = DECIDE_ITEM,
     .answer = decide_members,
     .run = decide},
    {.name = "decide_feature",
     .summary = "decides the one open item of a task or a chain",
     .scope = SOC_SCOPE_DECIDE,
     .changes = true,
     .params = decide_params,
     .takes = DECIDE_FEATURE,
     .answer = decide_members,
     .run = decide_feature},
    {.name = NULL},
};

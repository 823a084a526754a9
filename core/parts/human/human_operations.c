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
#include "kernel/operations/given.h"
#include "kernel/operations/looks.h"
#include "kernel/operations/message_looks.h"
#include "kernel/operations/message_params.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "parts/human/human.h"
#include "parts/human/human_intake.h"
#include "parts/human/human_item.h"
#include "parts/human/human_state.h"

#define AMBIGUOUS_MAX 100 /* items that a refusal names */

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
    {.name = "state", .is_needed = true, .summary = "open, decided or withdrawn"},
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

/* Answers that several items are open; names the first ones. */
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

static void decide_feature(struct soc_given *given)
{
    struct soc_slice feature = soc_given_text(given, "feature");
    struct soc_item *items[AMBIGUOUS_MAX];
    char id[SOC_ITEM_ID_BYTES];
    uint64_t key;
    size_t count = soc_human_of_feature(given->society->host, feature, items, AMBIGUOUS_MAX);
    if (count > 1 && !soc_item_id_parse(feature, &key)) {
        refuse_ambiguous(given, items, count);
    } else if (count == 1) {
        soc_item_id_format(id, items[0]->time_ms, items[0]->key);
        decide_item(given, soc_slice(id, sizeof(id)));
    } else {
        decide_item(given, feature);
    }
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
     .params = soc_human_intake_params,
     .answer = soc_human_intake_members,
     .run = soc_human_intake,
     .again = soc_human_intake_again},
    {.name = "inbox",
     .summary = "items waiting for your decision, or those of the past",
     .scope = SOC_SCOPE_READ,
     .params = soc_view_filters,
     .takes = (SOC_FILTER_ALL & ~SOC_FILTER_TYPE) | SOC_FILTER_STATE,
     .answer = inbox_members,
     .tells = ALL_BUT_CHAIN,
     .view = &(const struct soc_view){.is_stored = true,
                                      .look = soc_human_look,
                                      .page = soc_human_page,
                                      .columns = inbox_columns},
     .run = soc_given_look},
    {.name = "item",
     .summary = "one item of the inbox, with the messages it came by",
     .scope = SOC_SCOPE_READ,
     .params = item_params,
     .answer = inbox_members,
     .run = soc_human_item},
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

#include "parts/human/human_intake.h"

#include "base/json.h"
#include "base/limits.h"
#include "kernel/gate.h"
#include "kernel/host.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/requests.h"
#include "kernel/mail/router.h"
#include "kernel/mail/send_reader.h"
#include "kernel/operations/awaiting.h"
#include "kernel/operations/given.h"
#include "kernel/operations/message_looks.h"
#include "kernel/operations/message_params.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "parts/human/human.h"

const struct soc_param soc_human_intake_params[] = {
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

const struct soc_param soc_human_intake_members[] = {
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

/* Writes a message of the history as its receiver saw it. */
static void put_envelope(struct soc_buf *out, struct soc_slice row)
{
    soc_buf_put_byte(out, '{');
    for (int i = 0; i < SOC_MESSAGE_FIELD_COUNT; i++) {
        const struct soc_field_rule *rule = soc_message_fields_rule((enum soc_message_field)i);
        struct soc_slice value = {0};
        if (rule->shown == SOC_SHOWN_ENVELOPE)
            value = soc_json_member(row, rule->name);
        if (value.data == NULL)
            continue;
        soc_json_put_name(out, rule->name);
        soc_buf_put_slice(out, value);
    }
    soc_buf_put_byte(out, '}');
}

/* Ends an intake that was asked again; `held` has its receipt. */
static void answer_again(struct soc_call *call, struct soc_slice reply)
{
    struct soc_buf answer = {0};
    if (reply.data == NULL) {
        soc_refuse(&answer, SOC_ETIMEOUT, NULL, NULL, (struct soc_slice){0});
    } else {
        soc_buf_put_byte(&answer, '[');
        put_envelope(&answer, reply);
        soc_buf_put_byte(&answer, ']');
    }
    answer_intake(call, soc_buf_slice(&answer));
    soc_buf_fini(&answer);
}

void soc_human_intake_again(struct soc_given *given, struct soc_slice answer)
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

void soc_human_intake(struct soc_given *given)
{
    struct soc_send_reader reader = {0};
    struct soc_send_input input = {0};
    struct soc_send_input_fault fault;
    struct soc_buf params = {0};
    struct soc_buf error = {0};
    int64_t wait_ms = 0;
    soc_json_integer(soc_given_json(given, "wait_ms"), &wait_ms);
    if (!put_intake(given, &params)) {
        soc_given_fault(given, "text", "give payload or text, not both");
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

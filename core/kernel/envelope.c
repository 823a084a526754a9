#include "kernel/envelope.h"

#include "base/json.h"
#include "env/clock.h"
#include "env/ids.h"
#include "kernel/state.h"

struct soc_slice soc_sender_id(const struct soc_agent *agent)
{
    return agent == NULL ? SOC_SLICE("system") : soc_agent_id(agent);
}

struct soc_slice soc_receiver_id(const struct soc_message *message)
{
    return message->flags & SOC_MESSAGE_IS_BROADCAST ? SOC_SLICE("All") : soc_agent_id(message->to);
}

void soc_envelope_id(char out[SOC_MESSAGE_ID_BYTES], const struct soc_message *message)
{
    soc_message_id_format(out, message->time_ms, message->key);
}

struct soc_slice soc_envelope_chain(const struct soc_message *message,
                                    char id[SOC_MESSAGE_ID_BYTES])
{
    if (message == NULL)
        return (struct soc_slice){0};
    struct soc_slice chain = soc_message_text(message, SOC_TEXT_CORRELATION_ID);
    if (chain.data != NULL)
        return chain;
    soc_envelope_id(id, message);
    return soc_slice(id, SOC_MESSAGE_ID_BYTES);
}

static void put_id_member(struct soc_buf *out, const char *name, int64_t time_ms, uint64_t key)
{
    char id[SOC_MESSAGE_ID_BYTES];
    soc_message_id_format(id, time_ms, key);
    soc_json_put_text_member(out, name, soc_slice(id, sizeof(id)));
}

static void put_time_member(struct soc_buf *out, const char *name, int64_t time_ms)
{
    if (time_ms == 0)
        return;
    soc_json_put_name(out, name);
    soc_time_put_json(out, time_ms);
}

static void put_integer_member(struct soc_buf *out, const char *name, int64_t number)
{
    soc_json_put_name(out, name);
    soc_json_put_integer(out, number);
}

void soc_envelope_put_json(struct soc_buf *out, const struct soc_message *message)
{
    soc_buf_put_byte(out, '{');
    put_integer_member(out, "attempt", message->attempt);
    soc_json_put_text_member(out, "correlation_id",
                             soc_message_text(message, SOC_TEXT_CORRELATION_ID));
    put_time_member(out, "deadline", message->deadline_ms);
    put_time_member(out, "deliver_at", message->deliver_at_ms);
    soc_json_put_text_member(out, "external_id", soc_message_text(message, SOC_TEXT_EXTERNAL_ID));
    soc_json_put_text_member(out, "from", soc_sender_id(message->from));
    put_integer_member(out, "hops", message->hops);
    put_id_member(out, "id", message->time_ms, message->key);
    soc_json_put_name(out, "payload");
    soc_buf_put_slice(out, soc_message_payload(message));
    soc_json_put_text_member(out, "priority", soc_slice_text(soc_priority_name(message->priority)));
    if (message->reply_to != 0)
        put_id_member(out, "reply_to", message->reply_to_ms, message->reply_to);
    soc_json_put_name(out, "requires_ack");
    soc_buf_put_text(out, message->flags & SOC_MESSAGE_REQUIRES_ACK ? "true" : "false");
    soc_json_put_text_member(out, "task_id", soc_message_text(message, SOC_TEXT_TASK_ID));
    put_time_member(out, "timestamp", message->time_ms);
    soc_json_put_text_member(out, "to", soc_receiver_id(message));
    soc_json_put_text_member(out, "traceparent", soc_message_text(message, SOC_TEXT_TRACEPARENT));
    if (message->expires_ms != 0) {
        double seconds = (double)(message->expires_ms - message->time_ms) / 1000;
        soc_json_put_name(out, "ttl_seconds");
        if (seconds == (double)(int64_t)seconds)
            soc_json_put_integer(out, (int64_t)seconds);
        else
            soc_json_put_number(out, seconds);
    }
    soc_json_put_text_member(out, "type", soc_symbol_slice(message->type));
    soc_buf_put_byte(out, '}');
}

void soc_envelope_put_script_json(struct soc_buf *out, const struct soc_message *message)
{
    soc_envelope_put_json(out, message);
    if (!(message->flags & SOC_MESSAGE_WANTS_REPLY))
        return;
    out->length--;
    soc_json_put_name(out, "wants_reply");
    soc_buf_put_text(out, "true}");
}

struct soc_slice soc_envelope_payload(struct soc_slice value, struct soc_buf *wrapped)
{
    if (value.data == NULL || soc_json_kind(value) == SOC_JSON_NULL)
        return (struct soc_slice){0};
    if (soc_json_kind(value) != SOC_JSON_STRING)
        return value;
    soc_buf_put_text(wrapped, "{\"text\":");
    soc_buf_put_slice(wrapped, value);
    soc_buf_put_byte(wrapped, '}');
    return soc_buf_slice(wrapped);
}

void soc_envelope_record(struct soc_record *record, const struct soc_message *message)
{
    record->type = SOC_RECORD_MESSAGE;
    record->message = (struct soc_record_message){
        .key = message->key,
        .time_ms = (uint64_t)message->time_ms,
        .priority = message->priority,
        .flags = message->flags,
        .attempt = message->attempt,
        .hops = message->hops,
        .reply_to = message->reply_to,
        .reply_to_ms = (uint64_t)message->reply_to_ms,
        .expires_ms = (uint64_t)message->expires_ms,
        .deliver_at_ms = (uint64_t)message->deliver_at_ms,
        .deadline_ms = (uint64_t)message->deadline_ms,
        .from = soc_sender_id(message->from),
        .to = soc_receiver_id(message),
        .type = soc_symbol_slice(message->type),
        .payload = soc_message_payload(message),
        .task_id = soc_message_text(message, SOC_TEXT_TASK_ID),
        .correlation_id = soc_message_text(message, SOC_TEXT_CORRELATION_ID),
        .external_id = soc_message_text(message, SOC_TEXT_EXTERNAL_ID),
        .dedupe_key = soc_message_text(message, SOC_TEXT_DEDUPE_KEY),
        .traceparent = soc_message_text(message, SOC_TEXT_TRACEPARENT),
    };
}

void soc_envelope_put_receipt(struct soc_buf *out, uint64_t key, int64_t time_ms)
{
    soc_buf_put_text(out, "[{");
    put_id_member(out, "messageId", time_ms, key);
    soc_buf_put_text(out, "}]");
}

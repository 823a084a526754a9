#include "kernel/mail/envelope.h"

#include <string.h>

#include "base/json.h"
#include "env/clock.h"
#include "env/ids.h"
#include "kernel/mail/message_view.h"
#include "kernel/state.h"

struct soc_slice soc_receiver_id(const struct soc_message *message)
{
    return message->flags & SOC_MESSAGE_IS_BROADCAST ? SOC_SLICE("All") : soc_agent_id(message->to);
}

void soc_envelope_id(char out[SOC_MESSAGE_ID_BYTES], const struct soc_message *message)
{
    struct soc_slice foreign = soc_message_text(message, SOC_TEXT_FOREIGN_ID);
    if (foreign.length == SOC_MESSAGE_ID_BYTES)
        memcpy(out, foreign.data, SOC_MESSAGE_ID_BYTES);
    else
        soc_message_id_format(out, message->time_ms, message->key);
}

uint64_t soc_envelope_key(const struct soc_message *message)
{
    uint64_t key = message->key;
    struct soc_slice foreign = soc_message_text(message, SOC_TEXT_FOREIGN_ID);
    if (foreign.data != NULL)
        soc_message_id_parse(foreign, &key);
    return key;
}

bool soc_envelope_is_id(struct soc_slice id, const struct soc_message *message)
{
    struct soc_slice foreign = soc_message_text(message, SOC_TEXT_FOREIGN_ID);
    return soc_message_id_is(id, message->time_ms, message->key) ||
           (foreign.data != NULL && soc_slice_equal(id, foreign));
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

static void put_value(struct soc_buf *out, const struct soc_viewed *value)
{
    switch (value->kind) {
    case SOC_VIEWED_NOTHING:
        break;
    case SOC_VIEWED_FLAG:
        soc_buf_put_text(out, value->flag ? "true" : "false");
        break;
    case SOC_VIEWED_INTEGER:
        soc_json_put_integer(out, value->integer);
        break;
    case SOC_VIEWED_NUMBER:
        soc_json_put_number(out, value->number);
        break;
    case SOC_VIEWED_TEXT:
        soc_json_put_string(out, value->text);
        break;
    case SOC_VIEWED_JSON:
        soc_buf_put_slice(out, value->text);
        break;
    }
}

static void put_fields(struct soc_buf *out, const struct soc_message *message, bool is_for_script)
{
    const struct soc_message_view view = {
        .message = message,
        .from = soc_sender_id(message->from),
        .to = soc_receiver_id(message),
        .type = soc_symbol_slice(message->type),
        .payload = soc_message_payload(message),
        .texts = message->bytes + message->payload_length,
    };
    soc_buf_put_byte(out, '{');
    for (int i = 0; i < SOC_MESSAGE_FIELD_COUNT; i++) {
        enum soc_message_field field = (enum soc_message_field)i;
        const struct soc_field_rule *rule = soc_message_fields_rule(field);
        struct soc_viewed value;
        if (rule->shown != SOC_SHOWN_ENVELOPE &&
            !(rule->shown == SOC_SHOWN_SCRIPTS && is_for_script))
            continue;
        soc_message_view_get(&view, field, &value);
        if (value.kind == SOC_VIEWED_NOTHING)
            continue;
        soc_json_put_name(out, rule->name);
        put_value(out, &value);
    }
    soc_buf_put_byte(out, '}');
}

void soc_envelope_put_json(struct soc_buf *out, const struct soc_message *message)
{
    put_fields(out, message, false);
}

void soc_envelope_put_script_json(struct soc_buf *out, const struct soc_message *message)
{
    put_fields(out, message, true);
}

void soc_envelope_record(struct soc_record *record, const struct soc_message *message)
{
    struct soc_record_message *to = &record->message;
    record->type = SOC_RECORD_MESSAGE;
    *to = (struct soc_record_message){
        .key = message->key,
        .time_ms = (uint64_t)message->time_ms,
        .priority = message->priority,
        .flags = message->flags,
        .attempt = message->attempt,
        .hops = message->hops,
        .reply_to = message->reply_to,
        .reply_to_ms = (uint64_t)message->reply_to_ms,
        .cause = message->cause,
        .expires_ms = (uint64_t)message->expires_ms,
        .deliver_at_ms = (uint64_t)(message->flags & SOC_MESSAGE_IS_DATED ? message->deliver_date_ms
                                                                          : message->deliver_at_ms),
        .deadline_ms = (uint64_t)message->deadline_ms,
        .from = soc_sender_id(message->from),
        .to = soc_receiver_id(message),
        .type = soc_symbol_slice(message->type),
        .payload = soc_message_payload(message),
    };
#define F(tag, name, kind, ...)                                                                    \
    SOC_IF_TEXT_##kind(to->name = soc_message_text(message, SOC_TEXT_##tag);)
    SOC_MESSAGE_FIELD_MAP(F)
#undef F
}

void soc_envelope_put_receipt(struct soc_buf *out, uint64_t key, int64_t time_ms)
{
    soc_buf_put_text(out, "[{");
    put_id_member(out, "messageId", time_ms, key);
    soc_buf_put_text(out, "}]");
}

#include "kernel/trace.h"

#include <stdio.h>

#include "base/json.h"
#include "base/limits.h"
#include "env/log_detail.h"
#include "kernel/mail/envelope.h"
#include "kernel/state.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/turn.h"

/* Appends the envelope, with the start of a long payload as text. */
static void put_members(struct soc_buf *out, const struct soc_message *message)
{
    struct soc_slice payload = soc_message_payload(message);
    struct soc_buf whole = {0};
    struct soc_buf cut = {0};
    struct soc_buf text = {0};
    if (payload.length <= SOC_LOG_PAYLOAD_BYTES_MAX) {
        soc_envelope_put_json(out, message);
        return;
    }
    soc_envelope_put_json(&whole, message);
    soc_log_put_text(&cut, payload, SOC_LOG_PAYLOAD_BYTES_MAX);
    soc_json_put_string(&text, soc_buf_slice(&cut));
    soc_json_put_changed(out, soc_buf_slice(&whole), "payload", soc_buf_slice(&text));
    soc_buf_fini(&whole);
    soc_buf_fini(&cut);
    soc_buf_fini(&text);
}

/* Appends why a message ended: the code of an error, or a word that is one already. */
static void put_reason(struct soc_buf *out, struct soc_slice reason)
{
    struct soc_slice code = soc_json_member(reason, "error");
    if (code.data != NULL && soc_json_kind(code) == SOC_JSON_STRING)
        soc_buf_put_slice(out, soc_json_plain_string(code));
    else
        soc_buf_put_slice(out, reason);
}

static void trace_message(struct soc_host *host, const char *event,
                          const struct soc_message *message, struct soc_slice reason)
{
    if (host->log.level > SOC_LOG_INFO)
        return;
    struct soc_slice payload = soc_message_payload(message);
    struct soc_buf line = {0};
    struct soc_buf members = {0};
    struct soc_buf why = {0};
    if (host->log.is_json)
        put_members(&members, message);
    soc_buf_put_slice(&line, soc_sender_id(message->from));
    soc_buf_put_text(&line, " → ");
    soc_buf_put_slice(&line, soc_receiver_id(message));
    soc_buf_printf(&line, "  %s  ", message->type->text);
    soc_log_put_text(&line, payload, SOC_LOG_PAYLOAD_BYTES_MAX);
    if (reason.length > 0) {
        put_reason(&why, reason);
        soc_buf_put_text(&line, "  ");
        soc_buf_put_slice(&line, soc_buf_slice(&why));
    }
    if (reason.length > 0 && members.length > 0) {
        members.length--; /* its closing brace */
        soc_json_put_text_member(&members, "reason", soc_buf_slice(&why));
        soc_buf_put_byte(&members, '}');
    }
    soc_log_say(&host->log, SOC_LOG_INFO, soc_host_now(host), event, (struct soc_slice){0},
                soc_buf_slice(&members), soc_buf_slice(&line));
    soc_buf_fini(&line);
    soc_buf_fini(&members);
    soc_buf_fini(&why);
}

void soc_trace_message(struct soc_host *host, const char *event, const struct soc_message *message)
{
    trace_message(host, event, message, (struct soc_slice){0});
}

void soc_trace_dead(struct soc_host *host, const struct soc_message *message,
                    struct soc_slice reason)
{
    trace_message(host, "dead_letter", message, reason);
}

void soc_trace(struct soc_host *host, const char *event, const struct soc_agent *agent,
               struct soc_slice detail, const char *format, ...)
{
    if (host->log.level > SOC_LOG_INFO)
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    struct soc_slice sentence = soc_slice_text(text);
    soc_log_say(&host->log, SOC_LOG_INFO, soc_host_now(host), event, soc_sender_id(agent),
                detail.data == NULL ? sentence : detail, sentence);
}

static const struct soc_message *handled_by(const struct soc_agent *agent)
{
    return agent == NULL || agent->activation == NULL ? NULL : agent->activation->message;
}

/* `event` needs what is particular to it: correlation id, key. */
static void put_event(struct soc_host *host, enum soc_log_level level, const char *name,
                      const struct soc_agent *agent, struct soc_record_event *event)
{
    soc_log_event(&host->log, level, soc_host_now(host), name, soc_sender_id(agent), event->detail);
    struct soc_record record = {.type = SOC_RECORD_EVENT};
    event->time_ms = (uint64_t)soc_host_now(host);
    event->event = soc_slice_text(name);
    event->agent = soc_sender_id(agent);
    record.event = *event;
    soc_batch_put(host, &record);
}

static struct soc_slice task_of(const struct soc_message *message)
{
    return message == NULL ? (struct soc_slice){0} : soc_message_text(message, SOC_TEXT_TASK_ID);
}

void soc_trace_event(struct soc_host *host, enum soc_log_level level, const char *event,
                     const struct soc_agent *agent, struct soc_slice detail)
{
    char id[SOC_MESSAGE_ID_BYTES];
    soc_trace_event_of(host, level, event, agent, soc_envelope_chain(handled_by(agent), id),
                       detail);
}

void soc_trace_event_of(struct soc_host *host, enum soc_log_level level, const char *event,
                        const struct soc_agent *agent, struct soc_slice correlation_id,
                        struct soc_slice detail)
{
    put_event(host, level, event, agent,
              &(struct soc_record_event){.task_id = task_of(handled_by(agent)),
                                         .correlation_id = correlation_id,
                                         .detail = detail});
}

void soc_trace_event_about(struct soc_host *host, enum soc_log_level level, const char *event,
                           const struct soc_agent *agent, const struct soc_message *message,
                           struct soc_slice detail)
{
    char id[SOC_MESSAGE_ID_BYTES];
    if (message == NULL) {
        soc_trace_event(host, level, event, agent, detail);
        return;
    }
    put_event(host, level, event, agent,
              &(struct soc_record_event){.task_id = task_of(message),
                                         .correlation_id = soc_envelope_chain(message, id),
                                         .detail = detail,
                                         .key = message->key});
}

void soc_trace_keep(struct soc_host *host, const char *event, struct soc_slice detail)
{
    struct soc_record record = {.type = SOC_RECORD_EVENT};
    record.event = (struct soc_record_event){
        .time_ms = (uint64_t)soc_host_now(host),
        .event = soc_slice_text(event),
        .agent = soc_sender_id(NULL),
        .detail = detail,
    };
    soc_record_put(host->turn.is_open ? &host->turn.kept : &host->batch, &record);
}

#include "bridge/files/reading.h"

#include <math.h>

#include "base/json.h"
#include "base/limits.h"
#include "env/clock.h"
#include "kernel/envelope.h"

#define TTL_SECONDS_MAX 3.2e9 /* about a hundred years */

/* Lends the text of a value, absent if it is missing or null. */
struct soc_slice soc_reading_text(struct soc_reading *reading, const char *name,
                                  struct soc_slice value, size_t bytes_max)
{
    if (value.data == NULL || soc_json_kind(value) == SOC_JSON_NULL)
        return (struct soc_slice){0};
    struct soc_slice text = soc_json_text(value, bytes_max, &reading->texts);
    if (text.data == NULL)
        reading->fault = name;
    return text;
}

struct soc_slice soc_reading_member(struct soc_reading *reading, const char *name, size_t bytes_max)
{
    return soc_reading_text(reading, name, soc_json_member(reading->line->text, name), bytes_max);
}

/* A time: RFC 3339, or ms since 1970. */
static int64_t member_time(struct soc_reading *reading, const char *name)
{
    struct soc_slice value = soc_json_member(reading->line->text, name);
    int64_t time_ms = 0;
    if (value.data == NULL || soc_json_kind(value) == SOC_JSON_NULL)
        return 0;
    if (soc_json_kind(value) == SOC_JSON_STRING) {
        if (!soc_time_parse(soc_reading_text(reading, name, value, SOC_KEY_BYTES_MAX), &time_ms))
            reading->fault = name;
    } else if (!soc_json_integer(value, &time_ms) || time_ms < 0) {
        reading->fault = name;
    }
    return time_ms;
}

static void read_flags(struct soc_reading *reading, struct soc_send *send)
{
    double seconds = 0;
    struct soc_slice ttl = soc_json_member(reading->line->text, "ttl_seconds");
    struct soc_slice ack = soc_json_member(reading->line->text, "requires_ack");
    struct soc_slice priority = soc_reading_member(reading, "priority", SOC_KEY_BYTES_MAX);
    if (priority.data != NULL) {
        send->has_priority = true;
        if (!soc_priority_parse(priority, &send->priority))
            reading->fault = "priority";
    }
    if (ttl.data != NULL && soc_json_kind(ttl) != SOC_JSON_NULL) {
        if (soc_json_kind(ttl) != SOC_JSON_NUMBER || !soc_json_number(ttl, &seconds) ||
            !(seconds > 0 && seconds <= TTL_SECONDS_MAX))
            reading->fault = "ttl_seconds";
        else
            send->ttl_ms = (int64_t)ceil(seconds * 1000);
    }
    if (ack.data != NULL && soc_json_kind(ack) != SOC_JSON_NULL) {
        send->has_requires_ack = true;
        send->requires_ack = soc_json_kind(ack) == SOC_JSON_TRUE;
        if (!send->requires_ack && soc_json_kind(ack) != SOC_JSON_FALSE)
            reading->fault = "requires_ack";
    }
}

/* `content` is another name for it. */
struct soc_slice soc_reading_payload(struct soc_reading *reading, struct soc_buf *wrapped)
{
    struct soc_slice value = soc_json_member(reading->line->text, "payload");
    if (value.data == NULL || soc_json_kind(value) == SOC_JSON_NULL)
        value = soc_json_member(reading->line->text, "content");
    return soc_envelope_payload(value, wrapped);
}

/* Reads all but `to` and the payload. `reply_to` names what a message answers; without a
 * receiver its correlation id does. */
void soc_reading_mail(struct soc_reading *reading, struct soc_outside_mail *mail, bool has_to)
{
    struct soc_send *send = &mail->send;
    send->type = soc_reading_member(reading, "type", SOC_TYPE_BYTES_MAX);
    send->texts[SOC_TEXT_TASK_ID] = soc_reading_member(reading, "task_id", SOC_ID_BYTES_MAX);
    if (send->texts[SOC_TEXT_TASK_ID].data == NULL)
        send->texts[SOC_TEXT_TASK_ID] = soc_reading_member(reading, "taskId", SOC_ID_BYTES_MAX);
    send->texts[SOC_TEXT_CORRELATION_ID] =
        soc_reading_member(reading, "correlation_id", SOC_KEY_BYTES_MAX);
    send->texts[SOC_TEXT_EXTERNAL_ID] = soc_reading_member(reading, "id", SOC_KEY_BYTES_MAX);
    send->texts[SOC_TEXT_DEDUPE_KEY] = soc_reading_member(reading, "dedupe_key", SOC_KEY_BYTES_MAX);
    send->texts[SOC_TEXT_TRACEPARENT] =
        soc_reading_member(reading, "traceparent", SOC_KEY_BYTES_MAX);
    send->deliver_at_ms = member_time(reading, "deliver_at");
    send->deadline_ms = member_time(reading, "deadline");
    read_flags(reading, send);
    mail->answers = soc_reading_member(reading, "reply_to", SOC_KEY_BYTES_MAX);
    mail->is_chain = mail->answers.data == NULL;
    if (mail->is_chain && !has_to)
        mail->answers = send->texts[SOC_TEXT_CORRELATION_ID];
}

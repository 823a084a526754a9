/* Times: no message is handled before its time or after its time to live. */
#include <string.h>

#include "base/json.h"
#include "check/readers.h"

/* Reads member `name` of a payload, a time in ms; 0 if it has none. */
static int64_t read_time(struct soc_slice payload, const char *name)
{
    int64_t time_ms = 0;
    size_t length = strlen(name);
    if (payload.length == 0 || payload.data[0] != '{' ||
        memmem(payload.data, payload.length, name, length) == NULL)
        return 0;
    struct soc_slice value = soc_json_member(payload, name);
    return value.length > 0 && soc_json_integer(value, &time_ms) ? time_ms : 0;
}

void soc_check_times_note(struct soc_check_message *message,
                          const struct soc_record_message *record)
{
    int64_t from_ms = read_time(record->payload, "not_before");
    int64_t until_ms = read_time(record->payload, "not_after");
    message->from_ms = (int64_t)record->deliver_at_ms;
    message->until_ms = (int64_t)record->expires_ms;
    if (from_ms > message->from_ms)
        message->from_ms = from_ms;
    if (until_ms != 0)
        message->until_ms = until_ms;
}

/* Handling may have begun earlier than a record says: a turn that raised leaves only its
 * event. `agent` is NULL if there was no such turn. */
void soc_check_times_start(struct soc_check *check, const struct soc_check_agent *agent,
                           const struct soc_check_message *message, int64_t time_ms)
{
    int64_t began_ms = time_ms;
    if (agent != NULL && agent->raised_ms != 0 && agent->raised_ms < began_ms)
        began_ms = agent->raised_ms;
    if (time_ms < message->from_ms)
        soc_books_fail(check, "message %llu was handled %lld ms before its time",
                       (unsigned long long)message->key, (long long)(message->from_ms - time_ms));
    if (message->until_ms != 0 && began_ms >= message->until_ms)
        soc_books_fail(check, "message %llu was handled %lld ms after its time to live",
                       (unsigned long long)message->key, (long long)(began_ms - message->until_ms));
}

/* The record has no time: it lies between that of the batch before and that of its own. */
void soc_check_times_take(struct soc_check *check, const struct soc_check_message *message)
{
    if (message->from_ms > check->taken_ms)
        check->taken_ms = message->from_ms;
    if (message->until_ms != 0 && check->now_ms >= message->until_ms)
        soc_books_fail(check, "message %llu was taken %lld ms after its time to live",
                       (unsigned long long)message->key,
                       (long long)(check->now_ms - message->until_ms));
}

void soc_check_times_expire(struct soc_check *check, const struct soc_check_message *message,
                            int64_t time_ms)
{
    if (message->until_ms == 0 || time_ms < message->until_ms)
        soc_books_fail(check, "message %llu expired %lld ms before its time to live was over",
                       (unsigned long long)message->key, (long long)(message->until_ms - time_ms));
}

/* Times: no message is handled before its time or after its time to live. A date that was
 * given stays that date when the clock is set back; of a delay as much is left as was. */
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
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

/* Reads a step of the clock: from_ms and behind_ms. */
static bool read_step(struct soc_slice json, int64_t step[2])
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, json);
    return soc_json_next(&walk) && soc_json_integer(walk.value, &step[0]) && soc_json_next(&walk) &&
           soc_json_integer(walk.value, &step[1]);
}

/* All steps are stored each time. The last one begins after all that was recorded, so that
 * no time gets another date. */
void soc_check_times_step(struct soc_check *check, struct soc_slice json)
{
    struct soc_json_walk walk;
    int64_t step[2] = {0};
    int count = 0;
    struct soc_slice known = soc_buf_slice(&check->steps);
    bool is_longer = json.length > known.length && known.length > 0 &&
                     memcmp(json.data, known.data, known.length - 1) == 0;
    soc_json_walk(&walk, json);
    for (; soc_json_next(&walk); count++)
        if (!read_step(walk.value, step))
            soc_books_fail(check, "a step of the clock cannot be read");
    if (known.length > 0 && !is_longer && count < SOC_CALENDAR_STEPS_MAX)
        soc_books_fail(check, "a step of the clock was forgotten");
    if (step[0] <= check->now_ms)
        soc_books_fail(check, "the clock was set back from a time that had passed");
    check->behind_ms = step[1];
    check->steps.length = 0;
    soc_buf_put_slice(&check->steps, json);
}

int64_t soc_check_times_from(const struct soc_check *check, const struct soc_check_message *message)
{
    return message->from_ms + (message->is_dated ? check->behind_ms : 0);
}

static int64_t until_of(const struct soc_check *check, const struct soc_check_message *message)
{
    return message->until_ms + (message->is_dated_end ? check->behind_ms : 0);
}

/* What scripts say are dates. Those of a message with a date stay dates. */
void soc_check_times_note(const struct soc_check *check, struct soc_check_message *message,
                          const struct soc_record_message *record)
{
    int64_t from_ms = read_time(record->payload, "not_before");
    int64_t until_ms = read_time(record->payload, "not_after");
    message->is_dated = (record->flags & SOC_MESSAGE_IS_DATED) != 0;
    message->is_dated_end = message->is_dated && until_ms != 0;
    if (!message->is_dated) {
        from_ms += from_ms == 0 ? 0 : check->behind_ms;
        until_ms += until_ms == 0 ? 0 : check->behind_ms;
    }
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
    int64_t from_ms = soc_check_times_from(check, message);
    int64_t until_ms = until_of(check, message);
    if (agent != NULL && agent->raised_ms != 0 && agent->raised_ms < began_ms)
        began_ms = agent->raised_ms;
    if (time_ms < from_ms)
        soc_books_fail(check, "message %llu was handled %lld ms before its time",
                       (unsigned long long)message->key, (long long)(from_ms - time_ms));
    if (message->until_ms != 0 && began_ms >= until_ms)
        soc_books_fail(check, "message %llu was handled %lld ms after its time to live",
                       (unsigned long long)message->key, (long long)(began_ms - until_ms));
}

/* The record has no time: it lies between that of the batch before and that of its own. */
void soc_check_times_take(struct soc_check *check, const struct soc_check_message *message)
{
    int64_t from_ms = soc_check_times_from(check, message);
    int64_t until_ms = until_of(check, message);
    if (from_ms > check->taken_ms)
        check->taken_ms = from_ms;
    if (message->until_ms != 0 && check->now_ms >= until_ms)
        soc_books_fail(check, "message %llu was taken %lld ms after its time to live",
                       (unsigned long long)message->key, (long long)(check->now_ms - until_ms));
}

void soc_check_times_expire(struct soc_check *check, const struct soc_check_message *message,
                            int64_t time_ms)
{
    int64_t until_ms = until_of(check, message);
    if (message->until_ms == 0 || time_ms < until_ms)
        soc_books_fail(check, "message %llu expired %lld ms before its time to live was over",
                       (unsigned long long)message->key, (long long)(until_ms - time_ms));
}

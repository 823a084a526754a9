#include "env/calendar.h"

#include <assert.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"

int64_t soc_calendar_behind(const struct soc_calendar *calendar)
{
    return calendar->count == 0 ? 0 : calendar->steps[calendar->count - 1].behind_ms;
}

int64_t soc_calendar_date(const struct soc_calendar *calendar, int64_t time_ms)
{
    int i = calendar->count;
    if (time_ms == 0)
        return 0;
    while (i > 0 && calendar->steps[i - 1].from_ms > time_ms)
        i--;
    return i == 0 ? time_ms : time_ms - calendar->steps[i - 1].behind_ms;
}

/* By how much step `i` changed what is taken off. */
static int64_t change_of(const struct soc_calendar *calendar, int i)
{
    int64_t change_ms = calendar->steps[i].behind_ms;
    if (i > 0)
        change_ms -= calendar->steps[i - 1].behind_ms;
    return change_ms < 0 ? -change_ms : change_ms;
}

static void forget_least(struct soc_calendar *calendar)
{
    int least = 0;
    for (int i = 1; i < calendar->count; i++)
        if (change_of(calendar, i) < change_of(calendar, least))
            least = i;
    calendar->count--;
    memmove(&calendar->steps[least], &calendar->steps[least + 1],
            (size_t)(calendar->count - least) * sizeof(calendar->steps[0]));
}

void soc_calendar_add(struct soc_calendar *calendar, int64_t from_ms, int64_t behind_ms)
{
    assert(behind_ms >= 0);
    assert(calendar->count == 0 || from_ms > calendar->steps[calendar->count - 1].from_ms);
    if (calendar->count == SOC_CALENDAR_STEPS_MAX)
        forget_least(calendar);
    calendar->steps[calendar->count++] = (struct soc_calendar_step){from_ms, behind_ms};
}

int64_t soc_calendar_until(const struct soc_calendar *calendar, int64_t until_ms)
{
    int64_t behind_ms = 0;
    for (int i = 0; i < calendar->count; i++)
        if (calendar->steps[i].behind_ms > behind_ms)
            behind_ms = calendar->steps[i].behind_ms;
    return until_ms <= INT64_MAX - behind_ms ? until_ms + behind_ms : INT64_MAX;
}

void soc_calendar_put(const struct soc_calendar *calendar, struct soc_buf *out)
{
    soc_buf_put_byte(out, '[');
    for (int i = 0; i < calendar->count; i++)
        soc_buf_printf(out, "%s[%lld,%lld]", i == 0 ? "" : ",",
                       (long long)calendar->steps[i].from_ms,
                       (long long)calendar->steps[i].behind_ms);
    soc_buf_put_byte(out, ']');
}

static bool read_step(struct soc_slice json, struct soc_calendar_step *step)
{
    struct soc_json_walk walk;
    if (soc_json_kind(json) != SOC_JSON_ARRAY)
        return false;
    soc_json_walk(&walk, json);
    return soc_json_next(&walk) && soc_json_integer(walk.value, &step->from_ms) &&
           soc_json_next(&walk) && soc_json_integer(walk.value, &step->behind_ms) &&
           step->from_ms > 0 && step->behind_ms >= 0 && !soc_json_next(&walk);
}

/* Returns true if all of the list is a calendar. */
static bool read_steps(struct soc_calendar *calendar, struct soc_slice json)
{
    struct soc_json_walk walk;
    if (soc_json_check(json, NULL) != SOC_OK || soc_json_kind(json) != SOC_JSON_ARRAY)
        return false;
    soc_json_walk(&walk, json);
    while (soc_json_next(&walk)) {
        struct soc_calendar_step step;
        if (calendar->count == SOC_CALENDAR_STEPS_MAX || !read_step(walk.value, &step) ||
            (calendar->count > 0 && step.from_ms <= calendar->steps[calendar->count - 1].from_ms))
            return false;
        calendar->steps[calendar->count++] = step;
    }
    return true;
}

bool soc_calendar_read(struct soc_calendar *calendar, struct soc_slice json)
{
    calendar->count = 0;
    bool is_read = read_steps(calendar, json);
    if (!is_read)
        calendar->count = 0;
    return is_read;
}

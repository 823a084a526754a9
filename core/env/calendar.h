/* Calendar: which date the clock showed at each time of the society.
 *
 * The society's own time only rises: ids, the order of what happened and timers go by it.
 * A clock that is set back leaves it ahead. So what people read and write are dates: the
 * society's time less what it was ahead by, which changes only from one run to the next.
 * Dates may therefore come twice; times do not.
 * Layer: env. Thread: any. */
#ifndef SOC_ENV_CALENDAR_H
#define SOC_ENV_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/slice.h"

/* From time `from_ms` on the date is `behind_ms` (>= 0) below the time. */
struct soc_calendar_step {
    int64_t from_ms;
    int64_t behind_ms;
};

/* The steps in order of time. Zeroed: a date is a time. */
struct soc_calendar {
    int count;
    struct soc_calendar_step steps[SOC_CALENDAR_STEPS_MAX];
};

/* Returns by how much dates are below times since the last step. */
int64_t soc_calendar_behind(const struct soc_calendar *calendar);

/* Returns the date at a time. 0 stays 0: none. */
int64_t soc_calendar_date(const struct soc_calendar *calendar, int64_t time_ms);

/* Adds a step. `from_ms` is above that of all others. When there is no room, the step
 * that changed least is forgotten: dates of that stretch are then off by so much. */
void soc_calendar_add(struct soc_calendar *calendar, int64_t from_ms, int64_t behind_ms);

/* Returns a time above all times with dates below `until_ms`. No time is below its date,
 * so dates from a span have times from its beginning to this. */
int64_t soc_calendar_until(const struct soc_calendar *calendar, int64_t until_ms);

/* Appends the steps as JSON, [[from_ms, behind_ms], …], and reads them again. What is not
 * such a list leaves an empty calendar, and reads as false. */
void soc_calendar_put(const struct soc_calendar *calendar, struct soc_buf *out);
bool soc_calendar_read(struct soc_calendar *calendar, struct soc_slice json);

#endif

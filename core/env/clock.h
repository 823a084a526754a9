/* Clock: the time of the society, real or virtual.
 *
 * Real: the wall clock at the start plus what the monotonic clock has run since. So
 * stepping the wall clock fires nothing while we run. Virtual: both clocks stand still
 * until they are moved; stepping the wall clock must then change nothing.
 *
 * The time never goes backwards, not even from one run to the next. Where the wall clock
 * is behind what an earlier run had reached, the time goes on from there and the date,
 * which is what people see and give, follows the wall clock (env/calendar.h).
 * Layer: env. Thread: loop. */
#ifndef SOC_ENV_CLOCK_H
#define SOC_ENV_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/slice.h"
#include "env/calendar.h"

/* The start of virtual time: 2026-01-01T00:00:00.000Z. */
#define SOC_CLOCK_VIRTUAL_START_MS 1767225600000

/* A clock of either kind. */
struct soc_clock {
    bool is_virtual;
    bool is_set;          /* the wall clock shows a time: a virtual one may not */
    int64_t base_ms;      /* society time at `monotonic_ms` */
    int64_t monotonic_ms; /* reading of the monotonic clock at the start */
    int64_t floor_ms;     /* never shows less */
    struct soc_calendar calendar;
    /* Virtual: the two clocks. */
    int64_t wall_now_ms;
    int64_t monotonic_now_ms;
};

/* Prepares a clock. */
void soc_clock_init(struct soc_clock *clock, bool is_virtual);

/* Returns the society's time, ms since 1970 UTC. */
int64_t soc_clock_now(struct soc_clock *clock);

/* Returns the date: what the wall clock shows, as far as the society follows it. */
int64_t soc_clock_date(struct soc_clock *clock);

/* Returns the date at a time. 0 stays 0: none. */
int64_t soc_clock_date_of(const struct soc_clock *clock, int64_t time_ms);

/* Returns the time at which a date that is yet to come will be there. 0 stays 0. */
int64_t soc_clock_time_of(const struct soc_clock *clock, int64_t date_ms);

/* Goes on from `reached_ms`, the last time of an earlier run, with its calendar in
 * `calendar`. Returns true if the calendar has got a step: it must be stored.
 *
 * The time is the wall clock's and what it was ahead of it, or, if the wall clock was set
 * back, what was reached. A second or less is made up for silently. A wall clock that has
 * passed what was reached is followed again: whatever made it seem behind is over. */
bool soc_clock_resume(struct soc_clock *clock, int64_t reached_ms);

/* Sets the wall clock of a virtual clock before the society starts. One that was not set
 * continues what soc_clock_resume finds. */
void soc_clock_set(struct soc_clock *clock, int64_t wall_ms);

/* Moves a virtual clock forward to the time `now_ms`; an earlier one is ignored. */
void soc_clock_move(struct soc_clock *clock, int64_t now_ms);

/* Steps the wall clock of a virtual clock, as people and time servers do. */
void soc_clock_step(struct soc_clock *clock, int64_t step_ms);

/* Returns the monotonic clock in microseconds, for measuring only. */
int64_t soc_clock_monotonic_us(void);

/* Returns the CPU time of the calling thread in microseconds, for measuring only. */
int64_t soc_clock_thread_us(void);

/* Writes `time_ms` as RFC 3339 in UTC with milliseconds: SOC_TIME_BYTES bytes, no NUL.
 * Years 1970 to 9999; other times are clamped. */
void soc_time_format(char out[SOC_TIME_BYTES], int64_t time_ms);

/* Writes the same as digits only, YYYYMMDDHHMMSSmmm, for ids. */
#define SOC_TIME_DIGITS 17
void soc_time_digits(char out[SOC_TIME_DIGITS], int64_t time_ms);

/* Reads any RFC 3339 time (any offset, any fraction, truncated to ms) into `*time_ms`,
 * which is negative before 1970. False if the text is not one. */
bool soc_time_parse(struct soc_slice text, int64_t *time_ms);

/* Appends `time_ms` as a JSON string. */
void soc_time_put_json(struct soc_buf *out, int64_t time_ms);

#endif

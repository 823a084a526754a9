/* Clock: the society's time, real or virtual.
 *
 * Real: the wall clock as it stood at the start plus what the monotonic clock
 * has run since, so that stepping the wall clock fires nothing while we run, and
 * times are right again across a restart. Virtual: both clocks stand still until moved,
 * and the wall clock can be stepped, which is to change nothing.
 * Either way it never shows less than it showed before.
 * Layer: env. Thread: loop. */
#ifndef SOC_ENV_CLOCK_H
#define SOC_ENV_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/slice.h"

/* Where virtual time begins: 2026-01-01T00:00:00.000Z. */
#define SOC_CLOCK_VIRTUAL_START_MS 1767225600000

/* A clock of either kind. */
struct soc_clock {
    bool is_virtual;
    int64_t base_ms;      /* society time at `monotonic_ms`: what the wall clock showed */
    int64_t monotonic_ms; /* reading of the monotonic clock at the start */
    int64_t floor_ms;     /* never show less */
    /* Virtual: what the two clocks show. */
    int64_t wall_now_ms;
    int64_t monotonic_now_ms;
};

/* Prepares a clock. */
void soc_clock_init(struct soc_clock *clock, bool is_virtual);

/* Returns the society's time, ms since 1970 UTC. */
int64_t soc_clock_now(struct soc_clock *clock);

/* Makes sure that no time below `floor_ms` is shown any more: what a recovered
 * society had reached already. */
void soc_clock_raise(struct soc_clock *clock, int64_t floor_ms);

/* Moves a virtual clock forward to `now_ms`; earlier is ignored. */
void soc_clock_move(struct soc_clock *clock, int64_t now_ms);

/* Steps the wall clock of a virtual one by so much, as people and time servers do. */
void soc_clock_step(struct soc_clock *clock, int64_t step_ms);

/* Returns the monotonic clock in microseconds, for measuring only. */
int64_t soc_clock_monotonic_us(void);

/* Writes `time_ms` as RFC 3339 in UTC with milliseconds: SOC_TIME_BYTES bytes, no
 * NUL. Years 1970 to 9999; a time outside is written as the nearest inside. */
void soc_time_format(char out[SOC_TIME_BYTES], int64_t time_ms);

/* Writes the same as bare digits, YYYYMMDDHHMMSSmmm, for ids. */
#define SOC_TIME_DIGITS 17
void soc_time_digits(char out[SOC_TIME_DIGITS], int64_t time_ms);

/* Reads any RFC 3339 time (any offset, any fraction, cut to ms) into `*time_ms`,
 * which is negative before 1970. False if the text is none. */
bool soc_time_parse(struct soc_slice text, int64_t *time_ms);

/* Appends `time_ms` as a JSON string. */
void soc_time_put_json(struct soc_buf *out, int64_t time_ms);

#endif

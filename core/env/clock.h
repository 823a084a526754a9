/* Clock: the time of the society, real or virtual.
 *
 * Real: the wall clock at the start plus what the monotonic clock has run since. So
 * stepping the wall clock fires nothing while we run, and times are right again after a
 * restart. Virtual: both clocks stand still until they are moved; stepping the wall clock
 * must then change nothing. Neither ever goes backwards.
 * Layer: env. Thread: loop. */
#ifndef SOC_ENV_CLOCK_H
#define SOC_ENV_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/slice.h"

/* The start of virtual time: 2026-01-01T00:00:00.000Z. */
#define SOC_CLOCK_VIRTUAL_START_MS 1767225600000

/* A clock of either kind. */
struct soc_clock {
    bool is_virtual;
    int64_t base_ms;      /* society time at `monotonic_ms`: what the wall clock showed */
    int64_t monotonic_ms; /* reading of the monotonic clock at the start */
    int64_t floor_ms;     /* never shows less */
    int64_t ahead_ms;     /* of the wall clock at the start, by soc_clock_raise */
    /* Virtual: the two clocks. */
    int64_t wall_now_ms;
    int64_t monotonic_now_ms;
};

/* Prepares a clock. */
void soc_clock_init(struct soc_clock *clock, bool is_virtual);

/* Returns the society's time, ms since 1970 UTC. */
int64_t soc_clock_now(struct soc_clock *clock);

/* Never shows a time below `floor_ms` again: what a recovered society had reached. */
void soc_clock_raise(struct soc_clock *clock, int64_t floor_ms);

/* Moves a virtual clock forward to `now_ms`; an earlier time is ignored. */
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

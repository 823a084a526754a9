/* Watchdog: measures every step of a loop, and reports those that take long.
 *
 * A step is one call that the loop makes: of an alarm, a descriptor, a door, a waker, or of
 * the tick. While a step runs nobody else is served, so a step must be short, whatever comes
 * from outside. The turns of scripts are the exception: they have a budget of their own, so
 * they are measured apart and not counted in the step that runs them.
 *
 * Two clocks: the CPU time of the thread, which a busy machine does not change, and the
 * monotonic clock, which includes waiting for a disk. A loop without a watchdog pays one
 * comparison per step.
 * Layer: loop. Thread: loop. */
#ifndef SOC_LOOP_WATCHDOG_H
#define SOC_LOOP_WATCHDOG_H

#include <stdint.h>

struct soc_watchdog;

/* How long something took. */
struct soc_watchdog_time {
    int64_t cpu_us;
    int64_t wall_us;
};

/* The step that took the most CPU time, and the longest turn. */
struct soc_watchdog_worst {
    const char *step; /* its name; NULL: there was no step */
    struct soc_watchdog_time step_time;
    struct soc_watchdog_time turn_time;
    uint64_t steps;
    uint64_t steps_long; /* CPU time beyond the limit */
};

/* A step took longer than the limit, by either clock. `name` is a constant. */
typedef void soc_watchdog_cb(void *user, const char *name, struct soc_watchdog_time time);

/* Returns a watchdog that reports steps beyond `limit_ms`. Release with soc_watchdog_free. */
struct soc_watchdog *soc_watchdog_new(int64_t limit_ms, soc_watchdog_cb *cb, void *user);

/* NULL is allowed. */
void soc_watchdog_free(struct soc_watchdog *dog);

/* A step begins and ends. `name` is a constant. A step inside a step, of a caller that polls
 * the loop, is part of the outer one. NULL is allowed, and does nothing. */
void soc_watchdog_begin(struct soc_watchdog *dog, const char *name);
void soc_watchdog_end(struct soc_watchdog *dog);

/* A turn of a script begins and ends, in a step or not. NULL is allowed. */
void soc_watchdog_begin_turn(struct soc_watchdog *dog);
void soc_watchdog_end_turn(struct soc_watchdog *dog);

/* Returns the worst so far. */
struct soc_watchdog_worst soc_watchdog_worst(const struct soc_watchdog *dog);

#endif

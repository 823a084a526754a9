/* CPU timer: ticks while a thread works, and not while it waits.
 *
 * Each tick is a signal to the thread that made the timer, so the callback interrupts
 * whatever that thread does: it may set flags, and call what signals may call. The timer
 * uses the signal SIGRTMIN + 7, which a program that embeds this one must leave to it.
 * Layer: env. Thread: the one whose time it counts. */
#ifndef SOC_ENV_CPU_TIMER_H
#define SOC_ENV_CPU_TIMER_H

#include <stdint.h>

struct soc_cpu_timer;

/* `used_ns`: the CPU time of the thread so far. */
typedef void soc_cpu_timer_cb(void *user, int64_t used_ns);

/* Returns a timer that calls `cb` after each `period_us` of this thread's CPU time; NULL if
 * the system refuses. Release with soc_cpu_timer_free(). */
struct soc_cpu_timer *soc_cpu_timer_new(int64_t period_us, soc_cpu_timer_cb *cb, void *user);

/* Ends it, in the thread that made it: `cb` is not called any more. NULL is allowed. */
void soc_cpu_timer_free(struct soc_cpu_timer *timer);

/* Tells whether this thread is the one whose time the timer counts. */
int soc_cpu_timer_is_mine(const struct soc_cpu_timer *timer);

#endif

/* Loop: the only owner of the libuv loop.
 *
 * The work of the host is a `tick` that runs what is ready and says when it wants to run
 * next; between ticks the loop sleeps in libuv. A tick runs when its time has come, after
 * soc_loop_wake (from any thread), and after any libuv callback of a door. The simulator
 * needs no loop: it calls the tick itself and moves the virtual clock.
 * Layer: loop. Thread: loop, except for soc_loop_wake. */
#ifndef SOC_LOOP_LOOP_H
#define SOC_LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "loop/watchdog.h"

#define SOC_LOOP_WAKERS_MAX 16

struct soc_loop;
struct uv_loop_s;

/* Results of a tick. */
#define SOC_TICK_NOW  0  /* more work is ready: call again after polling the doors */
#define SOC_TICK_IDLE -1 /* nothing to do until woken */

/* Runs what is ready. Returns SOC_TICK_NOW, SOC_TICK_IDLE, or in how many ms to call
 * again at the latest (> 0). */
typedef int64_t soc_tick_cb(void *user);

/* Called on the loop's thread after soc_loop_wake. */
typedef void soc_wake_cb(void *user);

/* Checks that the process may open the descriptors that a loop takes at a start: libuv
 * aborts without them. SOC_EACCESS, and the detail says which limit to raise. */
int soc_loop_check_room(struct soc_detail *detail);

/* Returns a new loop; release with soc_loop_free() after everything on it is
 * closed. */
struct soc_loop *soc_loop_new(void);

/* Closes what is still open, runs the close callbacks and frees. NULL is allowed. */
void soc_loop_free(struct soc_loop *loop);

/* Runs ticks until soc_loop_stop. */
void soc_loop_run(struct soc_loop *loop, soc_tick_cb *tick, void *user);

/* Ends soc_loop_run after the current callback or tick. */
void soc_loop_stop(struct soc_loop *loop);

/* Registers a callback for soc_loop_wake; at most SOC_LOOP_WAKERS_MAX. Returns its
 * number. */
int soc_loop_add_waker(struct soc_loop *loop, soc_wake_cb *cb, void *user);

/* Removes waker `number`; it is not called afterwards. */
void soc_loop_remove_waker(struct soc_loop *loop, int number);

/* Schedules a call of every waker, then a tick. Thread: any. */
void soc_loop_wake(struct soc_loop *loop);

/* Runs libuv once without a tick, waiting at most `wait_ms`. For callers that wait for a
 * waker outside soc_loop_run, such as a close. */
void soc_loop_poll(struct soc_loop *loop, int64_t wait_ms);

/* Calls `cb` on SIGINT and SIGTERM instead of ending (once per signal). */
void soc_loop_on_interrupt(struct soc_loop *loop, void (*cb)(int signal_number, void *user),
                           void *user);

/* Has every step measured by `dog`, which is lent; NULL: no more. Not in a step. */
void soc_loop_set_watchdog(struct soc_loop *loop, struct soc_watchdog *dog);

/* Lends the watchdog; NULL: there is none. Doors that have callbacks of libuv begin and end
 * their steps themselves. */
struct soc_watchdog *soc_loop_watchdog(const struct soc_loop *loop);

/* Lends the libuv loop to a door. */
struct uv_loop_s *soc_loop_uv(struct soc_loop *loop);

#endif

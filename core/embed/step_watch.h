/* Step watch: logs steps of the loop that take long, and the worst one at the end.
 *
 * For those who look for what holds up a society; `SOCIETY_WATCHDOG_MS` switches it on. The
 * events are `slow_step` (a warning) and `steps` (at the end).
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_STEP_WATCH_H
#define SOC_EMBED_STEP_WATCH_H

#include "kernel/host.h"
#include "loop/loop.h"

struct soc_step_watch;

/* Begins to measure: a step beyond `limit_ms` is logged. Close it before the host ends. */
struct soc_step_watch *soc_step_watch_open(struct soc_loop *loop, struct soc_host *host,
                                           int64_t limit_ms);

/* Logs the worst step and stops measuring. NULL is allowed. */
void soc_step_watch_close(struct soc_step_watch *watch);

#endif

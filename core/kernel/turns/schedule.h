/* Schedule: runs turns and acts on how they end.
 *
 * ready.h decides who is next. An agent has at most one activation at a time. A turn
 * that returns or waits commits; one that raises is rolled back and retried after a
 * back-off, or its message becomes a dead letter, as the supervision policy decides.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_SCHEDULE_H
#define SOC_KERNEL_TURNS_SCHEDULE_H

#include <stdbool.h>

#include "base/slice.h"

struct soc_agent;
struct soc_host;

/* Ends the agent's activation, whose script can no longer repeat it, with `error`: its message
 * becomes a dead letter, and of `main` the run fails. Outside turns. */
void soc_schedule_park(struct soc_host *host, struct soc_agent *agent, struct soc_slice error);

/* Runs one turn of a ready agent; returns false if no agent had anything to run. */
bool soc_schedule_run(struct soc_host *host);

#endif

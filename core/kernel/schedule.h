/* Schedule: which agent runs next, and what becomes of its turn.
 *
 * One activation at a time per agent. For real, agents take turns in the order
 * they became ready; simulated, the seed picks among those that are.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_SCHEDULE_H
#define SOC_KERNEL_SCHEDULE_H

#include <stdbool.h>

#include "base/slice.h"
#include "store/values.h"

struct soc_agent;
struct soc_activation;
struct soc_host;

/* Has `agent` looked at: it may have mail or an answer. */
void soc_schedule_ready(struct soc_host *host, struct soc_agent *agent);

/* Looks at one ready agent and runs its turn; false if none is ready. */
bool soc_schedule_run(struct soc_host *host);

/* Ends an activation for good, whatever it does: its messages end with `outcome` and
 * `reason` (JSON). It must not be the one whose turn is under way. */
void soc_schedule_abandon(struct soc_host *host, struct soc_activation *activation,
                          enum soc_outcome outcome, struct soc_slice reason);

/* Begins the activation of `main` for the user's end. */
void soc_schedule_main(struct soc_host *host);

/* Frees an activation that is over; its messages must be gone. */
void soc_schedule_release(struct soc_host *host, struct soc_activation *activation);

/* Returns an activation for `agent`, from the pool. */
struct soc_activation *soc_schedule_new_activation(struct soc_host *host, struct soc_agent *agent);

#endif

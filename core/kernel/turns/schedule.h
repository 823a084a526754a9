/* Schedule: which agent runs next, and what becomes of its turn.
 *
 * One activation at a time per agent. For real, agents take turns in the order
 * they became ready; simulated, the seed picks among those that are.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_SCHEDULE_H
#define SOC_KERNEL_TURNS_SCHEDULE_H

#include <stdbool.h>

struct soc_host;

/* Looks at one ready agent and runs its turn; false if none is ready. */
bool soc_schedule_run(struct soc_host *host);

/* Begins the activation of `main` for the user's end. */
void soc_schedule_main(struct soc_host *host);

#endif

/* Agent looks: the operations about one agent and those around it.
 *
 * `agent` shows one, alive or ended, `tree` those below it, and `why` follows the chain of
 * waits from an agent to its end: a person, a model, a sleep, an agent that is paused, has
 * failed or lives outside, or silence.
 * Layer: kernel. Thread: any. */
#ifndef SOC_KERNEL_OPERATIONS_AGENT_LOOKS_H
#define SOC_KERNEL_OPERATIONS_AGENT_LOOKS_H

#include "kernel/operations/operation.h"

/* The list, terminated by a NULL name. */
extern const struct soc_operation soc_agent_looks[];

#endif

/* Handling: activations from their birth to their end.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_HANDLING_H
#define SOC_KERNEL_TURNS_HANDLING_H

#include "base/slice.h"
#include "store/values.h"

struct soc_activation;
struct soc_agent;
struct soc_host;

/* Returns an activation for `agent`, which has none, from the pool. */
struct soc_activation *soc_handling_new(struct soc_host *host, struct soc_agent *agent);

/* Frees an activation that is over; its messages must be gone. */
void soc_handling_release(struct soc_host *host, struct soc_activation *activation);

/* Ends one that does not wait: its messages with `outcome` and `reason` (JSON), its
 * record, itself. */
void soc_handling_end(struct soc_host *host, struct soc_activation *activation,
                      enum soc_outcome outcome, struct soc_slice reason);

/* The same for one that may wait. It must not be the one whose turn is under way. */
void soc_handling_abandon(struct soc_host *host, struct soc_activation *activation,
                          enum soc_outcome outcome, struct soc_slice reason);

#endif

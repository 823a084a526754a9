/* Handling: creates and ends activations.
 *
 * An activation is the handling of one message, or `main`. Its agent owns it.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_HANDLING_H
#define SOC_KERNEL_TURNS_HANDLING_H

#include "base/slice.h"
#include "store/values.h"

struct soc_activation;
struct soc_agent;
struct soc_host;

/* Gives `agent`, which has none, a new activation from the pool, and lends it. */
struct soc_activation *soc_handling_new(struct soc_host *host, struct soc_agent *agent);

/* Returns a finished activation to the pool; it must hold no messages. */
void soc_handling_release(struct soc_host *host, struct soc_activation *activation);

/* Ends an activation that does not wait: records its end, releases it and finishes its
 * messages with `outcome` and `reason` (JSON). */
void soc_handling_end(struct soc_host *host, struct soc_activation *activation,
                      enum soc_outcome outcome, struct soc_slice reason);

/* The same for an activation that may wait. Its turn must not be open. */
void soc_handling_abandon(struct soc_host *host, struct soc_activation *activation,
                          enum soc_outcome outcome, struct soc_slice reason);

#endif

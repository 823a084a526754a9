/* Waits: finds cycles in the graph of who waits for whom.
 *
 * The graph is not stored: the caller lends each agent's targets on demand. An agent
 * continues when all of its targets have done their part, so every cycle is a deadlock,
 * and a new cycle contains an agent whose targets have changed.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_WAITS_H
#define SOC_MODEL_WAITS_H

#include <stddef.h>

struct soc_agent;

/* Lends target number `index`, from 0, that `agent` waits for; NULL after the last. */
typedef struct soc_agent *soc_waits_target_cb(void *user, const struct soc_agent *agent,
                                              size_t index);

/* Finds a shortest cycle through `start` and returns its length, 0 if there is none.
 * The caller frees `*cycle`: `start` comes first, each agent waits for the next and the
 * last for the first. */
size_t soc_waits_find_cycle(struct soc_agent *start, struct soc_agent ***cycle,
                            soc_waits_target_cb *cb, void *user);

#endif

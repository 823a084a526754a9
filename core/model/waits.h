/* Waits: rings in the graph of who waits for whom.
 *
 * The graph is kept nowhere: whoever asks lends each agent's targets, as they follow
 * from what is so. An agent goes on when all of its targets have done their part, so
 * every ring is a deadlock, and a new one goes through an agent whose targets have
 * changed. A diamond is no ring, nor is a chain that ends in somebody who waits for
 * nobody.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_WAITS_H
#define SOC_MODEL_WAITS_H

#include <stddef.h>

struct soc_agent;

/* Lends target number `index`, from 0, of those that `agent` waits for; NULL behind
 * the last. */
typedef struct soc_agent *soc_waits_target_cb(void *user, const struct soc_agent *agent,
                                              size_t index);

/* Finds a shortest ring through `start`. Returns how many are in it, 0 if there is
 * none. `*ring` is then the caller's, to be freed: `start` first, each waits for the
 * next and the last for the first. */
size_t soc_waits_find_ring(struct soc_agent *start, struct soc_agent ***ring,
                           soc_waits_target_cb *cb, void *user);

#endif

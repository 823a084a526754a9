/* Outsiders: agents that live outside, played in a simulation by the seed.
 *
 * Each one acks what it is handed, first as received and then as processed, and answers
 * requests, all after a while. What a message has under `echo` in its payload it sends to
 * whoever wrote, as a message of its own, and says so again until that is durable. What a
 * plan of faults makes of it: messages are lost on the way, in either direction, come
 * twice, or late and so in another order, and agents fall silent for a minute. They do
 * not share the society's crashes.
 * Layer: sim. Thread: loop. */
#ifndef SOC_SIM_OUTSIDERS_H
#define SOC_SIM_OUTSIDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct soc_faults;
struct soc_host;
struct soc_outsiders;

/* Called with the agent and the message's key for every message that is handed out. */
typedef void soc_handed_cb(void *user, struct soc_slice agent, uint64_t key);

/* Returns outsiders whose chances come from `seed`. `faults` is lent; NULL: none. Release
 * with soc_outsiders_free(). */
struct soc_outsiders *soc_outsiders_new(uint64_t seed, struct soc_faults *faults, soc_handed_cb *cb,
                                        void *user);

/* Frees them. NULL is allowed. */
void soc_outsiders_free(struct soc_outsiders *outsiders);

/* Opens their door in a host that has started, also after a crash. */
void soc_outsiders_join(struct soc_outsiders *outsiders, struct soc_host *host);

/* When the next of them does something, ms; 0: none will. */
int64_t soc_outsiders_due(const struct soc_outsiders *outsiders);

/* Lets one of them do what is due; false if nothing is. */
bool soc_outsiders_act(struct soc_outsiders *outsiders, struct soc_host *host);

#endif

/* Hosts, rings: the second round of a deadlock across hosts, and its victim.
 *
 * A probe has met the wait it started from. Each wait along its way was there when it passed;
 * if each of them is still there now, all of them were there at once in between, and none of
 * them can end by itself:
 *
 *   1. The host where the probe ended sends the ring to the hosts it leads through, one after
 *      another. Each looks whether its waits are the same ones, by their numbers, and for the
 *      same agents; if not, the round ends there.
 *   2. The last of them is the host whose agent has the lowest address of the ring: whichever
 *      probe found it, the same host decides. It asks the policy `deadlock`, once for the ring.
 *      What the policy is told of the others is as their hosts said it: the order of the waits
 *      is that of their beginning by each host's own clock, then by address.
 *   3. The host of the victim looks once more and ends that wait.
 *
 * All hosts of a ring must be joined to each other.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HOSTS_HOSTS_RING_H
#define SOC_PARTS_HOSTS_HOSTS_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

struct soc_agent;
struct soc_host;

#define SOC_HOSTS_RING_MAX 64 /* waits in a ring */

/* Tells whether `hash` was noted before, and notes it. */
bool soc_hosts_has_seen(struct soc_host *host, uint64_t hash);

/* Tells whether `address` names the agent, of this host or elsewhere. */
bool soc_hosts_ring_names(const struct soc_host *host, struct soc_slice address,
                          const struct soc_agent *agent);

/* Appends the wait of an agent of this host for its target `index`. */
void soc_hosts_put_wait(const struct soc_host *host, const struct soc_agent *agent, size_t index,
                        struct soc_buf *out);

/* Confirms the part of a ring that is of this host, and sends it on or decides. `cycle` is a
 * list of waits, each for the agent of the next. `is_found`: by this host, just now. */
void soc_hosts_confirm_ring(struct soc_host *host, struct soc_slice cycle, bool is_found);

/* Ends the wait of the agent `id` of this host, if it is still the one of the ring. */
void soc_hosts_break_ring(struct soc_host *host, struct soc_slice id, struct soc_slice cycle);

#endif

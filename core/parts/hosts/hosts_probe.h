/* Hosts, probes: look for deadlocks that lead through other hosts.
 *
 * After Chandy, Misra and Haas. An agent goes on when all it waits for have done their part, so
 * a probe that comes back along waits has found a deadlock:
 *
 *   1. An agent has waited for one elsewhere for a second. Its host sends a probe there, and
 *      again with back-off until the wait ends.
 *   2. A host that takes a probe goes on from the agent it names, if that waits, and passes the
 *      probe on to where its waits leave the host. Each agent is looked at once for each probe.
 *      The probe carries the waits it has come along.
 *   3. An edge whose answer has left its sender is none. The host of the agent that is waited
 *      for decides that: an answer it has not handed over is still on its way, and one it has
 *      handed over has ended the wait. So the answer cannot be overtaken by the probe.
 *   4. Where the probe meets the wait it started from, there was a ring. Whether there is one,
 *      a second round says (hosts_ring.h).
 *
 * Nothing of it is stored: a probe that is lost is followed by another. The person, agents
 * outside and agents that wait for no agent end it. An agent elsewhere that is asked on behalf
 * of a broker elsewhere ends it as well.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HOSTS_HOSTS_PROBE_H
#define SOC_PARTS_HOSTS_HOSTS_PROBE_H

#include <stdint.h>

#include "base/slice.h"

struct soc_activation;
struct soc_agent;
struct soc_host;
struct soc_hosts_peer;
struct soc_hosts_probes;

/* Returns no probes. Release with soc_hosts_probes_free(). */
struct soc_hosts_probes *soc_hosts_probes_new(void);
void soc_hosts_probes_free(struct soc_hosts_probes *probes);

/* The agent may wait for others than before: watches it if one of them is elsewhere. */
void soc_hosts_probe_watch(struct soc_host *host, struct soc_agent *agent);

/* Its wait is over. */
void soc_hosts_probe_forget(struct soc_host *host, const struct soc_activation *activation,
                            struct soc_slice answer);

/* When the next probe leaves, 0: none does; and sends it. */
int64_t soc_hosts_probe_due(const struct soc_host *host);
void soc_hosts_probe_fire(struct soc_host *host);

/* A probe from the peer for the agent `id` of this host. */
void soc_hosts_take_probe(struct soc_host *host, struct soc_hosts_peer *peer, struct soc_slice id,
                          struct soc_slice payload);

#endif

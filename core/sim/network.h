/* Network: the carrier of simulated hosts (net/carrier.h), without a server.
 *
 * It keeps streams, cards and numbers as Redis would, in virtual time: what a host asks for
 * takes a delay drawn from the seed, each host's requests stay in order, and nothing happens
 * outside soc_network_step. The same seed and the same calls give the same events.
 *
 * Faults are calls: a host or all of them are cut off, everything is forgotten, or the newest
 * frames are, as when a lagging replica is promoted.
 * Layer: sim. Thread: loop. */
#ifndef SOC_SIM_NETWORK_H
#define SOC_SIM_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "net/carrier.h"

#define SOC_NETWORK_HOSTS_MAX 100

struct soc_network;

/* Returns an empty network at time 0. Release with soc_network_free. */
struct soc_network *soc_network_new(uint64_t seed);

/* Frees it; all carriers are closed before. NULL is allowed. */
void soc_network_free(struct soc_network *network);

/* Joins a host. `peers` are names, their numbers are their positions; all names are copied.
 * The first event comes with the next step. Release with soc_carrier_close. */
struct soc_carrier *soc_network_join(struct soc_network *network, const char *host,
                                     const char *const *peers, int peer_count,
                                     const struct soc_carrier_events *events);

/* Tells `watch` each frame as it leaves its host, before anything can happen to it. */
void soc_network_watch(struct soc_network *network,
                       void (*watch)(void *user, const char *from, const char *to,
                                     struct soc_slice bytes),
                       void *user);

/* Requests take up to this many ms from now on; 0 at first. */
void soc_network_delay(struct soc_network *network, int64_t delay_ms_max);

/* Cuts a host off, or joins it again; NULL: the server itself is down, for all hosts. What
 * was under way is lost, after it was done or before. */
void soc_network_cut(struct soc_network *network, const char *host, bool is_cut);

/* Forgets all streams, cards and numbers. Nobody is disconnected. */
void soc_network_flush(struct soc_network *network);

/* Forgets the newest frames, up to `frames_max` of each stream, and disconnects all hosts:
 * a replica that lagged behind is the server now. */
void soc_network_fail_over(struct soc_network *network, uint64_t frames_max);

/* Sets the carrier's own clock to differ from the virtual one by so much. */
void soc_network_skew(struct soc_network *network, int64_t skew_ms);

/* Does what is due at `now_ms`, which never falls, and reports it. Returns whether there was
 * anything. */
bool soc_network_step(struct soc_network *network, int64_t now_ms);

/* Returns when something is due next; -1: nothing is under way. */
int64_t soc_network_due(const struct soc_network *network);

/* Returns the number of frames that the stream holds. */
size_t soc_network_length(const struct soc_network *network, const char *from, const char *to);

#endif

/* Links: joins this host to others over a carrier.
 *
 * The part `hosts` keeps what is sent and taken, link.h has the rules, a carrier takes frames
 * from host to host; this door drives them:
 *
 *   1. At a start every link gets a new epoch, durable before anything else happens.
 *   2. The host claims its number, and claims it again whenever cards are exchanged: a carrier
 *      may forget. Somebody else having it stops all links (`number_taken`).
 *   3. Frames leave when what they hold is durable. What a frame brings and the state of its
 *      link are one batch, and it is acknowledged when that is durable.
 *   4. Every two seconds it shows a card and looks at those of the others, and at the carrier's
 *      clock, which all times of messages refer to.
 *
 * With a loop it has a timer of its own. Without one (simulation) the owner calls
 * soc_links_tick when soc_links_due says so, and after every step of the network.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_LINKS_LINKS_H
#define SOC_BRIDGE_LINKS_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "bridge/links/frame.h"
#include "net/carrier.h"

struct soc_host;
struct soc_links;
struct soc_loop;

/* Opens the carrier of a host; `events` are copied. NULL: `detail` says why. */
typedef struct soc_carrier *soc_links_carry(void *user, const char *host, const char *const *peers,
                                            int peer_count, const struct soc_carrier_events *events,
                                            struct soc_detail *detail);

/* What links are made of. Everything is copied, but the host, the loop and `user`. */
struct soc_links_options {
    struct soc_host *host; /* started */
    struct soc_loop *loop; /* NULL: simulated */
    const char *society;   /* the common name of the hosts */
    const char *name;      /* of this one */
    const char *const *peers;
    int peer_count;
    int number; /* of this host; -1: claim a free one */
    struct soc_slice keys[SOC_FRAME_KEYS_MAX];
    int key_count; /* 0: frames are not signed */
    soc_links_carry *carry;
    void *user; /* of `carry` */
};

/* Joins the hosts. SOC_EINVAL: `detail` says why not, and nothing is left. */
int soc_links_open(struct soc_links **out, const struct soc_links_options *options,
                   struct soc_detail *detail);

/* Leaves the others alone: nothing is sent or taken any more. Call it before the host is
 * freed. Frees it, after the host. NULL is allowed for both. */
void soc_links_stop(struct soc_links *links);
void soc_links_free(struct soc_links *links);

/* Simulation: sends what is due; and when it is to be called at the latest, in the host's
 * time. */
void soc_links_tick(struct soc_links *links);
int64_t soc_links_due(struct soc_links *links);

/* Tells whether something is under way to a peer that can be reached. */
bool soc_links_is_busy(const struct soc_links *links);

#endif

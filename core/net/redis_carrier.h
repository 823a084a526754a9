/* Redis carrier: frames as entries of Redis Streams.
 *
 * The stream from alpha to beta is `society:SOCIETY:{beta}:from:alpha`; all that beta reads is
 * in one slot of a cluster. An entry's id is the place of its frame, `epoch-frame`, so Redis
 * itself refuses to append a place twice. The entry has one field, `f`. Cards are in the hash
 * `society:SOCIETY:hosts`, by the names of hosts, and claimed numbers by `number:NN`.
 *
 * Two connections: one appends, one reads all streams with one XREAD. No consumer groups.
 * Layer: net. Thread: loop. */
#ifndef SOC_NET_REDIS_CARRIER_H
#define SOC_NET_REDIS_CARRIER_H

#include "base/err.h"
#include "loop/loop.h"
#include "net/carrier.h"

#define SOC_CARRIER_PEERS_MAX 99

/* Where it connects to, and for whom. Everything is copied. */
struct soc_redis_carrier_options {
    struct soc_slice url;      /* redis_address.h */
    struct soc_slice password; /* instead of that of the URL; absent: none */
    const char *society;       /* the common name of the hosts */
    const char *host;          /* the name of this one */
    const char *const *peers;  /* names; their numbers are their positions */
    int peer_count;
};

/* Starts to connect; nothing is reported before the loop runs again. NULL: the URL is
 * malformed, and `detail` says how. Release with soc_carrier_close, before the loop. */
struct soc_carrier *soc_redis_carrier_open(struct soc_loop *loop,
                                           const struct soc_redis_carrier_options *options,
                                           const struct soc_carrier_events *events,
                                           struct soc_detail *detail);

#endif

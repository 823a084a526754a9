/* Redis poll: reads what plain Redis clients wrote into lists and streams.
 *
 * One script at a time looks at the keys of some agents. It moves the entries of a list into
 * a stream of ours, so that they are in Redis until they are durable here, and hands out what
 * stands in streams behind the place that was taken last. The place is committed with what it
 * led to. The script also keeps the key `owner`, so that only one society reads, and `epoch`,
 * which tells a Redis that has forgotten everything: places are then worth nothing.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_REDIS_POLL_H
#define SOC_BRIDGE_REDIS_POLL_H

#include "bridge/redis/state.h"

/* Prepares reading, and frees all sources. */
void soc_redis_poll_open(struct soc_redis_door *door);
void soc_redis_poll_close(struct soc_redis_door *door);

/* Has the keys looked at now: the connection is there. */
void soc_redis_poll_start(struct soc_redis_door *door);

/* The epoch has changed: every place is taken from the journal, or is the start. */
void soc_redis_poll_load_places(struct soc_redis_door *door);

#endif

/* Redis status: the hash helix:agent:status, which shows clients how the agents are.
 *
 * A field for each agent, its load() as JSON, written when it has changed, at most once a
 * second, and once it is durable.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_REDIS_STATUS_H
#define SOC_BRIDGE_REDIS_STATUS_H

#include "bridge/redis/state.h"

/* Starts and ends it. */
void soc_redis_status_open(struct soc_redis_door *door);
void soc_redis_status_close(struct soc_redis_door *door);

/* Something may have changed. */
void soc_redis_status_note(struct soc_redis_door *door);

/* The hash is gone: everything is written again. */
void soc_redis_status_forget(struct soc_redis_door *door);

#endif

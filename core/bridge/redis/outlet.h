/* Redis outlet: what the society says to plain Redis clients.
 *
 * For each outside agent there is a queue of what it gets; one script at a time puts some of
 * it into Redis, in order, and remembers in a hash of ours what it has put. So a message is
 * pushed once, whatever breaks, until it is no longer pending and may be forgotten. Redis
 * that lost the hash has lost the message as well, and gets it again.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_REDIS_OUTLET_H
#define SOC_BRIDGE_REDIS_OUTLET_H

#include "bridge/redis/state.h"

/* Prepares the outlet for broadcasts and errors; frees it and all others. */
void soc_redis_outlet_open(struct soc_redis_door *door);
void soc_redis_outlet_close(struct soc_redis_door *door);

/* What the host calls (struct soc_door). */
bool soc_redis_outlet_deliver(void *user, const struct soc_handout *handout);
void soc_redis_outlet_tell(void *user, const struct soc_door_news *news);

/* Answers a request that failed: `error` is its JSON. */
void soc_redis_outlet_refuse(struct soc_redis_door *door, struct soc_slice correlation_id,
                             struct soc_slice error);

/* Sends on: the connection is there again, or what was wrong may be over. */
void soc_redis_outlet_send_all(struct soc_redis_door *door);

/* Redis has forgotten everything: what is pending goes out again. */
void soc_redis_outlet_start_over(struct soc_redis_door *door);

/* Tells whether everything was put into Redis. */
bool soc_redis_outlet_is_empty(const struct soc_redis_door *door);

/* Tells whether a text may be part of the key reply:TEXT. */
bool soc_redis_outlet_is_key(struct soc_slice text);

/* Lends the request handed out under that correlation id, or NULL; forgets it. */
const struct soc_redis_asked *soc_redis_outlet_find_asked(const struct soc_redis_door *door,
                                                          struct soc_slice correlation_id);
void soc_redis_outlet_forget_asked(struct soc_redis_door *door, struct soc_slice correlation_id);

#endif

/* Redis: Redis Streams as a yardstick for durable messages.
 *
 * Layer: bench. Thread: one. */
#ifndef REDIS_H
#define REDIS_H

#include <stdint.h>

/* Starts a Redis server of its own in `directory` with appendfsync always, and
 * returns how many messages of six fields it takes, hands to a consumer group and
 * sees acknowledged per second, in batches of 100 over pipelines. 0 if there is no
 * redis-server. */
double redis_messages_per_second(const char *directory, int64_t count);

#endif

/* Redis door: agents outside that live behind a Redis server, and any program that speaks
 * Redis. docs/redis.md is the protocol.
 *
 *     helix:queue:ID      list      mail, by LPUSH and RPOP
 *     agent:ID:inbox      stream    mail, and the channel of that name
 *     agent:ID:outbox     stream    what the outside agent ID says
 *     reply:CORRELATION   stream    the reply to a request, and the channel of that name
 *     broadcast:all       stream    what is for everybody, and the channel of that name
 *     helix:agent:status  hash      how each agent is
 *
 * What stands in Redis is taken once, whenever the society is killed; what Redis loses is
 * lost. A message for an outside agent stays pending here until Redis has it. While Redis is
 * away the society runs on.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_REDIS_DOOR_H
#define SOC_BRIDGE_REDIS_DOOR_H

#include "base/err.h"
#include "kernel/host.h"
#include "loop/loop.h"
#include "parts/outside/redis_settings.h"

struct soc_redis_door;

/* What it needs. Host, loop and settings are lent until it is freed; texts are copied. */
struct soc_redis_door_options {
    struct soc_host *host;
    struct soc_loop *loop;
    const struct soc_redis_settings *settings;
    const char *url;      /* instead of that of the settings; NULL: that one */
    const char *app_name; /* part of the names of keys of ours; NULL: society */
};

/* Opens the door after soc_host_start, and starts to connect. SOC_EINVAL with `detail`: no
 * URL, a malformed one, or a password that is not in the environment. Stop and free it. */
int soc_redis_door_open(struct soc_redis_door **out, const struct soc_redis_door_options *options,
                        struct soc_detail *detail);

/* Tells whether everything said so far was put into Redis, or Redis cannot be reached. */
bool soc_redis_door_is_done(const struct soc_redis_door *door);

/* Disconnects: nothing is taken or said any more. NULL is allowed, here and below. */
void soc_redis_door_stop(struct soc_redis_door *door);

/* Frees it, after the host and before the loop. */
void soc_redis_door_free(struct soc_redis_door *door);

#endif

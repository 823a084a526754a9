/* Redis intake: takes what plain Redis clients say.
 *
 * A message of an outbox is from the agent whose key it is. Elsewhere `from` counts if it
 * names an outside agent of this door; whoever names nobody speaks as the guest, if there is
 * one. What is refused is logged, and a request is answered with the error.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_REDIS_INTAKE_H
#define SOC_BRIDGE_REDIS_INTAKE_H

#include "bridge/redis/state.h"

/* Takes the entry `id` of a source: `text` is m and a message, or ! and why it is none. False:
 * it must be offered again later, and nothing behind it be taken. */
bool soc_redis_intake_take(struct soc_redis_source *source, struct soc_slice id,
                           struct soc_slice text);

/* Takes what was published: [pmessage, pattern, channel, text]. What cannot be taken now is
 * lost, as on any channel. */
void soc_redis_intake_hear(struct soc_redis_door *door, const struct soc_redis_reply *message);

#endif

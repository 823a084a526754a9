/* Broadcast: one message to everybody who was there when it was sent.
 *
 * It is kept once. An agent's cursor is the key of the last broadcast it has looked at;
 * those behind it are still to come. Readers that are settled out of that order, before
 * a restart, are noted apart. It is over when every reader is done with it.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_GROUP_BROADCAST_H
#define SOC_MODEL_GROUP_BROADCAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "model/agent.h"
#include "model/message.h"

/* A message to everybody who was there. */
struct soc_broadcast {
    struct soc_message *message; /* owned; without a receiver */
    uint64_t left;               /* readers that are not done with it */
    struct soc_map settled;      /* id -> agent: it is not, or no more, to come for these */
};

/* Returns a broadcast nobody reads yet. Takes `message`, which is freed by
 * whoever frees the broadcast. */
struct soc_broadcast *soc_broadcast_new(struct soc_message *message);

/* Frees it, not its message. NULL is allowed. */
void soc_broadcast_free(struct soc_broadcast *broadcast);

/* Tells whether it is still to come for `agent`. */
bool soc_broadcast_is_for(const struct soc_broadcast *broadcast, const struct soc_agent *agent);

/* Notes that it is not to come for `agent`. */
void soc_broadcast_settle(struct soc_broadcast *broadcast, struct soc_agent *agent);

/* One reader is done; true if it was the last. */
bool soc_broadcast_done(struct soc_broadcast *broadcast);

/* Returns what a copy of it for one reader is made of, lent by its message. */
struct soc_message_draft soc_broadcast_draft(const struct soc_broadcast *broadcast,
                                             struct soc_agent *reader);

#endif

/* Broadcast: one message to every agent that exists when it is sent.
 *
 * It is stored once. An agent's cursor is the key of the last broadcast it has seen;
 * later ones are still to come. Readers that were settled out of order before a restart
 * are listed separately. It is over when every reader is done.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_GROUP_BROADCAST_H
#define SOC_MODEL_GROUP_BROADCAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "model/agent.h"
#include "model/message.h"

/* One broadcast. */
struct soc_broadcast {
    struct soc_message *message; /* owned; without a receiver */
    uint64_t left;               /* readers that are not done */
    struct soc_map settled;      /* id -> agent: readers that no longer receive it */
};

/* Returns a broadcast without readers. Takes `message`; whoever frees the broadcast
 * frees the message. */
struct soc_broadcast *soc_broadcast_new(struct soc_message *message);

/* Frees it but not its message. NULL is allowed. */
void soc_broadcast_free(struct soc_broadcast *broadcast);

/* Returns true if `agent` has yet to receive it. */
bool soc_broadcast_is_for(const struct soc_broadcast *broadcast, const struct soc_agent *agent);

/* Records that `agent` does not receive it. */
void soc_broadcast_settle(struct soc_broadcast *broadcast, struct soc_agent *agent);

/* Counts a reader as done; returns true if it was the last. */
bool soc_broadcast_done(struct soc_broadcast *broadcast);

/* Returns the draft of a copy for one reader, lent by the message. */
struct soc_message_draft soc_broadcast_draft(const struct soc_broadcast *broadcast,
                                             struct soc_agent *reader);

#endif

/* Broadcasts: messages to all, stored once, read by each agent in its own time.
 *
 * The readers are all agents alive when it is sent, except the sender, agents that are
 * terminating and those with a full mailbox, which the receipt lists. When the sending
 * turn commits, all readers are scheduled; each gets a copy into its mailbox, in order,
 * when it next collects its mail. The journal holds one message and, per reader, that
 * it is done. For the conservation law of messages a broadcast counts once per reader.
 * A reader that fails leaves its own dead letter, addressed to it alone, so that it can
 * be sent again.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_GROUP_BROADCASTS_H
#define SOC_PARTS_GROUP_BROADCASTS_H

#include "base/buf.h"
#include "kernel/mail/send.h"
#include "model/group/broadcast.h"
#include "store/record.h"

struct soc_host;

/* Sets who may write to all by default besides root, user and the orchestrator: a JSON
 * list of ids, of agents that need not exist yet. */
void soc_broadcasts_set_heads(struct soc_host *host, struct soc_slice ids);

/* Tells whether the contacts policy lets an agent write to all. The refusal goes to
 * `error`, unless that is NULL. */
int soc_broadcasts_may_send(struct soc_host *host, struct soc_agent *from, struct soc_buf *error);

/* Tells whether `send` can go to all. */
int soc_broadcasts_check(struct soc_host *host, struct soc_agent *from, const struct soc_send *send,
                         struct soc_buf *error);

/* Opens the broadcast of a message without a receiver inside the sending turn, skipping
 * agents that are terminating or have a full mailbox. SOC_EMAILBOX with its object if
 * every reader's mailbox is full: the caller must roll the message back. */
int soc_broadcasts_open(struct soc_host *host, struct soc_message *message, struct soc_buf *error);

/* Appends the sender's receipt: a list of one { count, messageId, partialErrors? }, the
 * last for agents skipped because their mailbox is full. */
void soc_broadcasts_put_receipt(struct soc_host *host, const struct soc_message *message,
                                struct soc_buf *out);

/* The sending turn commits, or rolls back. The message then belongs to the broadcast,
 * or may be freed. */
void soc_broadcasts_accept(struct soc_host *host, struct soc_message *message);
void soc_broadcasts_take_back(struct soc_host *host, struct soc_message *message);

/* Delivers to the agent what was broadcast since it last collected. */
void soc_broadcasts_collect(struct soc_host *host, struct soc_agent *agent);

/* Tells whether `message` is a broadcast that the agent has yet to receive. */
bool soc_broadcasts_is_for(const struct soc_host *host, const struct soc_message *message,
                           const struct soc_agent *agent);

/* Returns the number of broadcasts the agent has yet to receive. */
uint64_t soc_broadcasts_unread(const struct soc_host *host, const struct soc_agent *agent);

/* Finishes a copy, as soc_router_finish does. Takes it. */
void soc_broadcasts_finish(struct soc_host *host, struct soc_message *copy,
                           enum soc_outcome outcome, struct soc_slice reason);

/* The broadcast has expired: readers that have not collected it get it now and let it
 * expire. */
void soc_broadcasts_expire(struct soc_host *host, struct soc_message *message);

/* Recovery: an open broadcast; a reader that is done or excluded; the end of a
 * broadcast. */
void soc_broadcasts_restore(struct soc_host *host, struct soc_message *message);
void soc_broadcasts_restore_end(struct soc_host *host, uint64_t key, struct soc_agent *agent);
bool soc_broadcasts_forget(struct soc_host *host, uint64_t key);

/* After loading: count the remaining readers; return the copy that an activation of
 * `agent` holds, NULL if there is none; schedule all other readers. */
void soc_broadcasts_count_left(struct soc_host *host);
struct soc_message *soc_broadcasts_hold(struct soc_host *host, uint64_t key,
                                        struct soc_agent *agent);
void soc_broadcasts_resume(struct soc_host *host);

/* Frees all broadcasts. */
void soc_broadcasts_free(struct soc_host *host);

#endif

/* Broadcasts: messages to all, kept once, read by each agent in its own time.
 *
 * The readers are all who live when it is sent, but the sender, those who are about to
 * end and those whose mailbox is full, of whom the sender is told. When the turn that sent it
 * commits, everybody is looked at; an agent gets a copy into its mailbox, in its order, when it
 * next looks for mail. What stands in the journal is one message and, per reader, that it is done.
 * For the law of messages a broadcast counts as one message per reader. A reader that fails leaves
 * a dead letter of its own, a message to it alone, so that it can be sent again. Layer: parts.
 * Thread: loop. */
#ifndef SOC_PARTS_GROUP_BROADCASTS_H
#define SOC_PARTS_GROUP_BROADCASTS_H

#include "base/buf.h"
#include "kernel/mail/send.h"
#include "model/broadcast.h"
#include "store/record.h"

struct soc_host;

/* Tells whether an agent may write to all, by the contacts policy. The refusal goes to
 * `error`, unless that is NULL. */
int soc_broadcasts_may_send(struct soc_host *host, struct soc_agent *from, struct soc_buf *error);

/* Tells whether `send` can go to all. */
int soc_broadcasts_check(struct soc_host *host, struct soc_agent *from, const struct soc_send *send,
                         struct soc_buf *error);

/* Opens the broadcast of a message without a receiver inside the turn that sends it. It
 * is not for those about to end, nor for those whose mailbox is full. SOC_EMAILBOX with
 * its object if all who would read it are: the turn is to be returned then. */
int soc_broadcasts_open(struct soc_host *host, struct soc_message *message, struct soc_buf *error);

/* Appends the answer to its sender: a list with { count, messageId, partialErrors? }, the
 * last for those who are not to get it because their mailbox is full. */
void soc_broadcasts_put_receipt(struct soc_host *host, const struct soc_message *message,
                                struct soc_buf *out);

/* That turn commits, or is taken back. The message is the broadcast's, or free to go. */
void soc_broadcasts_accept(struct soc_host *host, struct soc_message *message);
void soc_broadcasts_take_back(struct soc_host *host, struct soc_message *message);

/* Hands over to the agent what has come for it since it last looked. */
void soc_broadcasts_collect(struct soc_host *host, struct soc_agent *agent);

/* Tells whether `message` is a broadcast that is still to come for the agent. */
bool soc_broadcasts_is_for(const struct soc_host *host, const struct soc_message *message,
                           const struct soc_agent *agent);

/* Returns how many are still to come for the agent. */
uint64_t soc_broadcasts_unread(const struct soc_host *host, const struct soc_agent *agent);

/* A copy has come to its end, as soc_router_finish. Takes it. */
void soc_broadcasts_finish(struct soc_host *host, struct soc_message *copy,
                           enum soc_outcome outcome, struct soc_slice reason);

/* Its time to live is over: whoever has not looked gets it to let it expire. */
void soc_broadcasts_expire(struct soc_host *host, struct soc_message *message);

/* At a start: one that is not over, one reader that is done or none, the end. */
void soc_broadcasts_restore(struct soc_host *host, struct soc_message *message);
void soc_broadcasts_restore_end(struct soc_host *host, uint64_t key, struct soc_agent *agent);
bool soc_broadcasts_forget(struct soc_host *host, uint64_t key);

/* When all is loaded: counts the readers that are left, then returns the copy that an
 * activation of `agent` holds, NULL if there is none, then has all others looked at. */
void soc_broadcasts_count_left(struct soc_host *host);
struct soc_message *soc_broadcasts_hold(struct soc_host *host, uint64_t key,
                                        struct soc_agent *agent);
void soc_broadcasts_resume(struct soc_host *host);

/* Frees all of them. */
void soc_broadcasts_free(struct soc_host *host);

#endif

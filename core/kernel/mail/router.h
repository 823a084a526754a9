/* Router: the path of a message from its sender to its end.
 *
 * 1. soc_router_send checks and creates it inside a turn, which owns it.
 * 2. When the turn commits, soc_router_accept takes it: it goes to a waiter, a part,
 *    a timer (transit.h) or the receiver's mailbox.
 * 3. soc_router_finish records its outcome and frees it: a dead letter lives in the store.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_ROUTER_H
#define SOC_KERNEL_MAIL_ROUTER_H

#include "kernel/hooks.h"
#include "kernel/mail/send.h"
#include "model/message.h"
#include "store/record.h"

struct soc_host;
struct soc_record_message_again;

/* Sends as `from` (NULL: the host) inside the open turn.
 *
 * SOC_OK: the message is lent in `*out` and delivered when the turn commits. 1: a
 * duplicate by the sender's key; nothing has changed and `error` holds the original
 * receipt. An error: nothing has changed and `error` holds its object. */
int soc_router_send(struct soc_host *host, struct soc_agent *from, const struct soc_send *send,
                    struct soc_message **out, struct soc_buf *error);

/* Returns SOC_OK if `from` may write to `to`, or the error soc_router_send would give. */
int soc_router_may_send(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                        struct soc_buf *error);

/* Takes a message whose turn has committed and passes it on. Outside turns. */
void soc_router_accept(struct soc_host *host, struct soc_message *message);

/* Takes a message that is due: expires it, answers a request with it, or delivers it. */
void soc_router_deliver(struct soc_host *host, struct soc_message *message);

/* Delivers a message to its live receiver: out of the process, to its `receive`, or into
 * its mailbox. */
void soc_router_hand_over(struct soc_host *host, struct soc_message *message);

/* Gives a message for an outside agent to the part that delivers it; false if the
 * receiver lives inside. */
bool soc_router_hand_out(struct soc_host *host, struct soc_message *message);

/* The timer of a message has fired: it is due or has expired. */
void soc_router_timer(struct soc_host *host, struct soc_message *message);

/* Ends a message that is in no queue any more: counts, records and frees it. If it is
 * dead or expired, the store keeps it (dead.h). `reason` is JSON, absent if processed. */
void soc_router_finish(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                       struct soc_slice reason);

/* Makes an ended message pending again, as the record says. Live code and recovery both
 * use this. */
void soc_router_set_again(const struct soc_host *host, struct soc_message *message,
                          const struct soc_record_message_again *r);

/* Redelivers a message that ended with `message->outcome`, from `deliver_at_ms` on, with
 * `attempt` incremented. Takes it. */
void soc_router_again(struct soc_host *host, struct soc_message *message, int64_t deliver_at_ms);

/* Returns true if an open request or a part awaits the answer in `send`. */
bool soc_router_is_awaited(const struct soc_host *host, const struct soc_send *send);

#endif

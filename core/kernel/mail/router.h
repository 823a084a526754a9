/* Router: the way of a message, from whoever sends it to its receiver.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_ROUTER_H
#define SOC_KERNEL_MAIL_ROUTER_H

#include "kernel/hooks.h"
#include "kernel/mail/send.h"
#include "model/message.h"
#include "store/record.h"

struct soc_host;

/* Sends as `from` (NULL: the host) inside the open turn. SOC_OK and the message
 * lent in `*out`, delivered when the turn commits; or an error and its object in
 * `error`, and nothing has changed; or 1 if it was sent before, by a key of the
 * sender's: nothing has changed, and `error` has the receipt (duplicates.h). */
int soc_router_send(struct soc_host *host, struct soc_agent *from, const struct soc_send *send,
                    struct soc_message **out, struct soc_buf *error);

/* Tells whether `from` may write to `to`, as soc_router_send would. */
int soc_router_may_send(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                        struct soc_buf *error);

/* Takes a message whose turn has committed: to its waiter, mailbox or timer. */
void soc_router_accept(struct soc_host *host, struct soc_message *message);

/* Puts a message into its receiver's mailbox, or hands it to who receives. */
void soc_router_deliver(struct soc_host *host, struct soc_message *message);

/* The same for a message that nobody but its receiver can handle. */
void soc_router_hand_over(struct soc_host *host, struct soc_message *message);

/* Gives a message to the part that leads to its receiver, if that lives outside; false if
 * it does not. */
bool soc_router_hand_out(struct soc_host *host, struct soc_message *message);

/* The timer of a message has fired: it is due, or expired. */
void soc_router_timer(struct soc_host *host, struct soc_message *message);

/* Ends a message that stands nowhere any more: counts, records and frees it, or
 * keeps it as a dead letter. `reason` is JSON, absent if processed. */
void soc_router_finish(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                       struct soc_slice reason);

/* Has a message that ended, as `message->outcome` says, handled once more from
 * `deliver_at_ms` on, with `attempt` raised. Takes it. */
void soc_router_again(struct soc_host *host, struct soc_message *message, int64_t deliver_at_ms);

/* Tells whether the answer that `send` gives is awaited: by an open request, or by a part. */
bool soc_router_is_awaited(const struct soc_host *host, const struct soc_send *send);

#endif

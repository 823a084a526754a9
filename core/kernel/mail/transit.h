/* Transit: messages that were sent and are not due yet.
 *
 * Such a message is only in the timer heap, which fires when it is due or, if that is
 * sooner, when it expires. An agent that waits for a message in transit is not part of a
 * deadlock. So whenever a message leaves transit, its receiver must be checked again;
 * soc_transit_remove, the only way out, does that.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_TRANSIT_H
#define SOC_KERNEL_MAIL_TRANSIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "model/mailbox.h"

struct soc_agent;
struct soc_host;
struct soc_message;

/* Puts a message that is in no queue into transit. Takes it. */
void soc_transit_add(struct soc_host *host, struct soc_message *message);

/* Takes it out of transit, for whatever reason; the caller owns it. */
void soc_transit_remove(struct soc_host *host, struct soc_message *message);

/* Returns true if the message is in transit. */
bool soc_transit_has(const struct soc_message *message);

/* Removes all messages in transit to an agent that has ended, oldest first; the caller
 * owns what is appended to `out`. */
void soc_transit_take_all(struct soc_host *host, struct soc_agent *to,
                          struct soc_message_list *out);

/* Lends the next message that is in transit and will arrive, and advances `*cursor` (start at 0);
 * NULL after the last. They are in no order. */
const struct soc_message *soc_transit_each(const struct soc_host *host, size_t *cursor);

/* Returns true if a matching message for `to` is in transit. */
bool soc_transit_brings(const struct soc_host *host, const struct soc_agent *to,
                        struct soc_mail_filter filter);

/* Returns true if an answer to message `key` is in transit: a reply, or the message itself
 * if the host may answer on behalf of its receiver. */
bool soc_transit_answers(const struct soc_host *host, uint64_t key);

/* Returns true if a reply to it is in transit, which arrives even if its sender ends. */
bool soc_transit_replies(const struct soc_host *host, uint64_t key);

#endif

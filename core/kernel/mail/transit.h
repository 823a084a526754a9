/* Transit: mail that was sent and is not due yet.
 *
 * Such a message stands in the heap of timers alone, until it is due, or until its time
 * to live is over if that is sooner. Whoever waits for mail that is on its way is in no
 * ring, so whatever takes a message off the way has its receiver looked at again: there
 * is no other way to take it off than by soc_transit_remove.
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

/* Puts a message, which stands nowhere, on its way. */
void soc_transit_add(struct soc_host *host, struct soc_message *message);

/* Takes it off, for whatever reason. */
void soc_transit_remove(struct soc_host *host, struct soc_message *message);

/* Tells whether the message is on its way. */
bool soc_transit_has(const struct soc_message *message);

/* Takes all mail for an agent that has ended off its way, oldest first; the caller owns
 * what is appended to `out`. */
void soc_transit_take_all(struct soc_host *host, struct soc_agent *to,
                          struct soc_message_list *out);

/* Tells whether mail for `to` that fits is on its way. */
bool soc_transit_brings(const struct soc_host *host, const struct soc_agent *to,
                        struct soc_mail_filter filter);

/* Tells whether an answer to message `key` is on its way: a reply, or the message itself
 * where the host may answer for its receiver. */
bool soc_transit_answers(const struct soc_host *host, uint64_t key);

/* Tells whether a reply to it is: one that will arrive whatever becomes of its sender. */
bool soc_transit_replies(const struct soc_host *host, uint64_t key);

#endif

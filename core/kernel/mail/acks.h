/* Acks: senders that wait until what they sent is received or processed.
 *
 * A message to an agent inside is received when it reaches the mailbox and processed when the
 * activation that handled it commits; an outside agent says so itself. A wait that cannot end
 * well any more ends with an error. host->acks owns the waits, by message key.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_ACKS_H
#define SOC_KERNEL_MAIL_ACKS_H

#include "kernel/mail/requests.h"
#include "model/delivery/ack.h"
#include "store/values.h"

/* Checks that the ack can come: SOC_ERECEIVER with its object in `error` if `to` has failed and
 * will process nothing. NULL: no such agent, which the router refuses. */
int soc_acks_check(const struct soc_agent *to, enum soc_ack ack, struct soc_buf *error);

/* Waits for an ack of `message`, sent in the open turn, on behalf of a caller outside of turns.
 * `cb` is called once with a list with the receipt, or an error object; not after
 * soc_acks_close(). */
void soc_acks_open(struct soc_host *host, const struct soc_message *message, enum soc_ack ack,
                   soc_reply_cb *cb, void *user);

/* Ends such a wait with the error `timeout`, if it is still open. */
void soc_acks_time_out(struct soc_host *host, uint64_t key, int64_t timeout_ms);

/* Returns true if somebody waits for an ack of the message with that key. */
bool soc_acks_awaits(const struct soc_host *host, uint64_t key);

/* The message has reached that state: ends the wait for it, if there is one. */
void soc_acks_note(struct soc_host *host, const struct soc_message *message, enum soc_ack ack);

/* The message will not be processed: ends the wait with an error. `reason` is JSON or absent. */
void soc_acks_fail(struct soc_host *host, const struct soc_message *message,
                   enum soc_outcome outcome, struct soc_slice reason);

/* The same for a message that another host has, by its key here. */
void soc_acks_note_key(struct soc_host *host, uint64_t key, enum soc_ack ack);
void soc_acks_fail_key(struct soc_host *host, uint64_t key, enum soc_outcome outcome,
                       struct soc_slice reason);

/* Lends the receiver of the message with that key if somebody waits for an ack of it; else NULL. */
const struct soc_agent *soc_acks_receiver(const struct soc_host *host, uint64_t key);

/* Another host has refused the message with that key: ends the wait with its error object. False:
 * nobody waits. */
bool soc_acks_refuse_key(struct soc_host *host, uint64_t key, struct soc_slice error);

/* The agent has failed: ends the waits for messages that it has not processed. */
void soc_acks_fail_all(struct soc_host *host, const struct soc_agent *agent);

/* Recovery: ends the wait of `activation` for `message` (NULL: it is not pending) if that was due
 * while the society was down. */
void soc_acks_catch_up(struct soc_host *host, const struct soc_activation *activation,
                       const struct soc_message *message);

/* Frees all waits. */
void soc_acks_fini(struct soc_host *host);

/* How an activation waits for an ack. */
extern const struct soc_wait_ops soc_acks_wait_ops;

#endif

/* Recover: a host as it was, from the records of its store.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_RECOVER_H
#define SOC_KERNEL_RECOVER_H

#include "base/buf.h"
#include "base/err.h"
#include "model/message.h"
#include "store/record.h"

struct soc_host;

/* Applies every record of the store to the empty host, then takes up what was
 * under way: mail into mailboxes, waits with their timers, outputs to be shown.
 * `*app` becomes the name the state was made for, the caller's; empty: new. */
int soc_recover(struct soc_host *host, struct soc_buf *app, struct soc_detail *detail);

/* Returns the message that a record describes; for the part that keeps it. */
struct soc_message *soc_recover_message(struct soc_host *host, const struct soc_record_message *r);

/* During a start: lends the pending message of that key, as far as is read, or NULL. */
struct soc_message *soc_recover_pending(const struct soc_host *host, uint64_t key);

#endif

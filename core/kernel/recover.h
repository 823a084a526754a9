/* Recover: rebuilds a host from the records of its store.
 *
 * 1. Every record is applied to the empty host, first by the kernel, then by the
 *    parts (`restore`).
 * 2. Each pending message goes back to its holder: an activation, a part, a timer or
 *    a mailbox.
 * 3. Activations resume: ready ones are scheduled, waiting ones get their timers.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_RECOVER_H
#define SOC_KERNEL_RECOVER_H

#include "base/buf.h"
#include "base/err.h"
#include "model/message.h"
#include "store/record.h"

struct soc_host;

/* Loads the store into the empty host. `*app` becomes the app that the state belongs
 * to, owned by the caller; empty for a new state. SOC_ECORRUPT and errors of the
 * store, with `detail`. */
int soc_recover(struct soc_host *host, struct soc_buf *app, struct soc_detail *detail);

/* Returns the message that a record describes; the caller owns it. For parts. */
struct soc_message *soc_recover_message(struct soc_host *host, const struct soc_record_message *r);

/* During recovery only: lends the pending message of that key read so far, or NULL. */
struct soc_message *soc_recover_pending(const struct soc_host *host, uint64_t key);

#endif

/* Duplicates: a message that was sent under a key of the sender's is not sent again.
 *
 * (sender, external_id) and (sender, dedupe_key) are remembered for the society's
 * window, in the batch that holds the message: a crash forgets both or neither, and a
 * turn that is taken back takes its keys with it. Messages without such keys pass by.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_DUPLICATES_DUPLICATES_H
#define SOC_PARTS_DUPLICATES_DUPLICATES_H

#include "base/buf.h"
#include "kernel/mail/send.h"

struct soc_host;

/* Appends the receipt of the message that was sent under a key of `send` to `receipt`,
 * which is emptied first: a list with { duplicate = true, messageId }. False if there
 * is none, or `send` has no key. */
bool soc_duplicates_find(struct soc_host *host, const struct soc_agent *from,
                         const struct soc_send *send, struct soc_buf *receipt);

/* Sets how long keys are remembered. */
void soc_duplicates_set_window(struct soc_host *host, int64_t window_ms);

#endif

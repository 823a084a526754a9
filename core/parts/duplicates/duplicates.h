/* Duplicates: a message is sent only once per key of its sender.
 *
 * (sender, external_id) and (sender, dedupe_key) are remembered for the society's
 * window, in the batch that holds the message: a crash keeps both or neither, and a
 * rolled-back turn takes its keys with it. Messages without keys are not affected.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_DUPLICATES_DUPLICATES_H
#define SOC_PARTS_DUPLICATES_DUPLICATES_H

#include "base/buf.h"
#include "kernel/mail/send.h"

struct soc_host;

/* Tells whether a message was already sent under one of the keys of `send`. If so,
 * replaces the contents of `receipt` with its receipt: a list of one { duplicate =
 * true, messageId }. */
bool soc_duplicates_find(struct soc_host *host, const struct soc_agent *from,
                         const struct soc_send *send, struct soc_buf *receipt);

/* Records the event `duplicate` about such a receipt. The part does so in the sender's turn;
 * this is for whoever rolls that back. */
void soc_duplicates_trace(struct soc_host *host, const struct soc_agent *from,
                          struct soc_slice receipt);

/* Sets how long keys are remembered, those of callers included. */
void soc_duplicates_set_window(struct soc_host *host, int64_t window_ms);

#endif

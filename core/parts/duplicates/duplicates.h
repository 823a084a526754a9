/* Duplicates: a message that was sent under a key of the sender's is not sent again.
 *
 * (sender, external_id) and (sender, dedupe_key) are remembered for the society's
 * window, in the batch that holds the message: a crash forgets both or neither, and a
 * turn that is taken back takes its keys with it. Messages without such keys pass by.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_DUPLICATES_DUPLICATES_H
#define SOC_PARTS_DUPLICATES_DUPLICATES_H

#include "base/buf.h"
#include "kernel/router.h"
#include "store/record.h"

/* Tells whether the sender gave a key to know the message by. */
static inline bool soc_duplicates_has_key(const struct soc_send *send)
{
    return send->texts[SOC_TEXT_EXTERNAL_ID].data != NULL ||
           send->texts[SOC_TEXT_DEDUPE_KEY].data != NULL;
}

/* Appends the receipt of the message that was sent under a key of `send` to `receipt`,
 * which is emptied first: a list with { duplicate = true, messageId }. False if there
 * is none. */
bool soc_duplicates_find(struct soc_host *host, const struct soc_agent *from,
                         const struct soc_send *send, struct soc_buf *receipt);

/* Makes that receipt, for whoever cannot do with one, an error object: `duplicate`, with
 * the id of the first message. Returns SOC_EEXISTS. */
int soc_duplicates_refuse(struct soc_buf *receipt);

/* Remembers the keys of a message sent in the open turn. */
void soc_duplicates_note(struct soc_host *host, const struct soc_send *send,
                         const struct soc_message *message);

/* At a start: a key that is remembered, and up to when they are forgotten. */
void soc_duplicates_restore(struct soc_host *host, const struct soc_record_sent_key *record);
void soc_duplicates_restore_end(struct soc_host *host, const struct soc_record_sent_keys_end *r);

/* Sets how long keys are remembered. */
void soc_duplicates_set_window(struct soc_host *host, int64_t window_ms);

#endif

/* Envelope: the external forms of a message, for scripts, doors and the journal.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_ENVELOPE_H
#define SOC_KERNEL_MAIL_ENVELOPE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/limits.h"
#include "model/message.h"
#include "store/record.h"

/* Appends the message as the JSON object of SPEC §2, members in the order of the field
 * table (model/message_fields.h), which is alphabetical. */
void soc_envelope_put_json(struct soc_buf *out, const struct soc_message *message);

/* The same with the fields that only scripts see, such as `wants_reply`. */
void soc_envelope_put_script_json(struct soc_buf *out, const struct soc_message *message);

/* Fills a record; its texts are lent by the message. */
void soc_envelope_record(struct soc_record *record, const struct soc_message *message);

/* Appends the receipt for the sender of a message: a list with one object, its id. */
void soc_envelope_put_receipt(struct soc_buf *out, uint64_t key, int64_t time_ms);

/* Lends the receiver: an agent's id, or `All`. */
struct soc_slice soc_receiver_id(const struct soc_message *message);

/* Formats the message's id: of one from another host, the one that it has there. */
void soc_envelope_id(char out[SOC_MESSAGE_ID_BYTES], const struct soc_message *message);

/* Returns the key that the message's id names: of one from another host, the key it has there. */
uint64_t soc_envelope_key(const struct soc_message *message);

/* Tells whether `id` is that of the message. One from another host has two: that id, and one
 * of this host, by which its stored key is found. */
bool soc_envelope_is_id(struct soc_slice id, const struct soc_message *message);

/* Lends the correlation id of the message's chain: its own field, or the id of the
 * message if it started the chain, formatted into `id`. Absent for NULL. */
struct soc_slice soc_envelope_chain(const struct soc_message *message,
                                    char id[SOC_MESSAGE_ID_BYTES]);

#endif

/* Ack: what an outside agent reports about a message it received.
 *
 * There are two forms: {"ack_for":ID,"status":S,…} on the wire and
 * {"msg_id":ID,"status":S,"at":TIME} in a log. The id is ours or the sender's own.
 * Layer: model. Thread: any. */
#ifndef SOC_MODEL_DELIVERY_ACK_H
#define SOC_MODEL_DELIVERY_ACK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

/* The status in an ack. */
enum soc_ack {
    SOC_ACK_NONE,
    SOC_ACK_RECEIVED,  /* it has the message; stop resending */
    SOC_ACK_PROCESSED, /* it has finished with the message */
};

/* Parse the name of a status (SOC_ACK_NONE if unknown), and lend it. */
enum soc_ack soc_ack_parse(struct soc_slice text);
const char *soc_ack_name(enum soc_ack ack);

/* Reads an ack, valid JSON, in either form. Appends the id of the message to `id` and
 * the speaker, if given, to `from` (NULL: ignored). SOC_ACK_NONE if it is not an ack;
 * `*reason` then says why. */
enum soc_ack soc_ack_read(struct soc_slice json, struct soc_buf *id, struct soc_buf *from,
                          const char **reason);

#endif

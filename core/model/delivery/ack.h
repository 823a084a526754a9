/* Ack: what an agent that lives outside says of a message it was handed.
 *
 * Two forms are read: of the wire {"ack_for":ID,"status":S,…} and of a log
 * {"msg_id":ID,"status":S,"at":TIME}. An id may be ours or the sender's own.
 * Layer: model. Thread: any. */
#ifndef SOC_MODEL_DELIVERY_ACK_H
#define SOC_MODEL_DELIVERY_ACK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

/* What an ack says. */
enum soc_ack {
    SOC_ACK_NONE,
    SOC_ACK_RECEIVED,  /* it has the message: nobody has to repeat it */
    SOC_ACK_PROCESSED, /* it is done with the message */
};

/* Reads one of both names, SOC_ACK_NONE if it is neither; and lends the name. */
enum soc_ack soc_ack_parse(struct soc_slice text);
const char *soc_ack_name(enum soc_ack ack);

/* Reads an ack, valid JSON, in either form. Appends the id of the message to `id` and,
 * if it says who speaks, that to `from` (NULL: of no interest). SOC_ACK_NONE if it is
 * none; `*reason` then says why. */
enum soc_ack soc_ack_read(struct soc_slice json, struct soc_buf *id, struct soc_buf *from,
                          const char **reason);

#endif

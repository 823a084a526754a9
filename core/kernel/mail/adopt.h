/* Adopt: what a payload says that belongs to the envelope; the envelope wins.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_ADOPT_H
#define SOC_KERNEL_MAIL_ADOPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/slice.h"
#include "model/message.h"

/* What a payload said of its envelope. */
struct soc_adopted {
    struct soc_slice type;
    bool has_bad_type; /* it is no name, or said twice and differently */
    struct soc_slice task_id;
    int64_t deadline_ms;
    enum soc_priority priority;
    bool has_priority;
    /* For texts that are escaped in the payload; one byte more than fits an id. */
    char type_room[SOC_TYPE_BYTES_MAX + 1];
    char task_room[SOC_ID_BYTES_MAX + 1];
};

/* Reads it out of a payload (JSON). */
void soc_adopt(struct soc_adopted *adopted, struct soc_slice payload);

/* Settles the type: the one given in the envelope, the payload's, or general. They must
 * not differ: SOC_EBADMESSAGE with its object in `error`. */
int soc_adopt_type(struct soc_slice given, const struct soc_adopted *adopted,
                   struct soc_slice *type, struct soc_buf *error);

#endif

/* Adopt: envelope fields found inside a payload.
 *
 * Models and foreign programs often put type, task, priority or deadline into the
 * payload. Those fields are adopted where the envelope has none; the envelope wins.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_ADOPT_H
#define SOC_KERNEL_MAIL_ADOPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/slice.h"
#include "model/message.h"

/* Envelope fields of a payload. Slices are lent by the payload. */
struct soc_adopted {
    struct soc_slice type;
    bool has_bad_type; /* not a name, or given twice with different values */
    struct soc_slice task_id;
    struct soc_slice introduction; /* the value of self_introduction, JSON */
    int64_t deadline_ms;
    enum soc_priority priority;
    bool has_priority;
    bool is_brief_priority; /* of a Task Brief in the payload */
    /* For texts that are escaped in the payload; one byte more than fits an id. */
    char type_room[SOC_TYPE_BYTES_MAX + 1];
    char task_room[SOC_ID_BYTES_MAX + 1];
};

/* Reads them from a payload, valid JSON. */
void soc_adopt(struct soc_adopted *adopted, struct soc_slice payload);

/* Determines the type: that of the envelope (`given`), of the payload, or `general`.
 * SOC_EBADMESSAGE with its object in `error` if it is invalid or the two differ. */
int soc_adopt_type(struct soc_slice given, const struct soc_adopted *adopted,
                   struct soc_slice *type, struct soc_buf *error);

#endif

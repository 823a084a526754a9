/* Parcel: what passes between the host and a worker, a length and that many bytes.
 *
 * The host reads without waiting and takes nothing for granted: one that is empty or too
 * long is refused before its bytes come.
 * Layer: worker. Thread: one. */
#ifndef SOC_WORKER_PARCEL_H
#define SOC_WORKER_PARCEL_H

#include <stdbool.h>

#include "base/buf.h"

/* Bytes before the content. */
#define SOC_PARCEL_HEAD_BYTES 4

/* Appends a frame with that content, of 1 to SOC_WORKER_TOLD_BYTES_MAX bytes. */
void soc_parcel_put(struct soc_buf *out, struct soc_slice content);

/* What has come of a frame. */
enum soc_parcel_state {
    SOC_PARCEL_PART,  /* more must come */
    SOC_PARCEL_WHOLE, /* `content` is lent */
    SOC_PARCEL_WRONG, /* no frame begins so, or something follows it */
};

/* Looks at what came so far, for a stream of exactly one frame, of at most
 * SOC_WORKER_FRAME_BYTES_MAX bytes. */
enum soc_parcel_state soc_parcel_look(const struct soc_buf *in, struct soc_slice *content);

/* For workers, which wait: writes a frame, and reads the content of one. */
bool soc_parcel_write(int fd, struct soc_slice content);
bool soc_parcel_read(int fd, struct soc_buf *content);

#endif

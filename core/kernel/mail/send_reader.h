/* Send reader: a JSON object as what a sender says, for every door.
 *
 * Members that are no field there are ignored, and null is as if nothing was said.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_SEND_READER_H
#define SOC_KERNEL_MAIL_SEND_READER_H

#include "base/buf.h"
#include "kernel/mail/said.h"

/* Where the texts of what was read are. Zero it first; end it with
 * soc_send_reader_fini. */
struct soc_send_reader {
    struct soc_buf texts;     /* unescaped, with room for all: it never moves */
    struct soc_buf receivers; /* struct soc_slice each */
};

/* Reads `object`, valid JSON, in a context (enum soc_say bits). `said` lends from the
 * object and the reader. SOC_EINVAL and SOC_ENOPAYLOAD with `fault`, whose field is NULL
 * for a missing payload. */
int soc_send_reader_read(struct soc_send_reader *reader, struct soc_slice object, unsigned context,
                         struct soc_said *said, struct soc_said_fault *fault);

/* Writes the error object for what could not be read; returns `code`. */
int soc_send_reader_refuse(struct soc_buf *out, int code, const struct soc_said_fault *fault);

/* Lets go of the texts. */
void soc_send_reader_fini(struct soc_send_reader *reader);

#endif

/* Send reader: reads the fields of a message from a JSON object, for every door.
 *
 * Members that are not fields in the given context are ignored; null means absent.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_SEND_READER_H
#define SOC_KERNEL_MAIL_SEND_READER_H

#include "base/buf.h"
#include "kernel/mail/send_input.h"

/* Owns the texts that were read. Zero it first; release with soc_send_reader_fini. */
struct soc_send_reader {
    struct soc_buf texts;     /* unescaped; reserved up front, so it never moves */
    struct soc_buf receivers; /* struct soc_slice each */
};

/* Reads `object`, valid JSON, in a context (enum soc_send_context bits). The texts in `input` are
 * lent by the object and the reader. SOC_EINVAL, or SOC_ENOPAYLOAD with a NULL field in
 * `fault`. */
int soc_send_reader_read(struct soc_send_reader *reader, struct soc_slice object, unsigned context,
                         struct soc_send_input *input, struct soc_send_input_fault *fault);

/* Writes the error object of a failed read; returns `code`. */
int soc_send_reader_refuse(struct soc_buf *out, int code, const struct soc_send_input_fault *fault);

/* Frees the texts. */
void soc_send_reader_fini(struct soc_send_reader *reader);

#endif

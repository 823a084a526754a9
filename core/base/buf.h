/* Buf: a growing array of bytes.
 *
 * An all-zero struct is an empty buffer. Layer: base. Thread: any, one at a time. */
#ifndef SOC_BASE_BUF_H
#define SOC_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

/* A growing array of bytes. */
struct soc_buf {
    char *data;      /* owned; NULL until something is written */
    size_t length;   /* bytes in use */
    size_t capacity; /* bytes allocated */
};

/* Frees the bytes and leaves an empty buffer. */
void soc_buf_fini(struct soc_buf *buf);

/* Reserves `extra` more bytes and returns their address. The caller adds what it wrote to
 * `length`. */
char *soc_buf_reserve(struct soc_buf *buf, size_t extra);

/* Appends `length` bytes. */
void soc_buf_put(struct soc_buf *buf, const void *data, size_t length);

/* Appends a slice. */
void soc_buf_put_slice(struct soc_buf *buf, struct soc_slice slice);

/* Appends one byte. */
void soc_buf_put_byte(struct soc_buf *buf, char byte);

/* Appends a NUL-terminated text, without the NUL. */
void soc_buf_put_text(struct soc_buf *buf, const char *text);

/* Appends as printf() does. */
void soc_buf_printf(struct soc_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Lends the contents until the next write. */
struct soc_slice soc_buf_slice(const struct soc_buf *buf);

/* Lends the contents as a NUL-terminated text until the next write. */
const char *soc_buf_text(struct soc_buf *buf);

#endif

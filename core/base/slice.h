/* Slice: a borrowed range of bytes. It owns nothing and is not NUL-terminated.
 *
 * `data == NULL` means «absent», which differs from present and empty.
 * Layer: base. Thread: any. */
#ifndef SOC_BASE_SLICE_H
#define SOC_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* An address and a length. */
struct soc_slice {
    const char *data;
    size_t length;
};

/* A slice of a string literal. */
#define SOC_SLICE(literal) ((struct soc_slice){(literal), sizeof(literal) - 1})

/* Lends `length` bytes at `data`. */
static inline struct soc_slice soc_slice(const char *data, size_t length)
{
    return (struct soc_slice){data, length};
}

/* Lends a NUL-terminated text; NULL gives an absent slice. */
static inline struct soc_slice soc_slice_text(const char *text)
{
    return (struct soc_slice){text, text == NULL ? 0 : strlen(text)};
}

/* Lends the start of a text, at most `bytes_max` bytes, without splitting a UTF-8
 * sequence. */
static inline struct soc_slice soc_slice_cut(struct soc_slice text, size_t bytes_max)
{
    if (text.length <= bytes_max)
        return text;
    while (bytes_max > 0 && ((unsigned char)text.data[bytes_max] & 0xC0) == 0x80)
        bytes_max--;
    return soc_slice(text.data, bytes_max);
}

/* Tells whether both hold the same bytes. Absent equals absent or empty. */
static inline bool soc_slice_equal(struct soc_slice a, struct soc_slice b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

#endif

#include "store/record.h"

#include <assert.h>

#include "base/err.h"

#define VARINT_BYTES_MAX 10

static size_t varint_size(uint64_t number)
{
    return (size_t)(70 - __builtin_clzll(number | 1)) / 7;
}

static char *write_varint(char *at, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *at++ = (char)(number | 0x80);
    *at++ = (char)number;
    return at;
}

/* Reads a number of any length. Not inlined, because nearly all take one byte. */
static __attribute__((noinline)) const char *read_long_varint(const char *at, const char *end,
                                                              uint64_t *number)
{
    uint64_t result = 0;
    for (unsigned shift = 0; at < end && shift < 7 * VARINT_BYTES_MAX; shift += 7) {
        uint64_t byte = (unsigned char)*at++;
        if (shift == 63 && byte > 1)
            return NULL;
        result |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *number = result;
            return at;
        }
    }
    return NULL;
}

/* Returns the address after the number, or NULL if it is not complete before `end`. */
static inline const char *read_varint(const char *at, const char *end, uint64_t *number)
{
    if (at < end && (unsigned char)*at < 0x80) {
        *number = (unsigned char)*at;
        return at + 1;
    }
    return read_long_varint(at, end, number);
}

static char *write_text(char *at, const struct soc_slice *text)
{
    at = write_varint(at, text->length);
    memcpy(at, text->data, text->length);
    return at + text->length;
}

/* For each record type, a function that returns the mask of its present fields and adds
 * their size to `*size`, and one that writes them. Both are unrolled field by field
 * because every message takes several records. */
#define MEASURE_NUMBER(field)                                                                      \
    if (from->field != 0) {                                                                        \
        mask |= bit;                                                                               \
        *size += varint_size(from->field);                                                         \
    }                                                                                              \
    bit <<= 1;
#define MEASURE_TEXT(field)                                                                        \
    if (from->field.data != NULL) {                                                                \
        mask |= bit;                                                                               \
        *size += varint_size(from->field.length) + from->field.length;                             \
    }                                                                                              \
    bit <<= 1;
#define WRITE_NUMBER(field)                                                                        \
    if (from->field != 0)                                                                          \
        at = write_varint(at, from->field);
#define WRITE_TEXT(field)                                                                          \
    if (from->field.data != NULL)                                                                  \
        at = write_text(at, &from->field);
#define R(tag, name, value)                                                                        \
    static uint64_t measure_##name(const struct soc_record_##name *from, size_t *size)             \
    {                                                                                              \
        uint64_t mask = 0;                                                                         \
        uint64_t bit = 1;                                                                          \
        SOC_##tag##_FIELDS(MEASURE_NUMBER, MEASURE_TEXT)(void) bit;                                \
        return mask;                                                                               \
    }                                                                                              \
    static char *write_##name(char *at, const struct soc_record_##name *from)                      \
    {                                                                                              \
        SOC_##tag##_FIELDS(WRITE_NUMBER, WRITE_TEXT) return at;                                    \
    }
SOC_RECORD_MAP(R)
#undef R

static uint64_t measure(const struct soc_record *record, size_t *size)
{
    switch (record->type) {
#define R(tag, name, value)                                                                        \
    case value:                                                                                    \
        return measure_##name(&record->name, size);
        SOC_RECORD_MAP(R)
#undef R
    }
    assert(false); /* every known type returns above */
    return 0;
}

static char *write_fields(char *at, const struct soc_record *record)
{
    switch (record->type) {
#define R(tag, name, value)                                                                        \
    case value:                                                                                    \
        return write_##name(at, &record->name);
        SOC_RECORD_MAP(R)
#undef R
    }
    return at;
}

void soc_record_put(struct soc_buf *batch, const struct soc_record *record)
{
    size_t size = 0;
    uint64_t mask = measure(record, &size);
    size += varint_size(mask);

    char *start = soc_buf_reserve(batch, 1 + VARINT_BYTES_MAX + size);
    char *out = start;
    *out++ = (char)record->type;
    out = write_varint(out, size);
    out = write_varint(out, mask);
    out = write_fields(out, record);
    batch->length += (size_t)(out - start);
}

/* Returns the address after the text, or NULL if it is not complete before `end`. */
static const char *read_text(const char *at, const char *end, struct soc_slice *text)
{
    uint64_t length;
    at = read_varint(at, end, &length);
    if (at == NULL || length > (size_t)(end - at))
        return NULL;
    *text = soc_slice(at, (size_t)length);
    return at + length;
}

/* For each record type, a function that reads the fields of `mask`; the others are zero.
 * Returns the address after the last one, or NULL if they are incomplete. */
#define READ_NUMBER(field)                                                                         \
    if ((mask & bit) != 0 && (at = read_varint(at, end, &to->field)) == NULL)                      \
        return NULL;                                                                               \
    bit <<= 1;
#define READ_TEXT(field)                                                                           \
    if ((mask & bit) != 0 && (at = read_text(at, end, &to->field)) == NULL)                        \
        return NULL;                                                                               \
    bit <<= 1;
#define R(tag, name, value)                                                                        \
    static const char *read_##name(const char *at, const char *end, uint64_t mask,                 \
                                   struct soc_record_##name *to)                                   \
    {                                                                                              \
        uint64_t bit = 1;                                                                          \
        *to = (struct soc_record_##name){0};                                                       \
        SOC_##tag##_FIELDS(READ_NUMBER, READ_TEXT) return mask < bit ? at : NULL;                  \
    }
SOC_RECORD_MAP(R)
#undef R

static const char *read_fields(const char *at, const char *end, struct soc_record *record)
{
    uint64_t mask;
    at = read_varint(at, end, &mask);
    if (at == NULL)
        return NULL;
    switch (record->type) {
#define R(tag, name, value)                                                                        \
    case value:                                                                                    \
        return read_##name(at, end, mask, &record->name);
        SOC_RECORD_MAP(R)
#undef R
    }
    return NULL;
}

int soc_record_next(struct soc_slice *rest, struct soc_record *record)
{
    if (rest->length == 0)
        return 0;
    const char *in = rest->data;
    const char *end = in + rest->length;
    unsigned type = (unsigned char)*in++;
    uint64_t size;
    in = read_varint(in, end, &size);
    if (in == NULL || size > (size_t)(end - in))
        return SOC_ECORRUPT;
    record->type = (enum soc_record_type)type;
    record->row = 0;
    if (read_fields(in, in + size, record) != in + size)
        return SOC_ECORRUPT;
    *rest = soc_slice(in + size, (size_t)(end - in) - (size_t)size);
    return 1;
}

int soc_record_skip(struct soc_slice *rest, enum soc_record_type *type, struct soc_slice *bytes)
{
    if (rest->length == 0)
        return 0;
    const char *end = rest->data + rest->length;
    uint64_t size;
    const char *in = read_varint(rest->data + 1, end, &size);
    if (in == NULL || size > (size_t)(end - in))
        return SOC_ECORRUPT;
    *type = (enum soc_record_type)(unsigned char)rest->data[0];
    *bytes = soc_slice(rest->data, (size_t)(in - rest->data) + (size_t)size);
    *rest = soc_slice(in + size, (size_t)(end - in) - (size_t)size);
    return 1;
}

uint64_t soc_record_key(struct soc_slice bytes)
{
    const char *end = bytes.data + bytes.length;
    uint64_t number;
    const char *in = read_varint(bytes.data + 1, end, &number); /* the size */
    uint64_t mask = 0;
    if (in != NULL)
        in = read_varint(in, end, &mask);
    return in != NULL && (mask & 1) != 0 && read_varint(in, end, &number) != NULL ? number : 0;
}

#include "store/record.h"

#include <assert.h>

#include "base/err.h"
#include "base/json.h"
#include "store/fields.h"

#define VARINT_BYTES_MAX 10

/* The structs have no gaps: a walk over the shape finds every field. */
#define ADD_NUMBER(field) +sizeof(uint64_t)
#define ADD_TEXT(field)   +sizeof(struct soc_slice)
#define R(tag, name, value)                                                                        \
    _Static_assert(sizeof(struct soc_record_##name) ==                                             \
                       (0 SOC_##tag##_FIELDS(ADD_NUMBER, ADD_TEXT)),                               \
                   "a gap in a record's struct");
SOC_RECORD_MAP(R)
#undef R

#define NUMBER_FIELD(field) {#field, false},
#define TEXT_FIELD(field)   {#field, true},
#define R(tag, name, value)                                                                        \
    static const struct soc_field name##_fields[] = {SOC_##tag##_FIELDS(NUMBER_FIELD, TEXT_FIELD)};
SOC_RECORD_MAP(R)
#undef R

static const struct soc_shape shapes[] = {
#define R(tag, name, value)                                                                        \
    [value] = {#name, name##_fields, sizeof(name##_fields) / sizeof(name##_fields[0])},
    SOC_RECORD_MAP(R)
#undef R
};

const struct soc_shape *soc_record_shape(unsigned type)
{
    if (type >= sizeof(shapes) / sizeof(shapes[0]) || shapes[type].fields == NULL)
        return NULL;
    return &shapes[type];
}

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

/* Returns the place behind the number, or NULL if there is none before `end`. */
static const char *read_varint(const char *at, const char *end, uint64_t *number)
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

/* A field that is present. */
struct part {
    bool is_text;
    const char *at;
};

#define PARTS_MAX 64 /* bits of the mask */

/* Lists the fields that are present in `parts` and returns the end of the list.
 * `*mask` tells which they are, `*size` how many bytes they take. */
static struct part *measure(const struct soc_shape *shape, const char *at, struct part *parts,
                            uint64_t *mask, size_t *size)
{
    uint64_t bit = 1;
    *mask = *size = 0;
    for (size_t i = 0; i < shape->count; i++, bit <<= 1) {
        bool is_text = shape->fields[i].is_text;
        const struct soc_slice *text = (const void *)at;
        uint64_t number = is_text ? text->length : *(const uint64_t *)(const void *)at;
        if (is_text ? text->data != NULL : number != 0) {
            *mask |= bit;
            *size += varint_size(number) + (is_text ? number : 0);
            *parts++ = (struct part){is_text, at};
        }
        at += is_text ? sizeof(*text) : sizeof(number);
    }
    return parts;
}

void soc_record_put(struct soc_buf *batch, const struct soc_record *record)
{
    const struct soc_shape *shape = soc_record_shape(record->type);
    assert(shape != NULL && shape->count <= PARTS_MAX);
    struct part parts[PARTS_MAX];
    uint64_t mask;
    size_t size;
    const struct part *end = measure(
        shape, (const char *)record + offsetof(struct soc_record, role), parts, &mask, &size);
    size += varint_size(mask);

    char *start = soc_buf_reserve(batch, 1 + VARINT_BYTES_MAX + size);
    char *out = start;
    *out++ = (char)record->type;
    out = write_varint(out, size);
    out = write_varint(out, mask);
    for (const struct part *part = parts; part < end; part++) {
        if (!part->is_text) {
            out = write_varint(out, *(const uint64_t *)(const void *)part->at);
            continue;
        }
        const struct soc_slice *text = (const void *)part->at;
        out = write_varint(out, text->length);
        memcpy(out, text->data, text->length);
        out += text->length;
    }
    batch->length += (size_t)(out - start);
}

/* Reads the fields between `in` and `end` to `at`. */
static int read_fields(const struct soc_shape *shape, char *at, const char *in, const char *end)
{
    uint64_t mask;
    in = read_varint(in, end, &mask);
    if (in == NULL || mask >> shape->count != 0)
        return SOC_ECORRUPT;
    for (size_t i = 0; i < shape->count; at += soc_field_size(&shape->fields[i]), i++) {
        uint64_t number = 0;
        bool is_present = (mask >> i & 1) != 0;
        if (is_present) {
            in = read_varint(in, end, &number);
            if (in == NULL)
                return SOC_ECORRUPT;
        }
        if (!shape->fields[i].is_text) {
            *(uint64_t *)(void *)at = number;
            continue;
        }
        struct soc_slice *text = (void *)at;
        *text = (struct soc_slice){0};
        if (!is_present)
            continue;
        if (number > (size_t)(end - in))
            return SOC_ECORRUPT;
        *text = soc_slice(in, (size_t)number);
        in += number;
    }
    return in == end ? 1 : SOC_ECORRUPT;
}

int soc_record_next(struct soc_slice *rest, struct soc_record *record)
{
    if (rest->length == 0)
        return 0;
    const char *in = rest->data;
    const char *end = in + rest->length;
    unsigned type = (unsigned char)*in++;
    const struct soc_shape *shape = soc_record_shape(type);
    uint64_t size;
    in = read_varint(in, end, &size);
    if (shape == NULL || in == NULL || size > (size_t)(end - in))
        return SOC_ECORRUPT;
    record->type = (enum soc_record_type)type;
    int rc = read_fields(shape, soc_record_fields(record), in, in + size);
    if (rc < 0)
        return rc;
    *rest = soc_slice(in + size, (size_t)(end - in) - (size_t)size);
    return 1;
}

void soc_record_put_json(struct soc_buf *out, const struct soc_record *record)
{
    const struct soc_shape *shape = soc_record_shape(record->type);
    assert(shape != NULL);
    const char *at = (const char *)record + offsetof(struct soc_record, role);
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "record", soc_slice_text(shape->name));
    for (size_t i = 0; i < shape->count; at += soc_field_size(&shape->fields[i]), i++) {
        const struct soc_field *field = &shape->fields[i];
        if (field->is_text) {
            const struct soc_slice *text = (const void *)at;
            soc_json_put_text_member(out, field->name, *text);
        } else if (*(const uint64_t *)(const void *)at != 0) {
            soc_json_put_name(out, field->name);
            soc_json_put_integer(out, (int64_t)(*(const uint64_t *)(const void *)at));
        }
    }
    soc_buf_put_byte(out, '}');
}

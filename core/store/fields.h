/* Fields: the fields of each record type as data, so that binding to SQL, reading
 * rows and dumping are each written once for all records.
 *
 * The struct of a record is its fields in order without padding, which fields.c
 * asserts.
 * Layer: store. Thread: any. */
#ifndef SOC_STORE_FIELDS_H
#define SOC_STORE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/record.h"

/* A field of a record. */
struct soc_field {
    const char *name;
    bool is_text; /* a struct soc_slice, else a uint64_t */
};

/* The fields of a record type, in order. */
struct soc_fields {
    const char *name; /* of the record type */
    const struct soc_field *items;
    size_t count;
};

/* Lends the fields of a record type; NULL if there is no such type. */
const struct soc_fields *soc_fields_of(unsigned type);

/* Lends the address of the first field. */
static inline char *soc_fields_at(struct soc_record *record)
{
    return (char *)record + offsetof(struct soc_record, role);
}

/* Returns the size of a field in its struct. */
static inline size_t soc_fields_size(const struct soc_field *field)
{
    return field->is_text ? sizeof(struct soc_slice) : sizeof(uint64_t);
}

/* Appends `record` as a JSON object, for dumps: {"record":"message","key":…}. */
void soc_fields_put_json(struct soc_buf *out, const struct soc_record *record);

#endif

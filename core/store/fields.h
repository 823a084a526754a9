/* Fields: the shape of each record as data, so that encoding, binding to SQL and
 * reading back are each written once for all records.
 *
 * A record's struct is its fields one behind the other without gaps, which
 * record.c asserts.
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

/* A record, as the fields it has in order. */
struct soc_shape {
    const char *name; /* of the record */
    const struct soc_field *fields;
    size_t count;
};

/* Lends the shape of a record type, NULL for a type that is none. */
const struct soc_shape *soc_record_shape(unsigned type);

/* Lends the place of the first field. */
static inline char *soc_record_fields(struct soc_record *record)
{
    return (char *)record + offsetof(struct soc_record, role);
}

/* Returns how many bytes a field takes in its struct. */
static inline size_t soc_field_size(const struct soc_field *field)
{
    return field->is_text ? sizeof(struct soc_slice) : sizeof(uint64_t);
}

#endif

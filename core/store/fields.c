#include "store/fields.h"

#include <assert.h>

#include "base/json.h"

/* The structs have no padding, so a walk over the table finds every field. */
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

static const struct soc_fields all[] = {
#define R(tag, name, value)                                                                        \
    [value] = {#name, name##_fields, sizeof(name##_fields) / sizeof(name##_fields[0])},
    SOC_RECORD_MAP(R)
#undef R
};

const struct soc_fields *soc_fields_of(unsigned type)
{
    if (type >= sizeof(all) / sizeof(all[0]) || all[type].items == NULL)
        return NULL;
    return &all[type];
}

void soc_fields_put_json(struct soc_buf *out, const struct soc_record *record)
{
    const struct soc_fields *fields = soc_fields_of(record->type);
    assert(fields != NULL);
    const char *at = (const char *)record + offsetof(struct soc_record, role);
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "record", soc_slice_text(fields->name));
    for (size_t i = 0; i < fields->count; at += soc_fields_size(&fields->items[i]), i++) {
        const struct soc_field *field = &fields->items[i];
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

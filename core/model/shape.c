#include "model/shape.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"

struct field {
    char *name; /* owned */
    size_t name_length;
    struct soc_shape *shape; /* owned */
};

struct soc_shape {
    const struct soc_shape_words *words;
    uint32_t kinds;
    uint32_t value_count;
    char **values; /* owned, with its texts */
    struct soc_shape *items;
    struct field *fields; /* at most 64: a 64-bit word holds which were seen */
    uint32_t field_count;
    uint64_t required; /* bits of `fields` */
};

static const struct {
    struct soc_slice name;
    const char *text;
} kinds[SOC_SHAPE_KIND_COUNT] = {
#define K(tag, name, text) {{name, sizeof(name) - 1}, text},
    SOC_SHAPE_MAP(K)
#undef K
};

int soc_shape_kind_find(struct soc_slice name)
{
    for (int i = 0; i < SOC_SHAPE_KIND_COUNT; i++)
        if (soc_slice_equal(kinds[i].name, name))
            return i;
    return -1;
}

struct soc_shape *soc_shape_new(uint32_t kinds_wanted, const struct soc_shape_words *words)
{
    assert(kinds_wanted >> SOC_SHAPE_KIND_COUNT == 0);
    struct soc_shape *shape = soc_alloc_zero(sizeof(*shape));
    shape->kinds = kinds_wanted;
    shape->words = words;
    return shape;
}

/* Recursive: depth is bounded by whoever builds shapes, not by data. */
void soc_shape_free(struct soc_shape *shape)
{
    if (shape == NULL)
        return;
    for (uint32_t i = 0; i < shape->value_count; i++)
        free(shape->values[i]);
    for (uint32_t i = 0; i < shape->field_count; i++) {
        free(shape->fields[i].name);
        soc_shape_free(shape->fields[i].shape);
    }
    soc_shape_free(shape->items);
    free(shape->values);
    free(shape->fields);
    free(shape);
}

void soc_shape_set_kinds(struct soc_shape *shape, uint32_t kinds_wanted)
{
    shape->kinds = kinds_wanted;
}

void soc_shape_add_value(struct soc_shape *shape, struct soc_slice value)
{
    shape->values = soc_realloc(shape->values, (shape->value_count + 1) * sizeof(*shape->values));
    shape->values[shape->value_count++] = soc_copy_text(value.data, value.length);
}

struct soc_shape *soc_shape_items(struct soc_shape *shape)
{
    if (shape->items == NULL)
        shape->items = soc_shape_new(0, shape->words);
    return shape->items;
}

struct soc_shape *soc_shape_add_field(struct soc_shape *shape, struct soc_slice name,
                                      bool is_required)
{
    if (shape->field_count == SOC_SHAPE_FIELDS_MAX)
        return NULL;
    shape->fields = soc_realloc(shape->fields, (shape->field_count + 1) * sizeof(*shape->fields));
    struct field *field = &shape->fields[shape->field_count];
    *field = (struct field){
        .name = soc_copy_text(name.data, name.length),
        .name_length = name.length,
        .shape = soc_shape_new(0, shape->words),
    };
    if (is_required)
        shape->required |= (uint64_t)1 << shape->field_count;
    shape->field_count++;
    return field->shape;
}

static struct soc_slice name_of(const struct field *field)
{
    return soc_slice(field->name, field->name_length);
}

bool soc_shape_needs(const struct soc_shape *shape, struct soc_slice name)
{
    for (uint32_t i = 0; i < shape->field_count; i++)
        if (soc_slice_equal(name_of(&shape->fields[i]), name))
            return (shape->required >> i & 1) != 0;
    return false;
}

static void put_element(struct soc_buf *list, struct soc_slice text)
{
    if (list->length > 0)
        soc_buf_put_byte(list, ',');
    soc_json_put_string(list, text);
}

void soc_shape_report_add(struct soc_shape_report *report, struct soc_slice missing,
                          struct soc_slice detail)
{
    if (report->faults >= SOC_SHAPE_FAULTS_MAX)
        return;
    report->faults++;
    if (missing.data != NULL)
        put_element(&report->missing, missing);
    if (detail.data != NULL)
        put_element(&report->details, detail);
}

void soc_shape_report_clear(struct soc_shape_report *report)
{
    report->missing.length = report->details.length = report->path.length = 0;
    report->faults = 0;
}

void soc_shape_report_fini(struct soc_shape_report *report)
{
    soc_buf_fini(&report->missing);
    soc_buf_fini(&report->details);
    soc_buf_fini(&report->path);
    report->faults = 0;
}

/* Appends the name of the current value for a sentence. */
static void put_subject(struct soc_buf *out, const struct soc_shape_report *report)
{
    if (report->path.length == 0)
        soc_buf_put_text(out, "the payload");
    else
        soc_buf_put_slice(out, soc_buf_slice(&report->path));
}

/* Reports a value of a wrong kind, or a text that is not allowed. */
static bool tell_wrong(const struct soc_shape *shape, bool is_kind_right,
                       struct soc_shape_report *report)
{
    if (report == NULL)
        return false;
    struct soc_buf text = {0};
    put_subject(&text, report);
    soc_buf_put_text(&text, is_kind_right ? " must be one of" : " must be");
    const char *before = " ";
    for (int i = 0; !is_kind_right && i < SOC_SHAPE_KIND_COUNT; i++) {
        if ((shape->kinds & SOC_SHAPE_BIT(i)) == 0)
            continue;
        soc_buf_put_text(&text, before);
        soc_buf_put_text(&text, kinds[i].text);
        before = " or ";
    }
    for (uint32_t i = 0; is_kind_right && i < shape->value_count; i++) {
        soc_buf_put_text(&text, before);
        soc_buf_put_text(&text, shape->values[i]);
        before = ", ";
    }
    soc_shape_report_add(report, (struct soc_slice){0}, soc_buf_slice(&text));
    soc_buf_fini(&text);
    return false;
}

/* Returns true if `value`, a JSON string that may be escaped, passes `test`. */
static bool is_word(struct soc_slice value, bool (*test)(struct soc_slice text))
{
    struct soc_slice plain = soc_json_plain_string(value);
    if (plain.data != NULL)
        return test(plain);
    if (value.length > 6 * SOC_ID_BYTES_MAX + 2)
        return false; /* longer than any id or time, however it is escaped */
    struct soc_buf text = {0};
    soc_json_string(value, &text);
    bool is_right = test(soc_buf_slice(&text));
    soc_buf_fini(&text);
    return is_right;
}

static bool is_string_right(const struct soc_shape *shape, struct soc_slice value)
{
    if (shape->kinds & SOC_SHAPE_BIT(SOC_SHAPE_STRING))
        return true;
    return (shape->kinds & SOC_SHAPE_BIT(SOC_SHAPE_ID) && is_word(value, shape->words->is_id)) ||
           (shape->kinds & SOC_SHAPE_BIT(SOC_SHAPE_TIME) && is_word(value, shape->words->is_time));
}

static bool is_kind_right(const struct soc_shape *shape, struct soc_slice value)
{
    int64_t integer;
    if (shape->kinds == 0)
        return true;
    switch (soc_json_kind(value)) {
    case SOC_JSON_STRING:
        return is_string_right(shape, value);
    case SOC_JSON_NUMBER:
        return shape->kinds & SOC_SHAPE_BIT(SOC_SHAPE_NUMBER) ||
               (shape->kinds & SOC_SHAPE_BIT(SOC_SHAPE_INTEGER) &&
                soc_json_integer(value, &integer));
    case SOC_JSON_FALSE:
    case SOC_JSON_TRUE:
        return shape->kinds & SOC_SHAPE_BIT(SOC_SHAPE_BOOLEAN);
    case SOC_JSON_OBJECT:
        return shape->kinds & SOC_SHAPE_BIT(SOC_SHAPE_OBJECT);
    case SOC_JSON_ARRAY:
        return shape->kinds & SOC_SHAPE_BIT(SOC_SHAPE_LIST);
    case SOC_JSON_NULL:
        break;
    }
    return false;
}

/* Checks a string that must be one of the allowed texts. */
static bool is_value_right(const struct soc_shape *shape, struct soc_slice value)
{
    if (shape->value_count == 0 || soc_json_kind(value) != SOC_JSON_STRING)
        return true;
    struct soc_slice inside = soc_slice(value.data + 1, value.length - 2);
    for (uint32_t i = 0; i < shape->value_count; i++)
        if (soc_json_name_is(inside, soc_slice_text(shape->values[i])))
            return true;
    return false;
}

/* Descends into a member or, with `field` NULL, an element. Returns the old length of
 * the path. */
static size_t enter(struct soc_shape_report *report, const struct field *field, size_t index)
{
    if (report == NULL)
        return 0;
    size_t length = report->path.length;
    if (field == NULL) {
        soc_buf_printf(&report->path, "[%zu]", index);
        return length;
    }
    if (length > 0)
        soc_buf_put_byte(&report->path, '.');
    soc_buf_put_slice(&report->path, name_of(field));
    return length;
}

static void leave(struct soc_shape_report *report, size_t length)
{
    if (report != NULL)
        report->path.length = length;
}

static bool is_done(const struct soc_shape_report *report, bool fits)
{
    return !fits && (report == NULL || report->faults >= SOC_SHAPE_FAULTS_MAX);
}

static bool tell_missing(const struct soc_shape *shape, uint64_t seen,
                         struct soc_shape_report *report)
{
    for (uint32_t i = 0; report != NULL && i < shape->field_count; i++) {
        if ((shape->required & ~seen) >> i == 0)
            break;
        if (((shape->required & ~seen) >> i & 1) == 0)
            continue;
        size_t length = enter(report, &shape->fields[i], 0);
        struct soc_buf text = {0};
        soc_buf_put_slice(&text, soc_buf_slice(&report->path));
        soc_buf_put_text(&text, " is missing");
        soc_shape_report_add(report, soc_buf_slice(&report->path), soc_buf_slice(&text));
        soc_buf_fini(&text);
        leave(report, length);
    }
    return false;
}

static bool is_absent(struct soc_slice value)
{
    return value.data[0] == 'n';
}

static bool is_empty(struct soc_slice value)
{
    return value.length == 2 && value.data[0] == '"';
}

static const struct field *find_field(const struct soc_shape *shape, struct soc_slice name,
                                      uint64_t *bit)
{
    for (uint32_t i = 0; i < shape->field_count; i++) {
        if (!soc_json_name_is(name, name_of(&shape->fields[i])))
            continue;
        *bit = (uint64_t)1 << i;
        return &shape->fields[i];
    }
    return NULL;
}

static bool fit_fields(const struct soc_shape *shape, struct soc_slice value,
                       struct soc_shape_report *report)
{
    struct soc_json_walk walk;
    uint64_t seen = 0;
    bool fits = true;
    soc_json_walk(&walk, value);
    while (!is_done(report, fits) && soc_json_next(&walk)) {
        uint64_t bit = 0;
        const struct field *field = find_field(shape, walk.name, &bit);
        if (field == NULL || is_absent(walk.value) ||
            (shape->required & bit && is_empty(walk.value)))
            continue;
        seen |= bit;
        size_t length = enter(report, field, 0);
        fits &= soc_shape_fits(field->shape, walk.value, report);
        leave(report, length);
    }
    if (!is_done(report, fits) && shape->required & ~seen)
        fits = tell_missing(shape, seen, report);
    return fits;
}

static bool fit_items(const struct soc_shape *shape, struct soc_slice value,
                      struct soc_shape_report *report)
{
    struct soc_json_walk walk;
    bool fits = true;
    size_t index = 0;
    soc_json_walk(&walk, value);
    while (!is_done(report, fits) && soc_json_next(&walk)) {
        size_t length = enter(report, NULL, ++index);
        fits &= soc_shape_fits(shape->items, walk.value, report);
        leave(report, length);
    }
    return fits;
}

bool soc_shape_fits(const struct soc_shape *shape, struct soc_slice value,
                    struct soc_shape_report *report)
{
    if (!is_kind_right(shape, value)) {
        tell_wrong(shape, false, report);
        /* A value that is no object lacks all required members. */
        return shape->required == 0 ? false : tell_missing(shape, 0, report);
    }
    if (!is_value_right(shape, value))
        return tell_wrong(shape, true, report);
    enum soc_json_kind kind = soc_json_kind(value);
    if (shape->field_count > 0 && kind == SOC_JSON_OBJECT)
        return fit_fields(shape, value, report);
    if (shape->items != NULL && kind == SOC_JSON_ARRAY)
        return fit_items(shape, value, report);
    return true;
}

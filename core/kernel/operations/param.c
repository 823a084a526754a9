#include "kernel/operations/param.h"

#include <assert.h>
#include <inttypes.h>

#include "base/json.h"
#include "base/limits.h"
#include "env/clock.h"
#include "env/ids.h"

const char *soc_param_kind_name(enum soc_param_kind kind)
{
    static const char *const names[] = {
#define K(tag, name) name,

        SOC_PARAM_MAP(K)
#undef K
    };
    assert(kind < SOC_PARAM_KIND_COUNT);
    return names[kind];
}

bool soc_param_is_absent(struct soc_slice value)
{
    return value.data == NULL || soc_json_kind(value) == SOC_JSON_NULL;
}

static bool is_text(const struct soc_param *param, struct soc_slice value, struct soc_buf *scratch)
{
    scratch->length = 0;
    struct soc_slice text = soc_json_text(value, (size_t)param->most, scratch);
    return text.data != NULL && text.length >= (size_t)param->least;
}

static bool is_choice(const struct soc_param *param, struct soc_slice value,
                      struct soc_buf *scratch)
{
    scratch->length = 0;
    struct soc_slice text = soc_json_text(value, SOC_KEY_BYTES_MAX, scratch);
    for (const char *const *choice = param->choices; text.data != NULL && *choice != NULL; choice++)
        if (soc_slice_equal(text, soc_slice_text(*choice)))
            return true;
    return false;
}

bool soc_param_time(struct soc_slice value, struct soc_buf *scratch, int64_t *time_ms)
{
    if (soc_json_kind(value) != SOC_JSON_STRING)
        return soc_json_integer(value, time_ms) && *time_ms >= 0;
    scratch->length = 0;
    struct soc_slice text = soc_json_text(value, SOC_KEY_BYTES_MAX, scratch);
    return text.data != NULL && soc_time_parse(text, time_ms);
}

static bool is_within(const struct soc_param *param, double number)
{
    return (param->least == 0 && param->most == 0) ||
           (number >= (double)param->least && number <= (double)param->most);
}

static bool is_message_id(struct soc_slice value, struct soc_buf *scratch)
{
    uint64_t key;
    scratch->length = 0;
    struct soc_slice text = soc_json_text(value, SOC_KEY_BYTES_MAX, scratch);
    return text.data != NULL && soc_message_id_parse(text, &key);
}

struct soc_slice soc_param_text(struct soc_slice value, struct soc_buf *texts)
{
    if (soc_param_is_absent(value))
        return (struct soc_slice){0};
    size_t first = texts->length;
    if (!soc_json_string(value, texts))
        return (struct soc_slice){0};
    return soc_slice(texts->data + first, texts->length - first);
}

/* Tells whether a value that is not null fits its parameter. */
static bool fits(const struct soc_param *param, struct soc_slice value, struct soc_buf *scratch)
{
    enum soc_json_kind kind = soc_json_kind(value);
    int64_t integer;
    double number;
    switch (param->kind) {
    case SOC_PARAM_TEXT:
        return is_text(param, value, scratch);
    case SOC_PARAM_ID:
        return is_message_id(value, scratch);
    case SOC_PARAM_INTEGER:
        return soc_json_integer(value, &integer) &&
               ((param->least == 0 && param->most == 0) ||
                (integer >= param->least && integer <= param->most));
    case SOC_PARAM_NUMBER:
        return soc_json_number(value, &number) && is_within(param, number);
    case SOC_PARAM_FLAG:
        return kind == SOC_JSON_TRUE || kind == SOC_JSON_FALSE;
    case SOC_PARAM_TIME:
        return soc_param_time(value, scratch, &integer);
    case SOC_PARAM_CHOICE:
        return is_choice(param, value, scratch);
    case SOC_PARAM_OBJECT:
        return kind == SOC_JSON_OBJECT;
    case SOC_PARAM_LIST:
        return kind == SOC_JSON_ARRAY;
    case SOC_PARAM_RECEIVER:
        return kind == SOC_JSON_STRING || kind == SOC_JSON_ARRAY;
    case SOC_PARAM_JSON:
    case SOC_PARAM_KIND_COUNT:
        break;
    }
    return true;
}

void soc_params_read(struct soc_params *params, struct soc_slice object)
{
    struct soc_json_walk walk;
    params->object = object;
    params->count = 0;
    soc_json_walk(&walk, object);
    while (params->count <= SOC_PARAMS_MAX && soc_json_next(&walk)) {
        if (params->count < SOC_PARAMS_MAX) {
            params->names[params->count] = walk.name;
            params->values[params->count] = walk.value;
        }
        params->count++;
    }
}

static struct soc_slice find_member(const struct soc_params *params, const char *name)
{
    struct soc_slice wanted = soc_slice_text(name);
    if (params->count > SOC_PARAMS_MAX)
        return soc_json_member(params->object, name);
    for (size_t i = 0; i < params->count; i++)
        if (soc_json_name_is(params->names[i], wanted))
            return params->values[i];
    return (struct soc_slice){0};
}

struct soc_slice soc_param_value(const struct soc_param *param, const struct soc_params *params)
{
    struct soc_slice value = find_member(params, param->name);
    return soc_param_is_absent(value) && param->alias != NULL ? find_member(params, param->alias)
                                                              : value;
}

static bool is_given_twice(const struct soc_param *param, const struct soc_params *params)
{
    return param->alias != NULL && !soc_param_is_absent(find_member(params, param->name)) &&
           !soc_param_is_absent(find_member(params, param->alias));
}

const char *soc_param_find_fault(const struct soc_param *param, const struct soc_params *params,
                                 struct soc_buf *scratch)
{
    struct soc_slice value = soc_param_value(param, params);
    if (soc_param_is_absent(value) ? param->is_needed : !fits(param, value, scratch))
        return param->name;
    return is_given_twice(param, params) ? param->alias : NULL;
}

static void put_choices(const char *const *choices, struct soc_buf *out)
{
    for (size_t i = 0; choices[i] != NULL; i++) {
        const char *before = i == 0 ? "" : choices[i + 1] == NULL ? " or " : ", ";
        soc_buf_printf(out, "%s%s", before, choices[i]);
    }
}

static void put_number(const struct soc_param *param, const char *name, struct soc_buf *out)
{
    soc_buf_put_text(out, name);
    if (param->least == 0 && param->most == 0)
        return;
    soc_buf_printf(out, " from %" PRId64, param->least);
    if (param->most != INT64_MAX)
        soc_buf_printf(out, " to %" PRId64, param->most);
}

/* Writes what a value must be. */
static void put_wanted(const struct soc_param *param, struct soc_buf *out)
{
    switch (param->kind) {
    case SOC_PARAM_TEXT:
        soc_buf_put_text(out, "text ");
        if (param->least > 0)
            soc_buf_printf(out, "of %" PRId64 " to", param->least);
        else
            soc_buf_put_text(out, "of at most");
        soc_buf_printf(out, " %" PRId64 " bytes, without NUL", param->most);
        break;
    case SOC_PARAM_ID:
        soc_buf_put_text(out, "the id of a message, which begins with msg_");
        break;
    case SOC_PARAM_INTEGER:
        put_number(param, "an integer", out);
        break;
    case SOC_PARAM_NUMBER:
        put_number(param, "a number", out);
        break;
    case SOC_PARAM_FLAG:
        soc_buf_put_text(out, "true or false");
        break;
    case SOC_PARAM_TIME:
        soc_buf_put_text(out, "a time as in 2026-01-05T12:00:00Z, or ms since 1970");
        break;
    case SOC_PARAM_CHOICE:
        put_choices(param->choices, out);
        break;
    case SOC_PARAM_JSON:
        soc_buf_put_text(out, "any value but null");
        break;
    case SOC_PARAM_OBJECT:
        soc_buf_put_text(out, "an object");
        break;
    case SOC_PARAM_LIST:
        soc_buf_put_text(out, "a list");
        break;
    case SOC_PARAM_RECEIVER:
        soc_buf_put_text(out, "an id, All or a list of ids");
        break;
    case SOC_PARAM_KIND_COUNT:
        break;
    }
}

void soc_param_put_fault(const struct soc_param *param, const struct soc_params *params,
                         const char *fault, struct soc_buf *out)
{
    if (fault == param->alias) {
        soc_buf_printf(out, "'%s' is another name of '%s': give one of them", fault, param->name);
        return;
    }
    bool is_missing = soc_param_is_absent(soc_param_value(param, params));
    soc_buf_printf(out, "'%s' %s be ", fault, is_missing ? "is missing; it must" : "must");
    put_wanted(param, out);
}

bool soc_param_is_named(const struct soc_param *param, struct soc_slice name)
{
    return soc_json_name_is(name, soc_slice_text(param->name)) ||
           (param->alias != NULL && soc_json_name_is(name, soc_slice_text(param->alias)));
}

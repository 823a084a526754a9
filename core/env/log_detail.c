#include "env/log_detail.h"

#include "base/json.h"
#include "base/limits.h"

void soc_log_put_text(struct soc_buf *out, struct soc_slice text, size_t bytes_max)
{
    struct soc_slice shown = soc_slice_cut(text, bytes_max);
    soc_buf_put_slice(out, shown);
    if (shown.length < text.length)
        soc_buf_printf(out, "… (%zu bytes)", text.length);
}

static void put_cut_value(struct soc_buf *out, struct soc_slice value)
{
    struct soc_buf text = {0};
    struct soc_buf cut = {0};
    if (!soc_json_string(value, &text))
        soc_buf_put_slice(&text, value);
    soc_log_put_text(&cut, soc_buf_slice(&text), SOC_LOG_MEMBER_BYTES_MAX);
    soc_json_put_string(out, soc_buf_slice(&cut));
    soc_buf_fini(&text);
    soc_buf_fini(&cut);
}

void soc_log_put_object(struct soc_buf *out, struct soc_slice object)
{
    struct soc_json_walk walk;
    size_t start = out->length;
    int64_t left_out = 0;
    soc_buf_put_byte(out, '{');
    for (soc_json_walk(&walk, object); soc_json_next(&walk);) {
        if (left_out > 0 || walk.name.length > SOC_LOG_MEMBER_BYTES_MAX ||
            out->length - start > SOC_LOG_DETAIL_BYTES_MAX) {
            left_out++;
            continue;
        }
        if (out->length > start + 1)
            soc_buf_put_byte(out, ',');
        soc_buf_put_byte(out, '"');
        soc_buf_put_slice(out, walk.name); /* still escaped */
        soc_buf_put_text(out, "\":");
        if (walk.value.length > SOC_LOG_MEMBER_BYTES_MAX)
            put_cut_value(out, walk.value);
        else
            soc_buf_put_slice(out, walk.value);
    }
    if (left_out > 0) {
        soc_json_put_name(out, "members_left_out");
        soc_json_put_integer(out, left_out);
    }
    soc_buf_put_byte(out, '}');
}

/* Tells whether the current member is shown as text and not as JSON. */
static bool is_said(const struct soc_json_walk *walk, bool has_message)
{
    static const char *const names[] = {"message", "error", "traceback", "text"};
    for (int i = has_message ? 0 : 2; i < (has_message ? 3 : 4); i++)
        if (soc_json_name_is(walk->name, soc_slice_text(names[i])))
            return soc_json_kind(walk->value) == SOC_JSON_STRING;
    return false;
}

/* Appends what is not shown as text: `fields` of agent:log by itself, as it was given,
 * everything else as an object. */
static void put_rest(struct soc_buf *out, struct soc_slice object, bool has_message)
{
    struct soc_json_walk walk;
    struct soc_slice fields = {0};
    struct soc_buf rest = {0};
    for (soc_json_walk(&walk, object); soc_json_next(&walk);) {
        if (is_said(&walk, has_message))
            continue;
        if (!has_message && soc_json_name_is(walk.name, SOC_SLICE("fields"))) {
            fields = walk.value;
            continue;
        }
        soc_buf_put_text(&rest, rest.length == 0 ? "{\"" : ",\"");
        soc_buf_put_slice(&rest, walk.name);
        soc_buf_put_text(&rest, "\":");
        soc_buf_put_slice(&rest, walk.value);
    }
    if (fields.data != NULL)
        soc_buf_put_byte(out, ' ');
    soc_buf_put_slice(out, fields);
    if (rest.length > 0) {
        soc_buf_put_byte(out, ' ');
        soc_buf_put_slice(out, soc_buf_slice(&rest));
        soc_buf_put_byte(out, '}');
    }
    soc_buf_fini(&rest);
}

void soc_log_put_sentence(struct soc_buf *out, struct soc_slice object)
{
    struct soc_slice message = soc_json_member(object, "message");
    bool has_message = message.data != NULL && soc_json_kind(message) == SOC_JSON_STRING;
    if (has_message && soc_json_string(soc_json_member(object, "error"), out))
        soc_buf_put_text(out, ": ");
    if (!soc_json_string(has_message ? message : soc_json_member(object, "text"), out)) {
        soc_buf_put_slice(out, object);
        return;
    }
    put_rest(out, object, has_message);
    struct soc_slice traceback = soc_json_member(object, "traceback");
    if (traceback.data != NULL && soc_json_kind(traceback) == SOC_JSON_STRING) {
        soc_buf_put_byte(out, '\n');
        soc_json_string(traceback, out);
    }
}

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

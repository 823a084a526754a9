#include "parts/telemetry/span.h"

#include <assert.h>

#include "base/json.h"
#include "base/limits.h"

static void put_id(struct soc_buf *out, const char *name, uint64_t id)
{
    soc_json_put_name(out, name);
    soc_buf_printf(out, "\"%016llx\"", (unsigned long long)id);
}

/* A negative time cannot be written: what began before 1970, by a clock that was set back,
 * is shown to begin then. */
static void put_time(struct soc_buf *out, const char *name, int64_t time_ms)
{
    soc_json_put_name(out, name);
    soc_buf_printf(out, "\"%llu000000\"", (unsigned long long)(time_ms < 0 ? 0 : time_ms));
}

void soc_span_begin(struct soc_buf *out, const struct soc_span *span)
{
    struct soc_buf name = {0};
    assert(span->span_id != 0 && span->end_ms >= span->start_ms);
    soc_buf_put_text(&name, span->verb);
    if (span->object.length > 0) {
        soc_buf_put_byte(&name, ' ');
        soc_buf_put_slice(&name, soc_slice_cut(span->object, SOC_KEY_BYTES_MAX));
    }
    soc_buf_printf(out, "{\"traceId\":\"%016llx%016llx\"", (unsigned long long)span->trace_id[0],
                   (unsigned long long)span->trace_id[1]);
    put_id(out, "spanId", span->span_id);
    if (span->parent_id != 0)
        put_id(out, "parentSpanId", span->parent_id);
    soc_json_put_text_member(out, "name", soc_buf_slice(&name));
    soc_json_put_name(out, "kind");
    soc_json_put_integer(out, span->kind);
    put_time(out, "startTimeUnixNano", span->start_ms - span->behind_ms);
    put_time(out, "endTimeUnixNano", span->end_ms - span->behind_ms);
    soc_json_put_name(out, "attributes");
    soc_buf_put_byte(out, '[');
    soc_buf_fini(&name);
}

/* Opens an attribute up to its value. */
static void open_attribute(struct soc_buf *out, const char *name, const char *type)
{
    soc_buf_put_text(out, out->data[out->length - 1] == '[' ? "{" : ",{");
    soc_json_put_text_member(out, "key", soc_slice_text(name));
    soc_buf_printf(out, ",\"value\":{\"%s\":", type);
}

void soc_span_put_text(struct soc_buf *out, const char *name, struct soc_slice text)
{
    if (text.data == NULL)
        return;
    open_attribute(out, name, "stringValue");
    soc_json_put_string(out, soc_slice_cut(text, SOC_SPAN_TEXT_BYTES_MAX));
    soc_buf_put_text(out, "}}");
}

void soc_span_put_integer(struct soc_buf *out, const char *name, int64_t number)
{
    open_attribute(out, name, "intValue");
    soc_buf_printf(out, "\"%lld\"}}", (long long)number);
}

void soc_span_put_list(struct soc_buf *out, const char *name, struct soc_slice text)
{
    if (text.data == NULL)
        return;
    open_attribute(out, name, "arrayValue");
    soc_buf_put_text(out, "{\"values\":[{\"stringValue\":");
    soc_json_put_string(out, soc_slice_cut(text, SOC_SPAN_TEXT_BYTES_MAX));
    soc_buf_put_text(out, "}]}}}");
}

void soc_span_end(struct soc_buf *out, struct soc_slice error, struct soc_slice message)
{
    soc_span_put_text(out, "error.type", error);
    soc_buf_put_text(out, "],\"status\":{");
    if (error.data != NULL) {
        soc_buf_put_text(out, "\"code\":2");
        soc_json_put_text_member(out, "message", soc_slice_cut(message, SOC_LOG_MEMBER_BYTES_MAX));
    }
    soc_buf_put_text(out, "}}");
}

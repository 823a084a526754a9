/* Spans as OTLP writes them in JSON.
 *
 * Covers: core/parts/telemetry/genai.c */
#include "parts/telemetry/span.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "check.h"
#include "parts/telemetry/genai.h"

static const struct soc_span SPAN = {
    .trace_id = {0x0af7651916cd43dd, 0x8448eb211c80319c},
    .span_id = 0xb7,
    .verb = "chat",
    .object = {"small \"1\"", 9},
    .kind = SOC_SPAN_CLIENT,
    .start_ms = 1767225600000,
    .end_ms = 1767225600007,
};

static void check_json(const struct soc_buf *out, const char *expected)
{
    CHECK_INT(soc_json_check(soc_buf_slice(out), NULL), 0);
    CHECK_INT(out->length, strlen(expected));
    CHECK(memcmp(out->data, expected, out->length) == 0);
}

static void ids_are_hexadecimal_and_times_are_texts_of_nanoseconds(void)
{
    struct soc_buf out = {0};
    soc_span_begin(&out, &SPAN);
    soc_span_end(&out, (struct soc_slice){0}, (struct soc_slice){0});
    check_json(&out, "{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\","
                     "\"spanId\":\"00000000000000b7\",\"name\":\"chat small \\\"1\\\"\",\"kind\":3,"
                     "\"startTimeUnixNano\":\"1767225600000000000\","
                     "\"endTimeUnixNano\":\"1767225600007000000\","
                     "\"attributes\":[],\"status\":{}}");
    soc_buf_fini(&out);
}

static void a_parent_and_attributes_of_each_kind_are_written(void)
{
    struct soc_buf out = {0};
    struct soc_span span = SPAN;
    span.parent_id = UINT64_MAX;
    span.object = (struct soc_slice){0};
    soc_span_begin(&out, &span);
    soc_span_put_text(&out, "a", SOC_SLICE("x\ny"));
    soc_span_put_text(&out, "absent", (struct soc_slice){0});
    soc_span_put_integer(&out, "n", INT64_MAX);
    soc_span_put_list(&out, "l", SOC_SLICE("stop"));
    soc_span_end(&out, SOC_SLICE("timeout"), SOC_SLICE("too late"));
    check_json(
        &out,
        "{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\",\"spanId\":\"00000000000000b7\","
        "\"parentSpanId\":\"ffffffffffffffff\",\"name\":\"chat\",\"kind\":3,"
        "\"startTimeUnixNano\":\"1767225600000000000\","
        "\"endTimeUnixNano\":\"1767225600007000000\",\"attributes\":["
        "{\"key\":\"a\",\"value\":{\"stringValue\":\"x\\ny\"}},"
        "{\"key\":\"n\",\"value\":{\"intValue\":\"9223372036854775807\"}},"
        "{\"key\":\"l\",\"value\":{\"arrayValue\":{\"values\":[{\"stringValue\":\"stop\"}]}}},"
        "{\"key\":\"error.type\",\"value\":{\"stringValue\":\"timeout\"}}],"
        "\"status\":{\"code\":2,\"message\":\"too late\"}}");
    soc_buf_fini(&out);
}

static void a_long_text_is_cut_between_characters(void)
{
    struct soc_buf text = {0};
    struct soc_buf out = {0};
    soc_buf_put_byte(&text, 'x');
    while (text.length < SOC_SPAN_TEXT_BYTES_MAX + 10)
        soc_buf_put_text(&text, "é");
    soc_span_begin(&out, &SPAN);
    soc_span_put_text(&out, "t", soc_buf_slice(&text));
    soc_span_end(&out, (struct soc_slice){0}, (struct soc_slice){0});
    CHECK_INT(soc_json_check(soc_buf_slice(&out), NULL), 0);
    CHECK(out.length < SOC_SPAN_TEXT_BYTES_MAX + 400);
    soc_buf_fini(&text);
    soc_buf_fini(&out);
}

static const char CONVERSATION[] =
    "[{\"role\":\"user\",\"content\":\"hello\"},"
    "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c\",\"name\":\"f\","
    "\"arguments\":\"{}\"}]},{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"r\"},"
    "{\"role\":\"assistant\",\"content\":\"bye\",\"finish_reason\":\"stop\"}]";

static void messages_become_roles_with_parts(void)
{
    struct soc_buf out = {0};
    soc_genai_put_messages(&out, soc_slice_text(CONVERSATION), 10000);
    check_json(&out, "[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"hello\"}]},"
                     "{\"role\":\"assistant\",\"parts\":[{\"type\":\"tool_call\",\"id\":\"c\","
                     "\"name\":\"f\",\"arguments\":\"{}\"}]},"
                     "{\"role\":\"tool\",\"parts\":[{\"type\":\"tool_call_response\",\"id\":\"c\","
                     "\"response\":\"r\"}]},{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\","
                     "\"content\":\"bye\"}],\"finish_reason\":\"stop\"}]");
    soc_buf_fini(&out);
}

static void the_earliest_messages_are_left_out_beyond_the_limit(void)
{
    struct soc_buf out = {0};
    soc_genai_put_messages(&out, soc_slice_text(CONVERSATION), 120);
    check_json(&out, "[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\","
                     "\"content\":\"bye\"}],\"finish_reason\":\"stop\"}]");
    out.length = 0;
    soc_genai_put_messages(&out, soc_slice_text(CONVERSATION), 10);
    check_json(&out, "[]");
    out.length = 0;
    soc_genai_put_messages(&out, (struct soc_slice){0}, 10);
    check_json(&out, "[]");
    soc_buf_fini(&out);
}

int main(void)
{
    RUN(ids_are_hexadecimal_and_times_are_texts_of_nanoseconds);
    RUN(a_parent_and_attributes_of_each_kind_are_written);
    RUN(a_long_text_is_cut_between_characters);
    RUN(messages_become_roles_with_parts);
    RUN(the_earliest_messages_are_left_out_beyond_the_limit);
    return check_done();
}

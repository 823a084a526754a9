#include "parts/telemetry/genai.h"

#include "base/json.h"

/* Appends a member with a value that is JSON already; nothing if it is absent. */
static void put_json(struct soc_buf *out, const char *name, struct soc_slice value)
{
    if (value.data == NULL)
        return;
    soc_json_put_name(out, name);
    soc_buf_put_slice(out, value);
}

static void open_part(struct soc_buf *out, const char *type)
{
    soc_buf_put_text(out, out->data[out->length - 1] == '[' ? "{" : ",{");
    soc_json_put_text_member(out, "type", soc_slice_text(type));
}

static void put_message(struct soc_buf *out, struct soc_slice message)
{
    struct soc_slice role = soc_json_member(message, "role");
    struct soc_slice content = soc_json_member(message, "content");
    struct soc_slice calls = soc_json_member(message, "tool_calls");
    struct soc_json_walk walk;
    soc_buf_put_byte(out, '{');
    put_json(out, "role", role);
    soc_json_put_name(out, "parts");
    soc_buf_put_byte(out, '[');
    if (soc_slice_equal(role, SOC_SLICE("\"tool\""))) {
        open_part(out, "tool_call_response");
        put_json(out, "id", soc_json_member(message, "tool_call_id"));
        put_json(out, "response", content);
        soc_buf_put_byte(out, '}');
    } else if (content.data != NULL && !soc_slice_equal(content, SOC_SLICE("\"\""))) {
        open_part(out, "text");
        put_json(out, "content", content);
        soc_buf_put_byte(out, '}');
    }
    soc_json_walk(&walk, calls);
    while (calls.data != NULL && soc_json_next(&walk)) {
        open_part(out, "tool_call");
        put_json(out, "id", soc_json_member(walk.value, "id"));
        put_json(out, "name", soc_json_member(walk.value, "name"));
        put_json(out, "arguments", soc_json_member(walk.value, "arguments"));
        soc_buf_put_byte(out, '}');
    }
    soc_buf_put_byte(out, ']');
    put_json(out, "finish_reason", soc_json_member(message, "finish_reason"));
    soc_buf_put_byte(out, '}');
}

void soc_genai_put_messages(struct soc_buf *out, struct soc_slice messages, size_t bytes_max)
{
    struct soc_json_walk walk;
    struct soc_buf one = {0};
    size_t total = 2;
    soc_json_walk(&walk, messages);
    while (messages.data != NULL && soc_json_next(&walk)) {
        one.length = 0;
        put_message(&one, walk.value);
        total += one.length + 1;
    }
    soc_buf_put_byte(out, '[');
    soc_json_walk(&walk, messages);
    bool is_first = true;
    while (messages.data != NULL && soc_json_next(&walk)) {
        one.length = 0;
        put_message(&one, walk.value);
        bool is_left_out = total > bytes_max;
        if (is_left_out)
            total -= one.length + 1;
        if (is_left_out)
            continue;
        if (!is_first)
            soc_buf_put_byte(out, ',');
        is_first = false;
        soc_buf_put_slice(out, soc_buf_slice(&one));
    }
    soc_buf_put_byte(out, ']');
    soc_buf_fini(&one);
}

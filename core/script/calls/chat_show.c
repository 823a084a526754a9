#include "script/calls/chat_show.h"

#include "base/json.h"
#include "kernel/trace.h"

/* Appends the tools that an answer calls, in a few words. */
static void put_calls(struct soc_slice answer, struct soc_buf *out)
{
    struct soc_json_walk walk;
    struct soc_slice calls = soc_json_member(answer, "tool_calls");
    int count = 0;
    soc_json_walk(&walk, calls);
    for (; calls.data != NULL && soc_json_next(&walk); count++)
        if (count < 4) {
            soc_buf_put_text(out, count == 0 ? "; calls " : ", ");
            soc_buf_put_slice(out, soc_json_plain_string(soc_json_member(walk.value, "name")));
        }
    if (count > 4)
        soc_buf_printf(out, " and %d more", count - 4);
}

/* Appends calls, tokens and cost as members. */
static void put_usage(struct soc_buf *out, struct soc_usage usage)
{
    soc_json_put_name(out, "calls");
    soc_json_put_integer(out, (int64_t)usage.calls);
    soc_json_put_name(out, "input_tokens");
    soc_json_put_integer(out, (int64_t)usage.input_tokens);
    soc_json_put_name(out, "output_tokens");
    soc_json_put_integer(out, (int64_t)usage.output_tokens);
    soc_json_put_name(out, "cost");
    soc_json_put_number(out, (double)usage.cost_micros / 1e6);
}

/* What an answer is for a line of JSON: what it used, or its error, and all that was used. */
static void put_detail(struct soc_buf *out, struct soc_usage used, struct soc_slice answer,
                       struct soc_usage total)
{
    struct soc_json_walk walk;
    struct soc_slice calls = soc_json_member(answer, "tool_calls");
    struct soc_slice error = soc_json_member(answer, "error");
    bool is_first = true;
    soc_buf_put_byte(out, '{');
    if (error.data != NULL)
        soc_json_put_text_member(out, "error", soc_json_plain_string(error));
    else
        put_usage(out, used);
    soc_json_put_name(out, "tools");
    soc_buf_put_byte(out, '[');
    soc_json_walk(&walk, calls);
    while (calls.data != NULL && soc_json_next(&walk)) {
        struct soc_slice name = soc_json_plain_string(soc_json_member(walk.value, "name"));
        if (name.data == NULL)
            continue;
        if (!is_first)
            soc_buf_put_byte(out, ',');
        is_first = false;
        soc_json_put_string(out, name);
    }
    soc_buf_put_byte(out, ']');
    soc_json_put_name(out, "total");
    soc_buf_put_byte(out, '{');
    put_usage(out, total);
    soc_buf_put_text(out, "}}");
}

void soc_chat_show_answer(struct soc_host *host, const struct soc_agent *agent,
                          struct soc_usage used, struct soc_slice answer)
{
    struct soc_usage total = soc_usage_total(host);
    struct soc_buf words = {0};
    struct soc_buf detail = {0};
    struct soc_slice error = soc_json_member(answer, "error");
    put_detail(&detail, used, answer, total);
    if (error.data != NULL) {
        soc_buf_put_text(&words, "failed: ");
        soc_buf_put_slice(&words, soc_json_plain_string(error));
    } else {
        soc_buf_printf(&words, "%llu + %llu tokens, $%.4f", (unsigned long long)used.input_tokens,
                       (unsigned long long)used.output_tokens, (double)used.cost_micros / 1e6);
    }
    soc_buf_put_text(&words, "; so far ");
    soc_usage_put_words(&words, &total);
    if (error.data == NULL)
        put_calls(answer, &words);
    soc_trace(host, "answer", agent, soc_buf_slice(&detail), "%s", soc_buf_text(&words));
    soc_buf_fini(&words);
    soc_buf_fini(&detail);
}

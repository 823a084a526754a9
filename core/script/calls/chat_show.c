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

void soc_chat_show_answer(struct soc_host *host, const struct soc_agent *agent,
                          struct soc_usage used, struct soc_slice answer)
{
    struct soc_usage total = soc_usage_total(host);
    struct soc_buf more = {0};
    struct soc_slice error = soc_json_member(answer, "error");
    if (error.data != NULL) {
        soc_buf_put_slice(&more, soc_json_plain_string(error));
        soc_trace(host, "answer", agent, "failed: %s; so far %llu calls, %llu tokens, $%.4f",
                  soc_buf_text(&more), (unsigned long long)total.calls,
                  (unsigned long long)(total.input_tokens + total.output_tokens),
                  (double)total.cost_micros / 1e6);
        soc_buf_fini(&more);
        return;
    }
    put_calls(answer, &more);
    soc_trace(host, "answer", agent,
              "%llu + %llu tokens, $%.4f; so far %llu calls, %llu tokens, $%.4f%s",
              (unsigned long long)used.input_tokens, (unsigned long long)used.output_tokens,
              (double)used.cost_micros / 1e6, (unsigned long long)total.calls,
              (unsigned long long)(total.input_tokens + total.output_tokens),
              (double)total.cost_micros / 1e6, soc_buf_text(&more));
    soc_buf_fini(&more);
}

#include "script/policies/policy_log.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "parts/history/history.h"
#include "script/turns/arguments.h"

struct soc_policy_log {
    struct soc_buf arguments; /* of the current question: a JSON list */
    struct soc_buf failure;   /* why the last policy asked did not answer, or empty */
};

void soc_policy_log_open(struct soc_script *script)
{
    assert(script->policy_log == NULL);
    script->policy_log = soc_alloc_zero(sizeof(*script->policy_log));
}

void soc_policy_log_fini(struct soc_script *script)
{
    soc_buf_fini(&script->policy_log->arguments);
    soc_buf_fini(&script->policy_log->failure);
    free(script->policy_log);
    script->policy_log = NULL;
}

void soc_policy_log_begin(lua_State *L, struct soc_script *script, int count)
{
    struct soc_buf *out = &script->policy_log->arguments;
    int first = lua_gettop(L) - count + 1;
    assert(script->keeps_history && first > 0);
    soc_policy_log_clear(script);
    out->length = 0;
    soc_buf_put_byte(out, '[');
    for (int i = 0; i < count; i++) {
        if (i > 0)
            soc_buf_put_byte(out, ',');
        soc_arguments_put_value(L, first + i, out);
    }
    soc_buf_put_byte(out, ']');
}

void soc_policy_log_fail(struct soc_script *script, const char *text)
{
    soc_policy_log_clear(script);
    soc_buf_put_text(&script->policy_log->failure, text);
}

void soc_policy_log_clear(struct soc_script *script)
{
    script->policy_log->failure.length = 0;
}

const char *soc_policy_log_failure(struct soc_script *script)
{
    return soc_buf_text(&script->policy_log->failure);
}

static void put_row(struct soc_script *script, const char *kind, const char *question,
                    const char *policy, struct soc_slice answer)
{
    const struct soc_policy_log *log = script->policy_log;
    struct soc_buf row = {0};
    soc_buf_put_byte(&row, '{');
    soc_json_put_name(&row, "answer");
    soc_buf_put_slice(&row, answer);
    soc_json_put_name(&row, "arguments");
    soc_buf_put_slice(&row, soc_buf_slice(&log->arguments));
    soc_history_put_place(script->host, &row);
    if (log->failure.length > 0)
        soc_json_put_text_member(&row, "failed", soc_buf_slice(&log->failure));
    soc_json_put_text_member(&row, "kind", soc_slice_text(kind));
    soc_json_put_text_member(&row, "policy", soc_slice_text(policy));
    soc_json_put_text_member(&row, "question", soc_slice_text(question));
    soc_buf_put_byte(&row, '}');
    soc_history_put(script->host, "question", soc_buf_slice(&row));
    soc_buf_fini(&row);
}

void soc_policy_log_put_answer(lua_State *L, struct soc_buf *out)
{
    soc_buf_put_byte(out, '[');
    soc_arguments_put_value(L, lua_gettop(L) - 1, out);
    soc_buf_put_byte(out, ',');
    soc_arguments_put_value(L, lua_gettop(L), out);
    soc_buf_put_byte(out, ']');
}

void soc_policy_log_end(lua_State *L, struct soc_script *script, enum soc_policy_question question,
                        const char *policy, bool has_answer)
{
    struct soc_buf answer = {0};
    if (has_answer)
        soc_policy_log_put_answer(L, &answer);
    else
        soc_buf_put_text(&answer, "null");
    put_row(script, soc_kind_name((int)soc_kind_of(question)), soc_kind_function(question), policy,
            soc_buf_slice(&answer));
    soc_buf_fini(&answer);
}

void soc_policy_log_put_verdict(bool requires_ack, int rc, struct soc_slice error,
                                struct soc_buf *out)
{
    soc_buf_put_text(out, rc == SOC_OK ? "[\"fits\"" : rc > 0 ? "[\"warned\"" : "[\"refused\"");
    soc_buf_put_text(out, requires_ack ? ",true," : ",false,");
    soc_buf_put_slice(out, rc == SOC_OK || error.length == 0 ? SOC_SLICE("null") : error);
    soc_buf_put_byte(out, ']');
}

void soc_policy_log_check(struct soc_script *script, const struct soc_candidate *candidate,
                          bool requires_ack, int rc, struct soc_slice error)
{
    struct soc_buf *out = &script->policy_log->arguments;
    struct soc_buf answer = {0};
    assert(script->keeps_history);
    out->length = 0;
    soc_buf_put_text(out, "[{");
    if (candidate->from != NULL)
        soc_json_put_text_member(out, "from", soc_agent_id(candidate->from));
    soc_json_put_name(out, "payload");
    soc_buf_put_slice(out, candidate->payload);
    soc_json_put_text_member(out, "task_id", candidate->task_id);
    soc_json_put_text_member(out, "type", candidate->type);
    soc_buf_put_text(out, "}]");
    soc_policy_log_put_verdict(requires_ack, rc, error, &answer);
    put_row(script, SOC_MESSAGES, "check", SOC_MESSAGES, soc_buf_slice(&answer));
    soc_buf_fini(&answer);
}

/* Policy log: history rows about policy questions.
 *
 * A replay asks them again and compares (script/history/rerun.h). Rows are written only
 * if the society keeps history; the last failure is always recorded.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_LOG_H
#define SOC_SCRIPT_POLICIES_POLICY_LOG_H

#include "script/policies/kinds.h"
#include "script/turns/box.h"

/* Prepare the script, and release it. */
void soc_policy_log_open(struct soc_script *script);
void soc_policy_log_fini(struct soc_script *script);

/* Begins a question whose arguments are the `count` values on top. */
void soc_policy_log_begin(lua_State *L, struct soc_script *script, int count);

/* Records why the policy being asked failed; the row will contain it. */
void soc_policy_log_fail(struct soc_script *script, const char *text);

/* Forget the last failure, or lend it; empty if there was none since. */
void soc_policy_log_clear(struct soc_script *script);
const char *soc_policy_log_failure(struct soc_script *script);

/* Ends the question with a row. Its two results are on top, unless no policy answered;
 * `policy` is the name of the active one. */
void soc_policy_log_end(lua_State *L, struct soc_script *script, enum soc_policy_question question,
                        const char *policy, bool has_answer);

/* Writes the row of a message check: `rc` and `error` are the verdict. */
void soc_policy_log_check(struct soc_script *script, const struct soc_candidate *candidate,
                          bool requires_ack, int rc, struct soc_slice error);

/* Append the two results on top, or a verdict, in the form of a row. */
void soc_policy_log_put_answer(lua_State *L, struct soc_buf *out);
void soc_policy_log_put_verdict(bool requires_ack, int rc, struct soc_slice error,
                                struct soc_buf *out);

#endif

/* Policy log: the rows of history about questions that policies were asked.
 *
 * A replay asks them again and compares (script/history/rerun.h). Nothing is written
 * unless the society keeps history; only the last failure is noted in any case.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_LOG_H
#define SOC_SCRIPT_POLICIES_POLICY_LOG_H

#include "script/policies/kinds.h"
#include "script/turns/box.h"

/* Prepares the script, and releases what that took. */
void soc_policy_log_open(struct soc_script *script);
void soc_policy_log_fini(struct soc_script *script);

/* Begins a question whose arguments are the `count` values on top. */
void soc_policy_log_begin(lua_State *L, struct soc_script *script, int count);

/* Notes why the policy being asked failed. The row will say so. */
void soc_policy_log_fail(struct soc_script *script, const char *text);

/* Forgets the last failure, or lends it; empty if there was none since. */
void soc_policy_log_clear(struct soc_script *script);
const char *soc_policy_log_failure(struct soc_script *script);

/* Ends the question with a row. Its two results are on top, unless no policy answered;
 * `policy` is the name of the one in force. */
void soc_policy_log_end(lua_State *L, struct soc_script *script, enum soc_policy_question question,
                        const char *policy, bool has_answer);

/* Writes the row of a message that was checked: `rc` and `error` are the verdict. */
void soc_policy_log_check(struct soc_script *script, const struct soc_candidate *candidate,
                          bool requires_ack, int rc, struct soc_slice error);

/* Append the two results on top, or a verdict, as rows have them. */
void soc_policy_log_put_answer(lua_State *L, struct soc_buf *out);
void soc_policy_log_put_verdict(bool requires_ack, int rc, struct soc_slice error,
                                struct soc_buf *out);

#endif

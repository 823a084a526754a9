/* History of scripts: what replay needs to know of them, put into host/history.
 *
 * The texts of all files they are made of, the policies in force, the arguments of
 * effects and every question put to a policy. Each call is for a society that keeps
 * history (`script->keeps_history`).
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_HISTORY_HISTORY_H
#define SOC_SCRIPT_HISTORY_HISTORY_H

#include "script/inside.h"

/* Keeps history for so many days; 0: no more. */
void soc_script_keep_history(struct soc_script *script, uint32_t days);

/* Puts the row `start`, with every file read so far. */
void soc_history_start(lua_State *L, struct soc_script *script);

/* Puts a row for each file that was read since. */
void soc_history_more_files(lua_State *L, struct soc_script *script);

/* Hands the arguments of the effect that is about to begin to the host: those of the
 * binding that runs in `L`. */
void soc_history_arguments_of(lua_State *L, struct soc_script *script, enum soc_effect_kind kind);

/* Begins to note a question with the `count` values on top as its arguments. */
void soc_history_ask(lua_State *L, struct soc_script *script, int count);

/* Notes why the policy that is asked fails: the usual answer holds, and the row says so. */
void soc_history_note_failure(struct soc_script *script, const char *text);

/* Puts the row of that question, with the two results on top; none if it has no
 * answer. */
void soc_history_answered(lua_State *L, struct soc_script *script, const char *kind,
                          const char *question, const struct soc_policy *policy, bool has_answer);

/* Appends the two results on top as such an answer. */
void soc_history_put_answer(lua_State *L, struct soc_buf *out);

/* The same for a message that was checked: `rc` and `error` are the answer. */
void soc_history_checked(struct soc_script *script, const struct soc_candidate *candidate,
                         bool requires_ack, int rc, struct soc_slice error);

/* Appends that answer. */
void soc_history_put_verdict(bool requires_ack, int rc, struct soc_slice error,
                             struct soc_buf *out);

#endif

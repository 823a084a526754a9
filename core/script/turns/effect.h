/* Effect: the bracket around everything a script asks of the host.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_EFFECT_H
#define SOC_SCRIPT_TURNS_EFFECT_H

#include "script/turns/box.h"
#include "script/turns/frame.h"

/* Begins an effect of the running agent, whose arguments have all been read and
 * checked: nothing may raise until it is answered. Returns SOC_GATE_LIVE; or
 * SOC_GATE_RECORDED with the results pushed and their number in `*count`. Raises a
 * fatal error when the activation cannot continue. */
int soc_effect_begin(lua_State *L, struct soc_script *script, enum soc_effect_kind kind,
                     uint64_t hash, int *count);

/* The same for an effect that has a time-out. */
int soc_effect_begin_timed(lua_State *L, struct soc_script *script, enum soc_effect_kind kind,
                           struct soc_effect_hash hash, int *count);

/* The same for an aside (model/activation.h). SOC_GATE_RECORDED without results: the recorded
 * script passed this place without it, and nothing is to be done. */
int soc_effect_begin_aside(lua_State *L, struct soc_script *script, enum soc_effect_kind kind,
                           uint64_t hash, int *count);

/* Records `answer` and pushes the results it holds; returns their number. */
int soc_effect_end(lua_State *L, struct soc_script *script, struct soc_slice answer);

/* The same with `frame->answer`, or `frame->error` if `rc` < 0. */
int soc_effect_finish(lua_State *L, const struct soc_frame *frame, int rc);

/* Raises unless the calling function may wait. Call it before beginning an effect that
 * waits. */
void soc_effect_check_wait(lua_State *L);

/* Yields to the host until the last effect is answered. Its results become those of the
 * calling function. */
int soc_effect_yield(lua_State *L);

/* Pushes the results an answer holds: a list's elements, or nil and an error. */
int soc_effect_push_answer(lua_State *L, struct soc_slice answer);

/* Appends file and line of the innermost Lua function, as its errors show them; nothing if there
 * is none. */
void soc_effect_put_where(lua_State *L, struct soc_buf *out);

/* Ends the turn because it is over its budget `which`: no script can catch the error, and
 * nothing more can be done in the turn. `used_ms`: the CPU time of its worker, 0: unknown. */
int soc_effect_break_budget(lua_State *L, struct soc_script *script, const char *which,
                            uint64_t limit, int64_t used_ms);

/* Hash of the arguments from `first` to the top, as JSON. Raises if they are not. The last
 * of them is in `frame->scratch` then. */
uint64_t soc_effect_hash_arguments(lua_State *L, struct soc_frame *frame, int first);

#endif

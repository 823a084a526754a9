/* Run: the heart of the script layer. It runs activations as coroutines, turn by turn.
 *
 * The host calls soc_run_turn for an activation that is ready:
 *
 * 1. An activation without a coroutine takes one from the pool and starts from the
 *    beginning: the handle and the message are pushed and the behaviour is called. The
 *    cursor of its effects is at 0, so effects that are on record are answered from
 *    there (turns/effect.h) until the record ends.
 * 2. An activation with a coroutine resumes behind the effect it was waiting for.
 * 3. The turn ends when the behaviour returns (SOC_TURN_DONE: its result becomes the
 *    reply, agent.state is kept, the coroutine goes back to the pool), waits
 *    (SOC_TURN_WAITS), raises (SOC_TURN_RAISED: the host may try again), or meets an
 *    error that no script can catch (SOC_TURN_BROKEN: budget, a replay that differs).
 *
 * A turn has a budget (turns/budget.h).
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_RUN_H
#define SOC_SCRIPT_TURNS_RUN_H

#include "script/turns/box.h"

/* The hooks `run` and `drop` of kernel/hooks.h; `user` is the script. */
enum soc_turn_end soc_run_turn(void *user, struct soc_activation *activation,
                               struct soc_buf *error);
void soc_run_drop(void *user, struct soc_activation *activation);

/* The hook `put_where`. */
void soc_run_put_where(void *user, const struct soc_activation *activation, struct soc_buf *out);

/* Calls as lua_pcall does, without results and with the budget of one turn: for scripts
 * that load. */
int soc_run_limited(struct soc_script *script, lua_State *L, int arguments, int handler);

#endif

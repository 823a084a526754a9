/* Isolated: runs the behaviour of an agent in a worker process.
 *
 * In the host the activation has a coroutine as any other, in which a function of the host
 * stands for the behaviour. It takes what the worker asks for, does it with the agent's own
 * handle and answers: so effects, records, replays and waits are the same as elsewhere. What
 * the worker says is checked as if it were hostile: valid JSON, a method that agents have,
 * plain values; everything else is up to the methods.
 *
 * In a simulation isolated agents run inside the program, by VM steps: cell.h.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_ISOLATED_H
#define SOC_SCRIPT_TURNS_ISOLATED_H

#include "script/turns/box.h"

/* Tells whether the activation belongs into a worker, or a cell. */
bool soc_isolated_wants(const struct soc_script *script, const struct soc_activation *activation);

/* Stands for the behaviour of the running activation, whose handle is at index 1: a
 * lua_CFunction with one result. It yields soc_isolated_stall_key() if the turn must stall. */
int soc_isolated_run(lua_State *co);
void *soc_isolated_stall_key(void);

#endif

/* Cell world: what an isolated agent sees in a simulation; worker/guest_world.c has the same
 * for a worker process.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_CELL_WORLD_H
#define SOC_SCRIPT_TURNS_CELL_WORLD_H

#include "script/turns/box.h"

/* Pushes a new environment, and the agent's behaviour in it. Raises what its files raise. */
void soc_cell_world_push(lua_State *L, struct soc_script *script, const struct soc_agent *agent);

#endif

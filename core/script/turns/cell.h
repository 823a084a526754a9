/* Cell: the world of an isolated agent inside the program, in a simulation.
 *
 * What a worker process is to an isolated agent of a real society, a cell is here: an
 * environment of its own, in which the app's file or the agent's module runs anew, so that
 * modules, globals and file-level locals are the agent's alone. It is bounded by VM steps and
 * the sandbox only.
 *
 * Cells come and go as workers do: one is kept for the agent's next message while there is
 * room, and given up when its run fails. If there are too many, an agent that waits gives up
 * its own, and its run is repeated from the record in another. So an agent that keeps
 * something elsewhere than in agent.state loses it here as there.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_CELL_H
#define SOC_SCRIPT_TURNS_CELL_H

#include "script/turns/box.h"

struct soc_cell;

/* Prepare the script, and release it. No cell may be in use then. */
void soc_cell_open(struct soc_script *script);
void soc_cell_fini(struct soc_script *script);

/* Frees cells that are kept for others if there are too many for the activation, which has none
 * and is about to run. Lends the activation that waits and must be dropped as well; NULL: there
 * is room. */
struct soc_activation *soc_cell_make_room(struct soc_script *script,
                                          const struct soc_activation *activation);

/* Stands for the behaviour of the running activation, whose handle is at index 1: a
 * lua_CFunction with one result. */
int soc_cell_run(lua_State *co);

/* The activation is over: its cell is kept. */
void soc_cell_finish(struct soc_cell *cell);

/* The activation, or its run, is given up: so is the cell. */
void soc_cell_drop(struct soc_cell *cell);

#endif

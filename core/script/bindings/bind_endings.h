/* Endings: the options that agent:pause, agent:resume, society.pause and society.resume
 * share.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_BINDINGS_BIND_ENDINGS_H
#define SOC_SCRIPT_BINDINGS_BIND_ENDINGS_H

#include <lua.h>

#include "parts/supervision/hold.h"

/* Reads the options { reason?, subtree? } at `index`, which may be absent, into `order`.
 * `what` names the call in errors. */
void soc_bind_endings_read(lua_State *L, int index, const char *what, struct soc_hold_order *order);

#endif

/* Handle: the `agent` that behaviours get.
 *
 * A userdata that works only inside the activation it was made for: agent.id, role,
 * parent, brief, status and state, and the methods of script/bindings.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_HANDLE_H
#define SOC_SCRIPT_TURNS_HANDLE_H

#include "script/turns/box.h"

/* Makes the metatable of handles. The table of methods must be there; it may be filled
 * later. */
void soc_handle_open(lua_State *L, struct soc_script *script);

/* Pushes the handle of the running activation, which has its coroutine. */
void soc_handle_push(lua_State *L, struct soc_script *script);

/* For methods of agents: lends the script of the handle at index 1. Raises unless it is
 * the handle of the running activation. */
struct soc_script *soc_handle_script(lua_State *L);

/* Appends agent.state of the handle at `index` to `out` as JSON, nothing if the script
 * never touched it. SOC_EINVAL or SOC_ETOOLARGE with `detail`. */
int soc_handle_put_state(lua_State *L, int index, struct soc_buf *out, struct soc_detail *detail);

#endif

/* Lua work: through which functions that work long report it to whoever counts the work of
 * scripts.
 *
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_LUA_WORK_H
#define SOC_LUALIB_LUA_WORK_H

#include <stdint.h>

#include <lua.h>

/* So many steps were made. May raise, which ends the function. */
typedef void soc_lua_work_cb(lua_State *L, uint64_t steps);

/* Sets who counts; nobody at first. */
void soc_lua_work_set(lua_State *L, soc_lua_work_cb *cb);

/* Reports steps. Whoever calls it owns nothing that an error would lose. */
void soc_lua_work(lua_State *L, uint64_t steps);

#endif

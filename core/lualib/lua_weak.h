/* Lua weak: weak tables, which the host may have and scripts may not.
 *
 * When the collector drops entries differs from run to run, and tables of weak keys that
 * lead to each other take it the square of their number, in one step that nothing
 * interrupts. A script cannot be kept from giving a metatable a `__mode` after it was set,
 * so the collector heeds only those made here. With a shared Lua library it heeds all.
 * Layer: lualib. Thread: any, as the state's. */
#ifndef SOC_LUALIB_LUA_WEAK_H
#define SOC_LUALIB_LUA_WEAK_H

#include <lua.h>

/* Pushes a new table that is weak as `mode` says: "k", "v" or "kv". */
void soc_lua_weak_push(lua_State *L, const char *mode);

#endif

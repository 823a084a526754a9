/* Lua fill: tables that are filled in only when somebody looks at all of them.
 *
 * A metatable may hold a filling function; whoever walks a table by its keys
 * (pairs, next, the JSON encoder), or looks past its metatable, calls soc_lua_fill
 * first.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_LUA_FILL_H
#define SOC_LUALIB_LUA_FILL_H

#include <lua.h>

/* Makes `fill`, called with the table as its argument, the filling function of
 * the metatable on top of the stack. */
void soc_lua_fill_set(lua_State *L, lua_CFunction fill);

/* Fills the table at `index`, if its metatable says how. */
void soc_lua_fill(lua_State *L, int index);

#endif

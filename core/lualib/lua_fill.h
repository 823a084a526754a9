/* Lua fill: tables that are filled lazily.
 *
 * A metatable may hold a fill function. Code that iterates over a table (pairs, next,
 * the JSON encoder) or bypasses its metatable calls soc_lua_fill first.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_LUA_FILL_H
#define SOC_LUALIB_LUA_FILL_H

#include <lua.h>

/* Sets the fill function, called with the table as its argument, of the metatable on
 * top of the stack. */
void soc_lua_fill_set(lua_State *L, lua_CFunction fill);

/* Fills the table at `index` if its metatable has a fill function. */
void soc_lua_fill(lua_State *L, int index);

#endif

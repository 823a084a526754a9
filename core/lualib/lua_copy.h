/* Lua copy: a table as its JSON would read, without the JSON.
 *
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_LUA_COPY_H
#define SOC_LUALIB_LUA_COPY_H

#include <lua.h>

/* Pushes a copy of the table at `index`, of which the JSON encoder has just said
 * that it is right: the same value that decoding its JSON would give. */
void soc_lua_copy(lua_State *L, int index);

#endif

/* Lua copy: copies a table as if it went through JSON, without the JSON.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_LUA_COPY_H
#define SOC_LUALIB_LUA_COPY_H

#include <lua.h>

/* Pushes a copy of the table at `index`, which the JSON encoder has just accepted. The
 * copy equals what decoding its JSON would give. */
void soc_lua_copy(lua_State *L, int index);

#endif

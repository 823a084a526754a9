/* Lua plain: copies a script's tables as plain data.
 *
 * The host keeps settings as Lua tables. If it kept the script's own tables, the script
 * could change them later, or use a metatable to return one value when they are checked
 * and another when they are used.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_LUA_PLAIN_H
#define SOC_LUALIB_LUA_PLAIN_H

#include <lua.h>

#include "base/err.h"

/* Pushes a deep copy of the value at `index` without calling metamethods. Functions are
 * shared: scripts cannot change them. SOC_EINVAL, with nothing pushed and `detail` set,
 * for a table with a metatable other than the mark of a list and for nesting beyond
 * SOC_JSON_DEPTH_MAX; `name` is the name of the value in the error. */
int soc_lua_plain(lua_State *L, int index, const char *name, struct soc_detail *detail);

#endif

/* Lua plain: a script's tables as data, in a copy that the script cannot reach.
 *
 * The host keeps settings as Lua tables. If it kept the script's own tables, the
 * script could change them afterwards, or let a metatable answer one thing when they
 * are checked and another when they are used.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_LUA_PLAIN_H
#define SOC_LUALIB_LUA_PLAIN_H

#include <lua.h>

#include "base/err.h"

/* Pushes a deep copy of the value at `index`. It calls no metamethods. Functions stay
 * what they are: no script can change one. SOC_OK, or SOC_EINVAL with nothing pushed
 * and `detail` for a table that has a metatable other than the mark of a list, or that
 * is nested deeper than SOC_JSON_DEPTH_MAX; `name` is the value's name in it. */
int soc_lua_plain(lua_State *L, int index, const char *name, struct soc_detail *detail);

#endif

/* Lua names: the global names a script uses, found without running it.
 *
 * Scopes are not followed: a name that the script declares anywhere, as a local, a
 * parameter or by giving it a value, is taken for declared everywhere. What is found
 * is therefore hardly ever wrong, though not complete.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_LUA_NAMES_H
#define SOC_LUALIB_LUA_NAMES_H

#include <lua.h>

#include "lualib/lua_source.h"

/* Calls `found` with each name in `text` that neither the script nor the environment
 * table at `index` has: `io`, or as a member of a library `os.execute`. Each once,
 * with its first line. */
void soc_lua_names_check(lua_State *L, int index, const char *text,
                         void (*found)(void *user, int line, const char *name), void *user);

#endif

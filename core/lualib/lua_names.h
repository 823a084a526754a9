/* Lua names: finds undefined global names in a script without running it.
 *
 * It does not track scopes: a name that the script declares anywhere, as a local, a
 * parameter or by assignment, counts as declared everywhere. So reports are hardly ever
 * wrong, but not complete.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_LUA_NAMES_H
#define SOC_LUALIB_LUA_NAMES_H

#include <lua.h>

#include "lualib/lua_source.h"

/* Calls `found` with each name in `text` that neither the script nor the environment
 * table at `index` defines: `io`, or `os.execute` for a member of a library. Each is
 * reported once, with its first line. */
void soc_lua_names_check(lua_State *L, int index, const char *text,
                         void (*found)(void *user, int line, const char *name), void *user);

#endif

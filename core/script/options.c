/* Options: tables of named arguments, read the same way on every run.
 *
 * A script's table may carry a metatable whose functions act; nothing here asks
 * it. Layer: script. Thread: loop. */
#include <string.h>

#include "script/inside.h"

int soc_raw_field(lua_State *L, int index, const char *name)
{
    index = lua_absindex(L, index);
    lua_pushstring(L, name);
    return lua_rawget(L, index);
}

static bool is_known(const char *name, const char *const *known)
{
    for (int i = 0; known[i] != NULL; i++)
        if (strcmp(known[i], name) == 0)
            return true;
    return false;
}

void soc_check_names(lua_State *L, int index, const char *what, const char *const *known)
{
    const char *worst = NULL;
    index = lua_absindex(L, index);
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            luaL_error(L, "%s: names expected, got a %s as a key", what, luaL_typename(L, -1));
        const char *name = lua_tostring(L, -1); /* the table keeps it alive */
        if (!is_known(name, known) && (worst == NULL || strcmp(name, worst) < 0))
            worst = name;
    }
    if (worst != NULL)
        luaL_error(L, "%s: unknown option '%s'", what, worst);
}

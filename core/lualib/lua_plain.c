#include "lualib/lua_plain.h"

#include <assert.h>
#include <stdbool.h>

#include <lauxlib.h>

#include "base/limits.h"
#include "lualib/lua_json.h"

/* Returns true if the metatable of the table at `index` can be dropped: there is none,
 * or it is the mark of a list, which the table at `copy` gets as well. */
static bool copy_mark(lua_State *L, int index, int copy)
{
    assert(lua_istable(L, index) && lua_istable(L, copy));
    if (!lua_getmetatable(L, index))
        return true;
    soc_lua_push_array_mark(L);
    bool is_mark = lua_rawequal(L, -1, -2);
    if (is_mark)
        lua_setmetatable(L, copy);
    else
        lua_pop(L, 1);
    lua_pop(L, 1);
    return is_mark;
}

/* Pushes a copy of the table at `from`. `depth` bounds the recursion. */
static int copy_table(lua_State *L, int from, int depth, const char *name,
                      struct soc_detail *detail)
{
    if (depth > SOC_JSON_DEPTH_MAX)
        return soc_fail(detail, SOC_EINVAL, "'%s' is nested too deeply or contains itself", name);
    luaL_checkstack(L, 8, NULL);
    lua_newtable(L);
    int to = lua_gettop(L);
    int rc = SOC_OK;
    if (!copy_mark(L, from, to))
        rc = soc_fail(detail, SOC_EINVAL, "'%s' contains a table with a metatable", name);
    if (rc == SOC_OK)
        lua_pushnil(L);
    while (rc == SOC_OK && lua_next(L, from) != 0) {
        lua_pushvalue(L, -2);
        if (lua_type(L, -2) == LUA_TTABLE)
            rc = copy_table(L, lua_gettop(L) - 1, depth + 1, name, detail);
        else
            lua_pushvalue(L, -2);
        if (rc == SOC_OK) {
            lua_rawset(L, to);
            lua_pop(L, 1);
        }
    }
    lua_settop(L, rc == SOC_OK ? to : to - 1);
    return rc;
}

int soc_lua_plain(lua_State *L, int index, const char *name, struct soc_detail *detail)
{
    assert(name != NULL);
    index = lua_absindex(L, index);
    if (lua_type(L, index) == LUA_TTABLE)
        return copy_table(L, index, 1, name, detail);
    lua_pushvalue(L, index);
    return SOC_OK;
}

#include "lualib/lua_copy.h"

#include <assert.h>

#include <lauxlib.h>

#include "lualib/lua_json.h"

/* Decides as the encoder does: a marked table, or one with number keys. */
static int is_list(lua_State *L, int index)
{
    if (lua_rawlen(L, index) > 0)
        return 1;
    if (!lua_getmetatable(L, index))
        return 0;
    soc_lua_push_array_mark(L);
    int is_marked = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return is_marked;
}

static void copy_list(lua_State *L, int from, int to)
{
    assert(lua_istable(L, from) && lua_istable(L, to));
    lua_Integer count = (lua_Integer)lua_rawlen(L, from);
    for (lua_Integer i = 1; i <= count; i++) {
        if (lua_rawgeti(L, from, i) == LUA_TTABLE) {
            soc_lua_copy(L, -1);
            lua_remove(L, -2);
        }
        lua_rawseti(L, to, i);
    }
    soc_lua_push_array_mark(L);
    lua_setmetatable(L, to);
}

/* The encoder has just walked this value, so its depth is bounded. */
void soc_lua_copy(lua_State *L, int index)
{
    assert(lua_istable(L, index));
    int from = lua_absindex(L, index);
    luaL_checkstack(L, 8, NULL);
    if (is_list(L, from)) {
        lua_createtable(L, (int)lua_rawlen(L, from), 0);
        copy_list(L, from, lua_gettop(L));
        return;
    }
    lua_createtable(L, 0, 6);
    int to = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, from) != 0) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        if (lua_type(L, -1) == LUA_TTABLE) {
            soc_lua_copy(L, -1);
            lua_remove(L, -2);
        }
        lua_rawset(L, to);
    }
}

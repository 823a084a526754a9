#include "main/options.h"

#include <assert.h>
#include <stdlib.h>

#include <lauxlib.h>

#include "base/mem.h"

const char *soc_options_text(lua_State *L, const char *name)
{
    assert(lua_type(L, 1) == LUA_TTABLE);
    int type = lua_getfield(L, 1, name);
    if (type != LUA_TNIL && type != LUA_TSTRING)
        luaL_error(L, "option %s: a string expected, got %s", name, luaL_typename(L, -1));
    const char *text = lua_tostring(L, -1);
    lua_pop(L, 1);
    return text;
}

bool soc_options_flag(lua_State *L, const char *name)
{
    assert(lua_type(L, 1) == LUA_TTABLE);
    lua_getfield(L, 1, name);
    bool is_set = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return is_set;
}

int64_t soc_options_number(lua_State *L, const char *name, int64_t fallback)
{
    assert(lua_type(L, 1) == LUA_TTABLE);
    lua_getfield(L, 1, name);
    int64_t number = lua_isnil(L, -1) ? fallback : luaL_checkinteger(L, -1);
    lua_pop(L, 1);
    return number;
}

struct soc_text_list soc_options_list(lua_State *L, const char *name)
{
    struct soc_text_list list = {0};
    assert(lua_type(L, 1) == LUA_TTABLE);
    if (lua_getfield(L, 1, name) == LUA_TTABLE && lua_rawlen(L, -1) > 0) {
        size_t count = lua_rawlen(L, -1);
        list.items = soc_alloc_zero((count + 1) * sizeof(*list.items));
        for (; (size_t)list.count < count; list.count++) {
            int type = lua_rawgeti(L, -1, list.count + 1);
            assert(type == LUA_TSTRING);
            list.items[list.count] = lua_tostring(L, -1);
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
    return list;
}

void soc_text_list_fini(struct soc_text_list *list)
{
    free(list->items);
    *list = (struct soc_text_list){0};
}

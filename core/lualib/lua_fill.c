#include "lualib/lua_fill.h"

#include <assert.h>

/* Its address is the key of the fill function in a metatable. */
static const char fill_key;

void soc_lua_fill_set(lua_State *L, lua_CFunction fill)
{
    assert(lua_istable(L, -1));
    lua_pushcfunction(L, fill);
    lua_rawsetp(L, -2, &fill_key);
}

void soc_lua_fill(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    if (!lua_getmetatable(L, index))
        return;
    if (lua_rawgetp(L, -1, &fill_key) == LUA_TFUNCTION) {
        lua_pushvalue(L, index);
        lua_call(L, 1, 0);
        lua_pop(L, 1);
    } else {
        lua_pop(L, 2);
    }
}

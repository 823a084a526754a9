#include "lualib/lua_work.h"

#include <lauxlib.h>

/* Its address is the registry key of a userdata with the callback. */
static const char work_key = 'w';

void soc_lua_work_set(lua_State *L, soc_lua_work_cb *cb)
{
    soc_lua_work_cb **place = lua_newuserdatauv(L, sizeof(*place), 0);
    *place = cb;
    lua_rawsetp(L, LUA_REGISTRYINDEX, &work_key);
}

void soc_lua_work(lua_State *L, uint64_t steps)
{
    luaL_checkstack(L, 1, NULL);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &work_key);
    soc_lua_work_cb *const *place = lua_touserdata(L, -1);
    lua_pop(L, 1); /* referenced by the registry */
    if (place != NULL)
        (*place)(L, steps);
}

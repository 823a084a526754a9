#include "lualib/lua_stages.h"

#include <lauxlib.h>

static const char source[] = "local sense, think, act = ...\n"
                             "return function(agent, message)\n"
                             "  local sensed = message\n"
                             "  if sense then sensed = sense(agent, message) end\n"
                             "  local thought = sensed\n"
                             "  if think then thought = think(agent, sensed, message) end\n"
                             "  if act then return act(agent, thought, message) end\n"
                             "  return thought\n"
                             "end\n";

static bool has_stage(lua_State *L, int index, const char *name)
{
    bool has = lua_getfield(L, index, name) == LUA_TFUNCTION;
    lua_pop(L, 1);
    return has;
}

bool soc_lua_stages_has(lua_State *L, int index)
{
    return has_stage(L, index, "sense") || has_stage(L, index, "think") ||
           has_stage(L, index, "act");
}

void soc_lua_stages_push(lua_State *L, int index)
{
    if (luaL_loadstring(L, source) != LUA_OK)
        lua_error(L);
    lua_getfield(L, index, "sense");
    lua_getfield(L, index, "think");
    lua_getfield(L, index, "act");
    lua_call(L, 3, 1);
}

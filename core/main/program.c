#include "main/program.h"

#include <lauxlib.h>

#include "lualib/lua_seed.h"
#include "main/command.h"
#include "society.h"

static int report(lua_State *L)
{
    soc_complain(0, "%s", luaL_checkstring(L, 1));
    return 0;
}

static const luaL_Reg functions[] = {
    {"complain", report},     {"run", soc_cmd_run},       {"sim", soc_cmd_sim},
    {"check", soc_cmd_check}, {"replay", soc_cmd_replay}, {NULL, NULL},
};

int soc_program_open(lua_State *L)
{
    luaL_newlib(L, functions);
    lua_pushstring(L, soc_society_version());
    lua_setfield(L, -2, "version");
    lua_getfield(L, LUA_REGISTRYINDEX, SOC_PROGRAM_PATH);
    lua_setfield(L, -2, "installed_path");
    lua_pushboolean(L, soc_lua_seed_is_fixed());
    lua_setfield(L, -2, "has_fixed_seed");
    soc_program_add_asking(L);
    soc_program_add_texts(L);
    soc_program_add_system(L);
    soc_program_add_web(L);
    soc_program_add_backup(L);
    soc_program_add_editor(L);
    return 1;
}

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "embed/home.h"
#include "lualib/lua_heap.h"
#include "lualib/lua_json.h"
#include "main/command.h"
#include "world/world.h"

/* Modules of the host, then of the project, then those installed. */
static void set_paths(lua_State *L, const char *home)
{
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "path");
    lua_pushfstring(L, "%s/lua/?.lua;%s/lua/?/init.lua;tests/support/?.lua;%s", home, home,
                    lua_tostring(L, -1));
    lua_setfield(L, -3, "path");
    lua_pop(L, 1);
    lua_getfield(L, -1, "preload");
    lua_pushcfunction(L, soc_world_open);
    lua_setfield(L, -2, "society");
    lua_pushcfunction(L, soc_lua_json_open);
    lua_setfield(L, -2, "society.json");
    lua_pop(L, 2);
    lua_pushstring(L, home);
    lua_setfield(L, LUA_REGISTRYINDEX, SOC_WORLD_HOME);
}

/* Called protected: home, then busted's arguments. */
static int run_busted(lua_State *L)
{
    int count = lua_gettop(L);
    const char *home = lua_tostring(L, 1);
    luaL_openlibs(L);
    set_paths(L, home);
    lua_pushfstring(L, "%s/lua/society/cli/test.lua", home);
    if (luaL_loadfilex(L, lua_tostring(L, -1), "t") != LUA_OK)
        return lua_error(L);
    lua_replace(L, 1);
    lua_settop(L, count);
    lua_call(L, count - 1, 1);
    return 1;
}

int soc_cmd_test(int argc, char **argv)
{
    struct soc_buf home = {0};
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            soc_help_print("test");
            return SOC_EXIT_DONE;
        }
    }
    if (!soc_home_find(&home)) {
        soc_buf_fini(&home);
        return soc_complain(SOC_EXIT_FAILED, "lua/society and policies are not near the program; "
                                             "set SOCIETY_HOME");
    }
    lua_State *L = soc_lua_heap_open(SOC_SCRIPT_BYTES_MAX);
    memset(lua_getextraspace(L), 0, LUA_EXTRASPACE);
    luaL_checkstack(L, argc + 8, "too many arguments");
    lua_pushcfunction(L, run_busted);
    lua_pushstring(L, soc_buf_text(&home));
    soc_buf_fini(&home);
    for (int i = 0; i < argc; i++)
        lua_pushstring(L, argv[i]);
    int code;
    if (lua_pcall(L, argc + 1, 1, 0) != LUA_OK)
        code = soc_complain(SOC_EXIT_FAILED, "%s", luaL_tolstring(L, -1, NULL));
    else
        code = (int)lua_tointeger(L, -1);
    soc_lua_heap_close(L);
    return code;
}

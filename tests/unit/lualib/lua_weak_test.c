#include "lualib/lua_weak.h"

#include <lauxlib.h>
#include <lualib.h>

#include "check.h"
#include "lualib/lua_heap.h"

/* Runs the script and returns the number that it returns; -1: it failed. */
static lua_Integer run(lua_State *L, const char *script)
{
    lua_Integer number = luaL_dostring(L, script) == LUA_OK ? lua_tointeger(L, -1) : -1;
    lua_settop(L, 0);
    return number;
}

static void a_mode_that_a_script_sets_is_not_heeded(void)
{
    static const char *const modes[] = {"k", "v", "kv"};
    lua_State *L = soc_lua_heap_open(16 << 20);
    luaL_openlibs(L);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        lua_pushstring(L, modes[i]);
        lua_setglobal(L, "mode");
        CHECK_INT(run(L, "local meta = {} local t = setmetatable({}, meta) "
                         "t[{}] = {} meta.__mode = mode collectgarbage() "
                         "local n = 0 for _ in pairs(t) do n = n + 1 end return n"),
                  1);
        CHECK_INT(run(L, "local meta = { 1, 2, 3, __mode = mode } local t = setmetatable({}, meta) "
                         "t[{}] = {} collectgarbage() "
                         "local n = 0 for _ in pairs(t) do n = n + 1 end return n"),
                  1);
    }
    soc_lua_heap_close(L);
}

static void the_hosts_tables_are_weak(void)
{
    lua_State *L = soc_lua_heap_open(16 << 20);
    luaL_openlibs(L);
    soc_lua_weak_push(L, "k");
    lua_setglobal(L, "keys");
    soc_lua_weak_push(L, "v");
    lua_setglobal(L, "values");
    CHECK_INT(run(L, "keys[{}] = 1 keys[1] = {} values[1] = {} values[{}] = 1 kept = {} "
                     "keys[kept] = 1 collectgarbage() local n = 0 "
                     "for _ in pairs(keys) do n = n + 1 end "
                     "for _ in pairs(values) do n = n + 10 end return n"),
              12);
    soc_lua_heap_close(L);
}

int main(void)
{
    RUN(a_mode_that_a_script_sets_is_not_heeded);
    RUN(the_hosts_tables_are_weak);
    return check_done();
}

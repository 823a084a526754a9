/* society.new in a Lua state: what a script of its own cannot bring about. */
#include "world/world.h"

#include <stdlib.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lualib.h>

#include "check.h"
#include "switched_disk.h"

static lua_State *new_state(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    lua_pushstring(L, ".");
    lua_setfield(L, LUA_REGISTRYINDEX, SOC_WORLD_HOME);
    luaL_requiref(L, "society", soc_world_open, 1);
    lua_pop(L, 1);
    return L;
}

/* Runs a text and says what it raised. */
static void run(lua_State *L, const char *text)
{
    if (!CHECK_INT(luaL_dostring(L, text), LUA_OK)) {
        printf("# %s\n", lua_tostring(L, -1));
        lua_pop(L, 1);
    }
}

static int fail_disk(lua_State *L)
{
    atomic_store(&disk.sync_fails, lua_toboolean(L, 1));
    return 0;
}

/* The alarm ends a loop that would run forever. */
static void a_society_whose_disk_has_failed_stops_despite_an_open_timer(void)
{
    char directory[] = "/tmp/society_world_XXXXXX";
    char command[64];
    CHECK(mkdtemp(directory) != NULL);
    lua_State *L = new_state();
    lua_register(L, "fail_disk", fail_disk);
    lua_pushstring(L, directory);
    lua_setglobal(L, "directory");
    alarm(600);
    run(L, "s = society.new{ store = directory }"
           "s:root(function(root) root:sleep(1000) return 'x' end)"
           "assert(s:send('user', { to = 'root', payload = 'x' }))"
           "s:step()"
           "fail_disk(true)"
           "s:run()"
           "assert(s:transcript():find('storage failed', 1, true))"
           "s:advance(5000)"
           "local answer, err = s:dispatch('root', 'x')"
           "assert(answer == nil and err.error == 'storage_failed')"
           "fail_disk(false)"
           "s:crash()"
           "s:recover()"
           "s:run()"
           "assert(s:stats().pending == 0)");
    lua_close(L);
    alarm(0);
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    CHECK_INT(system(command), 0);
}

/* The state of a script must not be one that is collected. */
static void a_society_survives_the_coroutine_that_made_it(void)
{
    lua_State *L = new_state();
    run(L, "local make = function(app) return society.new{ app = app } end\n"
           "local function app(s)\n"
           "  s:root(function(root) root:sleep(10) return coroutine.wrap(function()\n"
           "    return 'yes' end)() end)\n"
           "end\n"
           "s = coroutine.wrap(make)(app)\n"
           "collectgarbage() collectgarbage()\n"
           "for _ = 1, 100 do coroutine.wrap(function(...) return select('#', ...) end)(1, 2) end\n"
           "assert(s:dispatch('root', 'x').payload.text == 'yes')\n"
           "coroutine.wrap(function() s:crash() s:recover() end)()\n"
           "collectgarbage() collectgarbage()\n"
           "assert(s:dispatch('root', 'x').payload.text == 'yes')\n"
           "local ok, err = coroutine.wrap(function()\n"
           "  return pcall(society.new, { config = { colour = 1 } }) end)()\n"
           "assert(not ok and err:find('colour', 1, true))\n"
           "s:close()");
    CHECK_INT(lua_gettop(L), 0);
    lua_close(L);
}

int main(void)
{
    disk_install();
    RUN(a_society_whose_disk_has_failed_stops_despite_an_open_timer);
    RUN(a_society_survives_the_coroutine_that_made_it);
    return check_done();
}

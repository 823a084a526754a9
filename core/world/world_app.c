/* World app: the environment of an app that is a function in a spec.
 *
 * A function gets its globals from the upvalue _ENV, which it shares with its file.
 * While the app runs, that upvalue is replaced. Functions created meanwhile keep the
 * new one, so behaviours have it for good; the app gets its own back, because it may be
 * the app of several societies. Local variables of the spec that the app uses are
 * ordinary upvalues and stay shared. */
#include <assert.h>
#include <string.h>

#include "lualib/lua_weak.h"
#include "world/world_state.h"

/* Returns the number of the upvalue _ENV of the function at `index`; 0: it has none. */
static int find_env(lua_State *L, int index)
{
    if (lua_iscfunction(L, index))
        return 0;
    for (int i = 1;; i++) {
        const char *name = lua_getupvalue(L, index, i);
        if (name == NULL)
            return 0;
        lua_pop(L, 1);
        if (strcmp(name, "_ENV") == 0)
            return i;
    }
}

/* require(name) of an app. Upvalues: 1 { the world }, weak, because behaviours hold the
 * environment and the society holds them; 2 the require of the spec. */
static int app_require(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TSTRING && strcmp(lua_tostring(L, 1), "society") == 0) {
        if (lua_rawgeti(L, lua_upvalueindex(1), 1) == LUA_TNIL)
            return luaL_error(L, "this society is not running: it was closed or has crashed");
        return 1;
    }
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* Pushes a function with one fresh upvalue. */
static int push_holder(lua_State *L)
{
    if (luaL_loadbufferx(L, "", 0, "=environment", "t") != LUA_OK)
        lua_error(L);
    return lua_gettop(L);
}

/* Sets the functions of the environment at `env` that differ from the spec's, which are
 * at `outer`. */
static void set_own(lua_State *L, const struct soc_script *script, int env, int outer, int self)
{
    static const char *const from_sandbox[] = {"pcall", "xpcall", NULL};
    lua_pushvalue(L, env);
    lua_setfield(L, env, "_G");
    soc_lua_weak_push(L, "v");
    lua_pushvalue(L, self);
    lua_rawseti(L, -2, 1);
    lua_getfield(L, outer, "require");
    lua_pushcclosure(L, app_require, 2);
    lua_setfield(L, env, "require");
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->env_ref);
    for (int i = 0; from_sandbox[i] != NULL; i++) {
        lua_getfield(L, -1, from_sandbox[i]);
        lua_setfield(L, env, from_sandbox[i]);
    }
    lua_pop(L, 1);
}

/* Pushes a new environment: reads fall through to the one at `outer`, writes stay. */
static int push_env(lua_State *L, const struct soc_script *script, int outer, int self)
{
    lua_newtable(L);
    int env = lua_gettop(L);
    set_own(L, script, env, outer, self);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, outer);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, env);
    return env;
}

int soc_world_run_function(lua_State *L, struct soc_script *script, int self,
                           struct soc_detail *detail)
{
    assert(lua_isfunction(L, -1));
    int app = lua_gettop(L);
    int upvalue = find_env(L, app);
    int former = 0;
    luaL_checkstack(L, 16, NULL);
    if (upvalue != 0) {
        former = push_holder(L);
        lua_upvaluejoin(L, former, 1, app, upvalue);
        int fresh = push_holder(L);
        lua_getupvalue(L, app, upvalue);
        push_env(L, script, lua_gettop(L), self);
        lua_setupvalue(L, fresh, 1);
        lua_upvaluejoin(L, app, upvalue, fresh, 1);
    }
    lua_pushvalue(L, self);
    lua_pushvalue(L, app);
    int rc = soc_script_run_function(script, detail);
    if (upvalue != 0)
        lua_upvaluejoin(L, app, upvalue, former, 1);
    lua_settop(L, app - 1);
    return rc;
}

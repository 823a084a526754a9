#include "script/turns/own.h"

#include <assert.h>
#include <stdio.h>

#include <lauxlib.h>

#include "lualib/lua_json.h"
#include "lualib/lua_plain.h"

static void push_copy(lua_State *L, int index, const char *name)
{
    struct soc_detail detail;
    if (soc_lua_plain(L, index, name, &detail) < 0)
        luaL_error(L, "%s", detail.text);
}

void soc_own_push_environment(lua_State *L, const struct soc_own *own, bool has_app)
{
    char path[4096];
    int settings = lua_gettop(L);
    assert(lua_istable(L, settings) && own->module_ref != 0);
    soc_sandbox_push(L, &own->gate);
    int env = lua_gettop(L);
    lua_pushvalue(L, settings);
    soc_sandbox_preload(L, env, "society.llm.settings");
    lua_rawgeti(L, LUA_REGISTRYINDEX, own->module_ref);
    push_copy(L, -1, "society");
    soc_sandbox_preload(L, env, "society");
    soc_lua_json_open(L);
    soc_sandbox_preload(L, env, "society.json");
    if (has_app && own->app_dir != NULL)
        soc_sandbox_add_path(L, env, own->app_dir);
    snprintf(path, sizeof(path), "%s/lua", own->home);
    soc_sandbox_add_own_path(L, env, path);
    lua_settop(L, env);
    lua_replace(L, settings);
}

/* Replaces the environment on top by what its `require` gives. */
static void call_require(lua_State *L, const char *name)
{
    lua_getfield(L, -1, "require");
    lua_remove(L, -2);
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
}

void soc_own_require(lua_State *L, struct soc_own *own, const char *name)
{
    luaL_checkstack(L, 8, NULL);
    if (own->env_ref == 0) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, own->settings_ref);
        soc_own_push_environment(L, own, false);
        own->env_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, own->env_ref);
    call_require(L, name);
}

void soc_own_push_provider(lua_State *L, struct soc_own *own, const char *name, int settings)
{
    settings = lua_absindex(L, settings);
    luaL_checkstack(L, 8, NULL);
    if (own->providers_ref == 0) {
        lua_newtable(L);
        own->providers_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, own->providers_ref);
    if (lua_getfield(L, -1, name) == LUA_TNIL) {
        lua_pop(L, 1);
        push_copy(L, settings, "llm");
        soc_own_push_environment(L, own, true);
        call_require(L, name);
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, name);
    }
    lua_remove(L, -2);
}

void soc_own_forget_providers(lua_State *L, struct soc_own *own)
{
    if (own->providers_ref != 0)
        luaL_unref(L, LUA_REGISTRYINDEX, own->providers_ref);
    own->providers_ref = 0;
}

void soc_own_fini(lua_State *L, struct soc_own *own)
{
    soc_own_forget_providers(L, own);
    if (own->env_ref != 0)
        luaL_unref(L, LUA_REGISTRYINDEX, own->env_ref);
    if (own->settings_ref != 0)
        luaL_unref(L, LUA_REGISTRYINDEX, own->settings_ref);
    own->env_ref = own->settings_ref = 0;
}

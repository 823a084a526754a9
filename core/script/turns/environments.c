#include "script/turns/environments.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "lualib/lua_json.h"
#include "lualib/lua_plain.h"
#include "sandbox/sandbox.h"

struct soc_environments {
    struct soc_sandbox_gate gate;
    int llm_ref;       /* society.config{ llm = … } as the host keeps it */
    int shown_llm_ref; /* as scripts may read it */
    int host_ref;      /* the host's environment; LUA_NOREF: not made yet */
    int providers_ref; /* name -> the app's module; LUA_NOREF: none was loaded */
};

static void push_copy(lua_State *L, int index, const char *name)
{
    struct soc_detail detail;
    if (soc_lua_plain(L, index, name, &detail) < 0)
        luaL_error(L, "%s", detail.text);
}

/* Pushes a new environment with `society`, `society.json` and the program's modules; the
 * app's come first if `has_app`. The table on top, which is popped, becomes its module
 * society.llm.settings. */
static void push_environment(lua_State *L, const struct soc_script *script, bool has_app)
{
    char path[SOC_PATH_BYTES_MAX];
    int settings = lua_gettop(L);
    assert(lua_istable(L, settings) && script->module_ref != 0);
    soc_sandbox_push(L, &script->environments->gate);
    int env = lua_gettop(L);
    lua_pushvalue(L, settings);
    soc_sandbox_preload(L, env, "society.llm.settings");
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->module_ref);
    push_copy(L, -1, "society");
    soc_sandbox_preload(L, env, "society");
    soc_lua_json_open(L);
    soc_sandbox_preload(L, env, "society.json");
    if (has_app && script->app_dir != NULL)
        soc_sandbox_add_path(L, env, script->app_dir);
    snprintf(path, sizeof(path), "%s/lua", script->home);
    soc_sandbox_add_own_path(L, env, path);
    lua_settop(L, env);
    lua_replace(L, settings);
}

static int new_table_ref(lua_State *L)
{
    lua_newtable(L);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

void soc_environments_open(lua_State *L, struct soc_script *script,
                           const struct soc_sandbox_gate *gate)
{
    assert(script->environments == NULL);
    struct soc_environments *environments = soc_alloc_zero(sizeof(*environments));
    script->environments = environments;
    environments->gate = *gate;
    environments->llm_ref = environments->shown_llm_ref = LUA_NOREF;
    environments->host_ref = environments->providers_ref = LUA_NOREF;
    environments->llm_ref = new_table_ref(L);
    environments->shown_llm_ref = new_table_ref(L);
    soc_environments_push_shown_llm(L, script);
    soc_sandbox_push_view(L, -1, "society.llm.settings");
    lua_remove(L, -2);
    push_environment(L, script, true);
    script->env_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    script->fatal_count = soc_sandbox_fatal_count(L);
}

void soc_environments_fini(lua_State *L, struct soc_script *script)
{
    struct soc_environments *environments = script->environments;
    if (environments == NULL)
        return;
    luaL_unref(L, LUA_REGISTRYINDEX, environments->llm_ref);
    luaL_unref(L, LUA_REGISTRYINDEX, environments->shown_llm_ref);
    luaL_unref(L, LUA_REGISTRYINDEX, environments->host_ref);
    luaL_unref(L, LUA_REGISTRYINDEX, environments->providers_ref);
    free(environments);
    script->environments = NULL;
}

void soc_environments_freeze(lua_State *L, const struct soc_script *script)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->env_ref);
    soc_sandbox_freeze(L, -1);
    lua_pop(L, 1);
}

/* print(…), but the host has printed already what the app's file prints as it loads. */
static int print_later(lua_State *L)
{
    const struct soc_script *script = *(struct soc_script **)lua_touserdata(L, lua_upvalueindex(1));
    if (script == NULL)
        return luaL_error(L, "print: the society has ended");
    return script->is_building ? 0 : script->environments->gate.print(L);
}

void soc_environments_push_cell(lua_State *L, const struct soc_script *script)
{
    struct soc_sandbox_gate gate = script->environments->gate;
    gate.print = print_later;
    soc_sandbox_push(L, &gate);
    soc_lua_json_open(L);
    soc_sandbox_preload(L, lua_gettop(L) - 1, "society.json");
}

/* Replaces the environment on top by what its `require` gives. */
static void call_require(lua_State *L, const char *name)
{
    assert(lua_istable(L, -1));
    lua_getfield(L, -1, "require");
    lua_remove(L, -2);
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
}

void soc_environments_require(lua_State *L, struct soc_script *script, const char *name)
{
    struct soc_environments *environments = script->environments;
    luaL_checkstack(L, 8, NULL);
    if (environments->host_ref == LUA_NOREF) {
        soc_environments_push_llm(L, script);
        push_environment(L, script, false);
        environments->host_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, environments->host_ref);
    call_require(L, name);
}

void soc_environments_push_provider(lua_State *L, struct soc_script *script, const char *name,
                                    int settings)
{
    struct soc_environments *environments = script->environments;
    settings = lua_absindex(L, settings);
    assert(lua_istable(L, settings));
    luaL_checkstack(L, 8, NULL);
    if (environments->providers_ref == LUA_NOREF)
        environments->providers_ref = new_table_ref(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, environments->providers_ref);
    if (lua_getfield(L, -1, name) == LUA_TNIL) {
        lua_pop(L, 1);
        push_copy(L, settings, "llm");
        push_environment(L, script, true);
        call_require(L, name);
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, name);
    }
    lua_remove(L, -2);
}

void soc_environments_forget_providers(lua_State *L, struct soc_script *script)
{
    luaL_unref(L, LUA_REGISTRYINDEX, script->environments->providers_ref);
    script->environments->providers_ref = LUA_NOREF;
}

void soc_environments_push_llm(lua_State *L, const struct soc_script *script)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->environments->llm_ref);
}

void soc_environments_push_shown_llm(lua_State *L, const struct soc_script *script)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->environments->shown_llm_ref);
}

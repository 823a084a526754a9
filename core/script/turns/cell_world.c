#include "script/turns/cell_world.h"

#include <string.h>

#include "base/json.h"
#include "base/version.h"
#include "lualib/lua_json.h"
#include "lualib/lua_stages.h"
#include "sandbox/sandbox.h"
#include "script/turns/behaviour.h"
#include "script/turns/environments.h"
#include "script/turns/handout.h"

/* Roles may name roles as their behaviour, so far. */
#define NAMES_MAX 8

/* society.NAME(…) that changes the society, which the host has done. Upvalues: the box, the
 * name. */
static int ignore_change(lua_State *L)
{
    const struct soc_script *script = soc_box_script(L, lua_upvalueindex(1));
    if (!script->is_building)
        return luaL_error(L,
                          "society.%s changes the society: it works while the script loads, not "
                          "inside a turn",
                          lua_tostring(L, lua_upvalueindex(2)));
    return 0;
}

/* society.role{…}: notes its behaviour under its id, or its name. Upvalues: the box, "role",
 * the table of behaviours. */
static int note_role(lua_State *L)
{
    ignore_change(L);
    if (lua_type(L, 1) != LUA_TTABLE)
        return 0;
    lua_settop(L, 1);
    if (lua_getfield(L, 1, "id") == LUA_TNIL) {
        lua_pop(L, 1);
        lua_getfield(L, 1, "name");
    }
    lua_getfield(L, 1, "behaviour");
    if (lua_type(L, -2) == LUA_TSTRING)
        lua_rawset(L, lua_upvalueindex(3));
    return 0;
}

/* The files of the module at 1, for `require`. Upvalue 1: the box. */
static int find_module(lua_State *L)
{
    return soc_handout_find(L, soc_box_script(L, lua_upvalueindex(1)));
}

/* Pushes the module `society` as a worker has it: what looks is the host's, what changes the
 * society does nothing. `roles`: where behaviours are noted. */
static void push_society(lua_State *L, const struct soc_script *script, int roles)
{
    static const char *const changes[] = {"root", "main", "policy", "config"};
    lua_newtable(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->module_ref);
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        if (lua_type(L, -2) == LUA_TSTRING && lua_iscfunction(L, -1) &&
            strcmp(lua_tostring(L, -2), "new") != 0)
            lua_rawset(L, -5);
        else
            lua_pop(L, 2);
    }
    lua_pop(L, 1);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, script->box_ref);
        lua_pushstring(L, changes[i]);
        lua_pushcclosure(L, ignore_change, 2);
        lua_setfield(L, -2, changes[i]);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->box_ref);
    lua_pushliteral(L, "role");
    lua_pushvalue(L, roles);
    lua_pushcclosure(L, note_role, 3);
    lua_setfield(L, -2, "role");
    lua_pushliteral(L, SOC_VERSION);
    lua_setfield(L, -2, "version");
}

/* Decodes a member of the app as it was kept, and pushes it. */
static void push_member(lua_State *L, const struct soc_script *script, const char *name)
{
    struct soc_detail detail;
    if (soc_lua_json_decode(L, soc_json_member(soc_buf_slice(&script->app), name), &detail) < 0)
        luaL_error(L, "%s", detail.text);
}

/* Runs the app's file in the environment at `env`, where it declares roles. */
static void load_app(lua_State *L, const struct soc_script *script, int env)
{
    struct soc_detail detail;
    size_t length;
    push_member(L, script, "path");
    push_member(L, script, "text");
    push_member(L, script, "arguments");
    int arguments = lua_gettop(L);
    int count = (int)lua_rawlen(L, arguments);
    luaL_checkstack(L, count + 8, "too many arguments");
    lua_createtable(L, count, 1);
    lua_pushvalue(L, arguments - 2);
    lua_rawseti(L, -2, 0);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, arguments, i);
        lua_rawseti(L, -2, i);
    }
    lua_setfield(L, env, "arg");
    const char *text = lua_tolstring(L, arguments - 1, &length);
    if (soc_sandbox_load_text(L, env, soc_slice(text, length), lua_tostring(L, arguments - 2),
                              &detail) < 0)
        luaL_error(L, "%s", detail.text);
    for (int i = 1; i <= count; i++)
        lua_rawgeti(L, arguments, i);
    lua_call(L, count, 0);
    lua_settop(L, arguments - 3);
}

/* Replaces the name on top by what it stands for: a role's behaviour, or a module. */
static void resolve_name(lua_State *L, int env, int roles)
{
    for (int i = 0; i < NAMES_MAX && lua_type(L, -1) == LUA_TSTRING; i++) {
        lua_pushvalue(L, -1);
        if (lua_rawget(L, roles) == LUA_TNIL || lua_rawequal(L, -1, -2)) {
            lua_pop(L, 1);
            lua_getfield(L, env, "require");
            lua_pushvalue(L, -2);
            lua_call(L, 1, 1);
        }
        lua_remove(L, -2);
    }
}

void soc_cell_world_push(lua_State *L, struct soc_script *script, const struct soc_agent *agent)
{
    const char *name = soc_behaviour_name(script, agent->role);
    luaL_checkstack(L, 24, NULL);
    soc_environments_push_cell(L, script);
    int env = lua_gettop(L);
    lua_newtable(L);
    int roles = lua_gettop(L);
    push_society(L, script, roles);
    soc_sandbox_preload(L, env, "society");
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->box_ref);
    lua_pushcclosure(L, find_module, 1);
    soc_sandbox_set_finder(L, env);
    if (soc_handout_needs_app(script, agent->role))
        load_app(L, script, env);
    if (name != NULL) {
        lua_pushstring(L, name);
    } else {
        lua_pushstring(L, agent->role->id);
        lua_rawget(L, roles);
    }
    resolve_name(L, env, roles);
    int value = lua_gettop(L);
    if (lua_type(L, value) == LUA_TTABLE && soc_lua_stages_has(L, value))
        soc_lua_stages_push(L, value);
    else if (lua_type(L, value) != LUA_TTABLE && lua_type(L, value) != LUA_TFUNCTION)
        luaL_error(L, "behaviour: a function, a table of handlers or the name of a module that "
                      "returns one expected");
    lua_replace(L, roles);
    lua_settop(L, roles);
    soc_sandbox_freeze(L, env);
    soc_sandbox_allow_load(L, env, true);
}

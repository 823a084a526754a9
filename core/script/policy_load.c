#include "script/policy_load.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "script/lua_json.h"
#include "script/sandbox.h"

static int refuse_effect(lua_State *L)
{
    return luaL_error(L, "a policy is a pure function: it prints nothing and asks no clock and no "
                         "chance");
}

/* Policies may require society.json and the host's own modules. */
static void push_environment(lua_State *L, const struct soc_script *script)
{
    struct soc_sandbox_gate gate = {refuse_effect, refuse_effect, refuse_effect, refuse_effect,
                                    NULL};
    soc_sandbox_push(L, &gate);
    soc_lua_json_open(L);
    soc_sandbox_preload(L, lua_gettop(L) - 1, "society.json");
    char path[4096];
    snprintf(path, sizeof(path), "%s/lua", script->home);
    soc_sandbox_add_path(L, lua_gettop(L), path);
}

static void over_budget(lua_State *L, lua_Debug *debug)
{
    (void)debug;
    luaL_error(L, "the policy ran too many steps");
}

int soc_policy_call(lua_State *L, int arguments, int results)
{
    lua_Hook hook = lua_gethook(L);
    int mask = lua_gethookmask(L);
    int count = lua_gethookcount(L);
    lua_sethook(L, over_budget, LUA_MASKCOUNT, SOC_POLICY_STEPS_MAX);
    int status = lua_pcall(L, arguments, results, 0);
    lua_sethook(L, hook, mask, count);
    return status;
}

bool soc_policy_find(const struct soc_script *script, const char *kind, const char *name,
                     char *path, size_t size)
{
    if (strchr(name, '/') != NULL || strstr(name, ".lua") != NULL) {
        snprintf(path, size, "%s", name);
        return true;
    }
    const char *roots[] = {script->app_dir, script->home};
    for (int i = 0; i < 2; i++) {
        if (roots[i] == NULL)
            continue;
        snprintf(path, size, "%s/policies/%s/%s.lua", roots[i], kind, name);
        FILE *file = fopen(path, "r");
        if (file != NULL) {
            fclose(file);
            return true;
        }
    }
    return false;
}

int soc_policy_load(lua_State *L, const struct soc_script *script, const char *path,
                    struct soc_detail *detail)
{
    push_environment(L, script);
    int rc = soc_sandbox_load(L, -1, path, path, detail);
    if (rc < 0) {
        lua_pop(L, 1);
        return rc;
    }
    lua_remove(L, -2);
    if (soc_policy_call(L, 0, 1) != LUA_OK) {
        rc = soc_fail(detail, SOC_ESCRIPT, "%s", lua_tostring(L, -1));
        lua_pop(L, 1);
        return rc;
    }
    return SOC_OK;
}

static int check_shape(lua_State *L, int index, const struct soc_policy_shape *shape,
                       struct soc_detail *detail)
{
    const char *name = shape->name;
    if (lua_type(L, index) != LUA_TTABLE)
        return soc_fail(detail, SOC_ESCRIPT, "policy %s: the file must return a table", name);
    if (lua_getfield(L, index, "kind") != LUA_TSTRING ||
        strcmp(lua_tostring(L, -1), shape->kind) != 0)
        return soc_fail(detail, SOC_ESCRIPT, "policy %s: kind must be \"%s\"", name, shape->kind);
    if (lua_getfield(L, index, "version") != LUA_TNUMBER)
        return soc_fail(detail, SOC_ESCRIPT, "policy %s: version must be a number", name);
    for (int i = 0; shape->functions[i].name != NULL; i++) {
        int type = lua_getfield(L, index, shape->functions[i].name);
        if (type != LUA_TFUNCTION && (type != LUA_TNIL || shape->functions[i].is_required))
            return soc_fail(detail, SOC_ESCRIPT, "policy %s: function %s is missing", name,
                            shape->functions[i].name);
    }
    if (lua_getfield(L, index, "defaults") != LUA_TTABLE && !lua_isnil(L, -1))
        return soc_fail(detail, SOC_ESCRIPT, "policy %s: defaults must be a table", name);
    return SOC_OK;
}

int soc_policy_push_settings(lua_State *L, int index, int settings_index, struct soc_detail *detail)
{
    lua_newtable(L);
    int out = lua_gettop(L);
    if (lua_getfield(L, index, "defaults") == LUA_TTABLE) {
        lua_pushnil(L);
        while (lua_next(L, out + 1) != 0) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, out);
        }
    }
    lua_settop(L, out);
    if (settings_index == 0 || lua_isnoneornil(L, settings_index))
        return SOC_OK;
    lua_pushnil(L);
    while (lua_next(L, settings_index) != 0) {
        lua_pushvalue(L, -2);
        if (lua_rawget(L, out) == LUA_TNIL) {
            soc_fail(detail, SOC_EINVAL, "the policy has no setting '%s'",
                     lua_type(L, -3) == LUA_TSTRING ? lua_tostring(L, -3) : "(no name)");
            lua_settop(L, out - 1);
            return SOC_EINVAL;
        }
        lua_pop(L, 1);
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, out);
    }
    return SOC_OK;
}

/* Tells whether the two values on top are the same JSON; pops both. */
static bool same_json(lua_State *L, struct soc_script *script)
{
    struct soc_detail detail;
    struct soc_buf *a = &script->answer;
    struct soc_buf *b = &script->scratch;
    a->length = b->length = 0;
    for (int i = -2; i < 0; i++)
        if (lua_isnil(L, i)) {
            soc_lua_push_null(L);
            lua_replace(L, i - 1);
        }
    bool is_same = soc_lua_json_encode(L, -1, "expect", SOC_JSON_BYTES_MAX, a, &detail) == SOC_OK &&
                   soc_lua_json_encode(L, -2, "result", SOC_JSON_BYTES_MAX, b, &detail) == SOC_OK &&
                   soc_slice_equal(soc_buf_slice(a), soc_buf_slice(b));
    lua_pop(L, 2);
    return is_same;
}

/* An example is { ask = function's name, given = { arguments }, expect = first
 * result }. The policy is at `index`, its settings at `settings`. */
static int run_example(lua_State *L, struct soc_script *script, int index, int settings,
                       lua_Integer number, struct soc_detail *detail)
{
    int top = lua_gettop(L);
    int example = top;
    lua_getfield(L, example, "ask");
    lua_pushvalue(L, -1);
    lua_gettable(L, index);
    lua_getfield(L, example, "given");
    if (!lua_isfunction(L, -2) || lua_type(L, -1) != LUA_TTABLE) {
        lua_settop(L, top);
        return soc_fail(detail, SOC_ESCRIPT, "example %d: { ask, given = {…}, expect } is needed",
                        (int)number);
    }
    int given = lua_gettop(L);
    int count = (int)lua_rawlen(L, given);
    luaL_checkstack(L, count + 2, NULL);
    for (int i = 1; i <= count; i++)
        lua_rawgeti(L, given, i);
    lua_pushvalue(L, settings);
    lua_remove(L, given);
    if (soc_policy_call(L, count + 1, 1) != LUA_OK) {
        soc_fail(detail, SOC_ESCRIPT, "example %d: %s", (int)number, lua_tostring(L, -1));
        lua_settop(L, top);
        return SOC_ESCRIPT;
    }
    lua_getfield(L, example, "expect");
    bool is_same = same_json(L, script);
    lua_settop(L, top);
    if (!is_same)
        return soc_fail(detail, SOC_ESCRIPT, "example %d: expected %s, got %s", (int)number,
                        soc_buf_text(&script->answer), soc_buf_text(&script->scratch));
    return SOC_OK;
}

static int run_examples(lua_State *L, struct soc_script *script, int index, int settings,
                        struct soc_detail *detail)
{
    if (lua_getfield(L, index, "examples") == LUA_TNIL) {
        lua_pop(L, 1);
        return SOC_OK;
    }
    int list = lua_gettop(L);
    int rc = SOC_OK;
    lua_Integer count = lua_type(L, list) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, list) : 0;
    for (lua_Integer i = 1; i <= count && rc == SOC_OK; i++) {
        if (lua_rawgeti(L, list, i) == LUA_TTABLE)
            rc = run_example(L, script, index, settings, i, detail);
        lua_settop(L, list);
    }
    lua_settop(L, list - 1);
    return rc;
}

int soc_policy_check(lua_State *L, struct soc_script *script, int index,
                     const struct soc_policy_shape *shape, struct soc_detail *detail)
{
    int top = lua_gettop(L);
    int rc = check_shape(L, index, shape, detail);
    lua_settop(L, top);
    if (rc == SOC_OK) /* the examples speak of the defaults */
        rc = soc_policy_push_settings(L, index, 0, detail);
    if (rc == SOC_OK)
        rc = run_examples(L, script, index, lua_gettop(L), detail);
    lua_settop(L, top);
    return rc;
}

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "host/refusal.h"
#include "script/effect.h"
#include "script/inside.h"
#include "script/lua_json.h"
#include "script/policy.h"
#include "script/sandbox.h"

/* Each kind: its folder, the function it must have, the one in force at first. */
static const struct {
    const char *kind;
    const char *function;
    const char *first;
} kinds[SOC_POLICY_COUNT] = {
    [SOC_POLICY_CONTACTS] = {"contacts", "may_send", "strict"},
    [SOC_POLICY_BRIEFS] = {"briefs", "check", "strict"},
    [SOC_POLICY_PRESENTATION] = {"presentation", "message", "zh"},
    [SOC_POLICY_SUPERVISION] = {"supervision", "retry_after", "backoff"},
};

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

/* As lua_pcall with a budget of its own, whatever hook was there before. */
static int call_with_budget(lua_State *L, int arguments, int results)
{
    lua_Hook hook = lua_gethook(L);
    int mask = lua_gethookmask(L);
    int count = lua_gethookcount(L);
    lua_sethook(L, over_budget, LUA_MASKCOUNT, SOC_POLICY_STEPS_MAX);
    int status = lua_pcall(L, arguments, results, 0);
    lua_sethook(L, hook, mask, count);
    return status;
}

static int find_kind(const char *kind)
{
    for (int i = 0; i < SOC_POLICY_COUNT; i++)
        if (strcmp(kinds[i].kind, kind) == 0)
            return i;
    return -1;
}

/* Finds the file: a path, or a name in the app's policies, then in ours. */
static bool find_file(const struct soc_script *script, const char *kind, const char *name,
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

/* Pushes the table the file returns. */
static int load_file(lua_State *L, const struct soc_script *script, const char *path,
                     struct soc_detail *detail)
{
    push_environment(L, script);
    int rc = soc_sandbox_load(L, -1, path, path, detail);
    if (rc < 0) {
        lua_pop(L, 1);
        return rc;
    }
    lua_remove(L, -2);
    if (call_with_budget(L, 0, 1) != LUA_OK) {
        rc = soc_fail(detail, SOC_ESCRIPT, "%s", lua_tostring(L, -1));
        lua_pop(L, 1);
        return rc;
    }
    return SOC_OK;
}

static int check_shape(lua_State *L, int index, int kind, const char *name,
                       struct soc_detail *detail)
{
    int top = lua_gettop(L);
    int rc = SOC_OK;
    if (lua_type(L, index) != LUA_TTABLE)
        return soc_fail(detail, SOC_ESCRIPT, "policy %s: the file must return a table", name);
    if (lua_getfield(L, index, "kind") != LUA_TSTRING ||
        strcmp(lua_tostring(L, -1), kinds[kind].kind) != 0)
        rc =
            soc_fail(detail, SOC_ESCRIPT, "policy %s: kind must be \"%s\"", name, kinds[kind].kind);
    else if (lua_getfield(L, index, "version") != LUA_TNUMBER)
        rc = soc_fail(detail, SOC_ESCRIPT, "policy %s: version must be a number", name);
    else if (lua_getfield(L, index, kinds[kind].function) != LUA_TFUNCTION)
        rc = soc_fail(detail, SOC_ESCRIPT, "policy %s: function %s is missing", name,
                      kinds[kind].function);
    else if (lua_getfield(L, index, "defaults") != LUA_TTABLE && !lua_isnil(L, -1))
        rc = soc_fail(detail, SOC_ESCRIPT, "policy %s: defaults must be a table", name);
    lua_settop(L, top);
    return rc;
}

/* Pushes the defaults with the settings at `settings_index` (0: none) over them. */
static int push_settings(lua_State *L, int index, int settings_index, struct soc_detail *detail)
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
    if (call_with_budget(L, count + 1, 1) != LUA_OK) {
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

int soc_policy_use_table(lua_State *L, struct soc_script *script, const char *kind,
                         const char *name, int index, int settings_index, struct soc_detail *detail)
{
    int number = find_kind(kind);
    int top = lua_gettop(L);
    if (number < 0)
        return soc_fail(detail, SOC_EINVAL, "there is no policy kind '%s'", kind);
    int rc = check_shape(L, index, number, name, detail);
    if (rc == SOC_OK) /* the examples speak of the defaults */
        rc = push_settings(L, index, 0, detail);
    if (rc == SOC_OK)
        rc = run_examples(L, script, index, lua_gettop(L), detail);
    if (rc == SOC_OK)
        rc = push_settings(L, index, settings_index, detail);
    if (rc < 0) {
        lua_settop(L, top);
        return rc;
    }
    struct soc_policy *policy = &script->policies[number];
    luaL_unref(L, LUA_REGISTRYINDEX, policy->settings_ref);
    luaL_unref(L, LUA_REGISTRYINDEX, policy->table_ref);
    policy->settings_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pushvalue(L, index);
    policy->table_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    luaL_unref(L, LUA_REGISTRYINDEX, policy->function_ref);
    lua_getfield(L, index, kinds[number].function);
    policy->function_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    policy->is_reported = false;
    lua_settop(L, top);
    soc_agents_policy_changed(script->host);
    return SOC_OK;
}

int soc_policy_use(lua_State *L, struct soc_script *script, const char *kind, const char *name,
                   int settings_index, struct soc_detail *detail)
{
    char path[4096];
    if (find_kind(kind) < 0)
        return soc_fail(detail, SOC_EINVAL, "there is no policy kind '%s'", kind);
    if (!find_file(script, kind, name, path, sizeof(path)))
        return soc_fail(detail, SOC_ENOFILE, "there is no policy %s/%s.lua", kind, name);
    int rc = load_file(L, script, path, detail);
    if (rc < 0)
        return rc;
    rc = soc_policy_use_table(L, script, kind, name, lua_gettop(L), settings_index, detail);
    lua_pop(L, 1);
    return rc;
}

void soc_policy_wrap(lua_State *L, const char *kind, int index)
{
    int number = find_kind(kind);
    lua_createtable(L, 0, 3);
    lua_pushstring(L, kind);
    lua_setfield(L, -2, "kind");
    lua_pushinteger(L, 1);
    lua_setfield(L, -2, "version");
    lua_pushvalue(L, index);
    lua_setfield(L, -2, number < 0 ? "function" : kinds[number].function);
    lua_replace(L, index);
}

int soc_policy_use_defaults(lua_State *L, struct soc_script *script, struct soc_detail *detail)
{
    for (int i = 0; i < SOC_POLICY_COUNT; i++)
        script->policies[i] = (struct soc_policy){LUA_NOREF, LUA_NOREF, LUA_NOREF, false};
    for (int i = 0; i < SOC_POLICY_COUNT; i++) {
        int rc = soc_policy_use(L, script, kinds[i].kind, kinds[i].first, 0, detail);
        if (rc < 0)
            return rc;
    }
    return SOC_OK;
}

/* What one question costs of a turn's steps, whatever the policy does: a script
 * cannot spend for ever by asking. */
#define ASK_STEPS 100

static void charge(lua_State *L, struct soc_script *script)
{
    if (soc_gate_activation(script->host) == NULL)
        return;
    script->steps_left -= ASK_STEPS;
    if (script->steps_left > 0)
        return;
    soc_refuse_named(&script->error, "budget",
                     "one turn ran too many steps; split the work over several messages");
    soc_effect_break(L, script);
}

bool soc_policy_ask(lua_State *L, struct soc_script *script, enum soc_policy_kind kind, int count)
{
    struct soc_policy *policy = &script->policies[kind];
    int base = lua_gettop(L) - count;
    charge(L, script);
    lua_rawgeti(L, LUA_REGISTRYINDEX, policy->function_ref);
    lua_insert(L, base + 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, policy->settings_ref);
    if (call_with_budget(L, count + 1, 2) == LUA_OK)
        return true;
    if (!policy->is_reported) {
        policy->is_reported = true;
        const char *text = lua_tostring(L, -1);
        soc_log_printf(soc_host_log(script->host), SOC_LOG_ERROR,
                       soc_clock_now(soc_host_clock(script->host)), "policy_failed",
                       SOC_SLICE("system"), "%s: %s; the usual answer holds", kinds[kind].kind,
                       text == NULL ? "an error value" : text);
    }
    lua_settop(L, base);
    return false;
}

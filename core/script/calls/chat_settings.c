#include "script/calls/chat_settings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "lualib/lua_plain.h"
#include "model/agent.h"
#include "parts/models/usage.h"
#include "script/turns/environments.h"

struct soc_chat_settings {
    char *record; /* file to record answers to; NULL: none */
    char *replay; /* file to replay answers from; NULL: none */
};

/* The settings and their types; provider-specific ones go into `options`. */
static const struct setting {
    const char *name;
    int type;
} settings[] = {
    {"provider", LUA_TSTRING},
    {"model", LUA_TSTRING},
    {"base_url", LUA_TSTRING},
    {"key_env", LUA_TSTRING},
    {"max_tokens", LUA_TNUMBER},
    {"concurrency", LUA_TNUMBER},
    {"requests_per_minute", LUA_TNUMBER},
    {"tokens_per_minute", LUA_TNUMBER},
    {"brake_after", LUA_TNUMBER},
    {"brake_ms", LUA_TNUMBER},
    {"brake_max_ms", LUA_TNUMBER},
    {"connect_ms", LUA_TNUMBER},
    {"first_byte_ms", LUA_TNUMBER},
    {"idle_ms", LUA_TNUMBER},
    {"total_ms", LUA_TNUMBER},
    {"retries_max", LUA_TNUMBER},
    {"retry_first_ms", LUA_TNUMBER},
    {"retry_max_ms", LUA_TNUMBER},
    {"options", LUA_TTABLE},
    {"prices", LUA_TTABLE},
    {"limits", LUA_TTABLE},
    {"guards", LUA_TTABLE},
    {"tools", LUA_TTABLE},
    {"verbs", LUA_TTABLE},
    {"context_tokens", LUA_TNUMBER},
    {"on_message", LUA_TSTRING},
    {"record", LUA_TSTRING},
    {"replay", LUA_TSTRING},
    {"answers", LUA_TNONE}, /* a list, a table or a function */
};

static const struct setting *find_setting(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof(settings) / sizeof(settings[0]); i++)
        if (strcmp(settings[i].name, name) == 0)
            return &settings[i];
    return NULL;
}

static int check_setting(lua_State *L, const char *name, struct soc_detail *detail)
{
    const struct setting *setting = find_setting(name);
    if (setting == NULL)
        return soc_fail(detail, SOC_EINVAL,
                        "'llm': unknown setting '%s' (put provider-specific settings into "
                        "'options')",
                        name == NULL ? luaL_typename(L, -2) : name);
    if (setting->type == LUA_TNONE) {
        if (!lua_istable(L, -1) && !lua_isfunction(L, -1))
            return soc_fail(detail, SOC_EINVAL, "'llm': '%s' is a table or a function", name);
        return SOC_OK;
    }
    if (lua_type(L, -1) != setting->type)
        return soc_fail(detail, SOC_EINVAL, "'llm': '%s' must be a %s, got %s", name,
                        lua_typename(L, setting->type), luaL_typename(L, -1));
    int least = strcmp(name, "retries_max") == 0 ? 0 : 1;
    if (setting->type == LUA_TNUMBER && (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < least))
        return soc_fail(detail, SOC_EINVAL, "'llm': '%s' must be a whole number %s", name,
                        least == 0 ? "from 0 on" : "above 0");
    if (setting->type == LUA_TNUMBER && lua_tonumber(L, -1) > INT32_MAX)
        return soc_fail(detail, SOC_EINVAL, "'llm': '%s' must be at most %d", name, INT32_MAX);
    return SOC_OK;
}

/* Reads limits.NAME of the table at `limits`, times `scale`; false if it is not a
 * number. */
static bool read_limit(lua_State *L, int limits, const char *name, double scale, uint64_t *out)
{
    int type = soc_option_field(L, limits, name);
    double number = lua_tonumber(L, -1) * scale;
    lua_pop(L, 1);
    if (type == LUA_TNIL)
        return true;
    if (type != LUA_TNUMBER || !(number >= 0 && number < 9e15))
        return false;
    *out = (uint64_t)number;
    return true;
}

static int set_limits(lua_State *L, struct soc_script *script, int index, struct soc_detail *detail)
{
    struct soc_usage_bounds bounds = {
        .agent = {SOC_AGENT_TOKENS_MAX, SOC_AGENT_COST_MICROS_MAX},
        .task = {SOC_TASK_TOKENS_MAX, SOC_TASK_COST_MICROS_MAX},
        .society = {SOC_SOCIETY_TOKENS_MAX, SOC_SOCIETY_COST_MICROS_MAX},
    };
    static const char *const known[] = {"agent_tokens", "agent_cost",     "task_tokens",
                                        "task_cost",    "society_tokens", "society_cost"};
    uint64_t *const places[] = {&bounds.agent.tokens,   &bounds.agent.cost_micros,
                                &bounds.task.tokens,    &bounds.task.cost_micros,
                                &bounds.society.tokens, &bounds.society.cost_micros};
    int rc = SOC_OK;
    int top = lua_gettop(L);
    if (index != 0 && soc_option_field(L, index, "limits") == LUA_TTABLE) {
        int limits = lua_gettop(L);
        for (size_t i = 0; rc == SOC_OK && i < sizeof(known) / sizeof(known[0]); i++)
            if (!read_limit(L, limits, known[i], i % 2 == 0 ? 1 : 1e6, places[i]))
                rc = soc_fail(detail, SOC_EINVAL, "'llm': limits.%s is a number, 0 for none",
                              known[i]);
        lua_pushnil(L);
        while (rc == SOC_OK && lua_next(L, limits) != 0) {
            const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
            bool is_known = false;
            for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
                is_known = is_known || strcmp(known[i], name) == 0;
            if (!is_known)
                rc = soc_fail(detail, SOC_EINVAL, "'llm': unknown limit '%s'", name);
            lua_pop(L, 1);
        }
    }
    lua_settop(L, top);
    if (rc == SOC_OK)
        soc_usage_set_bounds(script->host, &bounds);
    return rc;
}

/* Paths are kept apart from the table, which the app's providers can see. */
static void set_path(lua_State *L, int table, const char *name, char **path)
{
    soc_option_field(L, table, name);
    soc_text_set(path, soc_slice_text(lua_tostring(L, -1)));
    lua_pop(L, 1);
}

/* Replaces the contents of the table at `table` with the settings at `index`. */
static void replace_settings(lua_State *L, int table, int index)
{
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        lua_pushstring(L, settings[i].name);
        soc_option_field(L, index, settings[i].name);
        lua_rawset(L, table);
    }
}

/* load(name) -> the app's module of that name. Upvalues: 1 the script, 2 the settings. */
static int load_provider(lua_State *L)
{
    struct soc_script *script = lua_touserdata(L, lua_upvalueindex(1));
    soc_environments_push_provider(L, script, luaL_checkstring(L, 1), lua_upvalueindex(2));
    return 1;
}

/* check_tables(settings): what is wrong with them, or nil */
static int check_tables(lua_State *L)
{
    struct soc_script *script = lua_touserdata(L, lua_upvalueindex(1));
    soc_environments_require(L, script, "society.llm.check");
    lua_pushvalue(L, 1);
    lua_pushlightuserdata(L, script);
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, load_provider, 2);
    lua_call(L, 2, 1);
    return 1;
}

/* Has society.llm.check validate the nested settings in the table at `index`. */
static int check_deeper(lua_State *L, struct soc_script *script, int index,
                        struct soc_detail *detail)
{
    int rc = SOC_OK;
    soc_environments_forget_providers(L, script);
    lua_pushlightuserdata(L, script);
    lua_pushcclosure(L, check_tables, 1);
    lua_pushvalue(L, index);
    if (lua_pcall(L, 1, 1, 0) != LUA_OK || lua_type(L, -1) == LUA_TSTRING) {
        const char *text = lua_tostring(L, -1);
        rc = soc_fail(detail, SOC_EINVAL, "'llm': %s", text == NULL ? "an error" : text);
    }
    lua_pop(L, 1);
    return rc;
}

/* Checks the settings at `index`, a copy that the host keeps, and applies them. */
static int take_settings(lua_State *L, struct soc_script *script, int index,
                         struct soc_detail *detail)
{
    int rc = SOC_OK;
    lua_pushnil(L);
    while (rc == SOC_OK && lua_next(L, index) != 0) {
        rc = check_setting(L, lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL, detail);
        lua_pop(L, 1);
    }
    if (rc == SOC_OK)
        rc = check_deeper(L, script, index, detail);
    if (rc == SOC_OK)
        rc = set_limits(L, script, index, detail);
    if (rc == SOC_OK)
        rc = soc_lua_plain(L, index, "llm", detail);
    if (rc < 0)
        return rc;
    int copy = lua_gettop(L);
    soc_environments_push_shown_llm(L, script);
    replace_settings(L, copy + 1, copy);
    soc_environments_push_llm(L, script);
    replace_settings(L, copy + 2, index);
    set_path(L, index, "record", &script->chat_settings->record);
    set_path(L, index, "replay", &script->chat_settings->replay);
    return SOC_OK;
}

int soc_chat_settings_set(lua_State *L, struct soc_script *script, int index,
                          struct soc_detail *detail)
{
    int top = lua_gettop(L);
    if (lua_type(L, index) != LUA_TTABLE)
        return soc_fail(detail, SOC_EINVAL, "'llm': a table of settings expected");
    int rc = soc_lua_plain(L, index, "llm", detail);
    if (rc == SOC_OK)
        rc = take_settings(L, script, lua_gettop(L), detail);
    lua_settop(L, top);
    return rc;
}

void soc_chat_settings_open(lua_State *L, struct soc_script *script)
{
    struct soc_detail detail;
    assert(script->chat_settings == NULL);
    script->chat_settings = soc_alloc_zero(sizeof(*script->chat_settings));
    int rc = set_limits(L, script, 0, &detail);
    assert(rc == SOC_OK);
    (void)rc;
}

void soc_chat_settings_fini(struct soc_script *script)
{
    if (script->chat_settings == NULL)
        return;
    free(script->chat_settings->record);
    free(script->chat_settings->replay);
    free(script->chat_settings);
    script->chat_settings = NULL;
}

const char *soc_chat_settings_record(const struct soc_script *script)
{
    return script->chat_settings->record;
}

const char *soc_chat_settings_replay(const struct soc_script *script)
{
    return script->chat_settings->replay;
}

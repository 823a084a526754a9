#include "script/bindings/settings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"
#include "lualib/lua_json.h"
#include "net/web_settings.h"
#include "parts/contacts/introductions.h"
#include "parts/duplicates/duplicates.h"
#include "parts/group/broadcasts.h"
#include "parts/hosts/hosts_settings.h"
#include "parts/outside/files_settings.h"
#include "parts/outside/outside.h"
#include "parts/outside/redis_settings.h"
#include "parts/supervision/guard.h"
#include "parts/tasks/tasks.h"
#include "parts/telemetry/telemetry.h"
#include "sandbox/sandbox.h"
#include "script/calls/chat_settings.h"
#include "script/calls/exchange.h"
#include "script/calls/keys.h"
#include "script/calls/visit.h"
#include "script/history/recorder.h"
#include "script/policies/swap.h"
#include "sim/callers.h"

struct soc_settings {
    char *app_name;                   /* owned; NULL: not given */
    struct soc_files_settings *files; /* of the file door, owned; NULL: not used */
    struct soc_redis_settings *redis; /* of the Redis door, owned; NULL: not used */
    struct soc_web_settings *web;     /* of the HTTP door, owned; NULL: not used */
    struct soc_hosts_settings *hosts; /* to be joined, owned; NULL: none */
    uint32_t callers;                 /* simulated ones */
};

void soc_settings_open(struct soc_script *script)
{
    assert(script->settings == NULL);
    script->settings = soc_alloc_zero(sizeof(*script->settings));
}

static void free_files(struct soc_files_settings *files)
{
    if (files == NULL)
        return;
    soc_files_settings_fini(files);
    free(files);
}

static void free_redis(struct soc_redis_settings *redis)
{
    if (redis == NULL)
        return;
    soc_redis_settings_fini(redis);
    free(redis);
}

static void free_web(struct soc_web_settings *web)
{
    if (web == NULL)
        return;
    soc_web_settings_fini(web);
    free(web);
}

void soc_settings_fini(struct soc_script *script)
{
    free_files(script->settings->files);
    free_redis(script->settings->redis);
    free_web(script->settings->web);
    soc_hosts_settings_free(script->settings->hosts);
    free(script->settings->app_name);
    free(script->settings);
    script->settings = NULL;
}

const char *soc_settings_app_name(const struct soc_script *script)
{
    return script->settings->app_name;
}

uint32_t soc_settings_callers(const struct soc_script *script)
{
    return script->settings->callers;
}

const struct soc_files_settings *soc_settings_files(const struct soc_script *script)
{
    return script->settings->files;
}

const struct soc_redis_settings *soc_settings_redis(const struct soc_script *script)
{
    return script->settings->redis;
}

const struct soc_web_settings *soc_settings_web(const struct soc_script *script)
{
    return script->settings->web;
}

const struct soc_hosts_settings *soc_settings_hosts(const struct soc_script *script)
{
    return script->settings->hosts;
}

const char *soc_settings_names(void)
{
    return "name, language, orchestrator, broadcasters, effects_max, files, redis, hosts, http, "
           "web, "
           "llm, "
           "secrets, "
           "http_concurrency, steps_max, cpu_ms_max, memory_bytes_max, dedupe_window_ms, "
           "heartbeat_timeout_ms, "
           "introduction_hops_max, task_limit_ms, depth_max, children_max, agents_max, hops_max, "
           "mailbox_max, no_progress_max, callers, telemetry, history, history_days, "
           "retention_days, retention_mb, workers_max "
           "and "
           "load";
}

/* The bounds of an integer setting. */
struct range {
    int64_t min;
    int64_t max;
};

static int set_number(lua_State *L, int index, const char *name, struct range range, uint32_t *out,
                      struct soc_detail *detail)
{
    int is_integer;
    lua_Integer number = lua_tointegerx(L, index, &is_integer);
    if (!is_integer || number < range.min || number > range.max)
        return soc_fail(detail, SOC_EINVAL, "'%s': an integer from %lld to %lld expected", name,
                        (long long)range.min, (long long)range.max);
    *out = (uint32_t)number;
    return SOC_OK;
}

static struct soc_slice text_at(lua_State *L, int index)
{
    size_t length;
    const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, &length) : NULL;
    return text == NULL ? (struct soc_slice){0} : soc_slice(text, length);
}

static void set_effects_max(struct soc_host *host, int64_t number)
{
    soc_gate_set_effects_max(host, (uint32_t)number);
}

/* Integer settings that the host takes as they are. */
static const struct {
    const char *name;
    struct range range;
    void (*set)(struct soc_host *host, int64_t number);
} numbers[] = {
    {"effects_max", {1, 100000000}, set_effects_max},
    {"task_limit_ms", {1, INT32_MAX}, soc_tasks_set_limit},
    {"dedupe_window_ms", {1, UINT32_MAX}, soc_duplicates_set_window},
    {"retention_days", {0, SOC_RETENTION_DAYS_MAX}, soc_host_set_retention_days},
    {"retention_mb", {0, SOC_RETENTION_MB_MAX}, soc_host_set_retention_mb},
    {"heartbeat_timeout_ms", {0, INT32_MAX}, soc_outside_set_heartbeat},
    {"introduction_hops_max", {1, INT32_MAX}, soc_introductions_set_hops},
};

/* Sets one of those. Returns 1 if `name` is not listed. */
static int set_listed(lua_State *L, struct soc_script *script, const char *name, int index,
                      struct soc_detail *detail)
{
    uint32_t number = 0;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (strcmp(name, numbers[i].name) != 0)
            continue;
        int rc = set_number(L, index, name, numbers[i].range, &number, detail);
        if (rc == SOC_OK)
            numbers[i].set(script->host, number);
        return rc;
    }
    return 1;
}

/* Reads the ids that may write to all. */
static int set_broadcasters(lua_State *L, struct soc_script *script, int index,
                            struct soc_detail *detail)
{
    struct soc_buf ids = {0};
    struct soc_json_walk walk;
    bool is_list =
        lua_type(L, index) == LUA_TTABLE &&
        soc_lua_json_encode(L, index, "broadcasters", SOC_BRIEF_BYTES_MAX, &ids, detail) == SOC_OK;
    bool is_empty = is_list && soc_slice_equal(soc_buf_slice(&ids), SOC_SLICE("{}"));
    is_list = is_list && (is_empty || soc_json_kind(soc_buf_slice(&ids)) == SOC_JSON_ARRAY);
    if (is_list && !is_empty) {
        soc_json_walk(&walk, soc_buf_slice(&ids));
        while (is_list && soc_json_next(&walk)) {
            struct soc_slice id = soc_json_plain_string(walk.value);
            is_list = id.data != NULL && soc_id_is_valid(id);
        }
    }
    if (is_list)
        soc_broadcasts_set_heads(script->host, is_empty ? SOC_SLICE("[]") : soc_buf_slice(&ids));
    soc_buf_fini(&ids);
    return is_list ? SOC_OK
                   : soc_fail(detail, SOC_EINVAL, "'broadcasters': a list of agents' ids expected");
}

static int set_history(lua_State *L, struct soc_script *script, int index,
                       struct soc_detail *detail)
{
    struct soc_slice text = text_at(L, index);
    bool is_full = text.data != NULL && soc_slice_equal(text, SOC_SLICE("full"));
    if (!is_full && !(text.data != NULL && soc_slice_equal(text, SOC_SLICE("none"))))
        return soc_fail(detail, SOC_EINVAL, "'history': \"full\" or \"none\" expected");
    soc_recorder_keep(script, is_full);
    return SOC_OK;
}

static int set_history_days(lua_State *L, struct soc_script *script, int index,
                            struct soc_detail *detail)
{
    uint32_t days = 0;
    struct range range = {1, SOC_HISTORY_DAYS_MAX};
    int rc = set_number(L, index, "history_days", range, &days, detail);
    if (rc == SOC_OK)
        soc_recorder_set_days(script, days);
    return rc;
}

/* { content = true }: spans include the contents. */
static int set_telemetry(lua_State *L, struct soc_script *script, int index,
                         struct soc_detail *detail)
{
    if (lua_type(L, index) != LUA_TTABLE)
        return soc_fail(detail, SOC_EINVAL, "'telemetry': a table { content = true } expected");
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        bool is_known =
            lua_type(L, -2) == LUA_TSTRING && strcmp(lua_tostring(L, -2), "content") == 0;
        bool is_boolean = lua_isboolean(L, -1);
        bool has_content = lua_toboolean(L, -1);
        lua_pop(L, 1);
        if (!is_known || !is_boolean) {
            lua_pop(L, 1);
            return soc_fail(detail, SOC_EINVAL,
                            is_known ? "'telemetry': 'content' must be a boolean"
                                     : "'telemetry': only 'content' can be set; where spans go "
                                       "is set by OTEL_EXPORTER_OTLP_ENDPOINT");
        }
        soc_telemetry_set_content(script->host, has_content);
    }
    return SOC_OK;
}

/* load = true: behaviours may load texts. */
static int set_load(lua_State *L, const struct soc_script *script, int index,
                    struct soc_detail *detail)
{
    if (!lua_isboolean(L, index))
        return soc_fail(detail, SOC_EINVAL, "'load': a boolean expected");
    if (script->is_started)
        return soc_fail(detail, SOC_EINVAL, "'load' can only be set while the app loads");
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->env_ref);
    soc_sandbox_allow_load(L, -1, lua_toboolean(L, index));
    lua_pop(L, 1);
    return SOC_OK;
}

/* The rest: guards, steps and history. */
static int set_bound(lua_State *L, struct soc_script *script, const char *name, int index,
                     struct soc_detail *detail)
{
    uint32_t number = 0;
    enum soc_guard guard;
    if (soc_guard_find(name, &guard)) {
        int rc = set_number(L, index, name, (struct range){1, INT32_MAX}, &number, detail);
        if (rc == SOC_OK)
            soc_guard_set(script->host, guard, number);
        return rc;
    }
    if (strcmp(name, "telemetry") == 0)
        return set_telemetry(L, script, index, detail);
    if (strcmp(name, "history") == 0)
        return set_history(L, script, index, detail);
    if (strcmp(name, "history_days") == 0)
        return set_history_days(L, script, index, detail);
    if (strcmp(name, "http_concurrency") == 0) {
        int rc = set_number(L, index, name, (struct range){1, 10000}, &number, detail);
        if (rc == SOC_OK)
            soc_visit_set_concurrency(script, number);
        return rc;
    }
    if (strcmp(name, "callers") == 0)
        return set_number(L, index, name, (struct range){0, SOC_CALLERS_MAX},
                          &script->settings->callers, detail);
    if (strcmp(name, "cpu_ms_max") == 0)
        return set_number(L, index, name, (struct range){10, 3600000}, &script->cpu_ms_max, detail);
    if (strcmp(name, "memory_bytes_max") == 0)
        return set_number(L, index, name, (struct range){1 << 20, INT32_MAX},
                          &script->memory_bytes_max, detail);
    if (strcmp(name, "workers_max") == 0)
        return set_number(L, index, name, (struct range){1, 10000}, &script->workers_max, detail);
    if (strcmp(name, "load") == 0)
        return set_load(L, script, index, detail);
    if (strcmp(name, "steps_max") == 0)
        return set_number(L, index, name, (struct range){1, INT32_MAX}, &script->steps_max, detail);
    return soc_fail_unknown(detail, "setting", name, soc_settings_names());
}

static int use_policy(lua_State *L, struct soc_script *script, const char *kind, const char *name,
                      struct soc_detail *detail)
{
    assert(lua_istable(L, -1));
    struct soc_swap swap = {
        .kind = kind, .name = name, .settings_index = lua_gettop(L), .by = "call"};
    int rc = soc_swap_do(L, script, &swap, detail);
    lua_settop(L, swap.settings_index - 1);
    return rc;
}

/* Passes the settings for acks to the policy `delivery`. */
static int use_ladder(lua_State *L, struct soc_script *script,
                      const struct soc_files_settings *settings, struct soc_detail *detail)
{
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, settings->ack_ms);
    lua_setfield(L, -2, "timeout_ms");
    lua_pushinteger(L, settings->retry_ms);
    lua_setfield(L, -2, "retry_delay_ms");
    lua_pushinteger(L, settings->retries_max);
    lua_setfield(L, -2, "attempts_max");
    return use_policy(L, script, "delivery", "default", detail);
}

/* Makes the listed types of the vocabulary `workflow` require an ack, and no others. */
static int use_ack_types(lua_State *L, struct soc_script *script, const char *list,
                         struct soc_detail *detail)
{
    static const char *const types[] = {
        "task_assign",         "task_complete", "progress_update", "checkpoint_request",
        "checkpoint_response", "broadcast",     "heartbeat",       "abort",
    };
    struct soc_json_walk walk;
    struct soc_buf name = {0};
    lua_createtable(L, 0, 1);
    lua_createtable(L, 0, 8);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        lua_pushboolean(L, 0);
        lua_setfield(L, -2, types[i]);
    }
    soc_json_walk(&walk, soc_slice_text(list));
    while (soc_json_next(&walk)) {
        name.length = 0;
        soc_json_string(walk.value, &name);
        lua_pushboolean(L, 1);
        lua_setfield(L, -2, soc_buf_text(&name));
    }
    soc_buf_fini(&name);
    lua_setfield(L, -2, "requires_ack");
    return use_policy(L, script, "messages", "workflow", detail);
}

/* Reads the settings of a door, a table, as JSON. */
static int read_door(lua_State *L, const struct soc_script *script, const char *name, int index,
                     struct soc_buf *json, struct soc_detail *detail)
{
    if (script->is_started)
        return soc_fail(detail, SOC_EINVAL, "'%s' can only be set while the app loads", name);
    if (lua_type(L, index) != LUA_TTABLE)
        return soc_fail(detail, SOC_EINVAL, "'%s': a table expected", name);
    return soc_lua_json_encode(L, index, name, SOC_BRIEF_BYTES_MAX, json, detail);
}

static int set_web(lua_State *L, struct soc_script *script, int index, struct soc_detail *detail)
{
    struct soc_buf json = {0};
    struct soc_web_settings *web = soc_alloc_zero(sizeof(*web));
    int rc = read_door(L, script, "web", index, &json, detail);
    if (rc == SOC_OK)
        rc = soc_web_settings_read(web, soc_buf_slice(&json), detail);
    soc_buf_fini(&json);
    if (rc < 0) {
        free_web(web);
        return SOC_EINVAL;
    }
    free_web(script->settings->web);
    script->settings->web = web;
    return SOC_OK;
}

/* What is set later, as by the command line, replaces single members. */
static int set_hosts(lua_State *L, struct soc_script *script, int index, struct soc_detail *detail)
{
    struct soc_buf json = {0};
    int rc = read_door(L, script, "hosts", index, &json, detail);
    if (script->settings->hosts == NULL)
        script->settings->hosts = soc_hosts_settings_new();
    if (rc == SOC_OK)
        rc = soc_hosts_settings_read(script->settings->hosts, soc_buf_slice(&json), detail);
    soc_buf_fini(&json);
    return rc;
}

static int set_redis(lua_State *L, struct soc_script *script, int index, struct soc_detail *detail)
{
    struct soc_buf json = {0};
    struct soc_redis_settings *redis = soc_alloc_zero(sizeof(*redis));
    int rc = read_door(L, script, "redis", index, &json, detail);
    if (rc == SOC_OK)
        rc = soc_redis_settings_read(redis, soc_buf_slice(&json), detail);
    soc_buf_fini(&json);
    if (rc < 0) {
        free_redis(redis);
        return SOC_EINVAL;
    }
    free_redis(script->settings->redis);
    script->settings->redis = redis;
    return SOC_OK;
}

static int set_files(lua_State *L, struct soc_script *script, int index, struct soc_detail *detail)
{
    struct soc_buf json = {0};
    int rc = read_door(L, script, "files", index, &json, detail);
    struct soc_files_settings *files = soc_alloc_zero(sizeof(*files));
    if (rc == SOC_OK)
        rc = soc_files_settings_read(files, soc_buf_slice(&json), detail);
    soc_buf_fini(&json);
    if (rc < 0) {
        free_files(files);
        return SOC_EINVAL;
    }
    free_files(script->settings->files);
    script->settings->files = files;
    if (files->has_silence)
        soc_outside_set_heartbeat(script->host, files->silence_ms);
    if (files->has_ladder)
        rc = use_ladder(L, script, files, detail);
    if (rc == SOC_OK && files->ack_types != NULL)
        rc = use_ack_types(L, script, files->ack_types, detail);
    return rc;
}

static int set_language(lua_State *L, struct soc_script *script, int index,
                        struct soc_detail *detail)
{
    static const char *const languages[] = {"en", "zh"};
    struct soc_slice text = text_at(L, index);
    if (script->is_started)
        return soc_fail(detail, SOC_EINVAL, "'language' can only be set while the app loads");
    for (size_t i = 0; text.data != NULL && i < sizeof(languages) / sizeof(languages[0]); i++)
        if (soc_slice_equal(text, soc_slice_text(languages[i])))
            return soc_swap_set_language(L, script, languages[i], detail);
    return soc_fail(detail, SOC_EINVAL, "'language': \"en\" or \"zh\" expected");
}

int soc_settings_set(lua_State *L, struct soc_script *script, const char *name, int index,
                     struct soc_detail *detail)
{
    assert(script->settings != NULL && index > 0);
    int listed = set_listed(L, script, name, index, detail);
    if (listed <= 0)
        return listed;
    if (strcmp(name, "name") == 0) {
        struct soc_slice text = text_at(L, index);
        if (text.data == NULL || !soc_id_is_valid(text))
            return soc_fail(detail, SOC_EINVAL, "'name': an id expected");
        soc_text_set(&script->settings->app_name, text);
        return SOC_OK;
    }
    if (strcmp(name, "orchestrator") == 0) {
        struct soc_slice text = text_at(L, index);
        if (text.data == NULL || !soc_id_is_valid(text))
            return soc_fail(detail, SOC_EINVAL, "'orchestrator': an agent's id expected");
        soc_agents_set_orchestrator(script->host, text);
        return SOC_OK;
    }
    bool is_of_keys = strcmp(name, "llm") == 0 || strcmp(name, "secrets") == 0;
    if (is_of_keys && script->keys->is_settled)
        return soc_fail(detail, SOC_EINVAL,
                        "'%s' decides where keys may go and cannot change once the app has loaded",
                        name);
    if (strcmp(name, "llm") == 0)
        return soc_chat_settings_set(L, script, index, detail);
    if (strcmp(name, "http") == 0) {
        if (lua_type(L, index) != LUA_TFUNCTION)
            return soc_fail(detail, SOC_EINVAL, "'http': a function(request) expected");
        soc_exchange_set_world(L, script, index);
        return SOC_OK;
    }
    if (strcmp(name, "secrets") == 0)
        return soc_keys_configure(script->keys, L, index, detail);
    if (strcmp(name, "broadcasters") == 0)
        return set_broadcasters(L, script, index, detail);
    if (strcmp(name, "language") == 0)
        return set_language(L, script, index, detail);
    if (strcmp(name, "files") == 0)
        return set_files(L, script, index, detail);
    if (strcmp(name, "redis") == 0)
        return set_redis(L, script, index, detail);
    if (strcmp(name, "web") == 0)
        return set_web(L, script, index, detail);
    if (strcmp(name, "hosts") == 0)
        return set_hosts(L, script, index, detail);
    return set_bound(L, script, name, index, detail);
}

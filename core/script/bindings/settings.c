#include "script/bindings/settings.h"

#include <string.h>

#include "base/limits.h"
#include "env/ids.h"
#include "parts/duplicates/duplicates.h"
#include "parts/outside/outside.h"
#include "parts/supervision/guard.h"
#include "parts/tasks/tasks.h"
#include "script/bindings/settings_files.h"
#include "script/calls/chat.h"
#include "script/calls/outward.h"
#include "script/history/history.h"

/* An integer from 1, or from 0 where that means something, to `max`. */
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

/* Settings that are a number which the host takes as it is. */
static const struct {
    const char *name;
    struct range range;
    void (*set)(struct soc_host *host, int64_t number);
} numbers[] = {
    {"effects_max", {1, 100000000}, set_effects_max},
    {"task_limit_ms", {1, INT32_MAX}, soc_tasks_set_limit},
    {"dedupe_window_ms", {1, UINT32_MAX}, soc_duplicates_set_window},
    {"heartbeat_timeout_ms", {0, INT32_MAX}, soc_outside_set_heartbeat},
};

/* Sets one of those; 1 if it is none. */
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

static int set_history(lua_State *L, struct soc_script *script, const char *name, int index,
                       struct soc_detail *detail)
{
    struct soc_slice text = text_at(L, index);
    bool is_full = text.data != NULL && soc_slice_equal(text, SOC_SLICE("full"));
    if (strcmp(name, "history_days") == 0) {
        int rc = set_number(L, index, name, (struct range){1, SOC_HISTORY_DAYS_MAX},
                            &script->kept.days, detail);
        if (rc < 0)
            return rc;
        is_full = script->keeps_history;
    } else if (!is_full && !(text.data != NULL && soc_slice_equal(text, SOC_SLICE("none")))) {
        return soc_fail(detail, SOC_EINVAL, "'history': \"full\" or \"none\" expected");
    }
    soc_script_keep_history(script, is_full ? script->kept.days : 0);
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
    if (strcmp(name, "history") == 0 || strcmp(name, "history_days") == 0)
        return set_history(L, script, name, index, detail);
    if (strcmp(name, "http_concurrency") == 0) {
        int rc = set_number(L, index, name, (struct range){1, 10000}, &number, detail);
        if (rc == SOC_OK)
            soc_outward_set_concurrency(script, number);
        return rc;
    }
    if (strcmp(name, "steps_max") == 0)
        return set_number(L, index, name, (struct range){1, INT32_MAX}, &script->steps_max, detail);
    return soc_fail(detail, SOC_EINVAL,
                    "unknown setting '%s'; there are name, orchestrator, effects_max, files, http, "
                    "llm, secrets, http_concurrency, steps_max, dedupe_window_ms, "
                    "heartbeat_timeout_ms, task_limit_ms, depth_max, "
                    "children_max, agents_max, hops_max, mailbox_max, no_progress_max, history and "
                    "history_days",
                    name);
}

int soc_script_set(lua_State *L, struct soc_script *script, const char *name, int index,
                   struct soc_detail *detail)
{
    int listed = set_listed(L, script, name, index, detail);
    if (listed <= 0)
        return listed;
    if (strcmp(name, "name") == 0) {
        struct soc_slice text = text_at(L, index);
        if (text.data == NULL || !soc_id_is_valid(text))
            return soc_fail(detail, SOC_EINVAL, "'name': an id expected");
        soc_text_set(&script->app_name, text);
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
    if (is_of_keys && soc_outward_of(script)->keys.is_settled)
        return soc_fail(detail, SOC_EINVAL,
                        "'%s' says where keys may go: it is settled once the app has loaded", name);
    if (strcmp(name, "llm") == 0)
        return soc_chat_configure(L, script, index, detail);
    if (strcmp(name, "http") == 0) {
        if (lua_type(L, index) != LUA_TFUNCTION)
            return soc_fail(detail, SOC_EINVAL, "'http': a function(request) expected");
        soc_outward_set_world(L, script, index);
        return SOC_OK;
    }
    if (strcmp(name, "secrets") == 0)
        return soc_keys_configure(&soc_outward_of(script)->keys, L, index, detail);
    if (strcmp(name, "files") == 0)
        return soc_script_set_files(L, script, index, detail);
    return set_bound(L, script, name, index, detail);
}

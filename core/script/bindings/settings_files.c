#include "script/bindings/settings_files.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "lualib/lua_json.h"
#include "parts/outside/files_settings.h"
#include "parts/outside/outside.h"
#include "script/policies/swap.h"

static int use(lua_State *L, struct soc_script *script, const char *kind, const char *name,
               struct soc_detail *detail)
{
    struct soc_swap swap = {
        .kind = kind, .name = name, .settings_index = lua_gettop(L), .by = "call"};
    int rc = soc_swap_do(L, script, &swap, detail);
    lua_settop(L, swap.settings_index - 1);
    return rc;
}

/* What is said of acks becomes settings of the policy that decides about them. */
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
    return use(L, script, "delivery", "default", detail);
}

/* The types of the list require an ack, the others of that vocabulary none. */
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
    return use(L, script, "messages", "workflow", detail);
}

int soc_script_set_files(lua_State *L, struct soc_script *script, int index,
                         struct soc_detail *detail)
{
    struct soc_buf json = {0};
    if (script->is_started)
        return soc_fail(detail, SOC_EINVAL, "'files' is set while the app loads, not later");
    if (lua_type(L, index) != LUA_TTABLE)
        return soc_fail(detail, SOC_EINVAL, "'files': a table expected");
    int rc = soc_lua_json_encode(L, index, "files", SOC_BRIEF_BYTES_MAX, &json, detail);
    struct soc_files_settings *settings = soc_alloc_zero(sizeof(*settings));
    if (rc == SOC_OK)
        rc = soc_files_settings_read(settings, soc_buf_slice(&json), detail);
    soc_buf_fini(&json);
    if (rc < 0) {
        soc_files_settings_fini(settings);
        free(settings);
        return SOC_EINVAL;
    }
    soc_script_free_files(script);
    script->files = settings;
    if (settings->has_silence)
        soc_outside_set_heartbeat(script->host, settings->silence_ms);
    if (settings->has_ladder)
        rc = use_ladder(L, script, settings, detail);
    if (rc == SOC_OK && settings->ack_types != NULL)
        rc = use_ack_types(L, script, settings->ack_types, detail);
    return rc;
}

void soc_script_free_files(struct soc_script *script)
{
    if (script->files == NULL)
        return;
    soc_files_settings_fini(script->files);
    free(script->files);
    script->files = NULL;
}

const struct soc_files_settings *soc_script_files(const struct soc_script *script)
{
    return script->files;
}

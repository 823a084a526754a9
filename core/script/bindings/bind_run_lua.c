/* Run Lua: agent:run_lua, a script that nobody trusts as an effect. */
#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "kernel/refusal.h"
#include "lualib/lua_json.h"
#include "parts/models/calls.h"
#include "script/bindings/bind.h"
#include "script/turns/effect.h"
#include "script/turns/handle.h"

#define TIMEOUT_MS 30000
#define CPU_MS     1000

static void put_limit(lua_State *L, struct soc_buf *out, const char *name, int64_t otherwise,
                      int64_t max)
{
    int64_t number = soc_option_integer(L, 2, "run_lua", name, otherwise);
    if (number < 1 || number > max)
        luaL_error(L, "run_lua: '%s' must be a whole number from 1 to %I", name, (LUAI_UACINT)max);
    soc_json_put_name(out, name);
    soc_json_put_integer(out, number);
}

/* Refuses what the caller could not know: it is the model or the stranger that wrote it. */
static int refuse(struct soc_frame *frame, const char *error, const char *message)
{
    soc_refuse_named(&frame->error, error, message);
    return SOC_EREFUSED;
}

static int put_script(lua_State *L, struct soc_frame *frame)
{
    size_t length;
    if (soc_option_field(L, 2, "script") != LUA_TSTRING)
        luaL_error(L, "run_lua: 'script' must be a text of Lua");
    const char *text = lua_tolstring(L, -1, &length);
    if (length > SOC_RUN_LUA_BYTES_MAX)
        return refuse(frame, "too_large", "'script' can have 1 MB at most");
    if (soc_utf8_fault(soc_slice(text, length)) >= 0)
        return refuse(frame, "script_error", "'script' is not UTF-8");
    soc_json_put_text_member(&frame->payload, "script", soc_slice(text, length));
    return SOC_OK;
}

static int put_values(lua_State *L, struct soc_frame *frame)
{
    struct soc_detail detail;
    int type = soc_option_field(L, 2, "values");
    if (type == LUA_TNIL)
        return SOC_OK;
    if (type != LUA_TTABLE)
        luaL_error(L, "run_lua: 'values' must be a table, got %s", luaL_typename(L, -1));
    soc_json_put_name(&frame->payload, "values");
    int rc = soc_lua_json_encode(L, lua_gettop(L), "values", SOC_RUN_LUA_BYTES_MAX, &frame->payload,
                                 &detail);
    if (rc == SOC_ETOOLARGE)
        return refuse(frame, "too_large", "'values' can have 1 MB at most, written as JSON");
    if (rc < 0)
        luaL_error(L, "run_lua: %s", detail.text);
    return SOC_OK;
}

/* Writes the request to frame->payload, its members in order. */
static int read_request(lua_State *L, struct soc_frame *frame, struct soc_call_draft *draft)
{
    static const char *const known[] = {"script",       "values",     "cpu_ms",
                                        "memory_bytes", "timeout_ms", NULL};
    struct soc_buf *out = &frame->payload;
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    soc_option_check_names(L, 2, "run_lua", known);
    soc_buf_put_byte(out, '{');
    put_limit(L, out, "cpu_ms", CPU_MS, SOC_RUN_LUA_CPU_MS_MAX);
    put_limit(L, out, "memory_bytes", SOC_SCRIPT_GROWTH_BYTES_MAX, SOC_SCRIPT_GROWTH_BYTES_MAX);
    int rc = put_script(L, frame);
    if (rc == SOC_OK)
        rc = put_values(L, frame);
    soc_buf_put_byte(out, '}');
    if (rc == SOC_OK && out->length > SOC_WORKER_FRAME_BYTES_MAX)
        rc = refuse(frame, "too_large", "script and values are too large, written as JSON");
    *draft = (struct soc_call_draft){
        .kind = SOC_SLICE("lua"),
        .timeout_ms = soc_option_timeout(L, 2, "run_lua", TIMEOUT_MS),
        .may_repeat = true, /* it changes nothing */
    };
    return rc;
}

/* agent:run_lua{ script, values?, cpu_ms?, memory_bytes?, timeout_ms? }
 * -> { result?, printed? } */
static int agent_run_lua(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_call_draft draft;
    int rc = read_request(L, frame, &draft);
    soc_effect_check_wait(L);
    draft.request = soc_buf_slice(&frame->payload);
    uint64_t hash = soc_hash(draft.request.data, draft.request.length, 0);
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_RUN_LUA, hash, &count) == SOC_GATE_RECORDED)
        return count;
    if (rc < 0)
        return soc_effect_finish(L, frame, rc);
    soc_calls_ask(script->host, &draft);
    return soc_effect_yield(L);
}

static const luaL_Reg run_lua_functions[] = {
    {"run_lua", agent_run_lua},
    {NULL, NULL},
};

void soc_bind_run_lua(lua_State *L, struct soc_script *script)
{
    soc_bind_methods(L, script, run_lua_functions);
}

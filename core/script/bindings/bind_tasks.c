/* Tasks: complete, fail, cancel, load. */
#include <assert.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "env/ids.h"
#include "kernel/mail/envelope.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "lualib/lua_fill.h"
#include "lualib/lua_json.h"
#include "parts/tasks/tasks.h"
#include "script/bindings/bind.h"
#include "script/turns/effect.h"
#include "script/turns/handle.h"

/* Reads a reference to a task: a message, or the id of the task or of the message that
 * opened it. */
static struct soc_task_ref read_ref(lua_State *L, int index)
{
    struct soc_task_ref ref = {0};
    size_t length;
    if (lua_type(L, index) == LUA_TTABLE) {
        soc_lua_fill(L, index);
        if (soc_option_field(L, index, "id") == LUA_TSTRING) {
            const char *id = lua_tolstring(L, -1, &length);
            ref.message_id = soc_slice(id, length);
            soc_message_id_parse(ref.message_id, &ref.key);
        }
        if (soc_option_field(L, index, "task_id") == LUA_TSTRING) {
            const char *id = lua_tolstring(L, -1, &length);
            ref.id = soc_slice(id, length);
        }
        if (ref.key == 0 && ref.id.data == NULL)
            luaL_argerror(L, index, "a message or the id of a task expected");
        return ref;
    }
    if (lua_type(L, index) != LUA_TSTRING)
        luaL_argerror(L, index, "a message or the id of a task expected");
    const char *id = lua_tolstring(L, index, &length);
    ref.id = ref.message_id = soc_slice(id, length);
    soc_message_id_parse(ref.id, &ref.key);
    return ref;
}

/* Names the message by its id of this host if it came from another and is held. */
static void name_here(struct soc_host *host, struct soc_task_ref *ref,
                      char id[SOC_MESSAGE_ID_BYTES])
{
    const struct soc_message *held = soc_gate_find_id(host, ref->message_id);
    if (held == NULL || held->key == ref->key)
        return;
    soc_message_id_format(id, held->time_ms, held->key);
    ref->key = held->key;
    ref->message_id = soc_slice(id, SOC_MESSAGE_ID_BYTES);
}

/* Encodes the value at `index` into frame->payload; absent for nil. */
static struct soc_slice read_value(lua_State *L, struct soc_frame *frame, int index,
                                   const char *what)
{
    struct soc_detail detail;
    if (lua_isnil(L, index))
        return (struct soc_slice){0};
    if (soc_lua_json_encode(L, index, what, SOC_PAYLOAD_BYTES_MAX, &frame->payload, &detail) < 0)
        luaL_argerror(L, index, detail.text);
    return soc_buf_slice(&frame->payload);
}

/* Ends the task at index 2. Its result answers the message that opened it, so the
 * handler's return value is no longer a reply. */
static int close_task(lua_State *L, struct soc_frame *frame, enum soc_effect_kind kind,
                      const struct soc_task_close *how)
{
    struct soc_script *script = frame->script;
    assert(how->state == SOC_TASK_COMPLETED || how->state == SOC_TASK_FAILED);
    struct soc_task_ref ref = read_ref(L, 2);
    struct soc_activation *activation = soc_gate_activation(script->host);
    const struct soc_message *own = activation->message;
    bool is_own = own != NULL && soc_envelope_is_id(ref.message_id, own);
    char id[SOC_MESSAGE_ID_BYTES];
    name_here(script->host, &ref, id);
    uint64_t hash = soc_hash(how->value.data, how->value.length, ref.key + how->is_retryable);
    hash = soc_hash(ref.id.data, ref.id.length, hash);
    int count;
    if (soc_effect_begin(L, script, kind, hash, &count) == SOC_GATE_RECORDED) {
        activation->has_replied |= is_own && count == 1;
        return count;
    }
    soc_buf_put_byte(&frame->answer, '[');
    int rc = soc_tasks_close(script->host, ref, how, &frame->answer, &frame->error);
    soc_buf_put_byte(&frame->answer, ']');
    activation->has_replied |= is_own && rc == SOC_OK;
    return soc_effect_finish(L, frame, rc);
}

/* agent:complete(message, output) -> the task */
static int agent_complete(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    lua_settop(L, 3);
    struct soc_task_close how = {
        .state = SOC_TASK_COMPLETED,
        .value = read_value(L, frame, 3, "output"),
    };
    return close_task(L, frame, SOC_EFFECT_COMPLETE, &how);
}

/* agent:fail(message, error, { retryable? }?) -> the task */
static int agent_fail(lua_State *L)
{
    static const char *const known[] = {"retryable", NULL};
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    lua_settop(L, 4);
    if (lua_isnil(L, 3))
        return luaL_argerror(L, 3, "say why it failed");
    struct soc_task_close how = {.state = SOC_TASK_FAILED};
    if (!lua_isnil(L, 4)) {
        luaL_checktype(L, 4, LUA_TTABLE);
        soc_option_check_names(L, 4, "fail", known);
        int type = soc_option_field(L, 4, "retryable");
        if (type != LUA_TNIL && type != LUA_TBOOLEAN)
            return luaL_error(L, "fail: 'retryable' must be a boolean, got %s",
                              luaL_typename(L, -1));
        how.is_retryable = lua_toboolean(L, -1);
    }
    how.value = read_value(L, frame, 3, "error");
    return close_task(L, frame, SOC_EFFECT_FAIL, &how);
}

/* agent:cancel(task_id, reason?) -> the task */
static int agent_cancel(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    size_t length;
    size_t reason_length = 0;
    lua_settop(L, 3);
    const char *id = luaL_checklstring(L, 2, &length);
    const char *reason = luaL_optlstring(L, 3, NULL, &reason_length);
    if (reason != NULL && soc_utf8_fault(soc_slice(reason, reason_length)) >= 0)
        return luaL_argerror(L, 3, "not UTF-8");
    if (reason != NULL)
        soc_json_put_string(&frame->payload, soc_slice(reason, reason_length));
    uint64_t hash = soc_hash(id, length, soc_hash(reason, reason_length, 0));
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_CANCEL, hash, &count) == SOC_GATE_RECORDED)
        return count;
    soc_buf_put_byte(&frame->answer, '[');
    int rc =
        soc_tasks_cancel(script->host, soc_slice(id, length),
                         reason == NULL ? (struct soc_slice){0} : soc_buf_slice(&frame->payload),
                         &frame->answer, &frame->error);
    soc_buf_put_byte(&frame->answer, ']');
    return soc_effect_finish(L, frame, rc);
}

/* agent:load(id?) -> { agent, status, … } */
static int agent_load(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    const struct soc_agent *agent = soc_gate_activation(script->host)->agent;
    size_t length = 0;
    const char *id = luaL_optlstring(L, 2, NULL, &length);
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_LOAD, soc_hash(id, length, 0), &count) ==
        SOC_GATE_RECORDED)
        return count;
    if (id != NULL)
        agent = soc_registry_find(script->host, soc_slice(id, length));
    if (agent == NULL)
        return soc_effect_finish(
            L, frame,
            soc_refuse(&frame->error, SOC_ENOAGENT, NULL, "agentId", soc_slice(id, length)));
    soc_buf_put_byte(&frame->answer, '[');
    soc_tasks_put_load(script->host, agent, &frame->answer);
    soc_buf_put_byte(&frame->answer, ']');
    return soc_effect_finish(L, frame, SOC_OK);
}

static const luaL_Reg task_functions[] = {
    {"complete", agent_complete}, {"fail", agent_fail}, {"cancel", agent_cancel},
    {"load", agent_load},         {NULL, NULL},
};

void soc_bind_tasks(lua_State *L, struct soc_script *script)
{
    soc_bind_methods(L, script, task_functions);
}

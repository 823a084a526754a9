/* Group messaging: broadcast, and checkpoint, which waits for all answers. */
#include <assert.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "env/ids.h"
#include "parts/group/barriers.h"
#include "parts/group/broadcasts.h"
#include "script/bindings/bind.h"
#include "script/bindings/send_options.h"
#include "script/turns/effect.h"
#include "script/turns/handle.h"
#include "script/turns/payload.h"

#define TIMEOUT_MS_DEFAULT 30000

/* agent:broadcast{ type?, payload, priority?, ttl_seconds?, … } -> { messageId, count } */
static int agent_broadcast(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_send_options options;
    lua_settop(L, 2);
    int rc = soc_send_options_read(L, frame, 2, SOC_SEND_FROM_BROADCAST, &options);
    int count;
    if (soc_effect_begin_timed(L, script, SOC_EFFECT_BROADCAST, options.hash, &count) ==
        SOC_GATE_RECORDED)
        return count;
    struct soc_message *message;
    if (rc == SOC_OK)
        rc = soc_router_send(script->host, soc_gate_activation(script->host)->agent,
                             &options.input.send, &message, &frame->error);
    if (rc == SOC_OK)
        soc_gate_put_receipt(script->host, message, &frame->answer);
    return soc_effect_finish(L, frame, rc);
}

static int64_t read_timeout(lua_State *L)
{
    if (soc_option_field(L, 2, "timeout_ms") == LUA_TNIL)
        return TIMEOUT_MS_DEFAULT;
    lua_Number ms = lua_tonumber(L, -1);
    if (lua_type(L, -1) != LUA_TNUMBER || !(ms >= 0 && ms <= 1e14))
        luaL_error(L, "checkpoint: 'timeout_ms' must be a number from 0 to 10^14");
    return (int64_t)ms;
}

/* Reads the payload of the table at 2 into frame->payload: an object, or nothing. */
static int read_payload(lua_State *L, struct soc_frame *frame)
{
    struct soc_script *script = frame->script;
    if (soc_option_field(L, 2, "payload") == LUA_TNIL)
        return SOC_OK;
    int rc = soc_payload_encode(L, script, lua_gettop(L), &frame->payload, NULL, &frame->error);
    if (rc == SOC_OK && soc_json_kind(soc_buf_slice(&frame->payload)) != SOC_JSON_OBJECT)
        luaL_error(L, "checkpoint: 'payload' must be a table of named values or a text");
    return rc;
}

/* Checks and pushes the list of agents, and pushes an array of `count` slices that lend
 * from it. */
static struct soc_slice *read_agents(lua_State *L, size_t *count)
{
    static const char wrong[] = "checkpoint: 'agents' must be a list of ids";
    if (soc_option_field(L, 2, "agents") == LUA_TNIL)
        return NULL;
    if (lua_type(L, -1) != LUA_TTABLE)
        luaL_error(L, wrong);
    int list = lua_gettop(L);
    *count = lua_rawlen(L, list);
    struct soc_slice *agents = lua_newuserdatauv(L, (*count + 1) * sizeof(*agents), 0);
    size_t seen = 0;
    for (lua_pushnil(L); lua_next(L, list) != 0; lua_pop(L, 1))
        seen++;
    for (size_t i = 0; i < *count; i++) {
        if (lua_rawgeti(L, list, (lua_Integer)i + 1) != LUA_TSTRING)
            luaL_error(L, wrong);
        agents[i].data = lua_tolstring(L, -1, &agents[i].length);
        lua_pop(L, 1); /* the list keeps it */
        struct soc_slice agent;
        struct soc_slice name;
        if (!soc_id_is_valid(agents[i]) && !soc_id_divide(agents[i], &agent, &name))
            luaL_error(L, wrong);
    }
    if (seen != *count)
        luaL_error(L, wrong);
    return agents;
}

static uint64_t hash_checkpoint(const struct soc_checkpoint *checkpoint, int64_t timeout_ms)
{
    const int64_t numbers[] = {timeout_ms, checkpoint->is_for_all};
    uint64_t hash = soc_hash(numbers, sizeof(numbers), 0);
    hash = soc_hash(checkpoint->payload.data, checkpoint->payload.length, hash);
    for (size_t i = 0; i < checkpoint->agents_count; i++)
        hash = soc_hash(checkpoint->agents[i].data, checkpoint->agents[i].length, hash + 1);
    return hash;
}

/* agent:checkpoint{ payload?, agents?, timeout_ms? }
 * -> { checkpoint_id, responses = { [id] = payload }, missing = { ids } } */
static int agent_checkpoint(lua_State *L)
{
    static const char *const known[] = {"payload", "agents", "timeout_ms", NULL};
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_checkpoint checkpoint = {0};
    struct soc_wait wait;
    soc_effect_check_wait(L);
    if (lua_isnoneornil(L, 2)) {
        lua_settop(L, 1);
        lua_newtable(L);
    }
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    soc_option_check_names(L, 2, "checkpoint", known);
    checkpoint.timeout_ms = read_timeout(L);
    checkpoint.agents = read_agents(L, &checkpoint.agents_count);
    checkpoint.is_for_all = checkpoint.agents == NULL;
    int rc = read_payload(L, frame);
    if (frame->payload.length > 0)
        checkpoint.payload = soc_buf_slice(&frame->payload);
    struct soc_effect_hash hash = {hash_checkpoint(&checkpoint, 0),
                                   hash_checkpoint(&checkpoint, checkpoint.timeout_ms)};
    int count;
    if (soc_effect_begin_timed(L, script, SOC_EFFECT_CHECKPOINT, hash, &count) == SOC_GATE_RECORDED)
        return count;
    if (rc < 0)
        return soc_effect_finish(L, frame, rc);
    rc = soc_barriers_open(script->host, &checkpoint, &wait, &frame->answer);
    if (rc <= 0)
        return soc_effect_end(L, script, soc_buf_slice(&frame->answer));
    assert(wait.kind != SOC_WAIT_NONE);
    soc_gate_wait(script->host, &wait);
    return soc_effect_yield(L);
}

static const luaL_Reg group_functions[] = {
    {"broadcast", agent_broadcast},
    {"checkpoint", agent_checkpoint},
    {NULL, NULL},
};

void soc_bind_group(lua_State *L, struct soc_script *script)
{
    soc_bind_methods(L, script, group_functions);
}

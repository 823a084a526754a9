/* Delivery: agent:resolve decides about an outside agent that does not respond. */
#include "base/hash.h"
#include "parts/outside/outside.h"
#include "script/bindings/bind.h"
#include "script/turns/effect.h"
#include "script/turns/handle.h"

/* agent:resolve(id, "restart" | "skip" | "abort") -> { agent, action, … } */
static int agent_resolve(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    size_t id_length;
    size_t action_length;
    const char *id = luaL_checklstring(L, 2, &id_length);
    const char *action = luaL_checklstring(L, 3, &action_length);
    int count;
    uint64_t hash = soc_hash(action, action_length, soc_hash(id, id_length, 0));
    if (soc_effect_begin(L, script, SOC_EFFECT_RESOLVE, hash, &count) == SOC_GATE_RECORDED)
        return count;
    soc_buf_put_byte(&frame->answer, '[');
    int rc = soc_outside_resolve(script->host, soc_slice(id, id_length),
                                 soc_slice(action, action_length), &frame->answer, &frame->error);
    soc_buf_put_byte(&frame->answer, ']');
    return soc_effect_finish(L, frame, rc);
}

static const luaL_Reg delivery_functions[] = {
    {"resolve", agent_resolve},
    {NULL, NULL},
};

void soc_bind_delivery(lua_State *L, struct soc_script *script)
{
    soc_bind_methods(L, script, delivery_functions);
}

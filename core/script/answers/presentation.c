#include "script/answers/presentation.h"

#include <assert.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "kernel/registry.h"
#include "lualib/lua_copy.h"
#include "lualib/lua_fill.h"
#include "lualib/lua_json.h"
#include "script/policies/policy_set.h"
#include "script/turns/effect.h"

/* Pushes a copy of the message at index 1, which the script may have changed. Returns
 * false, with nothing pushed, if it holds a table that is not JSON. */
static bool push_message_copy(lua_State *L, struct soc_frame *frame)
{
    struct soc_detail detail;
    assert(lua_istable(L, 1));
    soc_lua_fill(L, 1);
    lua_createtable(L, 0, 12);
    int copy = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
        if (lua_type(L, -1) == LUA_TTABLE) {
            frame->scratch.length = 0;
            if (soc_lua_json_encode(L, lua_gettop(L), "message", SOC_JSON_BYTES_MAX,
                                    &frame->scratch, &detail) < 0) {
                lua_settop(L, copy - 1);
                return false;
            }
            soc_lua_copy(L, -1);
            lua_remove(L, -2);
        }
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, copy);
    }
    return true;
}

/* Pushes the presentation policy's text of the message at index 1. The policy gets a
 * copy, so the script never sees its changes. */
static void push_text(lua_State *L, struct soc_frame *frame)
{
    struct soc_script *script = frame->script;
    size_t length;
    soc_option_field(L, 1, "from");
    const char *from = lua_tolstring(L, -1, &length);
    const struct soc_agent *sender =
        from == NULL ? NULL : soc_registry_find_any(script->host, soc_slice(from, length));
    if (!push_message_copy(L, frame)) {
        lua_pushliteral(
            L, "(this message cannot be shown: the script put a value into it that is not JSON)");
        return;
    }
    lua_createtable(L, 0, 1);
    lua_pushstring(L, sender == NULL ? "unknown" : sender->role->name);
    lua_setfield(L, -2, "role");
    if (!soc_policy_set_ask(L, script, SOC_ASK_SHOW_MESSAGE, 2))
        lua_pushliteral(L, "(this message cannot be shown: the presentation policy failed)");
    else
        lua_pop(L, 1);
}

/* Inside a turn the text is an effect: a policy is not asked again on replay. */
static void push_recorded_text(lua_State *L, struct soc_frame *frame)
{
    struct soc_script *script = frame->script;
    size_t length;
    int count;
    soc_option_field(L, 1, "id");
    const char *id = lua_tolstring(L, -1, &length);
    uint64_t hash = soc_hash(id, id == NULL ? 0 : length, SOC_EFFECT_LOOK);
    if (soc_effect_begin(L, script, SOC_EFFECT_LOOK, hash, &count) == SOC_GATE_RECORDED)
        return;
    push_text(L, frame);
    const char *text = lua_tolstring(L, -1, &length);
    soc_buf_put_byte(&frame->answer, '[');
    soc_json_put_string(&frame->answer, soc_slice(text, length));
    soc_buf_put_byte(&frame->answer, ']');
    soc_effect_end(L, script, soc_buf_slice(&frame->answer));
}

void soc_presentation_push_text(lua_State *L, struct soc_script *script)
{
    struct soc_frame *frame = soc_frame_open(script);
    if (soc_gate_activation(script->host) != NULL)
        push_recorded_text(L, frame);
    else
        push_text(L, frame);
}

/* Introductions: request_introduction, introduce, decline. */
#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "kernel/refusal.h"
#include "lualib/lua_json.h"
#include "script/bindings/bind.h"
#include "script/bindings/bind_mail.h"
#include "script/turns/effect.h"
#include "script/turns/handle.h"

/* Reads a string option of the table at `index` into the object in frame->payload. */
static void put_option(lua_State *L, struct soc_frame *frame, int index, const char *call,
                       const char *name)
{
    size_t length;
    int type = soc_option_field(L, index, name);
    if (type == LUA_TNIL)
        return; /* the validator of introduction_request says what is missing */
    if (type != LUA_TSTRING)
        luaL_error(L, "%s: '%s' must be a string, got %s", call, name, luaL_typename(L, -1));
    const char *text = lua_tolstring(L, -1, &length);
    if (soc_utf8_fault(soc_slice(text, length)) >= 0)
        luaL_error(L, "%s: '%s' is not UTF-8", call, name);
    soc_json_put_text_member(&frame->payload, name, soc_slice(text, length));
}

static struct soc_slice read_receiver(lua_State *L)
{
    size_t length;
    if (soc_option_field(L, 2, "to") != LUA_TSTRING)
        luaL_error(L, "request_introduction: 'to' must be an agent's id, got %s",
                   luaL_typename(L, -1));
    const char *id = lua_tolstring(L, -1, &length);
    return soc_slice(id, length);
}

/* agent:request_introduction{ to, reason, required_capability, timeout_ms? }
 * -> the new contact */
static int agent_request_introduction(lua_State *L)
{
    static const char *const known[] = {"to", "reason", "required_capability", "timeout_ms", NULL};
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    soc_effect_check_wait(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    soc_option_check_names(L, 2, "request_introduction", known);
    struct soc_send send = {.to = read_receiver(L), .type = SOC_SLICE("introduction_request")};
    int64_t timeout_ms = soc_option_timeout(L, 2, "request_introduction", -1);
    soc_buf_put_byte(&frame->payload, '{');
    put_option(L, frame, 2, "request_introduction", "reason");
    put_option(L, frame, 2, "request_introduction", "required_capability");
    soc_buf_put_byte(&frame->payload, '}');
    send.payload = soc_buf_slice(&frame->payload);
    struct soc_effect_hash hash = {soc_hash(send.to.data, send.to.length, 0),
                                   soc_hash(send.to.data, send.to.length, (uint64_t)timeout_ms)};
    hash.now = soc_hash(send.payload.data, send.payload.length, hash.now);
    hash.older = soc_hash(send.payload.data, send.payload.length, hash.older);
    int count;
    if (soc_effect_begin_timed(L, script, SOC_EFFECT_REQUEST_INTRODUCTION, hash, &count) ==
        SOC_GATE_RECORDED)
        return count;
    int rc = soc_bind_mail_request(frame, &send, timeout_ms);
    return rc < 0 ? soc_effect_finish(L, frame, rc) : soc_effect_yield(L);
}

/* Answers the request at index 2 with the payload in frame->payload. */
static int respond(lua_State *L, struct soc_frame *frame, enum soc_effect_kind kind)
{
    struct soc_send send = {
        .type = SOC_SLICE("introduction_response"),
        .payload = soc_buf_slice(&frame->payload),
    };
    return soc_bind_mail_reply(L, frame, kind, 2, SOC_OK, &send);
}

/* agent:introduce(request_message, { target, usage_hint? }) -> { messageId } */
static int agent_introduce(lua_State *L)
{
    static const char *const known[] = {"target", "usage_hint", NULL};
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    size_t length;
    lua_settop(L, 3);
    luaL_checktype(L, 3, LUA_TTABLE);
    soc_option_check_names(L, 3, "introduce", known);
    if (soc_option_field(L, 3, "target") != LUA_TSTRING)
        luaL_error(L, "introduce: 'target' must be an agent's id, got %s", luaL_typename(L, -1));
    const char *id = lua_tolstring(L, -1, &length);
    soc_buf_put_text(&frame->payload, "{\"target_agent\":{");
    soc_json_put_text_member(&frame->payload, "id", soc_slice(id, length));
    soc_buf_put_byte(&frame->payload, '}');
    put_option(L, frame, 3, "introduce", "usage_hint");
    soc_buf_put_byte(&frame->payload, '}');
    lua_settop(L, 3);
    return respond(L, frame, SOC_EFFECT_INTRODUCE);
}

/* agent:decline(request_message, reason) -> { messageId } */
static int agent_decline(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    size_t length;
    lua_settop(L, 3);
    const char *reason = luaL_optlstring(L, 3, "", &length);
    if (soc_utf8_fault(soc_slice(reason, length)) >= 0)
        return luaL_argerror(L, 3, "not UTF-8");
    soc_buf_put_byte(&frame->payload, '{');
    soc_json_put_text_member(&frame->payload, "reason", soc_slice(reason, length));
    soc_json_put_name(&frame->payload, "target_agent");
    soc_buf_put_text(&frame->payload, "null}");
    return respond(L, frame, SOC_EFFECT_DECLINE);
}

static const luaL_Reg introduction_functions[] = {
    {"request_introduction", agent_request_introduction},
    {"introduce", agent_introduce},
    {"decline", agent_decline},
    {NULL, NULL},
};

void soc_bind_introductions(lua_State *L, struct soc_script *script)
{
    soc_bind_methods(L, script, introduction_functions);
}

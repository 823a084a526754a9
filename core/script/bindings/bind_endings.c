/* Endings: terminate, stop, pause and resume agents. */
#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "kernel/ending.h"
#include "parts/hosts/hosts.h"
#include "script/bindings/bind.h"
#include "script/bindings/bind_endings.h"
#include "script/turns/effect.h"
#include "script/turns/handle.h"

struct end_options {
    struct soc_slice reason;
    bool is_forced;
    bool has_subtree;
};

static bool read_flag(lua_State *L, int index, const char *what, const char *name)
{
    int type = soc_option_field(L, index, name);
    if (type != LUA_TNIL && type != LUA_TBOOLEAN)
        luaL_error(L, "%s: '%s' must be true or false, got %s", what, name, luaL_typename(L, -1));
    return lua_toboolean(L, -1);
}

/* Reads the table of options at `index`, which may be absent; `known` as for
 * soc_option_check_names. */
static void read_options(lua_State *L, int index, const char *what, const char *const *known,
                         struct end_options *options)
{
    size_t length;
    *options = (struct end_options){0};
    if (lua_isnoneornil(L, index))
        return;
    if (lua_type(L, index) != LUA_TTABLE)
        luaL_error(L, "%s: a table of options expected, got %s", what, luaL_typename(L, index));
    soc_option_check_names(L, index, what, known);
    options->is_forced = read_flag(L, index, what, "force");
    options->has_subtree = read_flag(L, index, what, "subtree");
    int type = soc_option_field(L, index, "reason");
    if (type != LUA_TNIL && type != LUA_TSTRING)
        luaL_error(L, "%s: 'reason' must be a string, got %s", what, luaL_typename(L, -1));
    const char *text = lua_tolstring(L, -1, &length);
    if (text == NULL)
        return;
    if (length > SOC_REASON_BYTES_MAX || memchr(text, '\0', length) != NULL ||
        soc_utf8_fault(soc_slice(text, length)) >= 0)
        luaL_error(L, "%s: 'reason' must be UTF-8 text of at most %d bytes", what,
                   SOC_REASON_BYTES_MAX);
    options->reason = soc_slice(text, length);
}

static uint64_t hash_options(const struct end_options *options)
{
    return soc_hash(options->reason.data, options->reason.length,
                    options->is_forced + 2u * options->has_subtree);
}

static int finish(lua_State *L, struct soc_frame *frame, int rc, struct soc_slice id,
                  const char *status)
{
    assert(id.data != NULL && status != NULL);
    soc_buf_put_text(&frame->answer, "[{");
    soc_json_put_text_member(&frame->answer, "id", id);
    soc_json_put_text_member(&frame->answer, "status", soc_slice_text(status));
    soc_buf_put_text(&frame->answer, "}]");
    return soc_effect_finish(L, frame, rc);
}

/* agent:terminate(id, { force?, reason? }?) -> { id, status } */
static int agent_terminate(lua_State *L)
{
    static const char *const known[] = {"force", "reason", NULL};
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    size_t length;
    const char *text = luaL_checklstring(L, 2, &length);
    struct soc_slice id = soc_slice(text, length);
    struct end_options options;
    lua_settop(L, 3);
    read_options(L, 3, "terminate", known, &options);
    uint64_t hash = soc_hash(text, length, hash_options(&options));
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_TERMINATE, hash, &count) == SOC_GATE_RECORDED)
        return count;
    int rc = soc_hosts_is_elsewhere(script->host, id)
                 ? soc_hosts_end_child(script->host, id, options.is_forced, options.reason,
                                       &frame->error)
                 : soc_ending_terminate(script->host, id, &options.is_forced, options.reason,
                                        &frame->error);
    return finish(L, frame, rc, id, options.is_forced ? "stopped" : "ending");
}

/* agent:stop({ reason? }?) -> { id, status } */
static int agent_stop(lua_State *L)
{
    static const char *const known[] = {"reason", NULL};
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    struct end_options options;
    lua_settop(L, 2);
    read_options(L, 2, "stop", known, &options);
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_STOP, hash_options(&options), &count) ==
        SOC_GATE_RECORDED)
        return count;
    int rc = soc_ending_stop(script->host, options.reason, &frame->error);
    return finish(L, frame, rc, soc_agent_id(soc_gate_activation(script->host)->agent), "ending");
}

void soc_bind_endings_read(lua_State *L, int index, const char *what, struct soc_hold_order *order)
{
    static const char *const known[] = {"subtree", "reason", NULL};
    struct end_options options;
    read_options(L, index, what, known, &options);
    order->reason = options.reason;
    order->has_subtree = options.has_subtree;
}

static int hold(lua_State *L, bool is_resume)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    size_t length;
    const char *text = luaL_checklstring(L, 2, &length);
    struct soc_hold_order order = {.id = soc_slice(text, length), .is_resume = is_resume};
    lua_settop(L, 3);
    soc_bind_endings_read(L, 3, is_resume ? "resume" : "pause", &order);
    uint64_t hash =
        soc_hash(text, length, soc_hash(order.reason.data, order.reason.length, order.has_subtree));
    int count;
    if (soc_effect_begin(L, script, is_resume ? SOC_EFFECT_RESUME : SOC_EFFECT_PAUSE, hash,
                         &count) == SOC_GATE_RECORDED)
        return count;
    if (soc_hosts_is_elsewhere(script->host, order.id))
        soc_hosts_hold_child(script->host, &order, &frame->answer);
    else
        soc_hold_order(script->host, &order, &frame->answer); /* or the error object */
    return soc_effect_end(L, script, soc_buf_slice(&frame->answer));
}

/* agent:pause(id, { reason?, subtree? }?) -> { count, id, status? } */
static int agent_pause(lua_State *L)
{
    return hold(L, false);
}

/* agent:resume(id, { reason?, subtree? }?) -> { count, id, status? } */
static int agent_resume(lua_State *L)
{
    return hold(L, true);
}

static const luaL_Reg ending_functions[] = {
    {"pause", agent_pause},
    {"resume", agent_resume},
    {"terminate", agent_terminate},
    {"stop", agent_stop},
    {NULL, NULL},
};

void soc_bind_endings(lua_State *L, struct soc_script *script)
{
    soc_bind_methods(L, script, ending_functions);
}

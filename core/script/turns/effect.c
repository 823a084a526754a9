#include "script/turns/effect.h"

#include <assert.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "kernel/refusal.h"
#include "lualib/lua_json.h"
#include "parts/history/history.h"
#include "parts/history/replay.h"
#include "sandbox/sandbox.h"
#include "script/turns/arguments.h"
#include "script/turns/message.h"

int soc_effect_push_answer(lua_State *L, struct soc_slice answer)
{
    struct soc_detail detail;
    bool is_error = answer.length > 0 && answer.data[0] == '{';
    if (is_error)
        luaL_pushfail(L);
    if (soc_lua_json_decode(L, answer, &detail) < 0)
        return luaL_error(L, "a recorded answer is damaged: %s", detail.text);
    if (is_error)
        return 2;
    int list = lua_gettop(L);
    assert(lua_istable(L, list));
    int count = (int)lua_rawlen(L, list);
    luaL_checkstack(L, count, "too many results");
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, list, i);
        if (soc_lua_is_null(L, -1)) {
            lua_pop(L, 1);
            lua_pushnil(L);
        }
    }
    return count;
}

static int push_results(lua_State *L, struct soc_script *script, uint32_t index)
{
    const struct soc_activation *activation = soc_gate_activation(script->host);
    assert(activation != NULL && index < activation->effects_count);
    int count = soc_effect_push_answer(L, soc_activation_answer_of(activation, index));
    enum soc_effect_kind kind = activation->effects[index].kind;
    if (count == 1 && (kind == SOC_EFFECT_REQUEST || kind == SOC_EFFECT_RECEIVE))
        soc_message_mark(L, script);
    return count;
}

/* Ends the turn with the error object in `script->fatal`: no script can catch it. */
static int break_turn(lua_State *L, struct soc_script *script)
{
    assert(script->fatal.length > 0 && script->fatal.data[0] == '{');
    script->is_broken = true;
    lua_pushlstring(L, script->fatal.data, script->fatal.length);
    return soc_sandbox_raise_fatal(L);
}

void soc_effect_put_where(lua_State *L, struct soc_buf *out)
{
    lua_Debug frame;
    for (int level = 0; lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "Sl", &frame);
        if (frame.currentline <= 0)
            continue;
        soc_buf_printf(out, "%s:%d", frame.short_src, frame.currentline);
        return;
    }
}

int soc_effect_break_budget(lua_State *L, struct soc_script *script, const char *which,
                            uint64_t limit, int64_t used_ms)
{
    if (!script->is_broken) {
        struct soc_buf where = {0};
        soc_effect_put_where(L, &where);
        soc_refusal_begin(&script->fatal, SOC_EBUDGET,
                          "one turn did too much at once; split the work over several messages");
        soc_json_put_text_member(&script->fatal, "which", soc_slice_text(which));
        soc_buf_printf(&script->fatal, ",\"limit\":%llu", (unsigned long long)limit);
        if (used_ms > 0)
            soc_buf_printf(&script->fatal, ",\"used_ms\":%lld", (long long)used_ms);
        if (where.length > 0)
            soc_json_put_text_member(&script->fatal, "where", soc_buf_slice(&where));
        soc_buf_fini(&where);
        soc_refusal_end(&script->fatal, SOC_EBUDGET);
    }
    return break_turn(L, script);
}

/* Tells a replay where the script differs. */
static void note_where(lua_State *L, struct soc_script *script)
{
    struct soc_buf where = {0};
    soc_effect_put_where(L, &where);
    soc_replay_set_where(script->host, soc_buf_slice(&where));
    soc_buf_fini(&where);
}

/* Adds the place and the current arguments to the error, to show which of them depends on
 * something that is not repeatable. The record has only a hash of the former ones. */
static void show_arguments(lua_State *L, struct soc_script *script, enum soc_effect_kind kind)
{
    if (soc_json_member(soc_buf_slice(&script->fatal), "now").data == NULL)
        return;
    script->arguments.length = 0;
    soc_arguments_put(L, kind, &script->arguments);
    struct soc_buf where = {0};
    soc_effect_put_where(L, &where);
    script->fatal.length--;
    soc_refusal_put_shown(&script->fatal, "arguments", soc_buf_slice(&script->arguments));
    if (where.length > 0)
        soc_json_put_text_member(&script->fatal, "where", soc_buf_slice(&where));
    soc_buf_fini(&where);
    soc_refusal_end(&script->fatal, SOC_ENONDET);
}

/* Raises if the script may not act now; else keeps the arguments if history is kept. */
static void prepare(lua_State *L, struct soc_script *script, enum soc_effect_kind kind)
{
    script->active = L;
    if (script->is_loading)
        luaL_error(L, "a module cannot act while it loads: move this into a behaviour");
    if (script->is_broken)
        break_turn(L, script);
    script->hooks.look_at_budget(L, script); /* no hook may lie between two effects */
    if (!script->keeps_history)
        return;
    script->arguments.length = 0;
    soc_arguments_put(L, kind, &script->arguments);
    soc_history_set_arguments(script->host, soc_buf_slice(&script->arguments));
}

int soc_effect_begin_timed(lua_State *L, struct soc_script *script, enum soc_effect_kind kind,
                           struct soc_effect_hash hash, int *count)
{
    struct soc_slice answer;
    prepare(L, script, kind);
    int state = soc_gate_begin_timed(script->host, kind, hash, &answer, &script->fatal);
    if (state == SOC_ENONDET) {
        note_where(L, script);
        show_arguments(L, script, kind);
    }
    if (state < 0)
        return break_turn(L, script);
    if (state == SOC_GATE_RECORDED) {
        script->hooks.renew_budget(script); /* several turns are run as one */
        *count = push_results(L, script, soc_gate_activation(script->host)->cursor - 1);
    }
    return state;
}

int soc_effect_begin(lua_State *L, struct soc_script *script, enum soc_effect_kind kind,
                     uint64_t hash, int *count)
{
    return soc_effect_begin_timed(L, script, kind, (struct soc_effect_hash){hash, hash}, count);
}

int soc_effect_begin_aside(lua_State *L, struct soc_script *script, enum soc_effect_kind kind,
                           uint64_t hash, int *count)
{
    struct soc_slice answer;
    prepare(L, script, kind);
    int state = soc_gate_begin_aside(script->host, kind, hash, &answer, &script->fatal);
    if (state < 0)
        return break_turn(L, script);
    *count = 0;
    if (state != SOC_GATE_RECORDED || answer.data == NULL)
        return state;
    if (kind != SOC_EFFECT_VERSION) /* a version may be asked for endlessly */
        script->hooks.renew_budget(script);
    *count = soc_effect_push_answer(L, answer);
    return state;
}

int soc_effect_end(lua_State *L, struct soc_script *script, struct soc_slice answer)
{
    assert(answer.length >= 2 && (answer.data[0] == '[' || answer.data[0] == '{'));
    if (script->given.data != NULL) /* an isolated agent has been told this before */
        answer = script->given;
    soc_gate_answer(script->host, answer);
    return push_results(L, script, soc_gate_activation(script->host)->cursor - 1);
}

int soc_effect_finish(lua_State *L, const struct soc_frame *frame, int rc)
{
    assert(rc >= 0 || frame->error.length > 0);
    return soc_effect_end(L, frame->script, soc_buf_slice(rc < 0 ? &frame->error : &frame->answer));
}

static int answered(lua_State *L, int status, lua_KContext context)
{
    (void)status;
    struct soc_script *script = (struct soc_script *)context;
    assert(soc_gate_activation(script->host)->wait.kind == SOC_WAIT_NONE);
    return push_results(L, script, soc_gate_activation(script->host)->cursor - 1);
}

void soc_effect_check_wait(lua_State *L)
{
    if (!lua_isyieldable(L))
        luaL_error(L, "this call waits, and Lua cannot wait here (inside a "
                      "metamethod, an iterator or a sort)");
}

int soc_effect_yield(lua_State *L)
{
    struct soc_script *script = soc_box_script(L, lua_upvalueindex(1));
    lua_pushlightuserdata(L, soc_sandbox_host_yield_key());
    return lua_yieldk(L, 1, (lua_KContext)script, answered);
}

uint64_t soc_effect_hash_arguments(lua_State *L, struct soc_frame *frame, int first)
{
    struct soc_detail detail;
    uint64_t hash = 0;
    for (int i = first; i <= lua_gettop(L); i++) {
        frame->scratch.length = 0;
        if (soc_lua_json_encode(L, i, "argument", SOC_JSON_BYTES_MAX, &frame->scratch, &detail) < 0)
            luaL_argerror(L, i, detail.text);
        hash = soc_hash(frame->scratch.data, frame->scratch.length, hash + 1);
    }
    return hash;
}

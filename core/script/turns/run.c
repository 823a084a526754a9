#include "script/turns/run.h"

#include <assert.h>

#include "base/json.h"
#include "base/limits.h"
#include "kernel/refusal.h"
#include "lualib/lua_heap.h"
#include "lualib/lua_json.h"
#include "parts/history/history.h"
#include "parts/history/replay.h"
#include "sandbox/sandbox.h"
#include "script/turns/behaviour.h"
#include "script/turns/budget.h"
#include "script/turns/cell.h"
#include "script/turns/effect.h"
#include "script/turns/handle.h"
#include "script/turns/isolated.h"
#include "script/turns/message.h"
#include "script/turns/payload.h"
#include "script/turns/seat.h"
#include "script/turns/thread.h"
#include "worker/workers.h"

int soc_run_limited(struct soc_script *script, lua_State *L, int arguments, int handler)
{
    assert(arguments >= 0 && lua_gettop(L) > arguments);
    lua_Hook hook = lua_gethook(L);
    int mask = lua_gethookmask(L);
    int count = lua_gethookcount(L);
    script->is_broken = false;
    struct soc_budget_scope scope = soc_budget_begin_load(script, L);
    int status = lua_pcall(L, arguments, 0, handler);
    soc_budget_end(script, L, scope);
    lua_sethook(L, hook, mask, count);
    return status;
}

/* The run is given up; so is the worker of an isolated agent, or its cell. */
static void leave_seat(struct soc_thread *thread)
{
    if (thread->seat != NULL)
        soc_seat_drop(thread->seat);
    if (thread->cell != NULL)
        soc_cell_drop(thread->cell);
    thread->seat = NULL;
    thread->cell = NULL;
}

void soc_run_drop(void *user, struct soc_activation *activation)
{
    struct soc_thread *thread = activation->script;
    struct soc_script *script = user;
    assert(thread != NULL && !script->is_dropping);
    activation->script = NULL;
    leave_seat(thread);
    if (thread->is_spent) { /* no hook would end its handlers of <close> */
        soc_thread_discard(script, thread);
        return;
    }
    script->is_dropping = true; /* handlers of <close> run now and cannot act */
    struct soc_budget_scope scope = soc_budget_begin(script, thread->co);
    lua_resetthread(thread->co);
    soc_budget_end(script, thread->co, scope);
    script->is_dropping = false;
    lua_settop(thread->co, 0);
    soc_thread_give(script, thread);
}

/* The coroutine of the script's own in which the frame waits, or NULL. It is the first argument
 * of coroutine.resume, or the first upvalue of a function made by coroutine.wrap; nothing else
 * that is written in C keeps a suspended coroutine while it waits. */
static lua_State *inner_of(lua_State *L, lua_Debug *frame)
{
    lua_State *inner = NULL;
    lua_getinfo(L, "Sf", frame);
    bool is_c = frame->what[0] == 'C';
    if (is_c && lua_getupvalue(L, -1, 1) != NULL) {
        inner = lua_tothread(L, -1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    if (is_c && inner == NULL && lua_getlocal(L, frame, 1) != NULL) {
        inner = lua_tothread(L, -1);
        lua_pop(L, 1);
    }
    return inner != NULL && lua_status(inner) == LUA_YIELD ? inner : NULL;
}

void soc_run_put_where(void *user, const struct soc_activation *activation, struct soc_buf *out)
{
    const struct soc_thread *thread = activation->script;
    lua_State *co = thread == NULL ? NULL : thread->co;
    lua_Debug frame;
    (void)user;
    while (co != NULL && lua_status(co) == LUA_YIELD && lua_checkstack(co, 4) &&
           lua_getstack(co, 0, &frame)) {
        lua_State *inner = inner_of(co, &frame);
        if (inner == NULL)
            soc_effect_put_where(co, out);
        co = inner;
    }
}

/* A failed coroutine and the error it ended with. */
struct failure {
    struct soc_script *script;
    lua_State *co;
    struct soc_buf *error;
    enum soc_turn_end end;
};

/* Shortens the text on top of `co` if it is too long for logs and dead letters. */
static void shorten(lua_State *co)
{
    size_t length;
    const char *text = lua_tolstring(co, -1, &length);
    size_t kept = SOC_ERROR_BYTES_MAX;
    if (length <= kept)
        return;
    while (kept > 0 && ((unsigned char)text[kept] & 0xC0) == 0x80) /* inside a character */
        kept--;
    lua_pushlstring(co, text, kept);
    lua_pushfstring(co, "%s… (%I bytes)", lua_tostring(co, -1), (LUAI_UACINT)length);
    lua_replace(co, -3);
    lua_pop(co, 1);
}

/* Appends the error on top of `co` as an object, with the traceback. Called protected,
 * because memory may have run out. */
static int describe(lua_State *L)
{
    struct failure *failure = lua_touserdata(L, 1);
    lua_State *co = failure->co;
    struct soc_detail detail;
    size_t length;
    assert(lua_gettop(co) > 0);
    if (soc_sandbox_fatal_value(co, -1)) {
        const char *fatal = lua_tolstring(co, -1, &length);
        bool is_ours = fatal != NULL && fatal[0] == '{'; /* else Lua's own: memory ran out */
        failure->end = is_ours ? SOC_TURN_BROKEN : SOC_TURN_RAISED;
        failure->error->length = 0;
        if (is_ours)
            soc_buf_put(failure->error, fatal, length);
        else
            soc_refuse(failure->error, SOC_ESCRIPT, fatal, NULL, (struct soc_slice){0});
        return 0;
    }
    if (lua_type(co, -1) != LUA_TSTRING) {
        struct soc_buf *text = &soc_frame_open(failure->script)->scratch;
        if (soc_lua_json_encode(co, -1, "error", SOC_STATE_BYTES_MAX, text, &detail) < 0)
            soc_buf_put_text(text, "(an error value that is not JSON)");
        lua_pushlstring(co, text->data, text->length);
    }
    shorten(co);
    struct soc_slice traceback = /* a worker's, as long as it likes */
        soc_slice_cut(soc_buf_slice(&failure->script->traceback), SOC_ERROR_BYTES_MAX);
    if (traceback.length == 0) {
        luaL_traceback(L, co, NULL, 0);
        traceback = soc_slice_text(lua_tostring(L, -1));
    }
    soc_refusal_begin(failure->error, SOC_ESCRIPT, lua_tolstring(co, -1, &length));
    soc_json_put_text_member(failure->error, "traceback", traceback);
    soc_refusal_end(failure->error, SOC_ESCRIPT);
    return 0;
}

/* A script that ends before repeating its recorded effects differs from the one that made
 * them, whether it returned or raised. */
static bool is_replayed(const struct soc_activation *activation)
{
    return soc_activation_next(activation) >= activation->effects_count;
}

/* Writes no index: replay reads an index as the effect that differed. */
static enum soc_turn_end refuse_other_script(struct soc_script *script,
                                             const struct soc_activation *activation,
                                             struct soc_buf *error)
{
    const char *next = soc_effect_name(activation->effects[soc_activation_next(activation)].kind);
    soc_refusal_begin(error, SOC_ENONDET,
                      "the script ended before it had repeated its recorded effects");
    soc_json_put_text_member(error, "recorded", soc_slice_text(next));
    soc_gate_put_place(script->host, error);
    soc_refusal_end(error, SOC_ENONDET);
    return SOC_TURN_BROKEN;
}

/* Ends the turn with the fatal error, even if the script caught it outside the sandbox or
 * raised another one on the way. */
static enum soc_turn_end tell_broken(const struct soc_script *script, struct soc_buf *error)
{
    error->length = 0;
    soc_buf_put_slice(error, soc_buf_slice(&script->fatal));
    return SOC_TURN_BROKEN;
}

static enum soc_turn_end describe_error(struct soc_script *script,
                                        const struct soc_activation *activation, lua_State *co,
                                        struct soc_buf *error)
{
    struct failure failure = {script, co, error, SOC_TURN_RAISED};
    lua_pushcfunction(script->L, describe);
    lua_pushlightuserdata(script->L, &failure);
    if (lua_pcall(script->L, 1, 0, 0) != LUA_OK) {
        lua_pop(script->L, 1);
        soc_refuse(error, SOC_ESCRIPT, "not enough memory", NULL, (struct soc_slice){0});
        return SOC_TURN_RAISED;
    }
    if (failure.end == SOC_TURN_RAISED && !is_replayed(activation))
        return refuse_other_script(script, activation, error);
    return failure.end;
}

/* Sends the behaviour's result as its reply, unless that is nil or it has replied. */
static void reply_with_result(lua_State *co, struct soc_script *script)
{
    struct soc_activation *activation = soc_gate_activation(script->host);
    struct soc_message *message = activation->message;
    /* A reply gets no reply: two such agents would never stop. */
    if (message == NULL || message->from == NULL || message->reply_to != 0 ||
        activation->has_replied || lua_isnil(co, -1))
        return;
    struct soc_frame *frame = soc_frame_open(script);
    if (soc_payload_encode(co, script, lua_gettop(co), &frame->payload, NULL, &frame->error) < 0)
        luaL_error(co, "the result cannot be the reply: %s", soc_buf_text(&frame->error));
    if (script->keeps_history &&
        !soc_replay_keep_result(script->host, soc_buf_slice(&frame->payload)))
        return;
    struct soc_send send = {
        .to = soc_agent_id(message->from),
        .payload = soc_buf_slice(&frame->payload),
        .answers = message,
    };
    struct soc_message *sent;
    int rc = soc_router_send(script->host, activation->agent, &send, &sent, &frame->error);
    /* That the sender has ended meanwhile, or that another activation of this agent has
     * answered its query, is not this activation's failure. */
    if (rc < 0 && rc != SOC_ESTOPPED && rc != SOC_ENOQUERY)
        luaL_error(co, "the result cannot be the reply: %s", soc_buf_text(&frame->error));
}

/* The handler has returned: the stack holds the handle and the result. */
static int finish(lua_State *co, int status, lua_KContext context)
{
    (void)status;
    struct soc_script *script = (struct soc_script *)context;
    struct soc_detail detail;
    /* A refused turn leaves no trace: no reply, no state. */
    if (script->is_broken || !is_replayed(soc_gate_activation(script->host)))
        return 0;
    /* Encode the state before the reply, which a replay does not send: of two faults both
     * report the same one. */
    script->state.length = 0;
    if (soc_handle_put_state(co, 1, &script->state, &detail) < 0)
        return luaL_error(co, "%s", detail.text);
    reply_with_result(co, script);
    if (soc_gate_inject_failure(script->host))
        return luaL_error(co, "a simulated failure at the end of a turn");
    if (script->state.length > 0)
        soc_gate_set_state(script->host, soc_buf_slice(&script->state));
    return 0;
}

/* The body of every coroutine. lua_resume protects all it does, even if memory runs out. */
static int body(lua_State *co)
{
    struct soc_script *script = *(struct soc_script **)lua_getextraspace(co);
    struct soc_activation *activation = soc_gate_activation(script->host);
    soc_handle_push(co, script);
    if (activation->message == NULL && !soc_behaviour_push_main(co, script))
        return luaL_error(co, "main was waiting, but the script no longer has a main");
    if (soc_isolated_wants(script, activation)) {
        bool is_apart = !script->is_simulated || script->workers != NULL; /* those of a fuzzer */
        lua_pushcfunction(co, is_apart ? soc_isolated_run : soc_cell_run);
        lua_pushvalue(co, 1);
        lua_callk(co, 1, 1, (lua_KContext)script, finish);
        return finish(co, LUA_OK, (lua_KContext)script);
    }
    if (activation->message != NULL && !soc_behaviour_push(co, script, activation))
        return soc_behaviour_skip(script, activation);
    lua_pushvalue(co, 1);
    if (activation->message != NULL)
        soc_message_push(co, script, activation->message);
    lua_callk(co, lua_gettop(co) - 2, 1, (lua_KContext)script, finish);
    return finish(co, LUA_OK, (lua_KContext)script);
}

/* Resumes the coroutine within the budget of a turn. */
static int resume(struct soc_script *script, struct soc_thread *thread, int *results)
{
    struct soc_watchdog *dog = soc_host_watchdog(script->host);
    struct soc_budget_scope scope = soc_budget_begin(script, thread->co);
    bool is_isolated = thread->seat != NULL; /* what is done again counts as well */
    int64_t began_us = is_isolated ? soc_workers_own_cpu_us() : 0;
    soc_watchdog_begin_turn(dog);
    int status = lua_resume(thread->co, script->L, 0, results);
    soc_watchdog_end_turn(dog);
    if (is_isolated)
        soc_seat_charge(thread->seat, soc_workers_own_cpu_us() - began_us);
    soc_budget_end(script, thread->co, scope);
    return status;
}

enum soc_turn_end soc_run_turn(void *user, struct soc_activation *activation, struct soc_buf *error)
{
    struct soc_script *script = user;
    struct soc_thread *thread = activation->script;
    assert(script->active == script->L && soc_gate_activation(script->host) == activation);
    if (thread == NULL) {
        soc_lua_heap_tend(script->L);
        struct soc_activation *other = soc_cell_make_room(script, activation);
        if (other != NULL)
            soc_run_drop(script, other);
        thread = soc_thread_take(script);
        activation->script = thread;
    }
    if (lua_gettop(thread->co) == 0 && lua_status(thread->co) == LUA_OK) {
        soc_activation_restart(activation);
        lua_pushcfunction(thread->co, body);
    }
    lua_State *co = thread->co;
    int results;
    script->is_broken = false;
    script->traceback.length = 0;
    int status = resume(script, thread, &results);
    thread->is_spent = soc_budget_is_spent(script);
    script->active = script->L;
    if (script->keeps_history)
        script->hooks.history_turn(script->L, script);
    if (script->is_broken)
        return tell_broken(script, error);
    if (status == LUA_OK && !is_replayed(activation))
        return refuse_other_script(script, activation, error);
    if (status == LUA_OK) {
        lua_settop(co, 0);
        if (thread->seat != NULL)
            soc_seat_finish(thread->seat);
        if (thread->cell != NULL)
            soc_cell_finish(thread->cell);
        thread->seat = NULL;
        thread->cell = NULL;
        soc_thread_give(script, thread);
        activation->script = NULL;
        return SOC_TURN_DONE;
    }
    if (status != LUA_YIELD)
        return describe_error(script, activation, co, error);
    bool is_ours = results == 1 && lua_touserdata(co, -1) == soc_sandbox_host_yield_key();
    bool is_stalled = results == 1 && lua_touserdata(co, -1) == soc_isolated_stall_key();
    lua_pop(co, results);
    if (is_ours)
        return SOC_TURN_WAITS;
    if (is_stalled) {
        lua_resetthread(co);
        return SOC_TURN_STALLED;
    }
    soc_refuse(error, SOC_ESCRIPT, "a behaviour yielded outside any coroutine of its own", NULL,
               (struct soc_slice){0});
    return SOC_TURN_BROKEN;
}

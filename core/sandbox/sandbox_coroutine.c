/* Sandbox coroutine: coroutines that can wait for the host.
 *
 * A script's coroutine that yields the host's key is waiting: resume and wrap yield the
 * key further until the host gets it. When the host resumes, they resume the coroutine
 * with no values. Meanwhile the key stays on top of the waiting coroutine's stack,
 * which marks it: nobody else may resume or close it.
 *
 * Scripts may resume, close and yield from only threads they created. The thread of a
 * turn, which coroutine.running shows, belongs to the host.
 * Layer: sandbox. Thread: loop. */
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_parts.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include <lauxlib.h>

/* Upvalues of the library's functions. A function made by wrap has the coroutine as
 * upvalue 1 and the state as upvalue 2. */
#define STATE_UPVALUE 1
#define MADE_UPVALUE  2

/* Results of a step, besides a number of values. */
#define STEP_FAILED  (-1) /* the error is on top */
#define STEP_WAITING (-2) /* it waits for the host */

enum status { STATUS_RUNNING, STATUS_SUSPENDED, STATUS_NORMAL, STATUS_DEAD };

static const char *const status_names[] = {"running", "suspended", "normal", "dead"};

void *soc_sandbox_host_yield_key(void)
{
    static const char key;
    return (void *)(uintptr_t)&key;
}

static bool is_waiting(lua_State *co)
{
    return lua_status(co) == LUA_YIELD && lua_gettop(co) > 0 &&
           lua_touserdata(co, -1) == soc_sandbox_host_yield_key();
}

static enum status find_status(lua_State *L, lua_State *co)
{
    lua_Debug frame;
    if (L == co)
        return STATUS_RUNNING;
    switch (lua_status(co)) {
    case LUA_YIELD:
        return is_waiting(co) ? STATUS_NORMAL : STATUS_SUSPENDED;
    case LUA_OK:
        if (lua_getstack(co, 0, &frame))
            return STATUS_NORMAL;
        return lua_gettop(co) == 0 ? STATUS_DEAD : STATUS_SUSPENDED;
    default:
        return STATUS_DEAD;
    }
}

/* Returns true if a script created the thread on top of the stack; pops it. */
static bool pop_is_made(lua_State *L, int made_upvalue)
{
    lua_rawget(L, lua_upvalueindex(made_upvalue));
    bool is_made = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return is_made;
}

static lua_State *check_thread(lua_State *L, int index)
{
    lua_State *co = lua_tothread(L, index);
    luaL_argexpected(L, co != NULL, index, "coroutine");
    return co;
}

/* Returns the coroutine at 1; raises unless a script created it. */
static lua_State *check_made(lua_State *L)
{
    lua_State *co = check_thread(L, 1);
    lua_pushvalue(L, 1);
    if (!pop_is_made(L, MADE_UPVALUE))
        luaL_argerror(L, 1, "this coroutine belongs to the host");
    return co;
}

/* Gives `co` the extra space and the hook of `L`. An equal hook is left alone, because
 * setting it would reset its count. */
static void lend_context(lua_State *L, lua_State *co)
{
    memcpy(lua_getextraspace(co), lua_getextraspace(L), LUA_EXTRASPACE);
    lua_Hook hook = lua_gethook(L);
    int mask = lua_gethookmask(L);
    int count = lua_gethookcount(L);
    if ((mask & LUA_MASKCOUNT) && count > SOC_SANDBOX_HOOK_STEPS)
        count = SOC_SANDBOX_HOOK_STEPS;
    if (hook != lua_gethook(co) || mask != lua_gethookmask(co) || count != lua_gethookcount(co))
        lua_sethook(co, hook, mask, count);
}

/* Tells the budget that the thread runs now. */
static void enter(const struct soc_sandbox_state *state, lua_State *L)
{
    if (state->budget.enter != NULL && lua_checkstack(L, 4))
        state->budget.enter(L);
}

/* Runs the coroutine at index `place` until it yields or ends. Returns the number of
 * values pushed, or STEP_*. Fatal errors are rethrown. */
static int run(lua_State *L, int place, int arg_count, struct soc_sandbox_state *state)
{
    assert(lua_isthread(L, place));
    lua_State *co = lua_tothread(L, place);
    if (state->resume_depth >= SOC_SANDBOX_RESUME_DEPTH_MAX) {
        lua_pop(co, arg_count);
        lua_pushfstring(L, "coroutines are nested too deeply (at most %d)",
                        SOC_SANDBOX_RESUME_DEPTH_MAX);
        return STEP_FAILED;
    }
    lend_context(L, co);
    int count;
    enter(state, co);
    state->resume_depth++;
    int status = lua_resume(co, L, arg_count, &count);
    assert(state->resume_depth > 0);
    state->resume_depth--;
    enter(state, L);
    if (status == LUA_YIELD && count == 1 && is_waiting(co))
        return STEP_WAITING;
    if (status == LUA_OK || status == LUA_YIELD) {
        if (!lua_checkstack(L, count + 1)) {
            lua_pop(co, count);
            lua_pushliteral(L, "too many results to resume");
            return STEP_FAILED;
        }
        lua_xmove(co, L, count);
        return count;
    }
    lua_xmove(co, L, 1);
    soc_sandbox_pass_fatal(L, place, status, 0);
    return STEP_FAILED;
}

/* Closes the coroutine, as lua_resetthread does. Its `<close>` handlers may close others in
 * turn, so they are nested as resumed ones are. Not for one that the host has ended: Lua
 * calls no hook in its handlers, so nothing could end them. */
static int reset(lua_State *L, lua_State *co, struct soc_sandbox_state *state)
{
    if (state->resume_depth >= SOC_SANDBOX_RESUME_DEPTH_MAX)
        luaL_error(L, "coroutines are nested too deeply (at most %d)",
                   SOC_SANDBOX_RESUME_DEPTH_MAX);
    lend_context(L, co);
    enter(state, co);
    state->resume_depth++;
    int status = lua_resetthread(co);
    assert(state->resume_depth > 0);
    state->resume_depth--;
    enter(state, L);
    return status;
}

/* Passes the `arg_count` values on top to the coroutine and runs it. */
static int step(lua_State *L, int place, int arg_count, struct soc_sandbox_state *state)
{
    lua_State *co = lua_tothread(L, place);
    enum status status = find_status(L, co);
    if (status != STATUS_SUSPENDED) {
        lua_pushfstring(L, "cannot resume %s coroutine",
                        status == STATUS_DEAD ? "dead" : "non-suspended");
        return STEP_FAILED;
    }
    if (!lua_checkstack(co, arg_count)) {
        lua_pushliteral(L, "too many arguments to resume");
        return STEP_FAILED;
    }
    lua_xmove(L, co, arg_count);
    return run(L, place, arg_count, state);
}

/* Passes a coroutine's wait on to whoever resumed this thread, towards the host. */
static int wait_outward(lua_State *L, lua_KFunction go_on)
{
    if (!lua_isyieldable(L)) {
        lua_pushliteral(L, "a coroutine cannot wait for the host inside a function called by "
                           "sort, gsub, load or a metamethod");
        return soc_sandbox_raise_fatal(L);
    }
    lua_pushlightuserdata(L, soc_sandbox_host_yield_key());
    return lua_yieldk(L, 1, 0, go_on);
}

/* Resumes a coroutine whose wait has ended. */
static int run_again(lua_State *L, int place, struct soc_sandbox_state *state)
{
    assert(is_waiting(lua_tothread(L, place)));
    lua_pop(lua_tothread(L, place), 1); /* the key */
    return run(L, place, 0, state);
}

static int push_resume_results(lua_State *L, int result)
{
    lua_pushboolean(L, result >= 0);
    int count = result >= 0 ? result : 1;
    lua_insert(L, -(count + 1));
    return count + 1;
}

/* The coroutine stays at 1 while it waits. */
static int go_on_resume(lua_State *L, int status, lua_KContext context)
{
    (void)status;
    (void)context;
    lua_settop(L, 1);
    int result = run_again(L, 1, lua_touserdata(L, lua_upvalueindex(STATE_UPVALUE)));
    if (result == STEP_WAITING)
        return wait_outward(L, go_on_resume);
    return push_resume_results(L, result);
}

/* coroutine.resume(co, ...) -> true, ... | false, error */
static int sandbox_resume(lua_State *L)
{
    check_made(L);
    struct soc_sandbox_state *state = lua_touserdata(L, lua_upvalueindex(STATE_UPVALUE));
    int result = step(L, 1, lua_gettop(L) - 1, state);
    if (result == STEP_WAITING)
        return wait_outward(L, go_on_resume);
    return push_resume_results(L, result);
}

/* Returns a wrapped coroutine's values, or closes it and raises its error with the
 * position of the call, as Lua does. */
static int push_wrap_results(lua_State *L, int result)
{
    if (result >= 0)
        return result;
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    bool is_failed = lua_status(co) != LUA_OK && lua_status(co) != LUA_YIELD;
    if (is_failed && !soc_sandbox_is_doomed(L, lua_upvalueindex(1))) {
        int status = reset(L, co, lua_touserdata(L, lua_upvalueindex(2)));
        lua_xmove(co, L, 1);
        soc_sandbox_pass_fatal(L, lua_upvalueindex(1), status, 0);
    }
    if (lua_type(L, -1) == LUA_TSTRING) {
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

static int go_on_wrap(lua_State *L, int status, lua_KContext context)
{
    (void)status;
    (void)context;
    lua_settop(L, 0);
    int result = run_again(L, lua_upvalueindex(1), lua_touserdata(L, lua_upvalueindex(2)));
    if (result == STEP_WAITING)
        return wait_outward(L, go_on_wrap);
    return push_wrap_results(L, result);
}

static int call_wrapped_coroutine(lua_State *L)
{
    int result =
        step(L, lua_upvalueindex(1), lua_gettop(L), lua_touserdata(L, lua_upvalueindex(2)));
    if (result == STEP_WAITING)
        return wait_outward(L, go_on_wrap);
    return push_wrap_results(L, result);
}

/* coroutine.create(f) -> coroutine */
static int sandbox_create(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *co = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    lua_pushvalue(L, -1);
    lua_pushboolean(L, 1);
    lua_rawset(L, lua_upvalueindex(MADE_UPVALUE));
    return 1;
}

/* coroutine.wrap(f) -> function that resumes it */
static int sandbox_wrap(lua_State *L)
{
    sandbox_create(L);
    lua_pushvalue(L, lua_upvalueindex(STATE_UPVALUE));
    lua_pushcclosure(L, call_wrapped_coroutine, 2);
    return 1;
}

/* coroutine.yield(...) -> what resume is given next */
static int sandbox_yield(lua_State *L)
{
    lua_pushthread(L);
    if (!pop_is_made(L, MADE_UPVALUE))
        return luaL_error(L, "attempt to yield from outside a coroutine");
    return lua_yield(L, lua_gettop(L));
}

/* coroutine.isyieldable([co]) -> boolean */
static int sandbox_isyieldable(lua_State *L)
{
    lua_State *co = L;
    if (lua_isnone(L, 1)) {
        lua_pushthread(L);
    } else {
        co = check_thread(L, 1);
        lua_pushvalue(L, 1);
    }
    lua_pushboolean(L, pop_is_made(L, MADE_UPVALUE) && lua_isyieldable(co));
    return 1;
}

/* coroutine.running() -> thread, true if it is the host's */
static int sandbox_running(lua_State *L)
{
    lua_pushthread(L);
    lua_pushvalue(L, -1);
    lua_pushboolean(L, !pop_is_made(L, MADE_UPVALUE));
    return 2;
}

/* coroutine.status(co) -> text */
static int sandbox_status(lua_State *L)
{
    lua_pushstring(L, status_names[find_status(L, check_thread(L, 1))]);
    return 1;
}

/* coroutine.close(co) -> true | false, error
 *
 * An error that had ended the coroutine before is only returned: it may belong to another
 * turn. */
static int sandbox_close(lua_State *L)
{
    lua_State *co = check_made(L);
    struct soc_sandbox_state *state = lua_touserdata(L, lua_upvalueindex(STATE_UPVALUE));
    enum status status = find_status(L, co);
    if (status != STATUS_DEAD && status != STATUS_SUSPENDED)
        return luaL_error(L, "cannot close a %s coroutine", status_names[status]);
    uint64_t fatal_count = state->fatal_count;
    bool is_failed = lua_status(co) != LUA_OK && lua_status(co) != LUA_YIELD;
    if (is_failed && soc_sandbox_is_doomed(L, 1)) {
        lua_pushboolean(L, 0);
        lua_pushliteral(L, "the host ended the coroutine");
        return 2;
    }
    int result = reset(L, co, state);
    if (result == LUA_OK) {
        lua_pushboolean(L, 1);
        return 1;
    }
    lua_pushboolean(L, 0);
    lua_xmove(co, L, 1);
    soc_sandbox_pass_fatal(L, 1, is_failed ? LUA_ERRRUN : result, fatal_count);
    return 2;
}

void soc_sandbox_open_coroutine(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"create", sandbox_create},
        {"resume", sandbox_resume},
        {"wrap", sandbox_wrap},
        {"yield", sandbox_yield},
        {"isyieldable", sandbox_isyieldable},
        {"running", sandbox_running},
        {"status", sandbox_status},
        {"close", sandbox_close},
        {NULL, NULL},
    };
    soc_sandbox_push_state(L);
    soc_sandbox_push_state_value(L, SOC_SANDBOX_MADE);
    luaL_setfuncs(L, functions, 2);
}

#include "script/turns/isolated.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "lualib/lua_json.h"
#include "sandbox/sandbox.h"
#include "script/turns/behaviour.h"
#include "script/turns/budget.h"
#include "script/turns/effect.h"
#include "script/turns/handout.h"
#include "script/turns/message.h"
#include "script/turns/question.h"
#include "script/turns/seat.h"
#include "script/turns/thread.h"

/* Its address is what a turn yields that stalls. */
static const char stall_key;

void *soc_isolated_stall_key(void)
{
    return (void *)&stall_key;
}

bool soc_isolated_wants(const struct soc_script *script, const struct soc_activation *activation)
{
    const struct soc_agent *agent = activation->agent;
    const char *name;
    if (!script->leaves_isolated || activation->message == NULL)
        return false;
    if (!soc_registry_isolates(script->host, agent))
        return false;
    name = soc_behaviour_name(script, agent->role);
    return name == NULL || strcmp(name, "llm") != 0; /* which is the host's own */
}

static struct soc_script *script_of(lua_State *co)
{
    return *(struct soc_script **)lua_getextraspace(co);
}

static struct soc_thread *thread_of(const struct soc_script *script)
{
    return soc_gate_activation(script->host)->script;
}

static int stall(lua_State *co)
{
    lua_pushlightuserdata(co, soc_isolated_stall_key());
    return lua_yield(co, 1);
}

/* Ends the turn with an error object that no script can catch. */
static int break_off(lua_State *co, struct soc_script *script, const char *error,
                     const char *message)
{
    soc_refuse_named(&script->fatal, error, message);
    script->is_broken = true;
    lua_pushlstring(co, script->fatal.data, script->fatal.length);
    return soc_sandbox_raise_fatal(co);
}

/* Decodes and pushes a value; null becomes nil. */
static void push_json(lua_State *co, struct soc_slice json)
{
    struct soc_detail detail;
    if (soc_slice_equal(json, SOC_SLICE("null")))
        lua_pushnil(co);
    else if (soc_lua_json_decode(co, json, &detail) < 0)
        luaL_error(co, "%s", detail.text);
}

/* The text of the message at 1. A lua_CFunction. */
static int message_text(lua_State *co)
{
    luaL_checktype(co, 1, LUA_TTABLE);
    lua_settop(co, 1);
    soc_message_mark(co, script_of(co));
    lua_getfield(co, 1, "text");
    return 1;
}

static int find_module(lua_State *co)
{
    return soc_handout_find(co, script_of(co));
}

static int agent_status(lua_State *co)
{
    lua_getfield(co, 1, "status");
    return 1;
}

/* Pushes the function `name` of the table; nil: it has none, or it changes the society. */
static void push_function(lua_State *co, int ref, struct soc_slice name)
{
    lua_rawgeti(co, LUA_REGISTRYINDEX, ref);
    lua_pushlstring(co, name.data, name.length);
    lua_rawget(co, -2);
    lua_remove(co, -2);
    if (!lua_iscfunction(co, -1)) {
        lua_pop(co, 1);
        lua_pushnil(co);
    }
}

/* Pushes a function of the sandbox that is an effect. */
static void push_global(lua_State *co, const struct soc_script *script, const char *library,
                        const char *name)
{
    lua_rawgeti(co, LUA_REGISTRYINDEX, script->env_ref);
    if (library != NULL) {
        lua_getfield(co, -1, library);
        lua_remove(co, -2);
    }
    lua_getfield(co, -1, name);
    lua_remove(co, -2);
}

/* Pushes the values of a list as arguments; false if it is none, or too long. */
static bool push_arguments(lua_State *co, struct soc_slice list)
{
    struct soc_json_walk walk;
    int count = 0;
    if (list.data == NULL || soc_json_kind(list) != SOC_JSON_ARRAY)
        return false;
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk)) {
        if (++count > 200 || !lua_checkstack(co, 16))
            return false;
        push_json(co, walk.value);
    }
    return true;
}

static bool is_change(struct soc_slice name)
{
    static const char *const changes[] = {"role", "root", "main", "policy", "config", "new"};
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        if (soc_slice_equal(name, soc_slice_text(changes[i])))
            return true;
    return false;
}

/* Pushes a method with the handle, or a function of society, and its arguments. */
static bool push_named(lua_State *co, const struct soc_script *script,
                       const struct soc_question *question)
{
    struct soc_slice name = question->first.data == NULL ? (struct soc_slice){0}
                                                         : soc_json_plain_string(question->first);
    bool is_method = question->want == SOC_WANT_AGENT;
    if (name.data == NULL || (!is_method && is_change(name)))
        return false;
    push_function(co, is_method ? script->methods_ref : script->module_ref, name);
    if (lua_isnil(co, -1))
        return false;
    if (is_method)
        lua_pushvalue(co, 1);
    return push_arguments(co, question->second);
}

/* Pushes what is asked for as a function with its arguments; false: nobody can ask that. */
static bool push_call(lua_State *co, const struct soc_script *script,
                      const struct soc_question *question)
{
    switch (question->want) {
    case SOC_WANT_AGENT:
    case SOC_WANT_SOCIETY:
        return push_named(co, script, question);
    case SOC_WANT_PRINT:
        push_global(co, script, NULL, "print");
        return push_arguments(co, question->first);
    case SOC_WANT_TIME:
        push_global(co, script, "os", "time");
        return true;
    case SOC_WANT_CLOCK:
        push_global(co, script, "os", "clock");
        return true;
    case SOC_WANT_RANDOM:
        push_global(co, script, "math", "random");
        return push_arguments(co, question->first);
    case SOC_WANT_STATUS:
        lua_pushcfunction(co, agent_status);
        lua_pushvalue(co, 1);
        return true;
    case SOC_WANT_TEXT:
    case SOC_WANT_REQUIRE:
        lua_pushcfunction(co, question->want == SOC_WANT_TEXT ? message_text : find_module);
        if (question->first.data == NULL)
            return false;
        push_json(co, question->first);
        return true;
    default:
        return false;
    }
}

/* The effects that only look. An isolated agent whose turn is done again is told the same. */
static bool is_look(int kind)
{
    return kind == SOC_EFFECT_NOW || kind == SOC_EFFECT_RANDOM || kind == SOC_EFFECT_CONTACTS ||
           kind == SOC_EFFECT_CONTACT || kind == SOC_EFFECT_KNOWS || kind == SOC_EFFECT_CAN_SEND ||
           kind == SOC_EFFECT_LOAD || kind == SOC_EFFECT_LOOK || kind == SOC_EFFECT_USAGE;
}

/* Lends the answer of the effect that was just made, if that only looks. */
static struct soc_slice look_of(const struct soc_activation *activation)
{
    if (activation->cursor == 0 || activation->cursor != activation->effects_count)
        return (struct soc_slice){0};
    uint32_t last = activation->cursor - 1;
    if (!is_look(activation->effects[last].kind))
        return (struct soc_slice){0};
    return soc_activation_answer_of(activation, last);
}

/* Prepares a call that was made before in this turn, so that it has the same outcome. */
static void repeat(struct soc_script *script, const struct soc_seat *seat,
                   const struct soc_question *question)
{
    struct soc_slice told = soc_seat_told(seat);
    struct soc_json_walk walk;
    script->given = soc_seat_given(seat);
    script->given_id = (struct soc_slice){0};
    if (told.data == NULL || question->want != SOC_WANT_AGENT ||
        !soc_slice_equal(question->first, SOC_SLICE("\"spawn_agent\"")))
        return;
    soc_json_walk(&walk, told);
    if (soc_json_next(&walk) && soc_json_next(&walk)) {
        soc_json_walk(&walk, walk.value);
        if (soc_json_next(&walk)) {
            struct soc_slice id = soc_json_member(walk.value, "id");
            script->given_id = id.data == NULL ? (struct soc_slice){0} : soc_json_plain_string(id);
        }
    }
}

static bool is_marked(lua_State *co, const struct soc_script *script, int index)
{
    if (lua_type(co, index) != LUA_TTABLE || !lua_getmetatable(co, index))
        return false;
    lua_rawgeti(co, LUA_REGISTRYINDEX, script->message_meta_ref);
    bool is = lua_rawequal(co, -1, -2);
    lua_pop(co, 2);
    return is;
}

/* Writes the results from index 2 on, or the error on top. False: they are too large. */
static bool put_answer(lua_State *co, const struct soc_script *script, bool is_error,
                       struct soc_buf *out)
{
    struct soc_detail detail;
    int top = lua_gettop(co);
    int first = is_error ? top : 2;
    bool is_message = !is_error && top >= 2 && is_marked(co, script, 2);
    soc_buf_put_text(out, is_error ? "[\"raise\"," : "[\"ok\",[");
    for (int i = first; i <= top; i++) {
        size_t length = out->length;
        int rc = SOC_EJSON;
        if (i > first)
            soc_buf_put_byte(out, ',');
        if (!lua_isnil(co, i))
            rc = soc_lua_json_encode(co, i, "value", SOC_WORKER_ANSWER_BYTES_MAX, out, &detail);
        if (rc == SOC_ETOOLARGE || out->length > SOC_WORKER_ANSWER_BYTES_MAX)
            return false;
        if (rc == SOC_OK)
            continue;
        out->length = length + (i > first);
        soc_buf_put_text(out, is_error ? "\"(an error that is not JSON)\"" : "null");
    }
    soc_buf_put_text(out, is_error ? "]" : is_message ? "],1]" : "]]");
    return true;
}

/* The call is over. True: the turn goes on; false: it must stall. */
static bool finish_call(lua_State *co, struct soc_script *script, int status)
{
    struct soc_seat *seat = thread_of(script)->seat;
    struct soc_activation *activation = soc_gate_activation(script->host);
    bool is_error = status != LUA_OK && status != LUA_YIELD;
    script->given = script->given_id = (struct soc_slice){0};
    if (script->is_broken) {
        lua_pushliteral(co, "{}");
        soc_sandbox_raise_fatal(co);
    }
    struct soc_buf *answer = &script->handed;
    answer->length = 0;
    if (!put_answer(co, script, is_error, answer)) {
        answer->length = 0;
        soc_buf_put_text(answer, "[\"raise\",\"the answer is too large for an isolated agent\"]");
    }
    bool is_true = soc_seat_tell(seat, soc_buf_slice(answer), look_of(activation));
    if (answer->capacity > SOC_TEXT_BYTES_MAX)
        soc_buf_fini(answer);
    /* What is committed is never done again: a turn ends with each wait. */
    if (is_true && activation->cursor <= activation->effects_kept)
        soc_seat_renew(seat);
    return is_true;
}

static int refuse_nonsense(lua_State *co, struct soc_script *script)
{
    return break_off(co, script, "worker_died", "the worker process spoke nonsense");
}

/* Tells whether it can be the state of an agent, or (null) no new one. */
static bool is_state(struct soc_slice value)
{
    if (value.data == NULL)
        return false;
    enum soc_json_kind kind = soc_json_kind(value);
    return kind == SOC_JSON_NULL || kind == SOC_JSON_OBJECT || kind == SOC_JSON_ARRAY;
}

/* The behaviour returned: leaves its result as that of this function. */
static int finish_activation(lua_State *co, struct soc_script *script,
                             const struct soc_question *question)
{
    lua_settop(co, 1);
    if (!is_state(question->second))
        return refuse_nonsense(co, script);
    if (soc_json_kind(question->second) != SOC_JSON_NULL) {
        push_json(co, question->second);
        lua_setfield(co, 1, "state");
    }
    push_json(co, question->first);
    return 1;
}

/* The limit is the host's, whatever the worker says. */
static int end_over(lua_State *co, struct soc_script *script, const struct soc_question *question)
{
    if (soc_slice_equal(question->first, SOC_SLICE("\"text_bytes\"")))
        return soc_effect_break_budget(co, script, "text_bytes", SOC_SCRIPT_TEXT_BYTES_MAX, 0);
    if (soc_slice_equal(question->first, SOC_SLICE("\"memory\"")))
        return soc_effect_break_budget(co, script, "memory", script->memory_bytes_max, 0);
    return refuse_nonsense(co, script);
}

static int raise_error(lua_State *co, struct soc_script *script,
                       const struct soc_question *question)
{
    if (question->second.data != NULL)
        soc_json_string(question->second, &script->traceback);
    lua_settop(co, 1);
    if (question->first.data == NULL)
        lua_pushliteral(co, "an error that is not JSON");
    else
        push_json(co, question->first);
    return lua_error(co);
}

/* Acts on the last thing that a worker says in an activation. */
static int end_activation(lua_State *co, struct soc_script *script,
                          const struct soc_question *question)
{
    switch (question->want) {
    case SOC_WANT_DONE:
        return finish_activation(co, script, question);
    case SOC_WANT_UNHANDLED:
        soc_behaviour_skip(script, soc_gate_activation(script->host));
        lua_pushnil(co);
        return 1;
    case SOC_WANT_ERROR:
        return raise_error(co, script, question);
    case SOC_WANT_OVER:
        return end_over(co, script, question);
    default:
        return refuse_nonsense(co, script);
    }
}

/* Ends the turn, for a worker that asks nothing. */
static int end_turn(lua_State *co, struct soc_script *script, enum soc_seat_state state)
{
    switch (state) {
    case SOC_SEAT_OVER:
        return soc_effect_break_budget(co, script, "cpu_ms", script->cpu_ms_max,
                                       soc_seat_used_ms(thread_of(script)->seat));
    case SOC_SEAT_LABOUR:
        return soc_effect_break_budget(co, script, "host_ms", SOC_HOST_SHARE_MS, 0);
    case SOC_SEAT_FULL:
        return soc_effect_break_budget(co, script, "memory", script->memory_bytes_max, 0);
    case SOC_SEAT_STRAYED:
        return break_off(co, script, "nondeterministic",
                         "the script did something else when it was run again");
    case SOC_SEAT_NONE:
        return break_off(co, script, "no_worker", "the system gives no worker process");
    case SOC_SEAT_DEAD:
        return break_off(co, script, "worker_died", "the worker process ended without an answer");
    default:
        return stall(co);
    }
}

/* What serve() is called with first. */
#define SERVE_BEGIN (-1)

/* Serves the worker until it needs no more, or the turn must stall. It is its own continuation,
 * with the status of a call that had to wait. */
static int serve(lua_State *co, int status, lua_KContext context)
{
    struct soc_script *script = (struct soc_script *)context;
    struct soc_seat *seat = thread_of(script)->seat;
    struct soc_question question;
    struct soc_slice asked;
    for (;;) {
        if (status != SERVE_BEGIN && !finish_call(co, script, status))
            return stall(co);
        lua_settop(co, 1);
        soc_budget_charge(co, script, 0);
        enum soc_seat_state state = soc_seat_hear(seat, &asked);
        if (state != SOC_SEAT_ASKED)
            return end_turn(co, script, state);
        if (!soc_question_read(asked, &question) || question.want >= SOC_WANT_DONE)
            return end_activation(co, script, &question);
        if (!push_call(co, script, &question))
            return refuse_nonsense(co, script);
        repeat(script, seat, &question);
        status = lua_pcallk(co, lua_gettop(co) - 2, LUA_MULTRET, 0, context, serve);
    }
}

static struct soc_seat *take_seat(struct soc_script *script)
{
    const struct soc_activation *activation = soc_gate_activation(script->host);
    struct soc_buf open = {0};
    struct soc_buf run = {0};
    soc_handout_put_open(script, activation, &open);
    soc_handout_put_run(activation, &run);
    struct soc_seat *seat = soc_seat_take(script, soc_gate_activation(script->host),
                                          soc_buf_slice(&open), soc_buf_slice(&run));
    soc_buf_fini(&open);
    soc_buf_fini(&run);
    return seat;
}

int soc_isolated_run(lua_State *co)
{
    struct soc_script *script = script_of(co);
    struct soc_thread *thread = thread_of(script);
    if (script->workers == NULL)
        return break_off(co, script, "no_worker",
                         "this program has no worker processes, which isolated agents need");
    if (thread->seat == NULL)
        thread->seat = take_seat(script);
    soc_seat_rewind(thread->seat);
    enum soc_seat_state state = soc_seat_peek(thread->seat);
    return state == SOC_SEAT_ASKED ? serve(co, SERVE_BEGIN, (lua_KContext)script)
                                   : end_turn(co, script, state);
}

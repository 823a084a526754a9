/* Orders: functions of society.* that act for the person.
 *
 * They work as methods of society.new and, but for pause and resume, in `main`, which plays
 * the person, as effects of its turn. Elsewhere in an app they raise and name the alternative: a
 * turn acts only as its own agent, and while a script loads there is nothing to change
 * yet. */
#include <assert.h>

#include "base/hash.h"
#include "base/limits.h"
#include "env/ids.h"
#include "kernel/mail/dead.h"
#include "kernel/refusal.h"
#include "kernel/turns/batch.h"
#include "parts/human/human.h"
#include "script/bindings/bind.h"
#include "script/bindings/bind_endings.h"
#include "script/bindings/bind_human.h"
#include "script/bindings/bind_mail.h"
#include "script/turns/effect.h"
#include "script/turns/payload.h"

/* Lends the script if the society runs and no turn is open. Otherwise raises and names
 * what to use `instead`. */
static struct soc_script *enter_from_outside(lua_State *L, const char *name, const char *instead)
{
    struct soc_script *script = soc_bind_enter(L);
    bool in_turn = soc_gate_activation(script->host) != NULL;
    if (in_turn || !script->is_started)
        luaL_error(L,
                   "society.%s changes a running society from outside and does not work %s; use "
                   "%s, or s:%s in a spec",
                   name, in_turn ? "inside a turn" : "while its script loads", instead, name);
    return script;
}

/* Lends the script if `main` runs, or NULL. */
static struct soc_script *enter_main(lua_State *L)
{
    struct soc_script *script = soc_bind_enter(L);
    const struct soc_activation *activation = soc_gate_activation(script->host);
    return activation != NULL && activation->message == NULL ? script : NULL;
}

static int dispatch_in_main(lua_State *L, struct soc_script *script)
{
    static const char *const known[] = {"timeout_ms", NULL};
    struct soc_frame *frame = soc_frame_open(script);
    size_t length = 0;
    int64_t timeout_ms = -1;
    lua_settop(L, 3);
    soc_effect_check_wait(L);
    const char *to = luaL_optlstring(L, 1, NULL, &length);
    if (!lua_isnil(L, 3)) {
        luaL_checktype(L, 3, LUA_TTABLE);
        soc_option_check_names(L, 3, "dispatch", known);
        timeout_ms = soc_option_timeout(L, 3, "dispatch", timeout_ms);
    }
    int rc = soc_payload_encode(L, script, 2, &frame->payload, NULL, &frame->error);
    struct soc_send send = {.payload = soc_buf_slice(&frame->payload)};
    uint64_t hash = soc_hash(to, length, soc_hash(send.payload.data, send.payload.length, 0));
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_REQUEST, hash, &count) == SOC_GATE_RECORDED)
        return count;
    if (to != NULL)
        send.to = soc_slice(to, length);
    else if (rc == SOC_OK)
        soc_human_address(script->host, &send);
    if (rc == SOC_OK)
        rc = soc_bind_mail_request(frame, &send, timeout_ms);
    return rc < 0 ? soc_effect_finish(L, frame, rc) : soc_effect_yield(L);
}

/* society.dispatch(id, payload, { timeout_ms? }?): a request from the user that waits for the
 * reply; without an id the gatekeeper chooses the receiver. Outside of `main` only s:dispatch
 * (world_mail.c) can do that, because it drives the society. */
static int society_dispatch(lua_State *L)
{
    const char *instead = "agent:request in a turn, the command `society send --wait`";
    struct soc_script *script = enter_main(L);
    if (script != NULL)
        return dispatch_in_main(L, script);
    enter_from_outside(L, "dispatch", instead);
    return luaL_error(L, "society.dispatch cannot drive this society; call it as s:dispatch");
}

/* Outside a turn only a simulated society can be changed, and its journal has no thread,
 * so this is called before soc_dead_do returns. */
static void take_answer(void *user, int rc, struct soc_slice answer)
{
    struct soc_frame *frame = user;
    (void)rc;
    frame->answer.length = 0;
    soc_buf_put_slice(&frame->answer, answer);
}

static bool is_empty(lua_State *L, int index)
{
    lua_pushnil(L);
    if (lua_next(L, index) == 0)
        return true;
    lua_pop(L, 2);
    return false;
}

static int64_t read_expected(lua_State *L, const char *name)
{
    static const char *const known[] = {"expected", NULL};
    if (lua_isnoneornil(L, 2))
        return -1;
    if (!lua_istable(L, 2))
        luaL_error(L, "society.%s: a table of options expected", name);
    soc_option_check_names(L, 2, name, known);
    int64_t expected = soc_option_integer(L, 2, name, "expected", INT64_MAX);
    if (expected < 0)
        luaL_error(L, "society.%s: option 'expected': 0 or more expected", name);
    return expected == INT64_MAX ? -1 : expected;
}

static struct soc_dead_order read_order(lua_State *L, const char *name, bool is_drop)
{
    struct soc_dead_order order = {.is_drop = is_drop, .expected = -1};
    lua_settop(L, 2);
    if (lua_istable(L, 1)) {
        order.expected = read_expected(L, name);
        soc_bind_society_query(L, "dead_letters", &order.filter);
        if (order.filter.limit != 0)
            luaL_error(L, "society.%s: filter 'limit' does not apply", name);
        if (order.expected < 0 && is_empty(L, 1))
            luaL_error(L,
                       "society.%s: an empty filter means all dead letters; it needs { expected = "
                       "their number }",
                       name);
    } else {
        order.id = soc_bind_check_text(L, name, "a message's id or a table of filters");
    }
    return order;
}

/* The order is an effect of `main`, which waits for its end. */
static int change_dead_in_main(lua_State *L, struct soc_script *script, const char *name,
                               bool is_drop)
{
    int count;
    soc_effect_check_wait(L);
    struct soc_dead_order order = read_order(L, name, is_drop);
    lua_settop(L, lua_isnil(L, 2) ? 1 : 2); /* the arguments lend the order its texts */
    uint64_t hash = soc_effect_hash_arguments(L, soc_frame_open(script), 1);
    enum soc_effect_kind kind = is_drop ? SOC_EFFECT_DROP : SOC_EFFECT_REDELIVER;
    if (soc_effect_begin(L, script, kind, hash, &count) == SOC_GATE_RECORDED)
        return count;
    soc_dead_ask(script->host, &order);
    return soc_effect_yield(L);
}

static int change_dead(lua_State *L, const char *name, const char *instead, bool is_drop)
{
    struct soc_script *script = enter_main(L);
    if (script != NULL)
        return change_dead_in_main(L, script, name, is_drop);
    script = enter_from_outside(L, name, instead);
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_dead_order order = read_order(L, name, is_drop);
    soc_dead_do(script->host, &order, take_answer, frame);
    soc_batch_seal(script->host);
    struct soc_slice answer = soc_buf_slice(&frame->answer);
    assert(answer.length > 0);
    if (answer.data[0] == '[' && order.id.data != NULL) {
        lua_pushboolean(L, 1);
        return 1;
    }
    return soc_effect_push_answer(L, answer);
}

/* society.redeliver · society.drop (message_id) -> true; (filter, { expected }?) ->
 * { count, skipped? } */
static int society_redeliver(lua_State *L)
{
    return change_dead(L, "redeliver", "the command `society redeliver`", false);
}

static int society_drop(lua_State *L)
{
    return change_dead(L, "drop", "the command `society drop`", true);
}

/* society.decide(item_id, { decision?, choice?, changes?, comment? }) -> what came of it */
static int society_decide(lua_State *L)
{
    struct soc_script *script = enter_main(L);
    if (script != NULL)
        return soc_bind_human_decide(L, script, 1);
    script = enter_from_outside(L, "decide", "the command `society decide`");
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_verdict verdict;
    soc_bind_human_read(L, frame, 1, &verdict);
    soc_human_decide_now(script->host, &verdict, &frame->answer);
    soc_batch_seal(script->host);
    return soc_effect_push_answer(L, soc_buf_slice(&frame->answer));
}

static int hold(lua_State *L, const char *name, const char *instead, bool is_resume)
{
    struct soc_script *script = enter_from_outside(L, name, instead);
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_hold_order order = {.is_resume = is_resume};
    order.id = soc_bind_check_text(L, name, "an agent's id");
    lua_settop(L, 2);
    soc_bind_endings_read(L, 2, name, &order);
    soc_hold_order_now(script->host, &order, &frame->answer);
    soc_batch_seal(script->host);
    return soc_effect_push_answer(L, soc_buf_slice(&frame->answer));
}

/* society.pause(id, { reason?, subtree? }?), society.resume -> { count, id, status? } */
static int society_pause(lua_State *L)
{
    return hold(L, "pause", "agent:pause in a turn", false);
}

static int society_resume(lua_State *L)
{
    return hold(L, "resume", "agent:resume in a turn", true);
}

static const luaL_Reg order_functions[] = {
    {"decide", society_decide},
    {"dispatch", society_dispatch},
    {"drop", society_drop},
    {"pause", society_pause},
    {"redeliver", society_redeliver},
    {"resume", society_resume},
    {NULL, NULL},
};

void soc_bind_orders(lua_State *L, struct soc_script *script)
{
    soc_bind_functions(L, script, order_functions);
}

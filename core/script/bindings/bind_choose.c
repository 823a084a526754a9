/* Choose: agent:choose asks the policy `context` which parts of a conversation go to a
 * model. */
#include <assert.h>

#include "base/limits.h"
#include "lualib/lua_json.h"
#include "script/answers/answers.h"
#include "script/bindings/bind.h"
#include "script/calls/chat.h"
#include "script/policies/policy_set.h"
#include "script/turns/effect.h"
#include "script/turns/handle.h"

/* Pushes the question: { units, tokens_max, agent }. */
static void push_question(lua_State *L, struct soc_frame *frame)
{
    struct soc_script *script = frame->script;
    struct soc_detail detail;
    assert(frame->payload.length > 0);
    lua_createtable(L, 0, 3);
    if (soc_lua_json_decode(L, soc_buf_slice(&frame->payload), &detail) < 0)
        luaL_error(L, "choose: %s", detail.text);
    lua_setfield(L, -2, "units");
    lua_pushvalue(L, 3);
    lua_setfield(L, -2, "tokens_max");
    soc_answer_push_person(L, soc_gate_activation(script->host)->agent);
    lua_setfield(L, -2, "agent");
}

/* Writes the list at `index` to frame->answer. Returns false unless it holds ascending
 * numbers of units and ends with the last one. */
static bool read_kept(lua_State *L, struct soc_frame *frame, int index, lua_Integer count)
{
    lua_Integer last = 0;
    assert(lua_istable(L, index));
    frame->answer.length = 0;
    soc_buf_put_text(&frame->answer, "[[");
    for (lua_Integer i = 1; lua_rawgeti(L, index, i) != LUA_TNIL; i++) {
        int is_integer;
        lua_Integer number = lua_tointegerx(L, -1, &is_integer);
        lua_pop(L, 1);
        if (!is_integer || number <= last || number > count)
            return false;
        soc_buf_printf(&frame->answer, "%s%lld", last == 0 ? "" : ",", (long long)number);
        last = number;
    }
    lua_pop(L, 1);
    soc_buf_put_text(&frame->answer, "]]");
    return last == count;
}

/* Chooses all units, if no policy answers. */
static void put_all(struct soc_frame *frame, lua_Integer count)
{
    frame->answer.length = 0;
    soc_buf_put_text(&frame->answer, "[[");
    for (lua_Integer i = 1; i <= count; i++)
        soc_buf_printf(&frame->answer, "%s%lld", i == 1 ? "" : ",", (long long)i);
    soc_buf_put_text(&frame->answer, "]]");
}

static void ask_policy(lua_State *L, struct soc_frame *frame, lua_Integer count)
{
    struct soc_script *script = frame->script;
    int top = lua_gettop(L);
    luaL_checkstack(L, 12, NULL);
    push_question(L, frame);
    bool is_good = soc_policy_set_ask(L, script, SOC_ASK_KEEP, 1) &&
                   read_kept(L, frame, lua_gettop(L) - 1, count);
    if (!is_good) {
        lua_settop(L, top);
        soc_policy_set_complain(script, SOC_ASK_KEEP,
                                "it must name units in order, the last one among them");
        push_question(L, frame);
        is_good = soc_policy_set_ask_fallback(L, script, SOC_ASK_KEEP, 1) &&
                  read_kept(L, frame, lua_gettop(L) - 1, count);
    }
    if (!is_good)
        put_all(frame, count);
    lua_settop(L, top);
}

static void check_units(lua_State *L)
{
    static const char *const fields[] = {"first", "last", "tokens"};
    luaL_checktype(L, 2, LUA_TTABLE);
    for (lua_Integer i = 1; lua_rawgeti(L, 2, i) != LUA_TNIL; i++) {
        bool is_unit = lua_istable(L, -1);
        for (int k = 0; is_unit && k < 3; k++) {
            is_unit = soc_option_field(L, 4, fields[k]) == LUA_TNUMBER && lua_isinteger(L, -1);
            lua_pop(L, 1);
        }
        if (!is_unit)
            luaL_error(L, "choose: a unit is { first, last, tokens, role }");
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* agent:choose(units, tokens_max) -> numbers of those that go to the model */
static int agent_choose(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_detail detail;
    lua_settop(L, 3);
    lua_Integer tokens_max = luaL_checkinteger(L, 3);
    luaL_argcheck(L, tokens_max > 0, 3, "a number of tokens above 0 expected");
    check_units(L);
    lua_Integer units = (lua_Integer)lua_rawlen(L, 2);
    luaL_argcheck(L, units > 0, 2, "a list of units expected");
    uint64_t hash = soc_effect_hash_arguments(L, frame, 2);
    if (soc_lua_json_encode(L, 2, "units", SOC_JSON_BYTES_MAX, &frame->payload, &detail) < 0)
        return luaL_error(L, "choose: %s", detail.text);
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_CHOOSE, hash, &count) == SOC_GATE_RECORDED)
        return count;
    ask_policy(L, frame, units);
    return soc_effect_finish(L, frame, SOC_OK);
}

static const luaL_Reg choose_functions[] = {
    {"choose", agent_choose},
    {NULL, NULL},
};

void soc_bind_choose(lua_State *L, struct soc_script *script)
{
    soc_bind_methods(L, script, choose_functions);
}

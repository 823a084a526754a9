/* Delivery: asks the policy `delivery` what to do about messages without an ack. */
#include <assert.h>

#include "script/answers/answers.h"
#include "script/policies/policy_set.h"

static void set_text(lua_State *L, const char *name, struct soc_slice text)
{
    lua_pushlstring(L, text.data, text.length);
    lua_setfield(L, -2, name);
}

static void push_request(lua_State *L, const struct soc_message *message, uint32_t step)
{
    assert(message->to != NULL);
    lua_createtable(L, 0, 6);
    soc_answer_push_person(L, message->to);
    lua_setfield(L, -2, "agent");
    set_text(L, "type", soc_symbol_slice(message->type));
    set_text(L, "priority", soc_slice_text(soc_priority_name(message->priority)));
    lua_pushinteger(L, message->attempt);
    lua_setfield(L, -2, "attempt");
    lua_pushinteger(L, step);
    lua_setfield(L, -2, "step");
}

/* Reads the rung in the table at `index`; END for anything else. */
static struct soc_rung read_rung(lua_State *L, int index)
{
    struct soc_rung rung = {0};
    size_t length;
    assert(lua_istable(L, index));
    lua_getfield(L, index, "action");
    const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;
    lua_getfield(L, index, "at_ms");
    rung.at_ms = (int64_t)lua_tonumber(L, -1);
    rung.action = name == NULL ? SOC_RUNG_END : soc_rung_parse(soc_slice(name, length));
    lua_pop(L, 2);
    return rung;
}

struct soc_rung soc_answer_rung(void *user, const struct soc_message *message, uint32_t step)
{
    struct soc_script *script = user;
    lua_State *L = script->L;
    int top = lua_gettop(L);
    struct soc_rung rung = soc_ladder_default(step);
    luaL_checkstack(L, 12, NULL);
    push_request(L, message, step);
    if (soc_policy_set_ask(L, script, SOC_ASK_RUNG, 1)) {
        if (lua_isnil(L, top + 1))
            rung = (struct soc_rung){0};
        else
            rung = read_rung(L, top + 1);
    }
    lua_settop(L, top);
    return rung;
}

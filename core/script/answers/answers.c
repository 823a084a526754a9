#include "script/answers/answers.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "kernel/registry.h"
#include "lualib/lua_json.h"
#include "script/policies/policy_set.h"

void soc_answer_push_person(lua_State *L, const struct soc_agent *agent)
{
    assert(agent->role != NULL);
    lua_createtable(L, 0, 3);
    lua_pushlstring(L, agent->id, agent->id_length);
    lua_setfield(L, -2, "id");
    lua_pushstring(L, agent->role->id);
    lua_setfield(L, -2, "role");
    if (agent->parent != NULL) {
        lua_pushstring(L, agent->parent->id);
        lua_setfield(L, -2, "parent");
    }
}

/* The rule if no policy answers: agents may write to their contacts, the user to
 * everybody. */
static bool strict_rule(struct soc_script *script, const struct soc_agent *from,
                        const struct soc_contact *contact)
{
    return contact != NULL || from == soc_registry_user(script->host);
}

/* A table's members become members of the error, a text becomes its `hint`. */
void soc_answer_put_refusal(lua_State *L, int index, struct soc_buf *refusal)
{
    struct soc_detail detail;
    if (lua_type(L, index) == LUA_TSTRING) {
        soc_buf_put_text(refusal, "{\"hint\":");
        soc_json_put_string(refusal, soc_slice_text(lua_tostring(L, index)));
        soc_buf_put_byte(refusal, '}');
    } else if (lua_type(L, index) == LUA_TTABLE) {
        size_t start = refusal->length;
        if (soc_lua_json_encode(L, index, "refusal", SOC_BRIEF_BYTES_MAX, refusal, &detail) < 0)
            return;
        if (refusal->data[start] != '{' || refusal->length == start + 2) /* it names nothing */
            refusal->length = start;
    }
}

bool soc_answer_may_send(void *user, struct soc_agent *from, struct soc_agent *to,
                         const struct soc_contact *contact, struct soc_buf *refusal)
{
    struct soc_script *script = user;
    lua_State *L = script->active; /* protected: an error ends the turn */
    int top = lua_gettop(L);
    assert(from != NULL && to != NULL && from != to);
    luaL_checkstack(L, 12, NULL);
    lua_createtable(L, 0, 4);
    soc_answer_push_person(L, from);
    lua_setfield(L, -2, "from");
    soc_answer_push_person(L, to);
    lua_setfield(L, -2, "to");
    lua_pushboolean(L, contact != NULL);
    lua_setfield(L, -2, "is_known");
    if (contact != NULL) {
        lua_pushstring(L, soc_source_name(contact->source));
        lua_setfield(L, -2, "source");
    }
    bool is_allowed;
    if (soc_policy_set_ask(L, script, SOC_ASK_MAY_SEND, 1)) {
        is_allowed = lua_toboolean(L, -2);
        if (!is_allowed)
            soc_answer_put_refusal(L, lua_gettop(L), refusal);
    } else {
        is_allowed = strict_rule(script, from, contact);
    }
    lua_settop(L, top);
    return is_allowed;
}

bool soc_answer_may_broadcast(void *user, struct soc_agent *from, bool is_head,
                              struct soc_buf *refusal)
{
    struct soc_script *script = user;
    lua_State *L = script->active; /* protected: an error ends the turn */
    int top = lua_gettop(L);
    luaL_checkstack(L, 12, NULL);
    lua_createtable(L, 0, 2);
    soc_answer_push_person(L, from);
    lua_setfield(L, -2, "from");
    lua_pushboolean(L, is_head);
    lua_setfield(L, -2, "is_head");
    bool is_allowed = is_head;
    if (soc_policy_set_ask(L, script, SOC_ASK_MAY_BROADCAST, 1)) {
        is_allowed = lua_toboolean(L, -2);
        if (!is_allowed)
            soc_answer_put_refusal(L, lua_gettop(L), refusal);
    }
    lua_settop(L, top);
    return is_allowed;
}

int64_t soc_answer_retry_after(void *user, struct soc_agent *agent, uint32_t retries)
{
    struct soc_script *script = user;
    lua_State *L = script->L;
    int top = lua_gettop(L);
    int64_t delay_ms;
    assert(retries > 0);
    lua_createtable(L, 0, 2);
    soc_answer_push_person(L, agent);
    lua_setfield(L, -2, "agent");
    lua_pushinteger(L, retries);
    lua_setfield(L, -2, "failures");
    if (soc_policy_set_ask(L, script, SOC_ASK_RETRY_AFTER, 1))
        delay_ms = lua_isnil(L, -2) ? -1 : (int64_t)lua_tonumber(L, -2);
    else
        delay_ms = retries > SOC_RETRIES_MAX ? -1 : SOC_RETRY_FIRST_MS << (retries - 1);
    lua_settop(L, top);
    return delay_ms;
}

/* The limit of limits.h applies if no policy answers. */
bool soc_answer_is_failed(void *user, struct soc_agent *agent, const int64_t *ages_ms, size_t count)
{
    struct soc_script *script = user;
    lua_State *L = script->L;
    int top = lua_gettop(L);
    bool is_failed = false;
    assert(count == 0 || ages_ms != NULL);
    luaL_checkstack(L, 12, NULL);
    lua_createtable(L, 0, 2);
    soc_answer_push_person(L, agent);
    lua_setfield(L, -2, "agent");
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushinteger(L, ages_ms[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "ages");
    if (soc_policy_set_ask(L, script, SOC_ASK_IS_FAILED, 1))
        is_failed = lua_toboolean(L, -2);
    else
        is_failed = count > SOC_FAILURES_MAX && ages_ms[SOC_FAILURES_MAX] <= SOC_FAILURES_MS;
    lua_settop(L, top);
    return is_failed;
}

bool soc_answer_is_adopted(void *user, struct soc_agent *agent, struct soc_agent *child,
                           bool is_forced)
{
    struct soc_script *script = user;
    lua_State *L = script->L;
    int top = lua_gettop(L);
    bool is_adopted = false;
    assert(child->parent == agent);
    lua_createtable(L, 0, 4);
    soc_answer_push_person(L, agent);
    lua_setfield(L, -2, "agent");
    soc_answer_push_person(L, child);
    lua_setfield(L, -2, "child");
    lua_pushboolean(L, is_forced);
    lua_setfield(L, -2, "is_forced");
    if (agent->end_reason != NULL) {
        lua_pushstring(L, agent->end_reason);
        lua_setfield(L, -2, "reason");
    }
    if (soc_policy_set_ask(L, script, SOC_ASK_CHILDREN, 1))
        is_adopted = strcmp(lua_tostring(L, -2), "adopt") == 0;
    lua_settop(L, top);
    return is_adopted;
}

static void push_cycle(lua_State *L, const struct soc_waiter *cycle, size_t count)
{
    lua_createtable(L, 0, 1);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        soc_answer_push_person(L, cycle[i].agent);
        lua_pushstring(L, cycle[i].target->id);
        lua_setfield(L, -2, "waits_for");
        lua_pushstring(L, cycle[i].kind);
        lua_setfield(L, -2, "kind");
        lua_pushinteger(L, cycle[i].since_ms);
        lua_setfield(L, -2, "since");
        lua_pushinteger(L, (lua_Integer)cycle[i].number);
        lua_setfield(L, -2, "order");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "cycle");
}

/* If no policy names an agent of the cycle, the one that has waited longest is released. */
size_t soc_answer_victim(void *user, const struct soc_waiter *cycle, size_t count)
{
    struct soc_script *script = user;
    lua_State *L = script->L;
    int top = lua_gettop(L);
    size_t victim = count;
    assert(count > 0);
    luaL_checkstack(L, 12, NULL);
    push_cycle(L, cycle, count);
    if (soc_policy_set_ask(L, script, SOC_ASK_VICTIM, 1)) {
        size_t length;
        const char *id = lua_tolstring(L, -2, &length);
        for (victim = 0; victim < count; victim++)
            if (soc_slice_equal(soc_agent_id(cycle[victim].agent), soc_slice(id, length)))
                break;
        if (victim == count)
            soc_policy_set_complain(script, SOC_ASK_VICTIM, "it named an agent outside the cycle");
    }
    if (victim == count) {
        victim = 0;
        for (size_t i = 1; i < count; i++)
            if (cycle[i].number < cycle[victim].number)
                victim = i;
    }
    assert(victim < count);
    lua_settop(L, top);
    return victim;
}

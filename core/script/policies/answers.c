/* Answers: the host's questions, put to the policies in force. */
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "lualib/lua_copy.h"
#include "lualib/lua_fill.h"
#include "lualib/lua_json.h"
#include "script/policies/answers.h"
#include "script/policies/policy.h"
#include "script/turns/effect.h"
#include "script/turns/message.h"

void soc_push_person(lua_State *L, const struct soc_agent *agent)
{
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

/* Without a policy's word the strict rule holds: whom one knows, one may write
 * to; the person may write to everybody. */
static bool strict_rule(struct soc_script *script, const struct soc_agent *from,
                        const struct soc_contact *contact)
{
    return contact != NULL || from == soc_registry_user(script->host);
}

/* The members of the refusal's table become members of the error. The script's own
 * buffers are in use: whoever sends to a list collects there. */
static void append_refusal(lua_State *L, int index, struct soc_buf *refusal)
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
    luaL_checkstack(L, 12, NULL);
    lua_createtable(L, 0, 4);
    soc_push_person(L, from);
    lua_setfield(L, -2, "from");
    soc_push_person(L, to);
    lua_setfield(L, -2, "to");
    lua_pushboolean(L, contact != NULL);
    lua_setfield(L, -2, "is_known");
    if (contact != NULL) {
        lua_pushstring(L, soc_source_name(contact->source));
        lua_setfield(L, -2, "source");
    }
    bool is_allowed;
    if (soc_policy_ask(L, script, SOC_ASK_MAY_SEND, 1)) {
        is_allowed = lua_toboolean(L, -2);
        if (!is_allowed)
            append_refusal(L, lua_gettop(L), refusal);
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
    soc_push_person(L, from);
    lua_setfield(L, -2, "from");
    lua_pushboolean(L, is_head);
    lua_setfield(L, -2, "is_head");
    bool is_allowed = is_head;
    if (soc_policy_ask(L, script, SOC_ASK_MAY_BROADCAST, 1)) {
        is_allowed = lua_toboolean(L, -2);
        if (!is_allowed)
            append_refusal(L, lua_gettop(L), refusal);
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
    lua_createtable(L, 0, 2);
    soc_push_person(L, agent);
    lua_setfield(L, -2, "agent");
    lua_pushinteger(L, retries);
    lua_setfield(L, -2, "failures");
    if (soc_policy_ask(L, script, SOC_ASK_RETRY_AFTER, 1))
        delay_ms = lua_isnil(L, -2) ? -1 : (int64_t)lua_tonumber(L, -2);
    else
        delay_ms = retries > SOC_RETRIES_MAX ? -1 : SOC_RETRY_FIRST_MS << (retries - 1);
    lua_settop(L, top);
    return delay_ms;
}

/* Without a policy's word the usual rule holds. */
bool soc_answer_is_failed(void *user, struct soc_agent *agent, const int64_t *ages_ms, size_t count)
{
    struct soc_script *script = user;
    lua_State *L = script->L;
    int top = lua_gettop(L);
    bool is_failed = false;
    luaL_checkstack(L, 12, NULL);
    lua_createtable(L, 0, 2);
    soc_push_person(L, agent);
    lua_setfield(L, -2, "agent");
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushinteger(L, ages_ms[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "ages");
    if (soc_policy_ask(L, script, SOC_ASK_IS_FAILED, 1))
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
    lua_createtable(L, 0, 4);
    soc_push_person(L, agent);
    lua_setfield(L, -2, "agent");
    soc_push_person(L, child);
    lua_setfield(L, -2, "child");
    lua_pushboolean(L, is_forced);
    lua_setfield(L, -2, "is_forced");
    if (agent->end_reason != NULL) {
        lua_pushstring(L, agent->end_reason);
        lua_setfield(L, -2, "reason");
    }
    if (soc_policy_ask(L, script, SOC_ASK_CHILDREN, 1))
        is_adopted = strcmp(lua_tostring(L, -2), "adopt") == 0;
    lua_settop(L, top);
    return is_adopted;
}

static void push_ring(lua_State *L, const struct soc_waiter *ring, size_t count)
{
    lua_createtable(L, 0, 1);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        soc_push_person(L, ring[i].agent);
        lua_pushstring(L, ring[i].target->id);
        lua_setfield(L, -2, "waits_for");
        lua_pushstring(L, ring[i].kind);
        lua_setfield(L, -2, "kind");
        lua_pushinteger(L, ring[i].since_ms);
        lua_setfield(L, -2, "since");
        lua_pushinteger(L, (lua_Integer)ring[i].number);
        lua_setfield(L, -2, "order");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "cycle");
}

/* Without a sensible word of the policy the usual rule holds: whoever has waited
 * longest goes on. */
size_t soc_answer_victim(void *user, const struct soc_waiter *ring, size_t count)
{
    struct soc_script *script = user;
    lua_State *L = script->L;
    int top = lua_gettop(L);
    size_t victim = count;
    luaL_checkstack(L, 12, NULL);
    push_ring(L, ring, count);
    if (soc_policy_ask(L, script, SOC_ASK_VICTIM, 1)) {
        size_t length;
        const char *id = lua_tolstring(L, -2, &length);
        for (victim = 0; victim < count; victim++)
            if (soc_slice_equal(soc_agent_id(ring[victim].agent), soc_slice(id, length)))
                break;
        if (victim == count)
            soc_policy_complain(script, SOC_ASK_VICTIM, "it named somebody outside the cycle");
    }
    if (victim == count) {
        victim = 0;
        for (size_t i = 1; i < count; i++)
            if (ring[i].number < ring[victim].number)
                victim = i;
    }
    lua_settop(L, top);
    return victim;
}

/* Pushes a copy of the message at index 1, whose fields may be the script's by now.
 * False, with nothing pushed, if it has a table in it that is no JSON. */
static bool push_message_copy(lua_State *L, struct soc_script *script)
{
    struct soc_detail detail;
    soc_lua_fill(L, 1);
    lua_createtable(L, 0, 12);
    int copy = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
        if (lua_type(L, -1) == LUA_TTABLE) {
            script->scratch.length = 0;
            if (soc_lua_json_encode(L, lua_gettop(L), "message", SOC_JSON_BYTES_MAX,
                                    &script->scratch, &detail) < 0) {
                lua_settop(L, copy - 1);
                return false;
            }
            soc_lua_copy(L, -1);
            lua_remove(L, -2);
        }
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, copy);
    }
    return true;
}

/* Pushes how the message at index 1 is shown, by the presentation policy: what that
 * does to the message, the script must not see. */
static void push_text(lua_State *L, struct soc_script *script)
{
    size_t length;
    soc_raw_field(L, 1, "from");
    const char *from = lua_tolstring(L, -1, &length);
    const struct soc_agent *sender =
        from == NULL ? NULL : soc_registry_find_any(script->host, soc_slice(from, length));
    if (!push_message_copy(L, script)) {
        lua_pushliteral(L, "(this message cannot be shown: the script has put into it what is "
                           "no JSON)");
        return;
    }
    lua_createtable(L, 0, 1);
    lua_pushstring(L, sender == NULL ? "unknown" : sender->role->name);
    lua_setfield(L, -2, "role");
    if (!soc_policy_ask(L, script, SOC_ASK_SHOW_MESSAGE, 2))
        lua_pushliteral(L, "(this message cannot be shown: the presentation policy failed)");
    else
        lua_pop(L, 1);
}

/* Inside a turn the text is an effect: a policy is not asked again on replay. */
static void push_recorded_text(lua_State *L, struct soc_script *script)
{
    size_t length;
    int count;
    soc_raw_field(L, 1, "id");
    const char *id = lua_tolstring(L, -1, &length);
    uint64_t hash = soc_hash(id, id == NULL ? 0 : length, SOC_EFFECT_LOOK);
    if (soc_effect_begin(L, script, SOC_EFFECT_LOOK, hash, &count) == SOC_GATE_RECORDED)
        return;
    push_text(L, script);
    const char *text = lua_tolstring(L, -1, &length);
    script->answer.length = 0;
    soc_buf_put_byte(&script->answer, '[');
    soc_json_put_string(&script->answer, soc_slice(text, length));
    soc_buf_put_byte(&script->answer, ']');
    soc_effect_end(L, script, soc_buf_slice(&script->answer));
}

int soc_answer_message_index(lua_State *L)
{
    if (lua_type(L, 2) != LUA_TSTRING || strcmp(lua_tostring(L, 2), "text") != 0)
        return 0;
    struct soc_script *script = soc_script_of_box(L, lua_upvalueindex(1));
    luaL_checkstack(L, 12, NULL);
    if (soc_gate_activation(script->host) != NULL)
        push_recorded_text(L, script);
    else
        push_text(L, script);
    lua_pushliteral(L, "text");
    lua_pushvalue(L, -2);
    lua_rawset(L, 1);
    return 1;
}

void soc_answer_forget(void *user, struct soc_message *message)
{
    struct soc_script *script = user;
    soc_message_drop_copy(script->L, script, message);
}

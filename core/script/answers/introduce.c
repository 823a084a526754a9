/* Introduce: asks the policy `introductions` to answer a request for an introduction. */
#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "kernel/registry.h"
#include "lualib/lua_json.h"
#include "script/answers/answers.h"
#include "script/policies/policy_set.h"
#include "script/turns/behaviour.h"

/* Breaks cycles: no agent is asked twice along one path. */
static bool may_ask(const struct soc_script *script, const struct soc_introduction *introduction,
                    const struct soc_agent *agent)
{
    struct soc_slice via = soc_json_member(soc_message_payload(introduction->message), "via");
    return agent != introduction->requester && agent != introduction->broker &&
           agent != soc_registry_user(script->host) && !agent->is_ended && !agent->is_ending &&
           !soc_introduction_was_asked(introduction, agent) &&
           !soc_introduction_lists(via, soc_agent_id(agent));
}

static void set_text(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

static void set_json(lua_State *L, const char *name, struct soc_slice json)
{
    struct soc_detail detail;
    if (json.data != NULL && soc_lua_json_decode(L, json, &detail) == SOC_OK)
        lua_setfield(L, -2, name);
}

static void push_contact(lua_State *L, const struct soc_script *script,
                         const struct soc_introduction *introduction,
                         const struct soc_contact *contact)
{
    const struct soc_agent *peer = contact->peer;
    const struct soc_contact_extra *extra = contact->extra;
    const char *spec = extra != NULL && extra->interface_spec != NULL ? extra->interface_spec
                                                                      : peer->role->interface_spec;
    lua_createtable(L, 0, 6);
    set_text(L, "id", peer->id);
    set_text(L, "role", extra != NULL && extra->role != NULL ? extra->role : peer->role->name);
    set_text(L, "role_id", peer->role->id);
    set_text(L, "source", soc_source_name(contact->source));
    set_json(L, "interfaceSpec", soc_slice_text(spec));
    lua_pushboolean(L, may_ask(script, introduction, peer));
    lua_setfield(L, -2, "may_ask");
}

static void push_contacts(lua_State *L, const struct soc_script *script,
                          const struct soc_introduction *introduction)
{
    const struct soc_contacts *contacts = &introduction->broker->contacts;
    lua_Integer count = 0;
    lua_newtable(L);
    for (uint32_t i = 0; i < contacts->count && count < SOC_CONTACTS_SHOWN_MAX; i++) {
        if (contacts->items[i].peer->is_ended || contacts->items[i].peer->is_ending)
            continue;
        push_contact(L, script, introduction, &contacts->items[i]);
        lua_rawseti(L, -2, ++count);
    }
}

static void push_asked(lua_State *L, const struct soc_introduction *introduction)
{
    lua_createtable(L, (int)introduction->asked_count, 0);
    for (uint32_t i = 0; i < introduction->asked_count; i++) {
        lua_pushstring(L, introduction->asked[i]->id);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static void push_found(lua_State *L, const struct soc_introduction *introduction)
{
    lua_createtable(L, 0, 3);
    set_text(L, "id", introduction->found->id);
    if (introduction->usage_hint != NULL)
        set_text(L, "usage_hint", introduction->usage_hint);
    set_json(L, "via", soc_slice_text(introduction->via));
}

static void push_request(lua_State *L, const struct soc_script *script,
                         const struct soc_introduction *introduction)
{
    static const char *const consents[] = {NULL, "given", "refused"};
    struct soc_slice payload = soc_message_payload(introduction->message);
    assert(introduction->consent < sizeof(consents) / sizeof(consents[0]));
    lua_createtable(L, 0, 10);
    soc_answer_push_person(L, introduction->broker);
    lua_setfield(L, -2, "agent");
    soc_answer_push_person(L, introduction->requester);
    lua_setfield(L, -2, "requester");
    lua_pushliteral(L, "");
    lua_setfield(L, -2, "reason");
    lua_pushliteral(L, "");
    lua_setfield(L, -2, "required_capability");
    set_json(L, "reason", soc_json_member(payload, "reason"));
    set_json(L, "required_capability", soc_json_member(payload, "required_capability"));
    lua_newtable(L);
    lua_setfield(L, -2, "via");
    set_json(L, "via", soc_json_member(payload, "via"));
    push_asked(L, introduction);
    lua_setfield(L, -2, "asked");
    push_contacts(L, script, introduction);
    lua_setfield(L, -2, "contacts");
    if (introduction->found != NULL) {
        push_found(L, introduction);
        lua_setfield(L, -2, "found");
    }
    if (consents[introduction->consent] != NULL)
        set_text(L, "consent", consents[introduction->consent]);
}

/* Lends the agent named by a text member of the answer on top, or NULL. */
static struct soc_agent *read_agent(lua_State *L, const struct soc_script *script, const char *name)
{
    size_t length;
    struct soc_agent *agent = NULL;
    if (lua_getfield(L, -1, name) == LUA_TSTRING) {
        const char *id = lua_tolstring(L, -1, &length);
        agent = soc_registry_find(script->host, soc_slice(id, length));
    }
    lua_pop(L, 1);
    return agent;
}

static void read_text(lua_State *L, const char *name, struct soc_buf *out)
{
    size_t length;
    if (lua_getfield(L, -1, name) == LUA_TSTRING) {
        const char *text = lua_tolstring(L, -1, &length);
        soc_buf_put(out, text, length);
    }
    lua_pop(L, 1);
}

static bool has(lua_State *L, const char *name)
{
    bool is_there = lua_getfield(L, -1, name) != LUA_TNIL;
    lua_pop(L, 1);
    return is_there;
}

static bool can_name(const struct soc_introduction *introduction, const struct soc_agent *target)
{
    const struct soc_agent *broker = introduction->broker;
    return target != NULL && target != introduction->requester &&
           (target == broker || target == introduction->found ||
            soc_contacts_find(&broker->contacts, target) != NULL);
}

/* Reads the policy's answer on top. Returns a sentence that says why it is invalid, or
 * NULL. */
static const char *read_answer(lua_State *L, const struct soc_script *script,
                               const struct soc_introduction *introduction,
                               struct soc_introduce_answer *answer)
{
    assert(lua_istable(L, -1));
    lua_Number ms = lua_getfield(L, -1, "timeout_ms") == LUA_TNUMBER ? lua_tonumber(L, -1) : -1;
    lua_pop(L, 1);
    answer->timeout_ms = ms > 0 && ms <= 1e14 ? (int64_t)ms : SOC_INTRODUCTION_ASK_MS;
    if (has(L, "leave")) {
        answer->kind = SOC_INTRODUCE_LEAVE;
        return NULL;
    }
    if (has(L, "refuse")) {
        answer->kind = SOC_INTRODUCE_REFUSE;
        read_text(L, "refuse", &answer->text);
        return answer->text.length > 0 ? NULL : "it refused without a reason";
    }
    if (has(L, "confirm")) {
        answer->kind = SOC_INTRODUCE_CONSENT;
        answer->who = read_agent(L, script, "confirm");
        answer->target = read_agent(L, script, "introduce");
        if (introduction->consent != SOC_CONSENT_NOT_ASKED)
            return "it asked for consent a second time";
        return answer->who == NULL ? "it asked for the consent of an agent that does not exist"
                                   : NULL;
    }
    if (has(L, "introduce")) {
        answer->kind = SOC_INTRODUCE_NAME;
        answer->who = read_agent(L, script, "introduce");
        read_text(L, "usage_hint", &answer->text);
        return can_name(introduction, answer->who) ? NULL
                                                   : "it introduced an agent that the broker does "
                                                     "not know, or the requester itself";
    }
    if (!has(L, "ask"))
        return "it answered with a table without introduce, ask, confirm, refuse or leave";
    answer->kind = SOC_INTRODUCE_ASK;
    answer->who = read_agent(L, script, "ask");
    bool can_ask = answer->who != NULL && may_ask(script, introduction, answer->who) &&
                   soc_contacts_find(&introduction->broker->contacts, answer->who) != NULL;
    return can_ask ? NULL : "it asked an agent that cannot be asked (see may_ask)";
}

void soc_answer_introduce(void *user, const struct soc_introduction *introduction,
                          struct soc_introduce_answer *answer)
{
    struct soc_script *script = user;
    lua_State *L = script->L;
    int top = lua_gettop(L);
    assert(answer->text.length == 0); /* an agent may ask itself */
    luaL_checkstack(L, 20, NULL);
    answer->kind = SOC_INTRODUCE_LEAVE;
    if (introduction->broker == soc_registry_user(script->host) || /* the person answers */
        soc_behaviour_handles(L, introduction->broker->role, "introduction_request"))
        return;
    push_request(L, script, introduction);
    lua_pushvalue(L, -1);
    const char *fault = "it failed";
    if (soc_policy_set_ask(L, script, SOC_ASK_INTRODUCE, 1)) {
        lua_pop(L, 1);
        fault = read_answer(L, script, introduction, answer);
        if (fault != NULL)
            soc_policy_set_complain(script, SOC_ASK_INTRODUCE, fault);
    }
    lua_settop(L, top + 1);
    if (fault != NULL && soc_policy_set_ask_fallback(L, script, SOC_ASK_INTRODUCE, 1)) {
        lua_pop(L, 1);
        answer->text.length = 0;
        fault = read_answer(L, script, introduction, answer);
    }
    if (fault != NULL) {
        answer->kind = SOC_INTRODUCE_REFUSE;
        answer->text.length = 0;
        soc_buf_put_text(&answer->text, "no suitable contact is known");
    }
    lua_settop(L, top);
}

bool soc_answer_takes_unsolicited(void *user, struct soc_agent *from, struct soc_agent *to)
{
    struct soc_script *script = user;
    lua_State *L = script->active;
    int top = lua_gettop(L);
    luaL_checkstack(L, 12, NULL);
    lua_createtable(L, 0, 2);
    soc_answer_push_person(L, from);
    lua_setfield(L, -2, "from");
    soc_answer_push_person(L, to);
    lua_setfield(L, -2, "to");
    bool is_taken = soc_policy_set_ask(L, script, SOC_ASK_UNSOLICITED, 1) && lua_toboolean(L, -2);
    lua_settop(L, top);
    return is_taken;
}

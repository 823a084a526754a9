/* Gatekeeper: asks the policy `gatekeeper` who receives input without an address. */
#include <assert.h>

#include "base/json.h"
#include "base/limits.h"
#include "kernel/look.h"
#include "kernel/registry.h"
#include "lualib/lua_json.h"
#include "script/answers/answers.h"
#include "script/policies/policy_set.h"

static void set_text(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

static void push_agent(lua_State *L, const struct soc_script *script, const struct soc_agent *agent)
{
    struct soc_detail detail;
    const char *spec = agent->role->interface_spec;
    lua_createtable(L, 0, 6);
    set_text(L, "id", agent->id);
    set_text(L, "role", agent->role->name);
    set_text(L, "role_id", agent->role->id);
    set_text(L, "status", soc_look_status(script->host, agent));
    if (agent->parent != NULL)
        set_text(L, "parent", agent->parent->id);
    if (spec != NULL && soc_lua_json_decode(L, soc_slice_text(spec), &detail) == SOC_OK)
        lua_setfield(L, -2, "interfaceSpec");
}

/* Pushes all possible receivers, oldest first, without the user. */
static void push_agents(lua_State *L, const struct soc_script *script)
{
    size_t cursor = 0;
    lua_Integer count = 0;
    const struct soc_agent *agent;
    lua_newtable(L);
    while (count < SOC_CONTACTS_SHOWN_MAX &&
           (agent = soc_registry_each(script->host, &cursor)) != NULL) {
        if (agent == soc_registry_user(script->host) || agent->is_ending)
            continue;
        push_agent(L, script, agent);
        lua_rawseti(L, -2, ++count);
    }
}

/* Reads { intent, route_to } on top. */
static struct soc_agent *read_answer(lua_State *L, struct soc_script *script,
                                     struct soc_buf *intent)
{
    size_t length;
    struct soc_agent *agent = NULL;
    assert(lua_istable(L, -1));
    if (lua_getfield(L, -1, "intent") == LUA_TSTRING) {
        const char *text = lua_tolstring(L, -1, &length);
        if (soc_utf8_fault(soc_slice(text, length)) < 0)
            soc_buf_put(intent, text, length);
    }
    lua_pop(L, 1);
    if (lua_getfield(L, -1, "route_to") == LUA_TSTRING) {
        const char *id = lua_tolstring(L, -1, &length);
        agent = soc_registry_find(script->host, soc_slice(id, length));
    }
    lua_pop(L, 1);
    bool is_person = agent != NULL && agent == soc_registry_user(script->host);
    if (agent == NULL || is_person)
        soc_policy_set_complain(script, SOC_ASK_ROUTE,
                                is_person ? "it routed the user's input back to the user"
                                          : "it named an agent that does not exist");
    return is_person ? NULL : agent;
}

struct soc_agent *soc_answer_route(void *user, struct soc_slice payload, struct soc_buf *intent)
{
    struct soc_script *script = user;
    lua_State *L = script->L;
    struct soc_detail detail;
    struct soc_agent *agent = NULL;
    int top = lua_gettop(L);
    luaL_checkstack(L, 20, NULL);
    /* The default sends everything to root: the payload and all agents as tables would be most
     * of what an intake costs. */
    bool is_needed = soc_policy_set_heeds(L, script, SOC_ASK_ROUTE);
    if (is_needed && soc_lua_json_decode(L, payload, &detail) < 0)
        return NULL;
    if (is_needed)
        push_agents(L, script);
    if (soc_policy_set_ask(L, script, SOC_ASK_ROUTE, is_needed ? 2 : 0)) {
        lua_pop(L, 1);
        agent = read_answer(L, script, intent);
    }
    lua_settop(L, top);
    return agent;
}

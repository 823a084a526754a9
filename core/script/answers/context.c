#include "script/answers/context.h"

#include <assert.h>

#include "base/json.h"
#include "kernel/look.h"
#include "kernel/registry.h"
#include "lualib/lua_json.h"
#include "lualib/lua_plain.h"
#include "script/answers/answers.h"
#include "script/policies/policy_set.h"
#include "script/turns/environments.h"

/* Pushes the value of the JSON text at `index`. Each policy gets a copy of its own, which
 * it may change. */
static void push_value(lua_State *L, int index)
{
    size_t length;
    struct soc_detail detail;
    const char *text = lua_tolstring(L, index, &length);
    if (soc_lua_json_decode(L, soc_slice(text, length), &detail) < 0)
        luaL_error(L, "stored data is damaged: %s", detail.text);
}

/* Pushes the policy's wording of the JSON text at `index`, or that text if the policy
 * fails. */
static void push_shown(lua_State *L, struct soc_script *script, enum soc_policy_question question,
                       int index)
{
    push_value(L, index);
    if (soc_policy_set_ask(L, script, question, 1))
        lua_pop(L, 1);
    else
        lua_pushvalue(L, index);
}

static void set_text(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text == NULL ? "" : text);
    lua_setfield(L, -2, name);
}

/* Sets a field of the table on top to the text at `index`, or to its value if it is JSON.
 * Ignores nil. */
static void set_copy(lua_State *L, const char *name, int index, bool is_json)
{
    if (lua_isnil(L, index))
        return;
    if (is_json)
        push_value(L, index);
    else
        lua_pushvalue(L, index);
    lua_setfield(L, -2, name);
}

static void push_role(lua_State *L, const struct soc_role *role)
{
    lua_createtable(L, 0, 4);
    set_text(L, "id", role->id);
    set_text(L, "name", role->name);
    set_text(L, "prompt", role->prompt);
    if (role->interface_spec == NULL)
        return;
    lua_pushstring(L, role->interface_spec);
    push_value(L, lua_gettop(L));
    lua_remove(L, -2);
    lua_setfield(L, -2, "interface_spec");
}

/* Appends one part after an empty line. */
static void put_part(lua_State *L, struct soc_buf *out, int index)
{
    size_t length;
    const char *text = lua_tolstring(L, index, &length);
    if (text == NULL || length == 0)
        return;
    if (out->length > 0)
        soc_buf_put_text(out, "\n\n");
    soc_buf_put(out, text, length);
}

/* Stack indices of the parts of a context. */
struct parts {
    int brief; /* JSON text, or nil */
    int brief_text;
    int contacts; /* JSON text */
    int contacts_text;
};

static struct parts push_parts(lua_State *L, struct soc_frame *frame, const struct soc_agent *agent)
{
    struct soc_script *script = frame->script;
    struct parts parts;
    if (agent->brief == NULL)
        lua_pushnil(L);
    else
        lua_pushlstring(L, agent->brief, agent->brief_length);
    parts.brief = lua_gettop(L);
    if (agent->brief == NULL)
        lua_pushnil(L);
    else
        push_shown(L, script, SOC_ASK_SHOW_BRIEF, parts.brief);
    parts.brief_text = lua_gettop(L);
    frame->scratch.length = 0;
    soc_look_contacts(script->host, agent, &frame->scratch);
    lua_pushlstring(L, frame->scratch.data, frame->scratch.length);
    parts.contacts = lua_gettop(L);
    push_shown(L, script, SOC_ASK_SHOW_CONTACTS, parts.contacts);
    parts.contacts_text = lua_gettop(L);
    return parts;
}

/* Pushes what a table on top has under `name`; returns false, with nothing pushed, if that is
 * no table. */
static bool push_member(lua_State *L, const char *name)
{
    lua_pushstring(L, name);
    if (lua_rawget(L, -2) == LUA_TTABLE)
        return true;
    lua_pop(L, 1);
    return false;
}

/* Pushes the verbs that the app gives to models in that role, as society.llm.verbs chooses them:
 * one list for all, or lists by role. */
static bool push_verbs(lua_State *L, const struct soc_script *script, const struct soc_role *role)
{
    soc_environments_push_llm(L, script);
    if (!push_member(L, "verbs"))
        return false;
    bool is_list = lua_rawgeti(L, -1, 1) != LUA_TNIL;
    lua_pop(L, 1);
    if (is_list)
        return true;
    lua_pushnil(L);
    if (lua_next(L, -2) == 0)
        return true; /* an empty list */
    lua_pop(L, 2);
    return push_member(L, role->id) || push_member(L, "default");
}

/* Sets them in the request on top, if it names any. */
static void set_verbs(lua_State *L, const struct soc_script *script, const struct soc_role *role)
{
    struct soc_detail detail;
    int top = lua_gettop(L);
    if (push_verbs(L, script, role) && soc_lua_plain(L, -1, "verbs", &detail) == SOC_OK)
        lua_setfield(L, top, "verbs");
    lua_settop(L, top);
}

void soc_context_put(lua_State *L, struct soc_frame *frame, const struct soc_agent *agent,
                     struct soc_buf *out)
{
    struct soc_script *script = frame->script;
    int top = lua_gettop(L);
    assert(out != &frame->scratch);
    luaL_checkstack(L, 16, NULL);
    struct parts parts = push_parts(L, frame, agent);
    lua_createtable(L, 0, 8);
    soc_answer_push_person(L, agent);
    lua_setfield(L, -2, "agent");
    lua_pushstring(L, soc_policy_set_get(script, SOC_POLICY_CONTACTS)->identity.name);
    lua_setfield(L, -2, "contacts_policy");
    set_verbs(L, script, agent->role);
    push_role(L, agent->role);
    lua_setfield(L, -2, "role");
    lua_pushboolean(L, agent == soc_registry_root(script->host));
    lua_setfield(L, -2, "is_root");
    set_copy(L, "brief", parts.brief, true);
    set_copy(L, "brief_text", parts.brief_text, false);
    set_copy(L, "contacts", parts.contacts, true);
    set_copy(L, "contacts_text", parts.contacts_text, false);
    frame->scratch.length = 0;
    struct soc_slice language = {0};
    if (soc_policy_set_ask(L, script, SOC_ASK_SYSTEM, 1)) {
        put_part(L, &frame->scratch, lua_gettop(L) - 1);
        if (lua_type(L, -1) == LUA_TSTRING)
            language.data = lua_tolstring(L, -1, &language.length);
    } else {
        lua_pushstring(L, agent->role->prompt);
        put_part(L, &frame->scratch, lua_gettop(L));
        put_part(L, &frame->scratch, parts.brief_text);
        put_part(L, &frame->scratch, parts.contacts_text);
    }
    soc_json_put_string(out, soc_buf_slice(&frame->scratch));
    if (language.data != NULL) {
        soc_buf_put_byte(out, ',');
        soc_json_put_string(out, language);
    }
    lua_settop(L, top);
}

/* Appends the agent's brief as the policy `presentation` words it, if it has one. */
static void put_brief(lua_State *L, struct soc_frame *frame, const struct soc_agent *agent,
                      struct soc_buf *out)
{
    size_t length;
    if (agent->brief == NULL)
        return;
    lua_pushlstring(L, agent->brief, agent->brief_length);
    push_shown(L, frame->script, SOC_ASK_SHOW_BRIEF, lua_gettop(L));
    const char *text = lua_tolstring(L, -1, &length);
    if (text != NULL)
        soc_json_put_text_member(out, "brief_text", soc_slice(text, length));
    lua_pop(L, 2);
}

/* What soc_answer_context is asked. */
struct context_call {
    struct soc_script *script;
    const struct soc_agent *agent;
    struct soc_buf *out;
};

static int run_context(lua_State *L)
{
    struct context_call *call = lua_touserdata(L, 1);
    struct soc_frame *frame = soc_frame_open(call->script);
    static const char *const names[] = {"context", "language"};
    struct soc_json_walk walk;
    soc_buf_put_byte(&frame->answer, '[');
    soc_context_put(L, frame, call->agent, &frame->answer);
    soc_buf_put_byte(&frame->answer, ']');
    soc_json_walk(&walk, soc_buf_slice(&frame->answer));
    for (int i = 0; i < 2 && soc_json_next(&walk); i++) {
        soc_json_put_name(call->out, names[i]);
        soc_buf_put_slice(call->out, walk.value);
    }
    put_brief(L, frame, call->agent, call->out);
    return 0;
}

bool soc_answer_context(void *user, const struct soc_agent *agent, struct soc_buf *out)
{
    struct context_call call = {.script = user, .agent = agent, .out = out};
    lua_State *L = call.script->L;
    size_t length = out->length;
    lua_pushcfunction(L, run_context);
    lua_pushlightuserdata(L, &call);
    bool is_told = lua_pcall(L, 1, 0, 0) == LUA_OK;
    if (!is_told) {
        out->length = length;
        lua_pop(L, 1);
    }
    return is_told;
}

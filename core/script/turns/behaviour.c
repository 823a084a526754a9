#include "script/turns/behaviour.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/mail/envelope.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "lualib/lua_stages.h"
#include "script/turns/environments.h"

struct soc_behaviours {
    const void *llm; /* the behaviour `llm`, as lua_topointer gives it; NULL: not in use */
    int *refs;       /* to be released at the end */
    char **names;    /* by which each was given; NULL: none */
    size_t count;
    int main_ref;    /* LUA_NOREF: none */
    int default_ref; /* the text "default" */
    int system_ref;  /* the text "system" */
    int llm_ref;     /* the behaviour of agents that think, once one is declared */
};

void soc_behaviour_open(struct soc_script *script)
{
    assert(script->behaviours == NULL);
    script->behaviours = soc_alloc_zero(sizeof(*script->behaviours));
    script->behaviours->main_ref = LUA_NOREF;
    script->behaviours->llm_ref = LUA_NOREF;
    lua_pushliteral(script->L, "default");
    script->behaviours->default_ref = luaL_ref(script->L, LUA_REGISTRYINDEX);
    lua_pushliteral(script->L, "system");
    script->behaviours->system_ref = luaL_ref(script->L, LUA_REGISTRYINDEX);
}

void soc_behaviour_fini(struct soc_script *script)
{
    struct soc_behaviours *kept = script->behaviours;
    assert(kept != NULL);
    for (size_t i = 0; i < kept->count; i++) {
        luaL_unref(script->L, LUA_REGISTRYINDEX, kept->refs[i]);
        free(kept->names[i]);
    }
    free(kept->names);
    luaL_unref(script->L, LUA_REGISTRYINDEX, kept->main_ref);
    luaL_unref(script->L, LUA_REGISTRYINDEX, kept->default_ref);
    luaL_unref(script->L, LUA_REGISTRYINDEX, kept->system_ref);
    luaL_unref(script->L, LUA_REGISTRYINDEX, kept->llm_ref);
    free(kept->refs);
    free(kept);
    script->behaviours = NULL;
}

static void check_handlers(lua_State *L, int index)
{
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        if (lua_type(L, -2) != LUA_TSTRING || lua_type(L, -1) != LUA_TFUNCTION)
            luaL_error(L, "behaviour: a table of handlers has message types as keys and functions "
                          "as values");
        lua_pop(L, 1);
    }
}

/* require(name). Upvalue 1: the script. `llm` runs in the host's environment, where no
 * script can change it. */
static int require_behaviour(lua_State *L)
{
    struct soc_script *script = lua_touserdata(L, lua_upvalueindex(1));
    if (strcmp(lua_tostring(L, 1), "llm") == 0) {
        soc_environments_require(L, script, "society.llm.behaviour");
        luaL_unref(L, LUA_REGISTRYINDEX, script->behaviours->llm_ref);
        lua_pushvalue(L, -1);
        script->behaviours->llm_ref = luaL_ref(L, LUA_REGISTRYINDEX);
        return 1;
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->env_ref);
    lua_getfield(L, -1, "require");
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

/* Replaces a name on top by the behaviour of the role with that id, or by what
 * the module of that name returns. */
static void resolve_name(lua_State *L, struct soc_script *script)
{
    size_t length;
    const char *name = lua_tolstring(L, -1, &length);
    if (length > SOC_KEY_BYTES_MAX || !soc_option_is_text(soc_slice(name, length)))
        luaL_error(L, "behaviour: the name of a module or of a role expected");
    const struct soc_role *role =
        strcmp(name, "llm") == 0 ? NULL
                                 : soc_registry_find_role(script->host, soc_slice(name, length));
    if (role != NULL && role->is_runnable) {
        if (lua_rawgeti(L, LUA_REGISTRYINDEX, role->script_mark) == LUA_TSTRING)
            luaL_error(L,
                       "behaviour: the role '%s' is isolated, and its module is not loaded here; "
                       "only an isolated role can take its behaviour",
                       role->id);
        lua_remove(L, -2);
        return;
    }
    lua_pushlightuserdata(L, script);
    lua_pushcclosure(L, require_behaviour, 1);
    lua_insert(L, -2);
    script->is_loading = soc_gate_activation(script->host) != NULL;
    int status = lua_pcall(L, 1, 1, 0);
    script->is_loading = false;
    if (status != LUA_OK && lua_type(L, -1) == LUA_TSTRING)
        luaL_error(L, "behaviour: %s", lua_tostring(L, -1));
    if (status != LUA_OK)
        lua_error(L);
    if (lua_type(L, -1) == LUA_TSTRING)
        luaL_error(L, "behaviour: a module must return a function or a table of handlers");
}

/* Pops the value on top and keeps it, with the name at `index` if that is one. */
static int keep_value(lua_State *L, struct soc_behaviours *kept, int index)
{
    size_t length;
    const char *name = lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, &length) : NULL;
    kept->refs = soc_realloc(kept->refs, (kept->count + 1) * sizeof(*kept->refs));
    kept->names = soc_realloc(kept->names, (kept->count + 1) * sizeof(*kept->names));
    kept->names[kept->count] = name == NULL ? NULL : soc_copy_text(name, length);
    int ref = luaL_ref(L, LUA_REGISTRYINDEX);
    kept->refs[kept->count++] = ref;
    return ref;
}

int soc_behaviour_keep(lua_State *L, struct soc_script *script, int index)
{
    lua_pushvalue(L, index);
    if (lua_type(L, -1) == LUA_TSTRING)
        resolve_name(L, script);
    int value = lua_gettop(L);
    if (lua_type(L, value) == LUA_TTABLE) {
        if (soc_lua_stages_has(L, value))
            soc_lua_stages_push(L, value);
        else
            check_handlers(L, value);
    } else if (lua_type(L, value) != LUA_TFUNCTION) {
        luaL_error(L,
                   "behaviour: a function, a table of handlers or a module's name expected, "
                   "got %s",
                   luaL_typename(L, value));
    }
    struct soc_behaviours *kept = script->behaviours;
    if (lua_type(L, index) == LUA_TSTRING && strcmp(lua_tostring(L, index), "llm") == 0)
        kept->llm = lua_topointer(L, value);
    int ref = keep_value(L, kept, index);
    lua_settop(L, value - 1);
    return ref;
}

/* Tells whether the role's behaviour is a module that was not loaded here. */
static bool is_kept_name(lua_State *L, const struct soc_role *role)
{
    if (!role->is_runnable)
        return false;
    bool is = lua_rawgeti(L, LUA_REGISTRYINDEX, role->script_mark) == LUA_TSTRING;
    lua_pop(L, 1);
    return is;
}

int soc_behaviour_keep_name(lua_State *L, struct soc_script *script, int index)
{
    size_t length;
    const char *name = lua_tolstring(L, index, &length);
    const struct soc_role *role = soc_registry_find_role(script->host, soc_slice(name, length));
    if (strcmp(name, "llm") == 0 || (role != NULL && !is_kept_name(L, role)))
        return soc_behaviour_keep(L, script, index);
    if (length > SOC_KEY_BYTES_MAX || !soc_option_is_text(soc_slice(name, length)))
        luaL_error(L, "behaviour: the name of a module or of a role expected");
    lua_pushvalue(L, index);
    return keep_value(L, script->behaviours, index);
}

const char *soc_behaviour_name(const struct soc_script *script, const struct soc_role *role)
{
    const struct soc_behaviours *kept = script->behaviours;
    for (size_t i = 0; role->behaviour == NULL && i < kept->count; i++)
        if (kept->refs[i] == role->script_mark)
            return kept->names[i];
    return role->behaviour;
}

bool soc_behaviour_thinks(const struct soc_script *script, const struct soc_role *role)
{
    if (script->behaviours->llm == NULL || role == NULL)
        return false;
    lua_rawgeti(script->L, LUA_REGISTRYINDEX, role->script_mark);
    bool is_thinking = lua_topointer(script->L, -1) == script->behaviours->llm;
    lua_pop(script->L, 1);
    return is_thinking;
}

bool soc_behaviour_is_thinking(const struct soc_script *script)
{
    const struct soc_activation *activation = soc_gate_activation(script->host);
    return activation != NULL && soc_behaviour_thinks(script, activation->agent->role);
}

int64_t soc_behaviour_reply_timeout(struct soc_slice name)
{
    return name.data != NULL && soc_slice_equal(name, SOC_SLICE("llm")) ? SOC_THINK_TIMEOUT_MS : 0;
}

static int keep_named(lua_State *L)
{
    struct soc_script *script = lua_touserdata(L, 1);
    bool is_isolated = lua_toboolean(L, 3) && script->leaves_isolated;
    lua_pushinteger(L, is_isolated ? soc_behaviour_keep_name(L, script, 2)
                                   : soc_behaviour_keep(L, script, 2));
    return 1;
}

void soc_behaviour_find_all(struct soc_script *script)
{
    lua_State *L = script->L;
    size_t cursor = 0;
    struct soc_role *role;
    while ((role = soc_registry_each_role(script->host, &cursor)) != NULL) {
        if (role->is_runnable || role->is_external || role->behaviour == NULL)
            continue;
        lua_pushcfunction(L, keep_named);
        lua_pushlightuserdata(L, script);
        lua_pushstring(L, role->behaviour);
        lua_pushboolean(L, soc_registry_is_isolated(script->host, role));
        if (lua_pcall(L, 3, 1, 0) == LUA_OK) {
            role->script_mark = (int)lua_tointeger(L, -1);
            role->reply_timeout_ms = soc_behaviour_reply_timeout(soc_slice_text(role->behaviour));
            soc_agents_set_runnable(script->host, role);
        }
        lua_pop(L, 1);
    }
}

/* Tells whether the function on top is the behaviour of agents that think. */
static bool is_thinking(lua_State *L, const struct soc_script *script)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->behaviours->llm_ref);
    bool is = lua_rawequal(L, -1, -2);
    lua_pop(L, 1);
    return is;
}

/* What the host itself sends is for those who ask for it: an app whose agents hire somebody
 * for every message must not hire again because a child failed. An activation that already
 * handles such a message, begun by an older version, goes on. */
bool soc_behaviour_choose(lua_State *L, const struct soc_script *script,
                          const struct soc_activation *activation)
{
    const struct soc_message *message = activation->message;
    bool is_of_host = message->from == NULL && activation->effects_count == 0;
    int type = lua_type(L, -1);
    if (type == LUA_TFUNCTION && (!is_of_host || is_thinking(L, script)))
        return true;
    if (type == LUA_TTABLE) {
        lua_pushlstring(L, message->type->text, message->type->length);
        if (lua_rawget(L, -2) != LUA_TFUNCTION) {
            lua_pop(L, 1);
            lua_rawgeti(L, LUA_REGISTRYINDEX,
                        is_of_host ? script->behaviours->system_ref
                                   : script->behaviours->default_ref);
            lua_gettable(L, -2);
        }
        lua_remove(L, -2);
        if (lua_isfunction(L, -1))
            return true;
    }
    lua_pop(L, 1);
    return false;
}

bool soc_behaviour_push(lua_State *L, const struct soc_script *script,
                        const struct soc_activation *activation)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, activation->agent->role->script_mark);
    return soc_behaviour_choose(L, script, activation);
}

int soc_behaviour_skip(struct soc_script *script, const struct soc_activation *activation)
{
    const struct soc_message *message = activation->message;
    bool is_of_host = message->from == NULL;
    char id[SOC_MESSAGE_ID_BYTES];
    struct soc_buf detail = {0};
    soc_envelope_id(id, message);
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "from", soc_sender_id(message->from));
    soc_json_put_text_member(&detail, "message_id", soc_slice(id, sizeof(id)));
    soc_json_put_text_member(&detail, "type", soc_slice_text(message->type->text));
    soc_buf_put_byte(&detail, '}');
    soc_log_say_printf(soc_host_log(script->host), is_of_host ? SOC_LOG_INFO : SOC_LOG_WARN,
                       soc_clock_now(soc_host_clock(script->host)), "unhandled",
                       soc_agent_id(activation->agent), soc_buf_slice(&detail),
                       "no handler for messages of type %s", message->type->text);
    soc_buf_fini(&detail);
    return 0;
}

bool soc_behaviour_handles(lua_State *L, const struct soc_role *role, const char *type)
{
    bool has_handler = false;
    if (!role->is_runnable)
        return false;
    if (lua_rawgeti(L, LUA_REGISTRYINDEX, role->script_mark) == LUA_TTABLE) {
        has_handler = soc_option_field(L, -1, type) == LUA_TFUNCTION;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return has_handler;
}

void soc_behaviour_set_main(lua_State *L, struct soc_script *script)
{
    assert(lua_isfunction(L, -1));
    luaL_unref(L, LUA_REGISTRYINDEX, script->behaviours->main_ref);
    script->behaviours->main_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

bool soc_behaviour_has_main(const struct soc_script *script)
{
    return script->behaviours->main_ref != LUA_NOREF;
}

bool soc_behaviour_push_main(lua_State *L, const struct soc_script *script)
{
    if (!soc_behaviour_has_main(script))
        return false;
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->behaviours->main_ref);
    return true;
}

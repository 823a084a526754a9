#include "script/turns/behaviour.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "kernel/registry.h"
#include "script/turns/environments.h"

struct soc_behaviours {
    const void *llm; /* the behaviour `llm`, as lua_topointer gives it; NULL: not in use */
    int *refs;       /* to be released at the end */
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
    for (size_t i = 0; i < kept->count; i++)
        luaL_unref(script->L, LUA_REGISTRYINDEX, kept->refs[i]);
    luaL_unref(script->L, LUA_REGISTRYINDEX, kept->main_ref);
    luaL_unref(script->L, LUA_REGISTRYINDEX, kept->default_ref);
    luaL_unref(script->L, LUA_REGISTRYINDEX, kept->system_ref);
    luaL_unref(script->L, LUA_REGISTRYINDEX, kept->llm_ref);
    free(kept->refs);
    free(kept);
    script->behaviours = NULL;
}

/* { sense, think, act }: each stage gets the result of the one before. One Lua function,
 * so that every stage may wait. */
static const char stages_source[] = "local sense, think, act = ...\n"
                                    "return function(agent, message)\n"
                                    "  local sensed = message\n"
                                    "  if sense then sensed = sense(agent, message) end\n"
                                    "  local thought = sensed\n"
                                    "  if think then thought = think(agent, sensed, message) end\n"
                                    "  if act then return act(agent, thought, message) end\n"
                                    "  return thought\n"
                                    "end\n";

static bool has_stage(lua_State *L, int index, const char *name)
{
    bool has = lua_getfield(L, index, name) == LUA_TFUNCTION;
    lua_pop(L, 1);
    return has;
}

static void push_stages(lua_State *L, int index)
{
    if (luaL_loadstring(L, stages_source) != LUA_OK)
        lua_error(L);
    lua_getfield(L, index, "sense");
    lua_getfield(L, index, "think");
    lua_getfield(L, index, "act");
    lua_call(L, 3, 1);
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
        lua_pop(L, 1);
        lua_rawgeti(L, LUA_REGISTRYINDEX, role->script_mark);
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

int soc_behaviour_keep(lua_State *L, struct soc_script *script, int index)
{
    lua_pushvalue(L, index);
    if (lua_type(L, -1) == LUA_TSTRING)
        resolve_name(L, script);
    int value = lua_gettop(L);
    if (lua_type(L, value) == LUA_TTABLE) {
        if (has_stage(L, value, "sense") || has_stage(L, value, "think") ||
            has_stage(L, value, "act"))
            push_stages(L, value);
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
    kept->refs = soc_realloc(kept->refs, (kept->count + 1) * sizeof(*kept->refs));
    int ref = luaL_ref(L, LUA_REGISTRYINDEX);
    kept->refs[kept->count++] = ref;
    lua_settop(L, value - 1);
    return ref;
}

bool soc_behaviour_is_thinking(const struct soc_script *script)
{
    const struct soc_activation *activation = soc_gate_activation(script->host);
    if (script->behaviours->llm == NULL || activation == NULL || activation->agent->role == NULL)
        return false;
    lua_rawgeti(script->L, LUA_REGISTRYINDEX, activation->agent->role->script_mark);
    bool is_thinking = lua_topointer(script->L, -1) == script->behaviours->llm;
    lua_pop(script->L, 1);
    return is_thinking;
}

int64_t soc_behaviour_reply_timeout(struct soc_slice name)
{
    return name.data != NULL && soc_slice_equal(name, SOC_SLICE("llm")) ? SOC_THINK_TIMEOUT_MS : 0;
}

static int keep_named(lua_State *L)
{
    struct soc_script *script = lua_touserdata(L, 1);
    lua_pushinteger(L, soc_behaviour_keep(L, script, 2));
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
        if (lua_pcall(L, 2, 1, 0) == LUA_OK) {
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
bool soc_behaviour_push(lua_State *L, const struct soc_script *script,
                        const struct soc_activation *activation)
{
    const struct soc_message *message = activation->message;
    const struct soc_role *role = activation->agent->role;
    bool is_of_host = message->from == NULL && activation->effects_count == 0;
    int type = lua_rawgeti(L, LUA_REGISTRYINDEX, role->script_mark);
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

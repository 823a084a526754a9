/* Guest world: what a script in a worker process sees.
 *
 * The agent's methods, the functions of `society` that look, and the functions of the
 * sandbox that are effects all ask the host. `society.role` and its like work while the app
 * loads: roles are noted, the rest does nothing, because the host has done it.
 * Layer: worker. Thread: one. */
#include <string.h>

#include <lauxlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/version.h"
#include "lualib/lua_json.h"
#include "sandbox/sandbox.h"
#include "worker/guest_parts.h"

/* What an agent's handle holds: user value 1 is its state. */
struct handle {
    bool has_state; /* decoded, not the JSON that came */
};

/* agent:NAME(…). Upvalue 1: the name. */
static int ask_agent(lua_State *L)
{
    struct soc_guest *guest = soc_guest_of(L);
    const char *name = lua_tostring(L, lua_upvalueindex(1));
    luaL_argexpected(L, lua_touserdata(L, 1) != NULL, 1, "agent (call it as agent:method)");
    if (lua_touserdata(L, 1) != guest->handle)
        return luaL_error(L, "an agent's handle works only inside its own activation");
    soc_guest_begin(guest, "agent");
    soc_guest_put_text(guest, soc_slice_text(name));
    soc_guest_put_arguments(L, guest, 2);
    return soc_guest_ask(L, guest);
}

/* society.NAME(…). Upvalue 1: the name. */
static int ask_society(lua_State *L)
{
    struct soc_guest *guest = soc_guest_of(L);
    const char *name = lua_tostring(L, lua_upvalueindex(1));
    if (!guest->is_running)
        return luaL_error(L, "society.%s works once the society runs, not while it loads", name);
    soc_guest_begin(guest, "society");
    soc_guest_put_text(guest, soc_slice_text(name));
    soc_guest_put_arguments(L, guest, 1);
    return soc_guest_ask(L, guest);
}

/* society.NAME(…) that changes the society, which the host has done. Upvalue 1: the name. */
static int ignore_change(lua_State *L)
{
    if (soc_guest_of(L)->is_running)
        return luaL_error(L,
                          "society.%s changes the society: it works while the script loads, not "
                          "inside a turn",
                          lua_tostring(L, lua_upvalueindex(1)));
    return 0;
}

/* society.role{…}: notes its behaviour under its id, or its name. Upvalue 1: "role". */
static int note_role(lua_State *L)
{
    const struct soc_guest *guest = soc_guest_of(L);
    ignore_change(L);
    if (lua_type(L, 1) != LUA_TTABLE)
        return 0;
    lua_settop(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, guest->roles_ref);
    if (lua_getfield(L, 1, "id") == LUA_TNIL) {
        lua_pop(L, 1);
        lua_getfield(L, 1, "name");
    }
    lua_getfield(L, 1, "behaviour");
    if (lua_type(L, -2) == LUA_TSTRING)
        lua_rawset(L, 2);
    return 0;
}

static int ask_print(lua_State *L)
{
    struct soc_guest *guest = soc_guest_of(L);
    if (!guest->is_running)
        return 0; /* the host has printed it when it loaded the app */
    soc_guest_begin(guest, "print");
    soc_guest_put_arguments(L, guest, 1);
    return soc_guest_ask(L, guest);
}

static int ask_plain(lua_State *L, const char *what, const char *shown)
{
    struct soc_guest *guest = soc_guest_of(L);
    if (!guest->is_running)
        return luaL_error(
            L, "%s is an effect: it works inside a behaviour, not while the script loads", shown);
    soc_guest_begin(guest, what);
    soc_guest_put_arguments(L, guest, 1);
    return soc_guest_ask(L, guest);
}

static int ask_time(lua_State *L)
{
    return ask_plain(L, "time", "os.time");
}

static int ask_clock(lua_State *L)
{
    return ask_plain(L, "clock", "os.clock");
}

static int ask_random(lua_State *L)
{
    return ask_plain(L, "random", "math.random");
}

/* Asks the host for the module at 1, loads it and leaves its value on top. */
static int load_module(lua_State *L)
{
    struct soc_guest *guest = soc_guest_of(L);
    struct soc_detail detail;
    size_t length;
    soc_guest_begin(guest, "require");
    soc_guest_put_value(L, guest, 1, "argument");
    int first = lua_gettop(L) + 1;
    soc_guest_ask(L, guest); /* path, text */
    lua_settop(L, first + 1);
    const char *path = luaL_checkstring(L, first);
    const char *text = luaL_checklstring(L, first + 1, &length);
    lua_rawgeti(L, LUA_REGISTRYINDEX, guest->env_ref);
    if (soc_sandbox_load_text(L, -1, soc_slice(text, length), path, &detail) < 0)
        return luaL_error(L, "require: module '%s': %s", lua_tostring(L, 1), detail.text);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, first);
    lua_call(L, 2, 1);
    return 1;
}

/* require(name). Upvalue 1: the sandbox's own, which knows the libraries. */
static int guest_require(lua_State *L)
{
    const struct soc_guest *guest = soc_guest_of(L);
    luaL_checktype(L, 1, LUA_TSTRING);
    lua_settop(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, guest->loaded_ref);
    lua_pushvalue(L, 1);
    if (lua_rawget(L, 2) == LUA_TLIGHTUSERDATA)
        return luaL_error(L, "require: module '%s' requires itself", lua_tostring(L, 1));
    if (!lua_isnil(L, 3))
        return 1;
    lua_settop(L, 2);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    if (lua_pcall(L, 1, 1, 0) == LUA_OK)
        return 1;
    lua_settop(L, 2);
    lua_pushvalue(L, 1);
    lua_pushlightuserdata(L, soc_guest_of(L));
    lua_rawset(L, 2);
    lua_pushcfunction(L, load_module);
    lua_pushvalue(L, 1);
    bool is_loaded = lua_pcall(L, 1, 1, 0) == LUA_OK;
    if (is_loaded && lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, 1);
    }
    lua_pushvalue(L, 1);
    if (is_loaded)
        lua_pushvalue(L, -2);
    else
        lua_pushnil(L);
    lua_rawset(L, 2);
    return is_loaded ? 1 : lua_error(L);
}

/* agent.state: decoded on first use. */
static int push_state(lua_State *L)
{
    struct handle *handle = lua_touserdata(L, 1);
    struct soc_detail detail;
    size_t length;
    int type = lua_getiuservalue(L, 1, 1);
    if (handle->has_state)
        return 1;
    const char *text = lua_tolstring(L, -1, &length);
    if (type != LUA_TSTRING)
        lua_newtable(L);
    else if (soc_lua_json_decode(L, soc_slice(text, length), &detail) < 0)
        return luaL_error(L, "agent.state is damaged: %s", detail.text);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, 1, 1);
    handle->has_state = true;
    return 1;
}

static int agent_index(lua_State *L)
{
    struct soc_guest *guest = soc_guest_of(L);
    const char *name = luaL_checkstring(L, 2);
    lua_rawgeti(L, LUA_REGISTRYINDEX, guest->methods_ref);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, -2) != LUA_TNIL)
        return 1;
    if (lua_touserdata(L, 1) != guest->handle)
        return luaL_error(L, "an agent's handle works only inside its own activation");
    if (strcmp(name, "state") == 0)
        return push_state(L);
    if (strcmp(name, "status") == 0) {
        soc_guest_begin(guest, "status");
        return soc_guest_ask(L, guest);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, guest->fields_ref);
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    return 1;
}

static int agent_newindex(lua_State *L)
{
    struct handle *handle = lua_touserdata(L, 1);
    if (strcmp(luaL_checkstring(L, 2), "state") != 0)
        return luaL_error(L, "agent.%s cannot be set; keep what must last in agent.state",
                          lua_tostring(L, 2));
    if (lua_touserdata(L, 1) != soc_guest_of(L)->handle)
        return luaL_error(L, "an agent's handle works only inside its own activation");
    if (lua_type(L, 3) != LUA_TTABLE)
        return luaL_error(L, "agent.state must be a table, got %s; empty it with agent.state = {}",
                          luaL_typename(L, 3));
    lua_setiuservalue(L, 1, 1);
    handle->has_state = true;
    return 0;
}

static int agent_tostring(lua_State *L)
{
    lua_pushliteral(L, "agent");
    return 1;
}

#define HANDLE "society.guest_agent"

void soc_guest_push_agent(lua_State *L, struct soc_guest *guest, struct soc_slice state)
{
    struct handle *handle = lua_newuserdatauv(L, sizeof(*handle), 1);
    *handle = (struct handle){.has_state = false};
    guest->handle = handle;
    if (state.data != NULL) {
        lua_pushlstring(L, state.data, state.length);
        lua_setiuservalue(L, -2, 1);
    }
    if (luaL_newmetatable(L, HANDLE)) {
        static const luaL_Reg functions[] = {
            {"__index", agent_index},
            {"__newindex", agent_newindex},
            {"__tostring", agent_tostring},
            {NULL, NULL},
        };
        luaL_setfuncs(L, functions, 0);
        lua_pushliteral(L, "agent");
        lua_setfield(L, -2, "__metatable");
    }
    lua_setmetatable(L, -2);
}

void soc_guest_put_state(lua_State *L, struct soc_guest *guest, int index)
{
    const struct handle *handle = lua_touserdata(L, index);
    struct soc_detail detail;
    soc_buf_put_byte(&guest->out, ',');
    if (!handle->has_state) {
        soc_buf_put_text(&guest->out, "null");
        return;
    }
    lua_getiuservalue(L, index, 1);
    int rc =
        soc_lua_json_encode(L, lua_gettop(L), "state", SOC_STATE_BYTES_MAX, &guest->out, &detail);
    if (rc == SOC_ETOOLARGE)
        luaL_error(L, "agent.state exceeds the limit of 1 MB");
    if (rc < 0)
        luaL_error(L, "%s", detail.text);
    lua_pop(L, 1);
}

/* __index of messages: their text, as the presentation policy words it. */
static int message_index(lua_State *L)
{
    struct soc_guest *guest = soc_guest_of(L);
    if (lua_type(L, 2) != LUA_TSTRING || strcmp(lua_tostring(L, 2), "text") != 0 ||
        !guest->is_running)
        return 0;
    soc_guest_begin(guest, "text");
    soc_guest_put_value(L, guest, 1, "argument");
    int count = soc_guest_ask(L, guest);
    if (count == 0)
        return 0;
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, 1);
    return 1;
}

void soc_guest_push_message(lua_State *L, const struct soc_guest *guest, struct soc_slice json)
{
    struct soc_detail detail;
    if (soc_lua_json_decode(L, json, &detail) < 0)
        luaL_error(L, "%s", detail.text);
    lua_rawgeti(L, LUA_REGISTRYINDEX, guest->message_meta_ref);
    lua_setmetatable(L, -2);
}

/* Sets a closure over each name of the list in the table on top. */
static void set_names(lua_State *L, struct soc_slice list, lua_CFunction function)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk)) {
        struct soc_slice name = soc_json_plain_string(walk.value);
        lua_pushlstring(L, name.data, name.length);
        lua_pushvalue(L, -1);
        lua_pushcclosure(L, function, 1);
        lua_rawset(L, -3);
    }
}

static void push_society(lua_State *L, struct soc_slice open)
{
    static const char changes[] = "[\"root\",\"main\",\"policy\",\"config\"]";
    lua_newtable(L);
    set_names(L, soc_json_member(open, "looks"), ask_society);
    set_names(L, soc_slice(changes, sizeof(changes) - 1), ignore_change);
    lua_pushliteral(L, "role");
    lua_pushcclosure(L, note_role, 1);
    lua_setfield(L, -2, "role");
    lua_pushliteral(L, SOC_VERSION);
    lua_setfield(L, -2, "version");
}

/* Sets the field `name` of the table on top to a member of `open`. */
static void set_field(lua_State *L, const char *name, struct soc_slice value)
{
    struct soc_detail detail;
    if (value.data == NULL || soc_lua_json_decode(L, value, &detail) < 0)
        return;
    lua_setfield(L, -2, name);
}

static int push_fields(lua_State *L, struct soc_slice open)
{
    lua_newtable(L);
    set_field(L, "id", soc_json_member(open, "id"));
    set_field(L, "brief", soc_json_member(open, "brief"));
    lua_newtable(L);
    set_field(L, "id", soc_json_member(open, "role"));
    set_field(L, "name", soc_json_member(open, "role_name"));
    lua_setfield(L, -2, "role");
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

static int new_table_ref(lua_State *L)
{
    lua_newtable(L);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

void soc_guest_make_world(lua_State *L, struct soc_guest *guest, struct soc_slice open)
{
    struct soc_sandbox_gate gate = {ask_print, ask_time, ask_clock, ask_random, guest};
    soc_sandbox_push(L, &gate);
    int env = lua_gettop(L);
    soc_lua_json_open(L);
    soc_sandbox_preload(L, env, "society.json");
    push_society(L, open);
    soc_sandbox_preload(L, env, "society");
    lua_getfield(L, env, "require");
    lua_pushcclosure(L, guest_require, 1);
    lua_setfield(L, env, "require");
    guest->roles_ref = new_table_ref(L);
    guest->loaded_ref = new_table_ref(L);
    guest->fields_ref = push_fields(L, open);
    lua_newtable(L);
    set_names(L, soc_json_member(open, "methods"), ask_agent);
    guest->methods_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_newtable(L);
    lua_pushcfunction(L, message_index);
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "message");
    lua_setfield(L, -2, "__metatable");
    guest->message_meta_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    guest->env_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

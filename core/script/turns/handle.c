#include "script/turns/handle.h"

#include <assert.h>
#include <string.h>

#include "base/limits.h"
#include "kernel/look.h"
#include "lualib/lua_json.h"
#include "script/turns/thread.h"

struct handle {
    struct soc_script *script;
    bool has_state; /* user value 1 is agent.state, decoded */
};

/* Only the handle of the running activation works, so comparing its address is enough. */
static struct handle *check_handle(lua_State *L)
{
    struct soc_script *script = soc_box_script(L, lua_upvalueindex(1));
    const struct soc_activation *running = soc_gate_activation(script->host);
    struct handle *handle = lua_touserdata(L, 1);
    luaL_argexpected(L, handle != NULL, 1, "agent (call it as agent:method)");
    if (running == NULL || ((struct soc_thread *)running->script)->handle != handle)
        luaL_error(L, "an agent's handle works only inside its own activation");
    assert(handle->script == script);
    return handle;
}

struct soc_script *soc_handle_script(lua_State *L)
{
    return check_handle(L)->script;
}

/* agent.state: decoded on first use, a new table each time the activation runs from its
 * start. */
static int push_state(lua_State *L, struct handle *handle, const struct soc_agent *agent)
{
    if (handle->has_state) {
        lua_getiuservalue(L, 1, 1);
        return 1;
    }
    struct soc_detail detail;
    if (agent->state == NULL)
        lua_newtable(L);
    else if (soc_lua_json_decode(L, soc_slice(agent->state, agent->state_length), &detail) < 0)
        return luaL_error(L, "agent.state is damaged: %s", detail.text);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, 1, 1);
    handle->has_state = true;
    return 1;
}

static int push_field(lua_State *L, struct soc_host *host, const char *name)
{
    const struct soc_agent *agent = soc_gate_activation(host)->agent;
    struct soc_detail detail;
    if (strcmp(name, "id") == 0) {
        lua_pushlstring(L, agent->id, agent->id_length);
    } else if (strcmp(name, "role") == 0) {
        lua_createtable(L, 0, 2);
        lua_pushstring(L, agent->role->id);
        lua_setfield(L, -2, "id");
        lua_pushstring(L, agent->role->name);
        lua_setfield(L, -2, "name");
    } else if (strcmp(name, "parent") == 0) {
        lua_pushstring(L, agent->parent == NULL ? NULL : agent->parent->id);
    } else if (strcmp(name, "brief") == 0) {
        if (agent->brief == NULL)
            lua_pushnil(L);
        else if (soc_lua_json_decode(L, soc_slice(agent->brief, agent->brief_length), &detail) < 0)
            return luaL_error(L, "agent.brief is damaged: %s", detail.text);
    } else if (strcmp(name, "status") == 0) {
        lua_pushstring(L, soc_look_status(host, agent));
    } else {
        lua_pushnil(L);
    }
    return 1;
}

/* Upvalues: the box, the methods, "state". State and methods come first because they are
 * used most. */
static int handle_index(lua_State *L)
{
    if (lua_rawequal(L, 2, lua_upvalueindex(3))) {
        struct handle *handle = check_handle(L);
        return push_state(L, handle, soc_gate_activation(handle->script->host)->agent);
    }
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL)
        return 1;
    const struct handle *handle = check_handle(L);
    return push_field(L, handle->script->host, luaL_checkstring(L, 2));
}

static int handle_newindex(lua_State *L)
{
    struct handle *handle = check_handle(L);
    if (strcmp(luaL_checkstring(L, 2), "state") != 0)
        return luaL_error(L, "agent.%s cannot be set; keep what must last in agent.state",
                          lua_tostring(L, 2));
    if (lua_type(L, 3) != LUA_TTABLE)
        return luaL_error(L, "agent.state must be a table, got %s; empty it with agent.state = {}",
                          luaL_typename(L, 3));
    lua_pushvalue(L, 3);
    lua_setiuservalue(L, 1, 1);
    handle->has_state = true;
    return 0;
}

static int handle_tostring(lua_State *L)
{
    lua_pushliteral(L, "agent");
    return 1;
}

void soc_handle_open(lua_State *L, struct soc_script *script)
{
    assert(script->methods_ref != 0 && script->handle_meta_ref == 0);
    lua_createtable(L, 0, 4);
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->box_ref);
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->methods_ref);
    lua_pushliteral(L, "state");
    lua_pushcclosure(L, handle_index, 3);
    lua_setfield(L, -2, "__index");
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->box_ref);
    lua_pushcclosure(L, handle_newindex, 1);
    lua_setfield(L, -2, "__newindex");
    lua_pushcfunction(L, handle_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_pushliteral(L, "agent");
    lua_setfield(L, -2, "__metatable");
    script->handle_meta_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

void soc_handle_push(lua_State *L, struct soc_script *script)
{
    struct soc_thread *thread = soc_gate_activation(script->host)->script;
    assert(thread != NULL && thread->co == L);
    struct handle *handle = lua_newuserdatauv(L, sizeof(*handle), 1);
    *handle = (struct handle){.script = script};
    thread->handle = handle;
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->handle_meta_ref);
    lua_setmetatable(L, -2);
}

int soc_handle_put_state(lua_State *L, int index, struct soc_buf *out, struct soc_detail *detail)
{
    const struct handle *handle = lua_touserdata(L, index);
    assert(handle != NULL);
    if (!handle->has_state)
        return SOC_OK;
    lua_getiuservalue(L, index, 1);
    int rc = soc_lua_json_encode(L, -1, "state", SOC_STATE_BYTES_MAX, out, detail);
    lua_pop(L, 1);
    if (rc == SOC_ETOOLARGE)
        soc_fail(detail, rc, "agent.state exceeds the limit of 1 MB");
    return rc;
}

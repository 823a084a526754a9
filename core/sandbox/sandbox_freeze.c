/* Sandbox freeze: tables that scripts read but cannot change.
 *
 * All agents of an app share one environment, so what one of them changes in a library
 * would be changed for all. Lua asks a metatable only about keys that a table does not
 * have. So a frozen table is empty: its content moves to a hidden table that `__index`
 * reads and no script can reach. The price is a second look-up for each read, which a
 * file-level `local format = string.format` saves.
 *
 * Of the environment itself only the names that come with it are frozen: globals of the
 * app stay the app's, and are shared like its file-level locals.
 * Layer: sandbox. Thread: loop. */
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_parts.h"

#include <assert.h>
#include <string.h>

#include <lauxlib.h>

/* Their addresses are keys in a frozen table's metatable: of the hidden table, and of the
 * name of what is frozen as a whole. */
static const char hidden_key = 'h';
static const char name_key = 'n';

bool soc_sandbox_push_hidden(lua_State *L, int index)
{
    if (!lua_getmetatable(L, index))
        return false;
    bool is_frozen = lua_rawgetp(L, -1, &hidden_key) == LUA_TTABLE;
    if (!is_frozen)
        lua_pop(L, 1);
    lua_remove(L, is_frozen ? -2 : -1);
    return is_frozen;
}

/* Raises: the key on top belongs to the frozen table of that name. */
static int refuse_key(lua_State *L, const char *name)
{
    lua_pushvalue(L, -1);
    const char *key = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : luaL_typename(L, -1);
    bool is_global = strcmp(name, "_G") == 0;
    return luaL_error(L,
                      "%s%s%s cannot be changed: all agents share it; extend libraries while the "
                      "app loads, and keep what changes in agent.state or in a table of your own",
                      is_global ? "" : name, is_global ? "" : ".", key);
}

/* __newindex(table, key, value) of a library. Upvalue 1: its name. */
static int refuse_change(lua_State *L)
{
    lua_settop(L, 2);
    return refuse_key(L, lua_tostring(L, lua_upvalueindex(1)));
}

/* __newindex(table, key, value) of an environment: its own names are frozen, others are
 * set as the app's metatable, now that of the hidden table, wants it. Upvalue 1: the
 * hidden table. */
static int set_global(lua_State *L)
{
    lua_settop(L, 3);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) {
        lua_settop(L, 2);
        return refuse_key(L, "_G");
    }
    lua_settop(L, 3);
    int type = luaL_getmetafield(L, lua_upvalueindex(1), "__newindex");
    if (type == LUA_TNIL) {
        lua_rawset(L, 1);
        return 0;
    }
    if (type == LUA_TFUNCTION) {
        lua_insert(L, 1);
        lua_call(L, 3, 0);
        return 0;
    }
    lua_replace(L, 1);
    lua_settable(L, 1);
    return 0;
}

void soc_sandbox_check_rawset(lua_State *L)
{
    if (!soc_sandbox_push_hidden(L, 1))
        return;
    int hidden = lua_gettop(L);
    lua_getmetatable(L, 1);
    bool is_whole = lua_rawgetp(L, -1, &name_key) == LUA_TSTRING;
    const char *name = is_whole ? lua_tostring(L, -1) : "_G";
    lua_pushvalue(L, 2);
    if (is_whole || lua_rawget(L, hidden) != LUA_TNIL) {
        lua_pushvalue(L, 2);
        refuse_key(L, name);
    }
    lua_settop(L, hidden - 1);
}

/* Copies every field of the table at `from` to the one on top. */
static void copy_fields(lua_State *L, int from)
{
    int to = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, from)) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, to);
    }
}

void soc_sandbox_thaw(lua_State *L, int index)
{
    if (!soc_sandbox_push_hidden(L, index))
        return;
    lua_newtable(L);
    copy_fields(L, lua_gettop(L) - 1);
    copy_fields(L, index);
    lua_replace(L, index);
    lua_pop(L, 1);
}

/* Gives the table at `table` a metatable over the hidden table on top, which is popped
 * and takes over the former metatable. `name`: what is frozen as a whole; NULL: an
 * environment. */
static void set_frozen(lua_State *L, int table, const char *name)
{
    int hidden = lua_gettop(L);
    if (lua_getmetatable(L, table))
        lua_setmetatable(L, hidden);
    lua_createtable(L, 0, 5);
    lua_pushvalue(L, hidden);
    lua_setfield(L, -2, "__index");
    if (name != NULL) {
        lua_pushstring(L, name);
        lua_rawsetp(L, -2, &name_key);
        lua_pushstring(L, name);
        lua_pushcclosure(L, refuse_change, 1);
    } else {
        lua_pushvalue(L, hidden);
        lua_pushcclosure(L, set_global, 1);
    }
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pushvalue(L, hidden);
    lua_rawsetp(L, -2, &hidden_key);
    lua_setmetatable(L, table);
    lua_settop(L, hidden - 1);
}

/* Moves the value of the key on top, which is popped, to the hidden table at `hidden`. */
static void hide(lua_State *L, int table, int hidden)
{
    lua_pushvalue(L, -1);
    lua_pushvalue(L, -1);
    lua_rawget(L, table);
    lua_rawset(L, hidden);
    lua_pushnil(L);
    lua_rawset(L, table);
}

void soc_sandbox_freeze_table(lua_State *L, int index, const char *name)
{
    int table = lua_absindex(L, index);
    assert(lua_istable(L, table));
    luaL_checkstack(L, 8, NULL);
    if (soc_sandbox_push_hidden(L, table)) {
        lua_pop(L, 1);
        return;
    }
    lua_newtable(L);
    int hidden = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, table)) { /* a field may be cleared during a walk */
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        hide(L, table, hidden);
    }
    set_frozen(L, table, name);
}

void soc_sandbox_push_view(lua_State *L, int index, const char *name)
{
    index = lua_absindex(L, index);
    lua_newtable(L);
    lua_pushvalue(L, index);
    set_frozen(L, lua_gettop(L) - 1, name);
}

void soc_sandbox_freeze_names(lua_State *L, int index, int names)
{
    int table = lua_absindex(L, index);
    names = lua_absindex(L, names);
    lua_newtable(L);
    int hidden = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, names)) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        hide(L, table, hidden);
    }
    set_frozen(L, table, NULL);
}

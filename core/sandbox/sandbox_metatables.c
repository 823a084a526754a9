/* Sandbox metatables: which of them scripts may see and set.
 *
 * The collector decides when `__gc` runs and when `__mode` drops entries, so
 * setmetatable refuses both. Lua looks for `__gc` only when a metatable is set, so
 * adding it later has no effect. Nor has `__mode` (lualib/lua_weak.h). Metatables that the
 * host registered by name and those of values other than tables are hidden, so that no
 * script can change them for others.
 * Layer: sandbox. Thread: loop. */
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_parts.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include <lauxlib.h>

#include "lualib/lua_fill.h"

/* Returns true if the metatable on top of the stack is registered by its name. */
static bool is_host_metatable(lua_State *L)
{
    assert(lua_istable(L, -1));
    lua_pushliteral(L, "__name");
    if (lua_rawget(L, -2) != LUA_TSTRING) {
        lua_pop(L, 1);
        return false;
    }
    lua_rawget(L, LUA_REGISTRYINDEX);
    bool is_host = lua_rawequal(L, -1, -2);
    lua_pop(L, 1);
    return is_host;
}

/* getmetatable(value) -> metatable, or its `__metatable` field, or nil */
static int sandbox_getmetatable(lua_State *L)
{
    luaL_checkany(L, 1);
    soc_lua_fill(L, 1);
    if (!lua_getmetatable(L, 1)) {
        lua_pushnil(L);
        return 1;
    }
    lua_pushliteral(L, "__metatable");
    if (lua_rawget(L, -2) != LUA_TNIL)
        return 1;
    lua_pop(L, 1);
    if (!lua_istable(L, 1) || is_host_metatable(L))
        lua_pushnil(L);
    return 1;
}

/* Raises if the metatable at 2 has the field. */
static void refuse_field(lua_State *L, const char *name)
{
    assert(lua_istable(L, 2));
    lua_pushstring(L, name);
    if (lua_rawget(L, 2) != LUA_TNIL)
        luaL_error(L, "setmetatable: scripts cannot use %s, which depends on the garbage collector",
                   name);
    lua_pop(L, 1);
}

/* Tables that a call may go through. */
#define CALLS_MAX 16

/* Of the Lua library in use; lua.h does not declare it. */
extern const char lua_ident[];

/* Debian's Lua 5.4.4 writes to freed memory if a `__concat` function needs more stack. The
 * release as it was published does not, but cannot be told apart. */
bool soc_sandbox_refuses_concat(void)
{
    return strstr(lua_ident, "Lua 5.4.4 ") != NULL;
}

#define CONCAT_REFUSED                                                                             \
    "__concat corrupts memory in this version of Lua; write a function, or __tostring and "        \
    "tostring"

static void refuse_concat(lua_State *L)
{
    lua_pushliteral(L, "__concat");
    if (lua_rawget(L, 2) != LUA_TNIL && soc_sandbox_refuses_concat())
        luaL_error(L, "setmetatable: " CONCAT_REFUSED);
    lua_pop(L, 1);
}

/* Its address is the name of __concat in the registry, which the sandbox puts there. */
static const char concat_key;

/* Tells whether the value has a __concat. Moves no stack: the broken caller keeps an address in
 * it. So nothing is allocated, and three places above its values there always are. */
static bool has_concat(lua_State *L, int index)
{
    if (!lua_getmetatable(L, index))
        return false;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &concat_key);
    bool has = lua_rawget(L, -2) != LUA_TNIL;
    lua_pop(L, 2);
    return has;
}

/* Replaces the call by which `..` looks for a __concat of the two values on top, by the linker's
 * --wrap, which dictates the names: a metatable may get it after setmetatable. With a shared
 * Lua library nobody calls this, and there is no function to go on with. */
void __real_luaT_tryconcatTM(lua_State *L) __attribute__((weak));
void __wrap_luaT_tryconcatTM(lua_State *L);

void __wrap_luaT_tryconcatTM(lua_State *L)
{
    if (soc_sandbox_refuses_concat() && (has_concat(L, -2) || has_concat(L, -1))) {
        luaL_where(L, 0);
        lua_pushliteral(L, CONCAT_REFUSED);
        lua_pushfstring(L, "%s%s", lua_tostring(L, -2), lua_tostring(L, -1));
        lua_error(L);
    }
    __real_luaT_tryconcatTM(L);
}

/* Refuses a long chain of tables that call each other: to call its first one, Lua moves all
 * arguments once for each, which no hook interrupts. A chain that is made later is not seen. */
static void refuse_call_chain(lua_State *L)
{
    lua_pushvalue(L, 2);
    for (int i = 0;; i++) {
        lua_pushliteral(L, "__call");
        if (lua_rawget(L, -2) == LUA_TNIL || lua_isfunction(L, -1) || !lua_getmetatable(L, -1))
            break;
        if (i == CALLS_MAX)
            luaL_error(L, "setmetatable: __call leads through more than %d tables", CALLS_MAX);
        lua_replace(L, -3);
        lua_pop(L, 1);
    }
    lua_settop(L, 2);
}

/* setmetatable(table, metatable or nil) -> table */
static int sandbox_setmetatable(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    int type = lua_type(L, 2);
    luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
    soc_lua_fill(L, 1);
    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
        return luaL_error(L, "cannot change a protected metatable");
    lua_settop(L, 2);
    if (type == LUA_TTABLE) {
        refuse_field(L, "__gc");
        refuse_field(L, "__mode");
        refuse_concat(L);
        refuse_call_chain(L);
    }
    lua_setmetatable(L, 1);
    return 1;
}

/* rawget(table, key) -> value */
static int sandbox_rawget(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checkany(L, 2);
    lua_settop(L, 2);
    soc_lua_fill(L, 1);
    soc_sandbox_thaw(L, 1);
    lua_rawget(L, 1);
    return 1;
}

/* rawset(table, key, value) -> table */
static int sandbox_rawset(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checkany(L, 2);
    luaL_checkany(L, 3);
    lua_settop(L, 3);
    soc_lua_fill(L, 1);
    soc_sandbox_check_rawset(L);
    lua_rawset(L, 1);
    return 1;
}

void soc_sandbox_open_metatables(lua_State *L)
{
    lua_pushliteral(L, "__concat");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &concat_key);
    lua_pushcfunction(L, sandbox_getmetatable);
    lua_setfield(L, -2, "getmetatable");
    lua_pushcfunction(L, sandbox_setmetatable);
    lua_setfield(L, -2, "setmetatable");
    lua_pushcfunction(L, sandbox_rawget);
    lua_setfield(L, -2, "rawget");
    lua_pushcfunction(L, sandbox_rawset);
    lua_setfield(L, -2, "rawset");
}

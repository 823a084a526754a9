#include "script/turns/lazy.h"

#include <assert.h>

#include "lualib/lua_fill.h"
#include "sandbox/sandbox.h"

/* Upvalues of both: 1 the society's box, 2 the function that fills. */
static void fill_in(lua_State *L)
{
    lua_CFunction fill = lua_tocfunction(L, lua_upvalueindex(2));
    int top = lua_gettop(L);
    assert(fill != NULL && lua_istable(L, 1));
    fill(L);
    lua_settop(L, top);
}

/* __newindex: fills the table first, so that filling later does not overwrite what is
 * written. */
static int lazy_newindex(lua_State *L)
{
    fill_in(L);
    lua_settop(L, 3);
    lua_rawset(L, 1);
    return 0;
}

/* __pairs: in order. */
static int lazy_pairs(lua_State *L)
{
    soc_box_script(L, lua_upvalueindex(1)); /* raises if the society is gone */
    fill_in(L);
    soc_sandbox_push_next(L);
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

static void set_function(lua_State *L, const struct soc_script *script, const char *name,
                         lua_CFunction function, lua_CFunction fill)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->box_ref);
    lua_pushcfunction(L, fill);
    lua_pushcclosure(L, function, 2);
    lua_setfield(L, -2, name);
}

void soc_lazy_push(lua_State *L, const struct soc_script *script, lua_CFunction index,
                   lua_CFunction fill)
{
    assert(script->box_ref != 0 && index != NULL && fill != NULL);
    lua_createtable(L, 0, 5);
    set_function(L, script, "__index", index, fill);
    set_function(L, script, "__newindex", lazy_newindex, fill);
    set_function(L, script, "__pairs", lazy_pairs, fill);
    soc_lua_fill_set(L, fill);
}

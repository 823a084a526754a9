#include "script/bindings/bind.h"

#include <assert.h>

static void add(lua_State *L, const struct soc_script *script, int table_ref,
                const luaL_Reg *functions)
{
    assert(table_ref != 0 && script->box_ref != 0);
    lua_rawgeti(L, LUA_REGISTRYINDEX, table_ref);
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->box_ref);
    luaL_setfuncs(L, functions, 1);
    lua_pop(L, 1);
}

void soc_bind_methods(lua_State *L, const struct soc_script *script, const luaL_Reg *functions)
{
    add(L, script, script->methods_ref, functions);
}

void soc_bind_functions(lua_State *L, const struct soc_script *script, const luaL_Reg *functions)
{
    add(L, script, script->module_ref, functions);
}

struct soc_script *soc_bind_enter(lua_State *L)
{
    if (lua_touserdata(L, 1) != NULL && luaL_testudata(L, 1, SOC_WORLD) != NULL)
        lua_remove(L, 1);
    struct soc_script *script = soc_box_script(L, lua_upvalueindex(1));
    if (script->is_dropping)
        luaL_error(L, "a behaviour that is being closed cannot act");
    return script;
}

struct soc_slice soc_bind_check_text(lua_State *L, const char *call, const char *what)
{
    size_t length;
    if (lua_type(L, 1) != LUA_TSTRING)
        luaL_error(L, "society.%s: %s expected, got %s", call, what, luaL_typename(L, 1));
    const char *text = lua_tolstring(L, 1, &length);
    return soc_slice(text, length);
}

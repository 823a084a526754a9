#include "lualib/lua_weak.h"

#include <stdbool.h>
#include <stddef.h>

/* The event that Lua 5.4 calls TM_MODE. */
#define MODE_EVENT 3

/* Its address is the first element of the metatables made here. */
static const char weak_key = 'w';

/* Replaces the call by which the collector looks for a metamethod, by the linker's --wrap, which
 * dictates the names. With a shared Lua library nobody calls this. */
const void *__real_luaT_gettm(void *events, int event, void *name) __attribute__((weak));
const void *__wrap_luaT_gettm(void *events, int event, void *name);

/* Lua's own: lends the place of an element, which begins with its value. */
const void *const *luaH_getint(void *table, lua_Integer key) __attribute__((weak));

const void *__wrap_luaT_gettm(void *events, int event, void *name)
{
    if (event == MODE_EVENT && *luaH_getint(events, 1) != &weak_key)
        return NULL;
    return __real_luaT_gettm(events, event, name);
}

void soc_lua_weak_push(lua_State *L, const char *mode)
{
    lua_newtable(L);
    lua_createtable(L, 1, 1);
    lua_pushstring(L, mode);
    lua_setfield(L, -2, "__mode");
    lua_pushlightuserdata(L, (void *)&weak_key);
    lua_rawseti(L, -2, 1);
    lua_setmetatable(L, -2);
}

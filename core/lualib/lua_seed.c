#include "lualib/lua_seed.h"

#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#define SEED 0x50c1e7eu /* any number will do */

/* So many orders are possible that two seeds do not give the same one. */
#define KEYS 64

/* Stands in for luaS_hash where it makes the seed, by the linker's --wrap. The name is
 * the linker's; Lua 5.4.0 to 5.4.2 pass one argument more, which does not matter. */
unsigned int __wrap_luaS_hash(const char *bytes, size_t length, unsigned int seed);

unsigned int __wrap_luaS_hash(const char *bytes, size_t length, unsigned int seed)
{
    (void)bytes;
    (void)length;
    (void)seed;
    return SEED;
}

/* Notes the order in which the state goes through a table of KEYS strings. */
static int note_order(lua_State *L)
{
    unsigned char *order = lua_touserdata(L, 1);
    char name[16];
    lua_newtable(L);
    for (int i = 0; i < KEYS; i++) {
        snprintf(name, sizeof(name), "key%d", i);
        lua_pushinteger(L, i);
        lua_setfield(L, 2, name);
    }
    lua_pushnil(L);
    for (int i = 0; lua_next(L, 2) != 0; i++) {
        order[i] = (unsigned char)lua_tointeger(L, -1);
        lua_pop(L, 1);
    }
    return 0;
}

static bool get_order(lua_State *L, unsigned char order[KEYS])
{
    if (L == NULL)
        return false;
    lua_pushcfunction(L, note_order);
    lua_pushlightuserdata(L, order);
    return lua_pcall(L, 1, 0, 0) == LUA_OK;
}

bool soc_lua_seed_is_fixed(void)
{
    unsigned char one[KEYS], other[KEYS];
    lua_State *first = luaL_newstate();
    lua_State *second = luaL_newstate(); /* while the first is there: at another address */
    bool is_fixed =
        get_order(first, one) && get_order(second, other) && memcmp(one, other, KEYS) == 0;
    if (first != NULL)
        lua_close(first);
    if (second != NULL)
        lua_close(second);
    return is_fixed;
}

#include "lualib/lua_seed.h"

#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "lualib/lua_heap.h"

_Static_assert(LUA_VERSION_NUM == 504, "lua_newstate makes its seed in another way");

#define SEED 0x50c1e7eu /* arbitrary */

/* Enough keys that two seeds do not give the same order by chance. */
#define KEYS 64

/* Replaces the call of luaS_hash that makes the seed, by the linker's --wrap, which
 * dictates the name. Lua 5.4.0 to 5.4.2 pass one more argument, which is harmless. */
unsigned int __wrap_luaS_hash(const char *bytes, size_t length, unsigned int seed);

unsigned int __wrap_luaS_hash(const char *bytes, size_t length, unsigned int seed)
{
    lua_State *L;
    (void)seed;
    /* What lua_newstate mixes: the state, which knows its allocator by now, and two other
     * addresses. */
    if (length != 3 * sizeof(size_t))
        return SEED;
    memcpy(&L, bytes, sizeof(L));
    return SEED ^ soc_lua_heap_seed(L);
}

/* Records the order in which the state iterates over a table of KEYS strings. */
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
    lua_State *second = luaL_newstate(); /* created while the first exists, so at another address */
    bool is_fixed =
        get_order(first, one) && get_order(second, other) && memcmp(one, other, KEYS) == 0;
    if (first != NULL)
        lua_close(first);
    if (second != NULL)
        lua_close(second);
    return is_fixed;
}

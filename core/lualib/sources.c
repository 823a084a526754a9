#include "lualib/sources.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <lauxlib.h>

/* Registry key of this file's table. */
static const char sources_key = 0;

/* Its fields. */
#define OPENED    1 /* list of paths, and path -> true */
#define KEPT      2 /* path -> text */
#define HAS_KEPT  3
#define HAS_FILES 4
#define FROZEN    5 /* path -> whether it exists; nil: not frozen */

/* Pushes field `which`. */
static int push_field(lua_State *L, int which)
{
    assert(which >= OPENED && which <= FROZEN);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &sources_key) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_createtable(L, 4, 0);
        lua_newtable(L);
        lua_rawseti(L, -2, OPENED);
        lua_newtable(L);
        lua_rawseti(L, -2, KEPT);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &sources_key);
    }
    int type = lua_rawgeti(L, -1, which);
    lua_remove(L, -2);
    return type;
}

static bool is_set(lua_State *L, int which)
{
    push_field(L, which);
    bool is = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return is;
}

static void remember(lua_State *L, const char *path)
{
    push_field(L, OPENED);
    lua_pushstring(L, path);
    lua_pushvalue(L, -1);
    if (lua_rawget(L, -3) == LUA_TNIL) {
        lua_pushvalue(L, -2);
        lua_rawseti(L, -4, (lua_Integer)lua_rawlen(L, -4) + 1);
        lua_pushvalue(L, -2);
        lua_pushboolean(L, true);
        lua_rawset(L, -5);
    }
    lua_pop(L, 3);
}

/* The text is referenced by its table, so it stays valid while the file is read. */
static FILE *open_kept(lua_State *L, const char *path)
{
    size_t length;
    push_field(L, KEPT);
    lua_getfield(L, -1, path);
    const char *text = lua_tolstring(L, -1, &length);
    lua_pop(L, 2);
    if (text == NULL) {
        errno = ENOENT;
        return NULL;
    }
    return length == 0 ? fopen("/dev/null", "rb") : fmemopen((void *)text, length, "rb");
}

FILE *soc_sources_open(lua_State *L, const char *path)
{
    assert(path != NULL);
    luaL_checkstack(L, 8, NULL);
    if (is_set(L, HAS_KEPT)) {
        FILE *kept = open_kept(L, path);
        if (kept != NULL || !is_set(L, HAS_FILES))
            return kept;
    }
    FILE *file = fopen(path, "rb");
    int error = errno;
    if (file != NULL)
        remember(L, path);
    errno = error;
    return file;
}

bool soc_sources_has(lua_State *L, const char *path)
{
    int top = lua_gettop(L);
    luaL_checkstack(L, 8, NULL);
    bool is_frozen = push_field(L, FROZEN) == LUA_TTABLE;
    bool is_there;
    if (is_frozen && lua_getfield(L, -1, path) == LUA_TBOOLEAN) {
        is_there = lua_toboolean(L, -1);
    } else {
        FILE *file = soc_sources_open(L, path);
        is_there = file != NULL;
        if (is_there)
            fclose(file);
        if (is_frozen) {
            lua_pushboolean(L, is_there);
            lua_setfield(L, top + 1, path);
        }
    }
    lua_settop(L, top);
    return is_there;
}

void soc_sources_freeze(lua_State *L)
{
    push_field(L, OPENED); /* creates the table */
    lua_pop(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &sources_key);
    lua_newtable(L);
    lua_rawseti(L, -2, FROZEN);
    lua_pop(L, 1);
}

bool soc_sources_are_frozen(lua_State *L)
{
    bool is_frozen = push_field(L, FROZEN) == LUA_TTABLE;
    lua_pop(L, 1);
    return is_frozen;
}

size_t soc_sources_each(lua_State *L, size_t after, void (*each)(void *user, const char *path),
                        void *user)
{
    push_field(L, OPENED);
    size_t count = lua_rawlen(L, -1);
    for (size_t i = after; i < count; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        each(user, lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return count;
}

void soc_sources_keep(lua_State *L, const char *path, struct soc_slice text)
{
    push_field(L, KEPT);
    lua_pushlstring(L, text.data, text.length);
    lua_setfield(L, -2, path);
    lua_pop(L, 1);
}

void soc_sources_use(lua_State *L, bool has_kept, bool has_files)
{
    push_field(L, OPENED); /* creates the table */
    lua_pop(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &sources_key);
    lua_pushboolean(L, has_kept);
    lua_rawseti(L, -2, HAS_KEPT);
    lua_pushboolean(L, has_files);
    lua_rawseti(L, -2, HAS_FILES);
    lua_pop(L, 1);
}

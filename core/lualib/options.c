#include "lualib/options.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "base/json.h"
#include "base/limits.h"

int soc_option_field(lua_State *L, int index, const char *name)
{
    assert(lua_istable(L, index));
    index = lua_absindex(L, index);
    lua_pushstring(L, name);
    return lua_rawget(L, index);
}

void soc_option_check(lua_State *L, int index, const char *call, const char *name, int type)
{
    int given = soc_option_field(L, index, name);
    if (given != LUA_TNIL && given != type)
        luaL_error(L, "%s: '%s' must be a %s, got %s", call, name, lua_typename(L, type),
                   luaL_typename(L, -1));
    lua_pop(L, 1);
}

const char *soc_option_name(lua_State *L, const char *what)
{
    assert(lua_istable(L, -3));
    if (lua_type(L, -2) != LUA_TSTRING || strlen(lua_tostring(L, -2)) != lua_rawlen(L, -2))
        luaL_error(L, "%s: keys must be strings without NUL, got %s", what, luaL_typename(L, -2));
    return lua_tostring(L, -2);
}

int64_t soc_option_timeout(lua_State *L, int index, const char *call, int64_t otherwise)
{
    if (soc_option_field(L, index, "timeout_ms") == LUA_TNIL)
        return otherwise;
    lua_Number ms = lua_tonumber(L, -1);
    if (lua_type(L, -1) != LUA_TNUMBER || !(ms >= 0 && ms <= 1e14))
        luaL_error(L, "%s: 'timeout_ms' must be a number from 0 to 10^14", call);
    return (int64_t)ms;
}

int64_t soc_option_integer(lua_State *L, int index, const char *call, const char *name,
                           int64_t otherwise)
{
    int is_integer;
    if (soc_option_field(L, index, name) == LUA_TNIL)
        return otherwise;
    lua_Integer number = lua_tointegerx(L, -1, &is_integer);
    if (lua_type(L, -1) != LUA_TNUMBER || !is_integer)
        luaL_error(L, "%s: '%s' must be an integer", call, name);
    return number;
}

bool soc_option_is_text(struct soc_slice text)
{
    return soc_utf8_fault(text) < 0 &&
           (text.length == 0 || memchr(text.data, '\0', text.length) == NULL);
}

/* Compares by length because a key may contain NUL. */
static bool is_known(const char *name, size_t length, const char *const *known)
{
    for (int i = 0; known[i] != NULL; i++)
        if (strlen(known[i]) == length && memcmp(known[i], name, length) == 0)
            return true;
    return false;
}

/* Pushes the names as one text, "a, b, c", and lends it. */
static const char *push_names(lua_State *L, const char *const *known)
{
    luaL_Buffer names;
    luaL_buffinit(L, &names);
    for (int i = 0; known[i] != NULL; i++) {
        if (i > 0)
            luaL_addstring(&names, ", ");
        luaL_addstring(&names, known[i]);
    }
    luaL_pushresult(&names);
    return lua_tostring(L, -1);
}

void soc_option_check_names(lua_State *L, int index, const char *what, const char *const *known)
{
    const char *worst = NULL;
    index = lua_absindex(L, index);
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            luaL_error(L, "%s: keys must be strings, got %s", what, luaL_typename(L, -1));
        size_t length;
        const char *name = lua_tolstring(L, -1, &length); /* stays valid: the table holds it */
        if (!is_known(name, length, known) && (worst == NULL || strcmp(name, worst) < 0))
            worst = name;
    }
    if (worst != NULL) {
        char shown[SOC_ID_BYTES_MAX + 1];
        snprintf(shown, sizeof(shown), "%s", worst);
        luaL_error(L, "%s: unknown option '%s'; the options are %s", what, shown,
                   push_names(L, known));
    }
}

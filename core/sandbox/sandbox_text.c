/* Sandbox text: values as text, without addresses.
 *
 * An address differs from run to run, so `tostring` and `%s` show a table as "table"
 * (or its `__name`), and `%p` raises.
 * Layer: sandbox. Thread: loop. */
#include "sandbox/sandbox_parts.h"

#include <string.h>

#include <lauxlib.h>

#include "base/slice.h"

void soc_sandbox_push_text(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    if (luaL_callmeta(L, index, "__tostring")) {
        soc_sandbox_charge(L, 1); /* no hook interrupts one that is a function of a library */
        if (!lua_isstring(L, -1))
            luaL_error(L, "'__tostring' must return a string");
        return;
    }
    switch (lua_type(L, index)) {
    case LUA_TNIL:
    case LUA_TBOOLEAN:
    case LUA_TNUMBER:
    case LUA_TSTRING:
        luaL_tolstring(L, index, NULL);
        return;
    default:
        break;
    }
    int type = luaL_getmetafield(L, index, "__name");
    if (type == LUA_TSTRING)
        return;
    if (type != LUA_TNIL)
        lua_pop(L, 1);
    lua_pushstring(L, luaL_typename(L, index));
}

/* tostring(value) -> text */
static int sandbox_tostring(lua_State *L)
{
    luaL_checkany(L, 1);
    soc_sandbox_push_text(L, 1);
    return 1;
}

/* print(...): passes texts to the gate. Upvalue 1 is the gate's, upvalue 2 its print. */
static int sandbox_print(lua_State *L)
{
    int count = lua_gettop(L);
    for (int i = 1; i <= count; i++) {
        soc_sandbox_push_text(L, i);
        lua_replace(L, i);
    }
    return lua_tocfunction(L, lua_upvalueindex(2))(L);
}

void soc_sandbox_open_text(lua_State *L, const struct soc_sandbox_gate *gate)
{
    lua_pushcfunction(L, sandbox_tostring);
    lua_setfield(L, -2, "tostring");
    lua_pushlightuserdata(L, gate->upvalue);
    lua_pushcfunction(L, gate->print);
    lua_pushcclosure(L, sandbox_print, 2);
    lua_setfield(L, -2, "print");
}

/* Returns true if the native text of the argument may contain an address. */
static int shows_address(lua_State *L, int index)
{
    int type = lua_type(L, index);
    return type > LUA_TSTRING || type == LUA_TLIGHTUSERDATA;
}

/* Returns the length of all texts among the arguments. */
static size_t sum_texts(lua_State *L)
{
    size_t bytes = 0;
    for (int i = lua_gettop(L); i > 0; i--)
        if (lua_type(L, i) == LUA_TSTRING)
            bytes += lua_rawlen(L, i);
    return bytes;
}

/* Conversions between two reports to the budget. */
#define CONVERSIONS_PER_LOOK 64

/* Returns the end of the conversion that begins at `at`, right behind its %, and converts its
 * argument if `%s` would show an address. */
static const char *read_conversion(lua_State *L, const char *at, const char *end, int argument)
{
    at += strspn(at, "-+ #0123456789.");
    if (at == end)
        return at;
    if (*at == 'p')
        luaL_error(L, "string.format: %%p would show an address");
    if (*at == 's' && shows_address(L, argument)) {
        soc_sandbox_push_text(L, argument);
        lua_replace(L, argument);
    }
    return at + 1;
}

/* Adds what the native function at upvalue 1 makes of a part of the format and `count`
 * arguments from `first` on. */
static void add_formatted(lua_State *L, luaL_Buffer *out, struct soc_slice part, int first,
                          int count)
{
    luaL_checkstack(L, count + 2, "too many arguments");
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushlstring(L, part.data, part.length);
    for (int i = 0; i < count; i++)
        lua_pushvalue(L, first + i);
    lua_call(L, count + 1, 1);
    luaL_addvalue(out);
    soc_sandbox_charge(L, CONVERSIONS_PER_LOOK);
}

/* A format of many conversions, made piece by piece, so that the budget can end it. */
static int format_pieces(lua_State *L, struct soc_slice format)
{
    luaL_Buffer out;
    const char *at = format.data;
    const char *begin = at;
    const char *end = at + format.length;
    int given = lua_gettop(L);
    int first = 2;
    int count = 0;
    size_t bytes_checked = 0;
    luaL_buffinit(L, &out);
    while ((at = memchr(at, '%', (size_t)(end - at))) != NULL) {
        at++;
        if (at < end && *at == '%') {
            at++;
            continue;
        }
        at += strspn(at, "-+ #0123456789.");
        at += at < end;
        if (++count < CONVERSIONS_PER_LOOK || first + count > given)
            continue;
        add_formatted(L, &out, soc_slice(begin, (size_t)(at - begin)), first, count);
        soc_sandbox_check_growth(L, luaL_bufflen(&out), &bytes_checked);
        begin = at;
        first += count;
        count = 0;
    }
    count = first + count > given + 1 ? given + 1 - first : count;
    add_formatted(L, &out, soc_slice(begin, (size_t)(end - begin)), first, count);
    luaL_pushresult(&out);
    return 1;
}

/* string.format(format, ...) -> text: converts arguments that `%s` would show with an
 * address and leaves the rest, errors included, to the native format. */
static int sandbox_format(lua_State *L)
{
    size_t length;
    const char *format = luaL_checklstring(L, 1, &length);
    const char *at = format;
    const char *end = at + length;
    int argument = 1;
    while ((at = memchr(at, '%', (size_t)(end - at))) != NULL) {
        at++;
        if (at < end && *at == '%')
            at++;
        else
            at = read_conversion(L, at, end, ++argument);
    }
    soc_sandbox_check_bytes(L, sum_texts(L));
    if (argument > CONVERSIONS_PER_LOOK)
        return format_pieces(L, soc_slice(format, length));
    return soc_sandbox_call_wrapped(L);
}

/* Returns the bytes of all fixed sizes (`c10`) of a format of string.pack. */
static size_t sum_sizes(const char *at)
{
    size_t bytes = 0;
    while ((at = strchr(at, 'c')) != NULL) {
        size_t size = 0;
        for (at++; *at >= '0' && *at <= '9' && size < SIZE_MAX / 32; at++)
            size = size * 10 + (size_t)(*at - '0');
        bytes = bytes > SIZE_MAX - size ? SIZE_MAX : bytes + size;
    }
    return bytes;
}

/* string.pack(format, ...) -> text */
static int sandbox_pack(lua_State *L)
{
    soc_sandbox_check_bytes(L, sum_sizes(luaL_checkstring(L, 1)));
    soc_sandbox_check_bytes(L, sum_texts(L));
    return soc_sandbox_call_wrapped(L);
}

/* string.rep(text, n [, separator]) -> text. The native one would count to `n` even if
 * there is nothing to repeat. */
static int sandbox_rep(lua_State *L)
{
    size_t length;
    size_t separator_length;
    luaL_checklstring(L, 1, &length);
    luaL_checkinteger(L, 2);
    luaL_optlstring(L, 3, "", &separator_length);
    if (length == 0 && separator_length == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    lua_Integer count = lua_tointeger(L, 2);
    size_t once = length + separator_length;
    if (count > 0)
        soc_sandbox_check_bytes(L,
                                (size_t)count > SIZE_MAX / once ? SIZE_MAX : (size_t)count * once);
    return soc_sandbox_call_wrapped(L);
}

/* A native function that takes time in proportion to its arguments, or makes a text of
 * their length. */
static int sandbox_counted(lua_State *L)
{
    soc_sandbox_check_bytes(L, sum_texts(L));
    return soc_sandbox_call_wrapped(L);
}

void soc_sandbox_open_string(lua_State *L)
{
    soc_sandbox_wrap(L, "format", sandbox_format);
    soc_sandbox_wrap(L, "rep", sandbox_rep);
    soc_sandbox_wrap(L, "lower", sandbox_counted);
    soc_sandbox_wrap(L, "upper", sandbox_counted);
    soc_sandbox_wrap(L, "reverse", sandbox_counted);
    soc_sandbox_wrap(L, "pack", sandbox_pack);
    soc_sandbox_open_pattern(L);
}

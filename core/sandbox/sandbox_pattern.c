/* Sandbox pattern: find, match, gmatch and gsub, which count their steps.
 *
 * They do what Lua's own do (manual, section 6.4.1), on a matcher that reports to the
 * budget while it works, so that no pattern stops the society. A search for plain text
 * takes time in proportion to the text.
 * Layer: sandbox. Thread: loop. */
#include "sandbox/sandbox_parts.h"

#include <assert.h>
#include <string.h>

#include <lauxlib.h>

#include "lualib/lua_pattern.h"

static void report(lua_State *L, uint64_t steps)
{
    soc_sandbox_charge(L, steps);
}

/* Reads the text at 1 and the pattern at 2. */
static void begin(lua_State *L, struct soc_lua_match *match)
{
    match->L = L;
    match->report = report;
    match->steps = 0;
    match->text.data = luaL_checklstring(L, 1, &match->text.length);
    match->pattern.data = luaL_checklstring(L, 2, &match->pattern.length);
}

/* Takes a leading ^ off the pattern. */
static bool take_anchor(struct soc_lua_match *match)
{
    if (match->pattern.length == 0 || match->pattern.data[0] != '^')
        return false;
    match->pattern.data++;
    match->pattern.length--;
    return true;
}

/* Returns the offset that the optional position at `argument` means; it may be beyond the
 * text. */
static size_t check_offset(lua_State *L, int argument, size_t length)
{
    lua_Integer position = luaL_optinteger(L, argument, 1);
    if (position > 0)
        return (size_t)position - 1;
    if (position == 0 || position < -(lua_Integer)length)
        return 0;
    return length + (size_t)position;
}

static bool is_plain(struct soc_slice pattern)
{
    for (size_t i = 0; i < pattern.length; i++)
        if (pattern.data[i] != '\0' && strchr("^$*+?.([%-", pattern.data[i]) != NULL)
            return false;
    return true;
}

static int find_plain(lua_State *L, const struct soc_lua_match *match, size_t offset)
{
    const char *text = match->text.data;
    size_t length = match->text.length - offset;
    const char *found = memmem(text + offset, length, match->pattern.data, match->pattern.length);
    soc_sandbox_check_bytes(L, found == NULL ? length : (size_t)(found - text) - offset);
    if (found == NULL) {
        luaL_pushfail(L);
        return 1;
    }
    lua_pushinteger(L, found - text + 1);
    lua_pushinteger(L, found - text + (lua_Integer)match->pattern.length);
    return 2;
}

static int find_or_match(lua_State *L, bool is_find)
{
    struct soc_lua_match match;
    begin(L, &match);
    size_t offset = check_offset(L, 3, match.text.length);
    if (offset > match.text.length) {
        luaL_pushfail(L);
        return 1;
    }
    if (is_find && (lua_toboolean(L, 4) || is_plain(match.pattern)))
        return find_plain(L, &match, offset);
    bool is_anchored = take_anchor(&match);
    const char *last = match.text.data + match.text.length;
    for (const char *at = match.text.data + offset; at <= last; at++) {
        const char *end = soc_lua_match_at(&match, at);
        if (end != NULL && is_find) {
            lua_pushinteger(L, at - match.text.data + 1);
            lua_pushinteger(L, end - match.text.data);
            return soc_lua_match_push_all(&match, NULL, NULL, false) + 2;
        }
        if (end != NULL)
            return soc_lua_match_push_all(&match, at, end, true);
        if (is_anchored)
            break;
    }
    luaL_pushfail(L);
    return 1;
}

/* string.find(text, pattern [, from [, plain]]) -> first, last, captures | nil */
static int sandbox_find(lua_State *L)
{
    return find_or_match(L, true);
}

/* string.match(text, pattern [, from]) -> captures | nil */
static int sandbox_match(lua_State *L)
{
    return find_or_match(L, false);
}

/* Where an iteration of gmatch is, as offsets. */
struct walk {
    size_t from;
    size_t last_end; /* of the last match; SIZE_MAX: there was none */
    uint32_t steps;  /* not reported yet */
};

/* Upvalues: the text, the pattern, the walk. */
static int next_match(lua_State *L)
{
    struct walk *walk = lua_touserdata(L, lua_upvalueindex(3));
    struct soc_lua_match match = {.L = L, .report = report, .steps = walk->steps};
    match.text.data = lua_tolstring(L, lua_upvalueindex(1), &match.text.length);
    match.pattern.data = lua_tolstring(L, lua_upvalueindex(2), &match.pattern.length);
    for (size_t from = walk->from; from <= match.text.length; from++) {
        const char *at = match.text.data + from;
        const char *end = soc_lua_match_at(&match, at);
        walk->steps = match.steps;
        if (end != NULL && (size_t)(end - match.text.data) != walk->last_end) {
            walk->from = walk->last_end = (size_t)(end - match.text.data);
            return soc_lua_match_push_all(&match, at, end, true);
        }
    }
    walk->from = match.text.length + 1;
    return 0;
}

/* string.gmatch(text, pattern [, from]) -> iterator */
static int sandbox_gmatch(lua_State *L)
{
    size_t length;
    luaL_checklstring(L, 1, &length);
    luaL_checkstring(L, 2);
    size_t offset = check_offset(L, 3, length);
    lua_settop(L, 2);
    struct walk *walk = lua_newuserdatauv(L, sizeof(*walk), 0);
    walk->from = offset > length ? length + 1 : offset;
    walk->last_end = SIZE_MAX;
    walk->steps = 0;
    lua_pushcclosure(L, next_match, 3);
    return 1;
}

/* Adds the replacement text at 3, with %0 to %9 replaced. */
static void add_text(struct soc_lua_match *match, luaL_Buffer *out, const char *start,
                     const char *end)
{
    lua_State *L = match->L;
    size_t length;
    const char *at = lua_tolstring(L, 3, &length);
    const char *last = at + length;
    const char *escape;
    while ((escape = memchr(at, '%', (size_t)(last - at))) != NULL) {
        luaL_addlstring(out, at, (size_t)(escape - at));
        char kind = escape + 1 < last ? escape[1] : '\0';
        if (kind == '%') {
            luaL_addchar(out, '%');
        } else if (kind == '0') {
            luaL_addlstring(out, start, (size_t)(end - start));
        } else if (kind >= '1' && kind <= '9') {
            soc_lua_match_push(match, kind - '1', start, end);
            luaL_tolstring(L, -1, NULL);
            lua_remove(L, -2);
            luaL_addvalue(out);
        } else {
            luaL_error(L, "invalid use of '%%' in replacement string");
        }
        at = escape + 2;
    }
    luaL_addlstring(out, at, (size_t)(last - at));
}

/* Adds what replaces the match. Returns false if the match stays as it is. */
static bool add_replacement(struct soc_lua_match *match, luaL_Buffer *out, const char *start,
                            const char *end)
{
    lua_State *L = match->L;
    switch (lua_type(L, 3)) {
    case LUA_TFUNCTION:
        lua_pushvalue(L, 3);
        lua_call(L, soc_lua_match_push_all(match, start, end, true), 1);
        break;
    case LUA_TTABLE:
        soc_lua_match_push(match, 0, start, end);
        lua_gettable(L, 3);
        break;
    default:
        add_text(match, out, start, end);
        return true;
    }
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        luaL_addlstring(out, start, (size_t)(end - start));
        return false;
    }
    if (!lua_isstring(L, -1))
        luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    luaL_addvalue(out);
    return true;
}

/* string.gsub(text, pattern, replacement [, count]) -> text, number of matches */
static int sandbox_gsub(lua_State *L)
{
    struct soc_lua_match match;
    luaL_Buffer out;
    bool is_changed = false;
    size_t bytes_checked = 0;
    begin(L, &match);
    int type = lua_type(L, 3);
    luaL_argexpected(L,
                     type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION ||
                         type == LUA_TTABLE,
                     3, "string/function/table");
    lua_Integer count = 0;
    lua_Integer count_max = luaL_optinteger(L, 4, (lua_Integer)match.text.length + 1);
    bool is_anchored = take_anchor(&match);
    const char *at = match.text.data;
    const char *last = at + match.text.length;
    const char *last_end = NULL;
    luaL_buffinit(L, &out);
    while (count < count_max) {
        const char *end = soc_lua_match_at(&match, at);
        if (end != NULL && end != last_end) {
            count++;
            is_changed = add_replacement(&match, &out, at, end) || is_changed;
            soc_sandbox_check_growth(L, luaL_bufflen(&out), &bytes_checked);
            at = last_end = end;
        } else if (at < last) {
            luaL_addchar(&out, *at++);
        } else {
            break;
        }
        if (is_anchored)
            break;
    }
    luaL_addlstring(&out, at, (size_t)(last - at));
    luaL_pushresult(&out);
    if (!is_changed) {
        lua_pop(L, 1);
        lua_pushvalue(L, 1);
    }
    lua_pushinteger(L, count);
    return 2;
}

void soc_sandbox_open_pattern(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"find", sandbox_find},
        {"match", sandbox_match},
        {"gmatch", sandbox_gmatch},
        {"gsub", sandbox_gsub},
        {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
}

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include <lauxlib.h>

#include "base/err.h"
#include "base/json.h"
#include "env/clock.h"
#include "env/log.h"
#include "lualib/nearest.h"
#include "main/program.h"

/* Lends the JSON at stack index 1. */
static struct soc_slice check_json(lua_State *L)
{
    struct soc_slice json;
    json.data = luaL_checklstring(L, 1, &json.length);
    luaL_argcheck(L, soc_json_check(json, NULL) == SOC_OK, 1, "JSON expected");
    return json;
}

/* Appends the elements of a list, separated by commas. */
static void put_list(struct soc_buf *out, struct soc_slice list)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, list);
    for (bool is_first = true; soc_json_next(&walk); is_first = false) {
        if (!is_first)
            soc_buf_put_text(out, ", ");
        if (!soc_json_string(walk.value, out))
            soc_buf_put_slice(out, walk.value);
    }
}

/* Pushes a value as readable text: an object as its member `name`, or as JSON. */
static void push_cell(lua_State *L, struct soc_slice value)
{
    struct soc_buf text = {0};
    if (value.data != NULL && soc_json_kind(value) == SOC_JSON_OBJECT &&
        soc_json_member(value, "name").data != NULL)
        value = soc_json_member(value, "name");
    if (value.data == NULL || soc_json_kind(value) == SOC_JSON_NULL) {
        lua_pushliteral(L, "");
        return;
    }
    if (soc_json_kind(value) == SOC_JSON_ARRAY)
        put_list(&text, value);
    else if (!soc_json_string(value, &text))
        soc_buf_put_slice(&text, value);
    lua_pushlstring(L, soc_buf_text(&text), text.length);
    soc_buf_fini(&text);
}

/* Pushes the members of `object` listed at stack index `names`; returns their number. */
static int push_cells(lua_State *L, struct soc_slice object, int names)
{
    int count = (int)lua_rawlen(L, names);
    luaL_checkstack(L, count + 2, NULL);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, names, i);
        struct soc_slice value = soc_json_member(object, luaL_checkstring(L, -1));
        lua_pop(L, 1);
        push_cell(L, value);
    }
    return count;
}

static int cells(lua_State *L)
{
    struct soc_slice object = check_json(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    return push_cells(L, object, 2);
}

/* Upvalues: the list (the walk points into its bytes), the walk, and the names or nil. */
static int next_row(lua_State *L)
{
    struct soc_json_walk *walk = lua_touserdata(L, lua_upvalueindex(2));
    if (!soc_json_next(walk))
        return 0;
    if (!lua_isnil(L, lua_upvalueindex(3)))
        return push_cells(L, walk->value, lua_upvalueindex(3));
    lua_pushlstring(L, walk->value.data, walk->value.length);
    return 1;
}

static int rows(lua_State *L)
{
    struct soc_slice list = check_json(L);
    luaL_argcheck(L, soc_json_kind(list) == SOC_JSON_ARRAY, 1, "a JSON list expected");
    if (!lua_isnoneornil(L, 2))
        luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    soc_json_walk(lua_newuserdatauv(L, sizeof(struct soc_json_walk), 0), list);
    lua_insert(L, 2);
    lua_pushcclosure(L, next_row, 3);
    return 1;
}

static int members(lua_State *L)
{
    struct soc_json_walk walk;
    lua_Integer count = 0;
    soc_json_walk(&walk, check_json(L));
    lua_newtable(L);
    while (soc_json_next(&walk)) {
        lua_createtable(L, 2, 0);
        lua_pushlstring(L, walk.name.data, walk.name.length);
        lua_rawseti(L, -2, 1);
        push_cell(L, walk.value);
        lua_rawseti(L, -2, 2);
        lua_rawseti(L, -2, ++count);
    }
    return 1;
}

static int member(lua_State *L)
{
    struct soc_slice object = check_json(L);
    struct soc_slice value = {0};
    if (soc_json_kind(object) == SOC_JSON_OBJECT)
        value = soc_json_member(object, luaL_checkstring(L, 2));
    if (value.data == NULL)
        luaL_pushfail(L);
    else
        lua_pushlstring(L, value.data, value.length);
    return 1;
}

static int harmless(lua_State *L)
{
    struct soc_slice text;
    struct soc_buf out = {0};
    text.data = luaL_checklstring(L, 1, &text.length);
    const char *line_end = luaL_checkstring(L, 2);
    const char *instead = luaL_checkstring(L, 3);
    luaL_argcheck(L, strlen(instead) == 1, 3, "one character expected");
    soc_log_put_harmless(&out, text, line_end, instead[0]);
    lua_pushlstring(L, soc_buf_text(&out), out.length);
    soc_buf_fini(&out);
    return 1;
}

static int parse_time(lua_State *L)
{
    int64_t time_ms;
    if (soc_time_parse(soc_slice_text(luaL_checkstring(L, 1)), &time_ms))
        lua_pushinteger(L, time_ms);
    else
        luaL_pushfail(L);
    return 1;
}

static int format_time(lua_State *L)
{
    char text[SOC_TIME_BYTES];
    soc_time_format(text, luaL_checkinteger(L, 1));
    lua_pushlstring(L, text, sizeof(text));
    return 1;
}

/* Lends word number `number` of the list at stack index 2, which keeps it alive. */
static const char *listed_word(const void *user, int number)
{
    lua_State *L = (lua_State *)user;
    const char *word = lua_rawgeti(L, 2, number + 1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    lua_pop(L, 1);
    return word;
}

static int nearest(lua_State *L)
{
    const char *word = luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_pushstring(L, soc_nearest(word, listed_word, L));
    return 1;
}

static const luaL_Reg functions[] = {
    {"rows", rows},
    {"cells", cells},
    {"members", members},
    {"member", member},
    {"harmless", harmless},
    {"parse_time", parse_time},
    {"format_time", format_time},
    {"nearest", nearest},
    {NULL, NULL},
};

void soc_program_add_texts(lua_State *L)
{
    assert(lua_type(L, -1) == LUA_TTABLE);
    luaL_setfuncs(L, functions, 0);
}

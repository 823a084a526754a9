#include "lualib/lua_flat.h"

#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/limits.h"
#include "check.h"
#include "lualib/lua_json.h"

static const char *const watched[] = {"task_id", "priority", NULL};

static lua_State *new_state(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    soc_lua_json_open(L);
    lua_setglobal(L, "json");
    return L;
}

static void push_chunk(lua_State *L, const char *chunk)
{
    if (luaL_loadstring(L, chunk) != LUA_OK)
        lua_error(L);
    lua_call(L, 0, 1);
}

/* Encodes the value on top both ways, and its copy if there is one. */
static void expect_alike(lua_State *L, struct soc_flat_shapes *shapes, bool is_watched)
{
    struct soc_buf flat = {0};
    struct soc_buf whole = {0};
    struct soc_detail detail;
    struct soc_flat told = {.wants_copy = true};
    int top = lua_gettop(L);
    CHECK_INT(soc_lua_json_encode(L, -1, "value", SOC_JSON_BYTES_MAX, &whole, &detail), SOC_OK);
    CHECK(soc_flat_encode(L, shapes, -1, SOC_JSON_BYTES_MAX, &flat, &told));
    CHECK_TEXT(soc_buf_text(&flat), soc_buf_text(&whole));
    CHECK_INT(told.is_watched, is_watched);
    CHECK_INT(lua_gettop(L), top + 1);
    CHECK(!lua_rawequal(L, -1, -2));
    flat.length = 0;
    CHECK_INT(soc_lua_json_encode(L, -1, "copy", SOC_JSON_BYTES_MAX, &flat, &detail), SOC_OK);
    CHECK_TEXT(soc_buf_text(&flat), soc_buf_text(&whole));
    lua_settop(L, top);
    soc_buf_fini(&flat);
    soc_buf_fini(&whole);
}

static void expect_flat(const char *chunk, bool is_watched)
{
    lua_State *L = new_state();
    struct soc_flat_shapes *shapes = soc_flat_shapes_new(watched);
    push_chunk(L, chunk);
    expect_alike(L, shapes, is_watched); /* a shape that is learnt, */
    expect_alike(L, shapes, is_watched); /* and one that is known */
    soc_flat_shapes_free(L, shapes);
    lua_close(L);
}

static void expect_left(const char *chunk, size_t bytes_max)
{
    lua_State *L = new_state();
    struct soc_flat_shapes *shapes = soc_flat_shapes_new(watched);
    struct soc_buf out = {0};
    struct soc_flat told = {.wants_copy = true};
    soc_buf_put_text(&out, "kept");
    push_chunk(L, chunk);
    int top = lua_gettop(L);
    for (int i = 0; i < 2; i++) {
        CHECK(!soc_flat_encode(L, shapes, -1, bytes_max, &out, &told));
        CHECK_TEXT(soc_buf_text(&out), "kept");
        CHECK_INT(lua_gettop(L), top);
    }
    soc_flat_shapes_free(L, shapes);
    soc_buf_fini(&out);
    lua_close(L);
}

static void plain_members_are_written_like_the_encoder_does(void)
{
    expect_flat("return { b = 1, a = 'x', c = true, d = 2.5, e = json.null, f = -7 }", false);
    expect_flat("return { ab = 1, a = 2, abc = 3, ['\\1'] = 4, ['\\195\\164'] = 5 }", false);
    expect_flat("return { ['a\"b'] = 'c\\\\d', text = ('x'):rep(2000) }", false);
    expect_flat("return { n = math.mininteger, m = 1e300, k = -0.0, [''] = false }", false);
    expect_flat("local t = {} for i = 1, 16 do t['n' .. i] = i end return t", false);
}

static void watched_names_are_reported(void)
{
    expect_flat("return { task_id = 'a', x = 1 }", true);
    expect_flat("return { priority = 1 }", true);
    expect_flat("return { task_idx = 'a', prioritz = 1, task_i = 2 }", false);
}

static void everything_else_is_left_to_the_encoder(void)
{
    expect_left("return {}", SOC_JSON_BYTES_MAX);
    expect_left("return 'text'", SOC_JSON_BYTES_MAX);
    expect_left("return { 1, 2 }", SOC_JSON_BYTES_MAX);
    expect_left("return { a = 1, 2 }", SOC_JSON_BYTES_MAX);
    expect_left("return { a = {} }", SOC_JSON_BYTES_MAX);
    expect_left("return { a = print }", SOC_JSON_BYTES_MAX);
    expect_left("return { a = 0/0 }", SOC_JSON_BYTES_MAX);
    expect_left("return { a = 1/0 }", SOC_JSON_BYTES_MAX);
    expect_left("return { a = '\\255' }", SOC_JSON_BYTES_MAX);
    expect_left("return { ['\\255'] = 1 }", SOC_JSON_BYTES_MAX);
    expect_left("return { [('x'):rep(41)] = 1 }", SOC_JSON_BYTES_MAX);
    expect_left("return json.array({})", SOC_JSON_BYTES_MAX);
    expect_left("return setmetatable({ a = 1 }, {})", SOC_JSON_BYTES_MAX);
    expect_left("local t = {} for i = 1, 17 do t['n' .. i] = i end return t", SOC_JSON_BYTES_MAX);
    expect_left("return { a = 'xxxx' }", 11);
    expect_left("return { a = 1234 }", 9);
}

static void many_shapes_in_turn_stay_right(void)
{
    lua_State *L = new_state();
    struct soc_flat_shapes *shapes = soc_flat_shapes_new(watched);
    push_chunk(L, "local n = 0\n"
                  "return function()\n"
                  "  n = n + 1\n"
                  "  collectgarbage('step')\n"
                  "  local t = {}\n"
                  "  for i = 1, n % 5 + 1 do t['k' .. (n * i * 7919) % 997] = n end\n"
                  "  return t\n"
                  "end");
    for (int i = 0; i < 20000; i++) {
        struct soc_buf flat = {0};
        struct soc_buf whole = {0};
        struct soc_detail detail;
        struct soc_flat told = {.wants_copy = false};
        lua_pushvalue(L, -1);
        lua_call(L, 0, 1);
        soc_lua_json_encode(L, -1, "value", SOC_JSON_BYTES_MAX, &whole, &detail);
        if (soc_flat_encode(L, shapes, -1, SOC_JSON_BYTES_MAX, &flat, &told) &&
            strcmp(soc_buf_text(&flat), soc_buf_text(&whole)) != 0)
            CHECK_TEXT(soc_buf_text(&flat), soc_buf_text(&whole));
        lua_pop(L, 1);
        soc_buf_fini(&flat);
        soc_buf_fini(&whole);
    }
    CHECK_INT(lua_gettop(L), 1);
    soc_flat_shapes_free(L, shapes);
    lua_close(L);
}

int main(void)
{
    RUN(plain_members_are_written_like_the_encoder_does);
    RUN(watched_names_are_reported);
    RUN(everything_else_is_left_to_the_encoder);
    RUN(many_shapes_in_turn_stay_right);
    return check_done();
}

/* Covers: core/lualib/lua_json_encode.c */
#include "lualib/lua_json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/limits.h"
#include "check.h"

static lua_State *new_state(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    soc_lua_json_open(L);
    lua_setglobal(L, "json");
    return L;
}

/* Pushes the value of a Lua chunk. */
static void push_chunk(lua_State *L, const char *chunk)
{
    if (luaL_loadstring(L, chunk) != LUA_OK)
        lua_error(L);
    lua_call(L, 0, 1);
}

/* Encodes the value of a chunk behind "kept" and checks the code and, on a
 * fault, the sentence; on success the bytes. */
static void expect_encoded(const char *chunk, size_t bytes_max, int code, const char *expected)
{
    lua_State *L = new_state();
    struct soc_buf buf = {0};
    struct soc_detail detail = {""};
    push_chunk(L, chunk);
    int top = lua_gettop(L);
    soc_buf_put_text(&buf, "kept");
    CHECK_INT(soc_lua_json_encode(L, -1, "payload", bytes_max, &buf, &detail), code);
    CHECK_INT(lua_gettop(L), top);
    if (code == SOC_OK) {
        CHECK_TEXT(soc_buf_text(&buf) + 4, expected);
    } else {
        CHECK_TEXT(soc_buf_text(&buf), "kept");
        CHECK_TEXT(detail.text, expected);
    }
    soc_buf_fini(&buf);
    lua_close(L);
}

static void expect_value(const char *chunk, const char *expected)
{
    expect_encoded(chunk, SOC_JSON_BYTES_MAX, SOC_OK, expected);
}

static void expect_fault(const char *chunk, const char *expected)
{
    expect_encoded(chunk, SOC_JSON_BYTES_MAX, SOC_EINVAL, expected);
}

#define KEYS_FAULT "table keys must be strings, or 1 to n without gaps"

static void values_are_appended_as_json(void)
{
    expect_value("return {b=1, a={true, false, json.null, 1.0, 'x\\n'}, [''] = {}}",
                 "{\"\":{},\"a\":[true,false,null,1.0,\"x\\n\"],\"b\":1}");
    expect_value("return json.array({})", "[]");
    expect_value("return 'text'", "\"text\"");
    expect_value("return -7", "-7");
}

static void a_list_stored_out_of_order_is_written_in_order(void)
{
    expect_value("local t = {} for i = 9, 1, -1 do t[i] = {i} end return t",
                 "[[1],[2],[3],[4],[5],[6],[7],[8],[9]]");
    expect_value("local t = {1, 2} t[5] = 5 t[4] = 4 t[3] = 3 return t", "[1,2,3,4,5]");
}

static void a_fault_names_its_path(void)
{
    expect_fault("return {items={1, 2, print}}", "payload.items[3]: a function cannot be JSON");
    expect_fault("return {['a b']={x=0/0}}", "payload[\"a b\"].x: not-a-number cannot be JSON");
    expect_fault("return -1/0", "payload: an infinite number cannot be JSON");
    expect_fault("return {x='a\\xff'}", "payload.x: the string is not UTF-8");
    expect_fault("return {['\\xff']=1}", "payload[\"\xef\xbf\xbd\"]: the name is not UTF-8");
    expect_fault("return {coroutine.create(print)}", "payload[1]: a coroutine cannot be JSON");
    expect_fault("return {io.stdout}", "payload[1]: a userdata cannot be JSON");
    expect_fault("return nil", "payload: nil cannot be JSON");
}

static void bad_keys_are_reported_before_bad_elements(void)
{
    expect_fault("return {a={1, 2, x=3}}", "payload.a: " KEYS_FAULT);
    expect_fault("return {[1]=1, [3]=3}", "payload: " KEYS_FAULT);
    expect_fault("return {[0]=1}", "payload: " KEYS_FAULT);
    expect_fault("return {[1.5]=1}", "payload: " KEYS_FAULT);
    expect_fault("return {[true]=1}", "payload: " KEYS_FAULT);
    expect_fault("return {[math.mininteger]=1}", "payload: " KEYS_FAULT);
    expect_fault("return {print, nil, 3}", "payload: " KEYS_FAULT);
    expect_fault("return {{{print}}, x=1}", "payload: " KEYS_FAULT);
    expect_fault("return {{1, x=2}, x=1}", "payload: " KEYS_FAULT);
    expect_fault("return {{[true]=2}, x=1}", "payload: " KEYS_FAULT);
    expect_fault("return json.array({a=1})", "payload: " KEYS_FAULT);
}

static void a_path_that_is_too_long_ends_in_dots(void)
{
    expect_fault("return {a={[('n'):rep(200)]=print}}", "payload.a...: a function cannot be JSON");
    expect_fault("return {a={[('- '):rep(200)]=print}}", "payload.a...: a function cannot be JSON");
    expect_fault("local t = {} t[1] = t return t",
                 "payload[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1]"
                 "[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1]"
                 "...: tables are nested too deeply or form a cycle");
}

static void depth_is_bounded_exactly(void)
{
    lua_State *L = new_state();
    struct soc_buf buf = {0};
    for (int levels = SOC_JSON_DEPTH_MAX; levels <= SOC_JSON_DEPTH_MAX + 1; levels++) {
        int code = levels > SOC_JSON_DEPTH_MAX ? SOC_EINVAL : SOC_OK;
        for (int i = 0; i < levels; i++) {
            lua_createtable(L, 0, 1);
            if (i > 0) {
                lua_insert(L, -2);
                lua_setfield(L, -2, "a");
            }
        }
        CHECK_INT(soc_lua_json_encode(L, -1, "value", SIZE_MAX, &buf, NULL), code);
        lua_pop(L, 1);
    }
    struct soc_json_fault fault;
    CHECK_INT(soc_lua_json_decode_at(L, soc_buf_slice(&buf), &fault), SOC_OK);
    for (int around = 1; around <= SOC_JSON_WRAP_MAX + 1; around++) {
        soc_buf_put_byte(&buf, ' ');
        memmove(buf.data + 1, buf.data, buf.length - 1);
        buf.data[0] = '[';
        soc_buf_put_byte(&buf, ']');
        CHECK_INT(soc_lua_json_decode_at(L, soc_buf_slice(&buf), &fault), SOC_ETOOLARGE);
        CHECK_INT(soc_lua_json_decode(L, soc_buf_slice(&buf), NULL),
                  around > SOC_JSON_WRAP_MAX ? SOC_ETOOLARGE : SOC_OK);
    }
    soc_buf_fini(&buf);
    lua_close(L);
}

static void size_is_bounded_exactly(void)
{
    static const struct {
        const char *chunk;
        const char *json;
    } cases[] = {
        {"return 'abc'", "\"abc\""},
        {"return '\\1\\1'", "\"\\u0001\\u0001\""},
        {"return {a={1, {}, json.array({})}}", "{\"a\":[1,{},[]]}"},
        {"return {['\\n']={b=true}}", "{\"\\n\":{\"b\":true}}"},
        {"return 1.5", "1.5"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t length = strlen(cases[i].json);
        expect_encoded(cases[i].chunk, length, SOC_OK, cases[i].json);
        lua_State *L = new_state();
        struct soc_buf buf = {0};
        push_chunk(L, cases[i].chunk);
        for (size_t less = 0; less < length; less++)
            CHECK_INT(soc_lua_json_encode(L, -1, "value", less, &buf, NULL), SOC_ETOOLARGE);
        CHECK_INT(buf.length, 0);
        soc_buf_fini(&buf);
        lua_close(L);
    }
    expect_encoded("return {a='long text'}", 5, SOC_ETOOLARGE,
                   "payload.a: the JSON would be too large");
}

static void metamethods_are_never_called(void)
{
    expect_value("local bad = function() error('called') end\n"
                 "return setmetatable({a=1, b={}}, {__index=bad, __pairs=bad, __len=bad,\n"
                 "  __tostring=bad, __eq=bad, __name='x'})",
                 "{\"a\":1,\"b\":{}}");
}

static void large_objects_nested_in_each_other_are_sorted(void)
{
    lua_State *L = new_state();
    struct soc_buf buf = {0};
    push_chunk(L, "local t = {}\n"
                  "for i = 1, 60 do t['k' .. i] = {} for j = 1, 70 + i do\n"
                  "  t['k' .. i]['m' .. j] = j % 9 == 0 and {x={y=j}} or j end end\n"
                  "return t");
    CHECK_INT(soc_lua_json_encode(L, -1, "value", SIZE_MAX, &buf, NULL), SOC_OK);
    struct soc_json_walk outer;
    struct soc_slice last = {NULL, 0};
    int count = 0;
    CHECK_INT(soc_json_check(soc_buf_slice(&buf), NULL), SOC_OK);
    soc_json_walk(&outer, soc_buf_slice(&buf));
    while (soc_json_next(&outer)) {
        struct soc_json_walk inner;
        struct soc_slice inner_last = {NULL, 0};
        soc_json_walk(&inner, outer.value);
        for (; soc_json_next(&inner); inner_last = inner.name, count++)
            CHECK(inner_last.data == NULL ||
                  strncmp(inner_last.data, inner.name.data, inner.name.length) < 0);
        CHECK(last.data == NULL || strncmp(last.data, outer.name.data, outer.name.length) < 0);
        last = outer.name;
    }
    CHECK_INT(count, 60 * 70 + 60 * 61 / 2);
    soc_buf_fini(&buf);
    lua_close(L);
}

static void a_failed_decode_leaves_the_stack_unchanged(void)
{
    lua_State *L = new_state();
    struct soc_detail detail;
    static const char text[] = "{\"a\":[1,2,{\"b\":\"c\\n\"}],\"d\":[[[null]]],\"e\":{\"f\":{}}}";
    for (size_t length = 0; length < sizeof(text) - 1; length++) {
        lua_settop(L, 3);
        char *exact = malloc(length + 1);
        memcpy(exact, text, length);
        exact[length] = 'x';
        CHECK_INT(soc_lua_json_decode(L, soc_slice(exact, length), &detail), SOC_EJSON);
        CHECK_INT(lua_gettop(L), 3);
        CHECK(strncmp(detail.text, "byte ", 5) == 0);
        free(exact);
    }
    CHECK_INT(soc_lua_json_decode(L, SOC_SLICE("[1 2]"), &detail), SOC_EJSON);
    CHECK_TEXT(detail.text, "byte 4: a comma or ] is expected");
    CHECK_INT(soc_lua_json_decode(L, soc_slice(NULL, 0), &detail), SOC_EJSON);
    CHECK_INT(soc_lua_json_decode(L, SOC_SLICE(text), &detail), SOC_OK);
    CHECK_INT(lua_gettop(L), 4);
    lua_close(L);
}

static void null_is_distinct_from_anything_else(void)
{
    lua_State *L = new_state();
    soc_lua_push_null(L);
    lua_pushnil(L);
    lua_pushlightuserdata(L, L);
    CHECK(soc_lua_is_null(L, 1));
    CHECK(!soc_lua_is_null(L, 2));
    CHECK(!soc_lua_is_null(L, 3));
    CHECK(!soc_lua_is_null(L, 9));
    CHECK_INT(soc_lua_json_encode(L, 3, "v", SIZE_MAX, &(struct soc_buf){0}, NULL), SOC_EINVAL);
    lua_close(L);
}

/* An allocator that refuses beyond a limit. */
struct bounded {
    size_t used;
    size_t max;
};

static void *bounded_alloc(void *user, void *old, size_t old_size, size_t size)
{
    struct bounded *bounded = user;
    size_t held = old == NULL ? 0 : old_size;
    if (size == 0) {
        free(old);
        bounded->used -= held;
        return NULL;
    }
    if (size > held && bounded->used + (size - held) > bounded->max)
        return NULL;
    void *memory = realloc(old, size);
    bounded->used += size - held;
    return memory;
}

/* Encodes and decodes what needs memory in every way: a userdata for the members,
 * another to unescape, strings and tables. */
static int run_short_of_memory(lua_State *L)
{
    push_chunk(L, "local t = {s=('x'):rep(500) .. '\\n'}\n"
                  "for i = 1, 90 do t['k' .. i] = {i} end\n"
                  "return json.decode(json.encode(t)).k90[1]");
    return 1;
}

static void out_of_memory_raises_and_leaks_nothing(void)
{
    int succeeded = 0;
    for (size_t extra = 0; extra < 120000 && succeeded < 3; extra += 997) {
        struct bounded bounded = {0, SIZE_MAX};
        lua_State *L = lua_newstate(bounded_alloc, &bounded);
        luaL_openlibs(L);
        soc_lua_json_open(L);
        lua_setglobal(L, "json");
        lua_gc(L, LUA_GCCOLLECT);
        bounded.max = bounded.used + extra;
        lua_pushcfunction(L, run_short_of_memory);
        int rc = lua_pcall(L, 0, 1, 0);
        CHECK(rc == LUA_OK || rc == LUA_ERRMEM);
        if (rc == LUA_OK) {
            CHECK_INT(lua_tointeger(L, -1), 90);
            succeeded++;
        }
        bounded.max = SIZE_MAX;
        lua_close(L);
        CHECK_INT(bounded.used, 0);
    }
    CHECK(succeeded > 0);
}

int main(void)
{
    RUN(values_are_appended_as_json);
    RUN(a_list_stored_out_of_order_is_written_in_order);
    RUN(a_fault_names_its_path);
    RUN(bad_keys_are_reported_before_bad_elements);
    RUN(a_path_that_is_too_long_ends_in_dots);
    RUN(depth_is_bounded_exactly);
    RUN(size_is_bounded_exactly);
    RUN(metamethods_are_never_called);
    RUN(large_objects_nested_in_each_other_are_sorted);
    RUN(a_failed_decode_leaves_the_stack_unchanged);
    RUN(null_is_distinct_from_anything_else);
    RUN(out_of_memory_raises_and_leaks_nothing);
    return check_done();
}

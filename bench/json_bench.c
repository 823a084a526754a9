/* JSON bench: nanoseconds per encode, decode and check of one message, beside the
 * same by lua-cjson.
 *
 *     json_bench [--full]
 *
 * The collector runs incrementally as in the host, so its price is in the figures.
 * Layer: bench. Thread: one. */
#include <stdio.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "base/json.h"
#include "base/limits.h"
#include "lualib/lua_json.h"
#include "measure.h"

#define ROUNDS_QUICK 5000
#define ROUNDS_FULL  50000
#define REPEATS      20

/* One run on the value (at 1) and the text (at 2) of the state; a function of
 * cjson, if used, is at 3. */
typedef void work_cb(lua_State *L, struct soc_buf *buf, struct soc_slice text);

/* What is compared. */
struct comparison {
    const char *name;
    work_cb *ours;
    work_cb *cjson;
    const char *cjson_function;
};

static void must(int rc)
{
    measure_require(rc >= 0, rc < 0 ? soc_error_text(rc) : "");
}

static void encode_ours(lua_State *L, struct soc_buf *buf, struct soc_slice text)
{
    struct soc_detail detail;
    (void)text;
    buf->length = 0;
    must(soc_lua_json_encode(L, 1, "value", SOC_JSON_BYTES_MAX, buf, &detail));
}

static void decode_ours(lua_State *L, struct soc_buf *buf, struct soc_slice text)
{
    (void)buf;
    must(soc_lua_json_decode(L, text, NULL));
    lua_pop(L, 1);
}

static void check_ours(lua_State *L, struct soc_buf *buf, struct soc_slice text)
{
    (void)L;
    (void)buf;
    must(soc_json_check(text, NULL));
}

static void encode_cjson(lua_State *L, struct soc_buf *buf, struct soc_slice text)
{
    (void)buf;
    (void)text;
    lua_pushvalue(L, 3);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    lua_pop(L, 1);
}

static void decode_cjson(lua_State *L, struct soc_buf *buf, struct soc_slice text)
{
    (void)buf;
    (void)text;
    lua_pushvalue(L, 3);
    lua_pushvalue(L, 2);
    lua_call(L, 1, 1);
    lua_pop(L, 1);
}

/* Makes a state with value, text and, if asked for, a function of cjson. NULL if
 * cjson is not installed. */
static lua_State *make_state(struct soc_slice text, const char *cjson_function)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    lua_gc(L, LUA_GCINC, 0, 0, 0);
    soc_lua_json_open(L);
    lua_settop(L, 0);
    must(soc_lua_json_decode(L, text, NULL));
    lua_pushlstring(L, text.data, text.length);
    if (cjson_function == NULL)
        return L;
    lua_getglobal(L, "require");
    lua_pushliteral(L, "cjson");
    if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
        lua_close(L);
        return NULL;
    }
    lua_getfield(L, -1, cjson_function);
    lua_replace(L, 3);
    return L;
}

/* Returns the best of many short runs in ns: the others were disturbed. */
static double measure(lua_State *L, work_cb *work, struct soc_slice text, int rounds)
{
    struct soc_buf buf = {0};
    double best = 0;
    for (int repeat = 0; repeat < REPEATS && L != NULL; repeat++) {
        int64_t begin_us = measure_cpu_us();
        for (int i = 0; i < rounds; i++)
            work(L, &buf, text);
        double each = (double)(measure_cpu_us() - begin_us) * 1000 / rounds;
        if (repeat == 0 || each < best)
            best = each;
    }
    soc_buf_fini(&buf);
    if (L != NULL)
        lua_close(L);
    return best;
}

static void compare(const struct comparison *comparison, const char *text_name,
                    struct soc_slice text, int rounds)
{
    char name[64];
    double ours = measure(make_state(text, NULL), comparison->ours, text, rounds);
    double cjson =
        measure(make_state(text, comparison->cjson_function), comparison->cjson, text, rounds);
    snprintf(name, sizeof(name), "%s, %s", comparison->name, text_name);
    measure_print(&(struct measure_figure){
        .name = name,
        .unit = "ns",
        .value = ours,
        .yardstick_name = cjson > 0 ? "lua-cjson" : NULL,
        .yardstick = cjson,
        .goal = cjson > 0 ? MEASURE_AT_MOST : MEASURE_NONE,
        .target = 1,
        .is_ratio_meant = true,
    });
}

int main(int argc, char **argv)
{
    static const struct comparison comparisons[] = {
        {"encode", encode_ours, encode_cjson, "encode"},
        {"decode", decode_ours, decode_cjson, "decode"},
        {"check", check_ours, decode_cjson, "decode"},
    };
    static const char *const texts[][2] = {
        {"six fields",
         "{\"amount\":1250,\"content\":\"the order is ready and waits for approval by the owner of "
         "the account, please now.\",\"customer\":\"sales_agent_17\",\"order\":48151623,"
         "\"state\":\"waiting\",\"subject\":\"order approved\"}"},
        {"nested",
         "{\"items\":[{\"id\":1,\"price\":9.95,\"tags\":[\"a\",\"b\"]},{\"id\":2,\"price\":12.5,"
         "\"tags\":[]}],\"note\":\"two lines\\nand \\\"quotes\\\"\",\"paid\":false,\"score\":0.875,"
         "\"text\":\"\xe4\xbd\xa0\xe5\xa5\xbd\xef\xbc\x8c\xe4\xb8\x96\xe7\x95\x8c\"}"},
    };
    int rounds = measure_begin(argc, argv) ? ROUNDS_FULL : ROUNDS_QUICK;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        for (size_t j = 0; j < sizeof(comparisons) / sizeof(comparisons[0]); j++)
            compare(&comparisons[j], texts[i][0], soc_slice_text(texts[i][1]), rounds);
    return EXIT_SUCCESS;
}

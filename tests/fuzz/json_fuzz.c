/* JSON fuzz: any bytes through every door of the codec.
 *
 * The checker and the decoder must agree; what is accepted must be readable by
 * the walk, come back from Lua as text that means the same, and that text must
 * come back byte for byte. With libFuzzer it is a target; without, a program that
 * runs the files named on its command line:
 *
 *     clang -fsanitize=fuzzer,address,undefined ...
 *     cc -DSOC_FUZZ_STANDALONE ...
 *
 * Layer: tests. Thread: one. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lua.h>

#include "base/json.h"
#include "base/limits.h"
#include "lualib/lua_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stays on whatever NDEBUG says. */
static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "json_fuzz: %s\n", what);
        abort();
    }
}

#define MUST(condition) must((condition), #condition)

/* Any bytes as a text: what is written is JSON, and the same text if it was
 * UTF-8. */
static void fuzz_string(struct soc_slice bytes)
{
    struct soc_buf json = {0};
    struct soc_buf back = {0};
    soc_json_put_string(&json, bytes);
    MUST(soc_json_check(soc_buf_slice(&json), NULL) == SOC_OK);
    MUST(soc_json_string(soc_buf_slice(&json), &back));
    bool is_same = soc_slice_equal(soc_buf_slice(&back), bytes);
    ptrdiff_t fault = soc_utf8_fault(bytes);
    MUST(is_same == (fault < 0));
    json.length = 0;
    MUST(soc_json_put_checked_string(&json, bytes) == fault);
    soc_buf_fini(&json);
    soc_buf_fini(&back);
}

/* Any eight bytes as a number. */
static void fuzz_number(uint64_t bits)
{
    struct soc_buf json = {0};
    int64_t integer;
    double number;
    double back;
    soc_json_put_integer(&json, (int64_t)bits);
    MUST(soc_json_integer(soc_buf_slice(&json), &integer) && integer == (int64_t)bits);
    json.length = 0;
    memcpy(&number, &bits, sizeof(number));
    if (isfinite(number)) {
        soc_json_put_number(&json, number);
        MUST(soc_json_check(soc_buf_slice(&json), NULL) == SOC_OK);
        MUST(!soc_json_integer(soc_buf_slice(&json), &integer));
        MUST(soc_json_number(soc_buf_slice(&json), &back));
        MUST(memcmp(&number, &back, sizeof(number)) == 0);
    }
    soc_buf_fini(&json);
}

/* Reads every value of a checked text by the walk. Goes down one level only per
 * call; depth was checked. */
static void walk_all(struct soc_slice text)
{
    struct soc_json_walk stack[SOC_JSON_DEPTH_MAX + 1];
    size_t depth = 0;
    soc_json_walk(&stack[0], text);
    for (;;) {
        if (!soc_json_next(&stack[depth])) {
            if (depth-- == 0)
                return;
            continue;
        }
        struct soc_slice value = stack[depth].value;
        struct soc_buf buf = {0};
        double number;
        enum soc_json_kind kind = soc_json_kind(value);
        MUST(soc_json_check(value, NULL) == SOC_OK);
        MUST(soc_json_string(value, &buf) == (kind == SOC_JSON_STRING));
        MUST(soc_utf8_fault(soc_buf_slice(&buf)) < 0);
        MUST(soc_json_number(value, &number) == (kind == SOC_JSON_NUMBER));
        soc_buf_fini(&buf);
        if (kind == SOC_JSON_ARRAY || kind == SOC_JSON_OBJECT) {
            MUST(depth < SOC_JSON_DEPTH_MAX);
            soc_json_walk(&stack[++depth], value);
        }
    }
}

static void fuzz_text(lua_State *L, struct soc_slice text)
{
    struct soc_json_fault fault;
    struct soc_detail detail = {""};
    int rc = soc_json_check(text, &fault);
    int lua_rc = soc_lua_json_decode(L, text, &detail);
    MUST((rc == SOC_OK) == (lua_rc == SOC_OK));
    if (rc < 0) {
        MUST(fault.position <= text.length && fault.reason != NULL && detail.text[0] != '\0');
        MUST(lua_gettop(L) == 0);
        return;
    }
    walk_all(text);
    struct soc_buf first = {0};
    struct soc_buf second = {0};
    MUST(soc_lua_json_encode(L, 1, "value", SIZE_MAX, &first, &detail) == SOC_OK);
    MUST(soc_json_check(soc_buf_slice(&first), NULL) == SOC_OK);
    MUST(soc_lua_json_decode(L, soc_buf_slice(&first), &detail) == SOC_OK);
    MUST(soc_lua_json_encode(L, 2, "value", SIZE_MAX, &second, &detail) == SOC_OK);
    MUST(soc_slice_equal(soc_buf_slice(&first), soc_buf_slice(&second)));
    soc_buf_fini(&first);
    soc_buf_fini(&second);
    lua_settop(L, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct soc_slice bytes = soc_slice((const char *)data, size);
    lua_State *L = luaL_newstate();
    MUST(L != NULL);
    fuzz_text(L, bytes);
    fuzz_string(bytes);
    if (size >= sizeof(uint64_t)) {
        uint64_t bits;
        memcpy(&bits, data, sizeof(bits));
        fuzz_number(bits);
    }
    lua_close(L);
    return 0;
}

#ifdef SOC_FUZZ_STANDALONE
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        struct soc_buf buf = {0};
        size_t count;
        if (file == NULL) {
            perror(argv[i]);
            return 1;
        }
        do {
            count = fread(soc_buf_reserve(&buf, 4096), 1, 4096, file);
            buf.length += count;
        } while (count > 0);
        fclose(file);
        LLVMFuzzerTestOneInput((const uint8_t *)buf.data, buf.length);
        soc_buf_fini(&buf);
    }
    return 0;
}
#endif

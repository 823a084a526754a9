/* Lua pattern: matches Lua's patterns, step by step, so that a match can be ended.
 *
 * A pattern that backtracks may take longer than the age of the universe, and Lua's own
 * matcher cannot be interrupted. This one understands the same patterns, gives the same
 * captures and the same errors, and reports its steps while it works.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_LUA_PATTERN_H
#define SOC_LUALIB_LUA_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#include "base/slice.h"

#define SOC_LUA_CAPTURES_MAX 32

/* Steps between two reports. */
#define SOC_LUA_PATTERN_STEPS 4096

/* What a capture took. */
struct soc_lua_capture {
    const char *start;
    ptrdiff_t length; /* or one of the marks of lua_pattern.c */
};

/* A match under way. Fill in the first four members; the others are its own. */
struct soc_lua_match {
    lua_State *L;                                 /* for errors in the pattern */
    struct soc_slice text;                        /* lent */
    struct soc_slice pattern;                     /* lent; without a leading ^ */
    void (*report)(lua_State *L, uint64_t steps); /* at least SOC_LUA_PATTERN_STEPS; may raise */

    const char *(*go_on)(struct soc_lua_match *match, const char *at, const char *item);
    uint32_t steps;
    int depth;
    int capture_count;
    struct soc_lua_capture captures[SOC_LUA_CAPTURES_MAX];
};

/* Matches at `at`, which lies in the text. Returns where the match ends, or NULL. Raises if
 * the pattern is malformed. */
const char *soc_lua_match_at(struct soc_lua_match *match, const char *at);

/* Pushes capture number `index` of the match from `start` to `end`; without captures,
 * number 0 is the whole match. */
void soc_lua_match_push(const struct soc_lua_match *match, int index, const char *start,
                        const char *end);

/* Pushes all captures; without any the whole match if `or_whole`. Returns their number. */
int soc_lua_match_push_all(const struct soc_lua_match *match, const char *start, const char *end,
                           bool or_whole);

#endif

#include "lualib/lua_pattern.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include <lauxlib.h>

#define DEPTH_MAX 200 /* nested items; the C stack bounds it */

/* A step for a long set or capture, which a short one does not have. */
#define BYTES_PER_STEP 16

/* Lengths of captures that are no lengths. */
#define OPEN     (-1)
#define POSITION (-2)

#define ESCAPE '%'

static void spend(struct soc_lua_match *match)
{
    if (++match->steps < SOC_LUA_PATTERN_STEPS)
        return;
    match->steps = 0;
    match->report(match->L, SOC_LUA_PATTERN_STEPS);
}

/* Of a walk over so many bytes, which is made anew for each character of the text. */
static void spend_bytes(struct soc_lua_match *match, size_t bytes)
{
    uint64_t steps = match->steps + bytes / BYTES_PER_STEP;
    match->steps = (uint32_t)steps;
    if (steps < SOC_LUA_PATTERN_STEPS)
        return;
    match->steps = 0;
    match->report(match->L, steps);
}

static const char *text_end(const struct soc_lua_match *match)
{
    return match->text.data + match->text.length;
}

static const char *pattern_end(const struct soc_lua_match *match)
{
    return match->pattern.data + match->pattern.length;
}

/* Returns the end of the single character class that begins at `item`. */
static const char *class_end(struct soc_lua_match *match, const char *item)
{
    const char *begin = item;
    const char *end = pattern_end(match);
    assert(item < end);
    if (*item == ESCAPE) {
        if (item + 1 == end)
            luaL_error(match->L, "malformed pattern (ends with '%%')");
        return item + 2;
    }
    if (*item != '[')
        return item + 1;
    item++;
    if (item < end && *item == '^')
        item++;
    /* A ] that comes first is a member of the set. */
    do {
        if (item == end)
            luaL_error(match->L, "malformed pattern (missing ']')");
        if (*item++ == ESCAPE) {
            if (item == end)
                luaL_error(match->L, "malformed pattern (missing ']')");
            item++;
        }
    } while (item == end || *item != ']');
    spend_bytes(match, (size_t)(item - begin));
    return item + 1;
}

/* Tells whether the character is in the class %`letter`. */
static bool is_in_class(int character, int letter)
{
    bool is_in;
    switch (tolower(letter)) {
    case 'a':
        is_in = isalpha(character) != 0;
        break;
    case 'c':
        is_in = iscntrl(character) != 0;
        break;
    case 'd':
        is_in = isdigit(character) != 0;
        break;
    case 'g':
        is_in = isgraph(character) != 0;
        break;
    case 'l':
        is_in = islower(character) != 0;
        break;
    case 'p':
        is_in = ispunct(character) != 0;
        break;
    case 's':
        is_in = isspace(character) != 0;
        break;
    case 'u':
        is_in = isupper(character) != 0;
        break;
    case 'w':
        is_in = isalnum(character) != 0;
        break;
    case 'x':
        is_in = isxdigit(character) != 0;
        break;
    case 'z': /* old, but Lua knows it */
        is_in = character == '\0';
        break;
    default:
        return letter == character;
    }
    return isupper(letter) ? !is_in : is_in;
}

/* Tells whether the character is in the set from `[` at `item` to `]` at `last`. */
static bool is_in_set(int character, const char *item, const char *last)
{
    bool is_listed = true;
    item++;
    if (*item == '^') {
        is_listed = false;
        item++;
    }
    for (; item < last; item++) {
        int low = (unsigned char)*item;
        if (low == ESCAPE) {
            item++;
            if (is_in_class(character, (unsigned char)*item))
                return is_listed;
        } else if (item + 2 < last && item[1] == '-') {
            item += 2;
            if (low <= character && character <= (unsigned char)*item)
                return is_listed;
        } else if (low == character) {
            return is_listed;
        }
    }
    return !is_listed;
}

/* Tells whether there is a character at `at` that is in the class from `item` to `end`. */
static bool matches_one(struct soc_lua_match *match, const char *at, const char *item,
                        const char *end)
{
    spend(match);
    if (at >= text_end(match))
        return false;
    int character = (unsigned char)*at;
    switch (*item) {
    case '.':
        return true;
    case ESCAPE:
        return is_in_class(character, (unsigned char)item[1]);
    case '[':
        spend_bytes(match, (size_t)(end - item));
        return is_in_set(character, item, end - 1);
    default:
        return (unsigned char)*item == character;
    }
}

/* As many as possible, then fewer. `rest`: the pattern behind the `*`. */
static const char *match_most(struct soc_lua_match *match, const char *at, const char *item,
                              const char *end, const char *rest)
{
    ptrdiff_t count = 0;
    while (matches_one(match, at + count, item, end))
        count++;
    for (; count >= 0; count--) {
        const char *found = match->go_on(match, at + count, rest);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* As few as possible, then more. */
static const char *match_fewest(struct soc_lua_match *match, const char *at, const char *item,
                                const char *end, const char *rest)
{
    for (;;) {
        const char *found = match->go_on(match, at, rest);
        if (found != NULL)
            return found;
        if (!matches_one(match, at, item, end))
            return NULL;
        at++;
    }
}

/* %bxy: from an x to the y that balances it. */
static const char *match_balance(struct soc_lua_match *match, const char *at, const char *item)
{
    if (pattern_end(match) - item < 2)
        luaL_error(match->L, "malformed pattern (missing arguments to '%%b')");
    if (at >= text_end(match) || *at != item[0])
        return NULL;
    size_t open = 1;
    for (at++; at < text_end(match); at++) {
        spend(match);
        if (*at == item[1]) {
            if (--open == 0)
                return at + 1;
        } else if (*at == item[0]) {
            open++;
        }
    }
    return NULL;
}

/* %f[set]: the border where the set begins. Returns the end of the set if it is here. */
static const char *match_frontier(struct soc_lua_match *match, const char *at, const char *item)
{
    if (item >= pattern_end(match) || *item != '[')
        luaL_error(match->L, "missing '[' after '%%f' in pattern");
    const char *end = class_end(match, item);
    int before = at == match->text.data ? '\0' : (unsigned char)at[-1];
    int here = at == text_end(match) ? '\0' : (unsigned char)*at;
    spend(match);
    spend_bytes(match, 2 * (size_t)(end - item));
    bool is_border = !is_in_set(before, item, end - 1) && is_in_set(here, item, end - 1);
    return is_border ? end : NULL;
}

/* %1 to %9: what a capture took, once more. */
static const char *match_again(struct soc_lua_match *match, const char *at, int digit)
{
    int index = digit - '1';
    if (index < 0 || index >= match->capture_count || match->captures[index].length == OPEN)
        luaL_error(match->L, "invalid capture index %%%d", index + 1);
    const struct soc_lua_capture *capture = &match->captures[index];
    /* A position has no text: no text is as long as its mark, so nothing matches. */
    size_t length = (size_t)capture->length;
    if ((size_t)(text_end(match) - at) < length)
        return NULL;
    spend_bytes(match, length); /* it may differ in the last byte only */
    return memcmp(capture->start, at, length) == 0 ? at + length : NULL;
}

static const char *begin_capture(struct soc_lua_match *match, const char *at, const char *item)
{
    bool is_position = item < pattern_end(match) && *item == ')';
    if (match->capture_count >= SOC_LUA_CAPTURES_MAX)
        luaL_error(match->L, "too many captures");
    match->captures[match->capture_count++] =
        (struct soc_lua_capture){at, is_position ? POSITION : OPEN};
    const char *found = match->go_on(match, at, is_position ? item + 1 : item);
    if (found == NULL)
        match->capture_count--;
    return found;
}

static const char *end_capture(struct soc_lua_match *match, const char *at, const char *item)
{
    int index = match->capture_count - 1;
    while (index >= 0 && match->captures[index].length != OPEN)
        index--;
    if (index < 0)
        luaL_error(match->L, "invalid pattern capture");
    match->captures[index].length = at - match->captures[index].start;
    const char *found = match->go_on(match, at, item);
    if (found == NULL)
        match->captures[index].length = OPEN;
    return found;
}

/* One class with what follows it. Returns the match of all, or NULL; sets `rest` instead if
 * the caller shall go on there, at the position returned. */
static const char *match_class(struct soc_lua_match *match, const char *at, const char *item,
                               const char **rest)
{
    const char *end = class_end(match, item);
    char suffix = end < pattern_end(match) ? *end : '\0';
    *rest = NULL;
    switch (suffix) {
    case '*':
        return match_most(match, at, item, end, end + 1);
    case '-':
        return match_fewest(match, at, item, end, end + 1);
    case '+':
        return matches_one(match, at, item, end) ? match_most(match, at + 1, item, end, end + 1)
                                                 : NULL;
    case '?':
        if (matches_one(match, at, item, end)) {
            const char *found = match->go_on(match, at + 1, end + 1);
            if (found != NULL)
                return found;
        }
        *rest = end + 1;
        return at;
    default:
        if (!matches_one(match, at, item, end))
            return NULL;
        *rest = end;
        return at + 1;
    }
}

/* Takes one item that begins with the escape. Sets `rest` as match_class does; `is_class`
 * tells that it is a class after all. */
static const char *match_escape(struct soc_lua_match *match, const char *at, const char *item,
                                const char **rest, bool *is_class)
{
    char kind = item + 1 < pattern_end(match) ? item[1] : '\0';
    const char *end = item + 2;
    *is_class = false;
    *rest = NULL;
    if (kind == 'b') {
        *rest = end + 2;
        return match_balance(match, at, end);
    }
    if (kind == 'f') {
        *rest = match_frontier(match, at, end);
        return *rest == NULL ? NULL : at;
    }
    if (kind >= '0' && kind <= '9') {
        *rest = end;
        return match_again(match, at, kind);
    }
    *is_class = true;
    return at;
}

/* Matches the pattern from `item` on. Recursion is bounded by DEPTH_MAX. */
static const char *match_items(struct soc_lua_match *match, const char *at, const char *item)
{
    const char *end = pattern_end(match);
    if (++match->depth > DEPTH_MAX)
        luaL_error(match->L, "pattern too complex");
    while (at != NULL && item != NULL && item < end) {
        bool is_class = true;
        spend(match);
        if (*item == '(') {
            at = begin_capture(match, at, item + 1);
            break;
        }
        if (*item == ')') {
            at = end_capture(match, at, item + 1);
            break;
        }
        if (*item == '$' && item + 1 == end) {
            at = at == text_end(match) ? at : NULL;
            break;
        }
        const char *rest;
        if (*item == ESCAPE)
            at = match_escape(match, at, item, &rest, &is_class);
        if (is_class)
            at = match_class(match, at, item, &rest);
        item = rest;
    }
    match->depth--;
    return at;
}

const char *soc_lua_match_at(struct soc_lua_match *match, const char *at)
{
    assert(at >= match->text.data && at <= text_end(match) && match->report != NULL);
    match->capture_count = 0;
    match->depth = 0;
    match->go_on = match_items;
    return match_items(match, at, match->pattern.data);
}

void soc_lua_match_push(const struct soc_lua_match *match, int index, const char *start,
                        const char *end)
{
    if (index >= match->capture_count) {
        if (index != 0)
            luaL_error(match->L, "invalid capture index %%%d", index + 1);
        lua_pushlstring(match->L, start, (size_t)(end - start));
        return;
    }
    const struct soc_lua_capture *capture = &match->captures[index];
    if (capture->length == OPEN)
        luaL_error(match->L, "unfinished capture");
    if (capture->length == POSITION)
        lua_pushinteger(match->L, capture->start - match->text.data + 1);
    else
        lua_pushlstring(match->L, capture->start, (size_t)capture->length);
}

int soc_lua_match_push_all(const struct soc_lua_match *match, const char *start, const char *end,
                           bool or_whole)
{
    int count = match->capture_count == 0 && or_whole ? 1 : match->capture_count;
    luaL_checkstack(match->L, count, "too many captures");
    for (int i = 0; i < count; i++)
        soc_lua_match_push(match, i, start, end);
    return count;
}

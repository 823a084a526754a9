/* Sandbox pairs: iterates over tables in the same order on every run.
 *
 * `pairs` collects the keys once, sorts them and reads the values as it goes: fields
 * may be changed or cleared during the loop; added ones are not seen. The keys of a
 * small table are upvalues of its iterator, which costs one allocation; a list (no keys
 * but 1 to #t) needs none. `next` searches all keys for the smallest one above the
 * given key, so it is linear in the size of the table. Both report to the budget while
 * they work; the keys of a large table are sorted by a merge sort whose memory is
 * Lua's, so that the budget can end it.
 * Layer: sandbox. Thread: loop. */
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_parts.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <lauxlib.h>

#include "lualib/lua_fill.h"

/* Keys stored as upvalues; Lua allows 255 of them. */
#define KEYS_SMALL_MAX 40

/* Keys, or comparisons of keys, between two reports to the budget. */
#define KEYS_PER_LOOK 1024

enum key_kind { KEY_INTEGER, KEY_FLOAT, KEY_STRING };

/* A key prepared for comparison. Text is lent by the table that has the key. */
struct key {
    enum key_kind kind;
    int place; /* where the key is: a stack slot or list index */
    union {
        lua_Integer integer;
        lua_Number number;
        struct {
            const char *data;
            size_t length;
        } text;
    } as;
};

/* Reads the key on top of the stack; raises if it cannot be ordered. */
static void read_key(lua_State *L, const char *who, struct key *key)
{
    int type = lua_type(L, -1);
    if (type == LUA_TSTRING) {
        key->kind = KEY_STRING;
        key->as.text.data = lua_tolstring(L, -1, &key->as.text.length);
    } else if (type != LUA_TNUMBER) {
        luaL_error(L, "%s: cannot order a %s key; only numbers and strings can be ordered", who,
                   lua_typename(L, type));
    } else if (lua_isinteger(L, -1)) {
        key->kind = KEY_INTEGER;
        key->as.integer = lua_tointeger(L, -1);
    } else {
        key->kind = KEY_FLOAT;
        key->as.number = lua_tonumber(L, -1);
    }
}

/* Compares exactly, without converting the integer to a float. The argument of next may
 * be any float; one equal to the integer is not a key, so equal is fine. */
static int compare_mixed(lua_Integer integer, lua_Number number)
{
    if (number >= 0x1p63)
        return -1;
    if (number < -0x1p63)
        return 1;
    lua_Number below = floor(number);
    lua_Integer whole = (lua_Integer)below;
    if (integer != whole)
        return integer < whole ? -1 : 1;
    return below < number ? -1 : 0;
}

static int compare_numbers(const struct key *a, const struct key *b)
{
    if (a->kind == KEY_INTEGER && b->kind == KEY_INTEGER)
        return (a->as.integer > b->as.integer) - (a->as.integer < b->as.integer);
    if (a->kind == KEY_INTEGER)
        return compare_mixed(a->as.integer, b->as.number);
    if (b->kind == KEY_INTEGER)
        return -compare_mixed(b->as.integer, a->as.number);
    return (a->as.number > b->as.number) - (a->as.number < b->as.number);
}

static int compare_keys(const struct key *a, const struct key *b)
{
    if (a->kind != KEY_STRING || b->kind != KEY_STRING) {
        if (a->kind != KEY_STRING && b->kind != KEY_STRING)
            return compare_numbers(a, b);
        return a->kind == KEY_STRING ? 1 : -1;
    }
    size_t length_a = a->as.text.length;
    size_t length_b = b->as.text.length;
    int order = memcmp(a->as.text.data, b->as.text.data, length_a < length_b ? length_a : length_b);
    return order != 0 ? order : (length_a > length_b) - (length_a < length_b);
}

/* Counts one key of a walk. */
static void charge_key(lua_State *L, uint32_t *count)
{
    if (++*count % KEYS_PER_LOOK == 0)
        soc_sandbox_charge(L, KEYS_PER_LOOK);
}

/* Steps of a call for a table that has a metatable, besides those of its elements. */
#define STEPS_OF_CALL 32

/* Reports to the budget if the table at 1 has a metatable: pairs and next may be metamethods
 * themselves, which a loop without a hook calls. */
static void look(lua_State *L)
{
    if (!lua_getmetatable(L, 1))
        return;
    lua_pop(L, 1);
    soc_sandbox_charge(L, STEPS_OF_CALL + lua_rawlen(L, 1));
}

/* As compare_keys, reported to the budget. */
static int compare_charged(lua_State *L, const struct key *a, const struct key *b, uint32_t *count)
{
    charge_key(L, count);
    if (a->kind == KEY_STRING && b->kind == KEY_STRING)
        soc_sandbox_check_bytes(L, a->as.text.length < b->as.text.length ? a->as.text.length
                                                                         : b->as.text.length);
    return compare_keys(a, b);
}

/* Merges from[left, middle) and from[middle, right) into `to`. */
static void merge_keys(lua_State *L, const struct key *from, struct key *to, const size_t edges[3],
                       uint32_t *count)
{
    size_t i = edges[0];
    size_t j = edges[1];
    for (size_t k = edges[0]; k < edges[2]; k++) {
        bool take_right =
            i >= edges[1] || (j < edges[2] && compare_charged(L, &from[j], &from[i], count) < 0);
        to[k] = take_right ? from[j++] : from[i++];
    }
}

/* Sorts `count` keys, with room for as many in `spare`. Returns the one of the two arrays
 * that has the result. */
static struct key *sort_keys(lua_State *L, struct key *keys, struct key *spare, size_t count)
{
    uint32_t compared = 0;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t left = 0; left < count; left += 2 * width) {
            size_t middle = left + width < count ? left + width : count;
            size_t right = middle + width < count ? middle + width : count;
            merge_keys(L, keys, spare, (const size_t[3]){left, middle, right}, &compared);
        }
        struct key *sorted = spare;
        spare = keys;
        keys = sorted;
    }
    return keys;
}

/* Counts one key that an iterator skips, because its value has been cleared. */
static void charge_skipped(lua_State *L, uint32_t *count)
{
    if ((*count)++ % KEYS_PER_LOOK == 0)
        soc_sandbox_charge(L, *count > 1 ? KEYS_PER_LOOK : 0);
}

/* Iterator of a list. Upvalue 1: the last index. */
static int walk_list(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_Integer last = lua_tointeger(L, lua_upvalueindex(1));
    lua_Integer index = luaL_optinteger(L, 2, 0);
    if (index < 0)
        index = 0;
    uint32_t skipped = 0;
    while (index < last) {
        index++;
        lua_pushinteger(L, index);
        if (lua_rawgeti(L, 1, index) != LUA_TNIL)
            return 2;
        charge_skipped(L, &skipped);
        lua_pop(L, 2);
    }
    lua_pushnil(L);
    return 1;
}

/* Iterator of a small table. Upvalue 1: number of keys passed; then the sorted keys. */
static int walk_small(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    int passed = 0;
    if (!lua_isnoneornil(L, 2))
        passed = (int)lua_tointeger(L, lua_upvalueindex(1));
    lua_settop(L, 1);
    while (!lua_isnone(L, lua_upvalueindex(passed + 2))) {
        lua_pushvalue(L, lua_upvalueindex(passed + 2));
        passed++;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, 1) != LUA_TNIL) {
            lua_pushinteger(L, passed);
            lua_replace(L, lua_upvalueindex(1));
            return 2;
        }
        lua_settop(L, 1);
    }
    lua_pushnil(L);
    return 1;
}

/* Iterator of a large table. Upvalue 1: number of keys passed; upvalue 2: the sorted
 * list of keys. */
static int walk_large(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_Integer passed = 0;
    if (!lua_isnoneornil(L, 2))
        passed = lua_tointeger(L, lua_upvalueindex(1));
    lua_settop(L, 1);
    uint32_t skipped = 0;
    while (lua_rawgeti(L, lua_upvalueindex(2), passed + 1) != LUA_TNIL) {
        passed++;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, 1) != LUA_TNIL) {
            lua_pushinteger(L, passed);
            lua_replace(L, lua_upvalueindex(1));
            return 2;
        }
        charge_skipped(L, &skipped);
        lua_settop(L, 1);
    }
    return 1;
}

/* Returns true if the table at 1 has no keys but 1 to `last`. */
static bool is_list(lua_State *L, lua_Integer last)
{
    uint32_t walked = 0;
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        charge_key(L, &walked);
        lua_Integer key = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
        if (key < 1 || key > last) {
            lua_pop(L, 1);
            return false;
        }
    }
    return true;
}

/* Pushes the iterator of the table at 1 and returns true; false, with nothing pushed,
 * if the table has too many keys. */
static bool push_small_walk(lua_State *L)
{
    struct key keys[KEYS_SMALL_MAX];
    int count = 0;
    luaL_checkstack(L, 2 * KEYS_SMALL_MAX + 4, NULL);
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        if (count == KEYS_SMALL_MAX) {
            lua_settop(L, 1);
            return false;
        }
        struct key key;
        read_key(L, "pairs", &key);
        key.place = lua_gettop(L);
        int at = count++;
        for (; at > 0 && compare_keys(&key, &keys[at - 1]) < 0; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
        lua_pushvalue(L, -1);
    }
    lua_pushinteger(L, 0);
    for (int i = 0; i < count; i++)
        lua_pushvalue(L, keys[i].place);
    lua_pushcclosure(L, walk_small, count + 1);
    return true;
}

static lua_Integer count_keys(lua_State *L)
{
    lua_Integer count = 0;
    uint32_t walked = 0;
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        charge_key(L, &walked);
        count++;
    }
    return count;
}

static void push_large_walk(lua_State *L)
{
    lua_Integer count = count_keys(L);
    struct key *keys = lua_newuserdatauv(L, 2 * (size_t)count * sizeof(*keys), 0);
    lua_createtable(L, (int)count, 0); /* the keys in Lua's order */
    int unsorted = lua_gettop(L);
    int filled = 0;
    uint32_t walked = 0;
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        charge_key(L, &walked);
        read_key(L, "pairs", &keys[filled]);
        keys[filled].place = filled + 1;
        filled++;
        lua_pushvalue(L, -1);
        lua_rawseti(L, unsorted, filled);
    }
    keys = sort_keys(L, keys, keys + count, (size_t)filled);
    lua_pushinteger(L, 0);
    lua_createtable(L, filled, 0);
    for (int i = 0; i < filled; i++) {
        charge_key(L, &walked);
        lua_rawgeti(L, unsorted, keys[i].place);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushcclosure(L, walk_large, 2);
}

static int finish_pairs(lua_State *L, int status, lua_KContext context)
{
    (void)L;
    (void)status;
    (void)context;
    return 3;
}

/* pairs(t) -> iterator, t, nil */
static int sandbox_pairs(lua_State *L)
{
    luaL_checkany(L, 1);
    look(L);
    if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
        lua_pushvalue(L, 1);
        lua_callk(L, 1, 3, 0, finish_pairs);
        return 3;
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    soc_sandbox_thaw(L, 1);
    lua_Integer last = (lua_Integer)lua_rawlen(L, 1);
    if (last > 0 && is_list(L, last)) {
        lua_pushinteger(L, last);
        lua_pushcclosure(L, walk_list, 1);
    } else if (!push_small_walk(L)) {
        push_large_walk(L);
    }
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

/* next(t [, key]) -> the next key in the order of pairs, value | nil */
static int sandbox_next(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    look(L);
    lua_settop(L, 2);
    struct key after = {.kind = KEY_INTEGER};
    bool from_start = lua_isnil(L, 2);
    if (!from_start)
        read_key(L, "next", &after);
    if (after.kind == KEY_FLOAT && isnan(after.as.number))
        return luaL_argerror(L, 2, "NaN cannot be a key");

    soc_lua_fill(L, 1);
    soc_sandbox_thaw(L, 1);
    struct key best = {.kind = KEY_INTEGER};
    bool has_best = false;
    uint32_t walked = 0;
    lua_pushnil(L); /* 3: the best key so far */
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        struct key key;
        read_key(L, "next", &key);
        if ((from_start || compare_charged(L, &key, &after, &walked) > 0) &&
            (!has_best || compare_charged(L, &key, &best, &walked) < 0)) {
            best = key;
            has_best = true;
            lua_copy(L, -1, 3);
        }
    }
    if (!has_best)
        return 1;
    lua_pushvalue(L, 3);
    lua_rawget(L, 1);
    return 2;
}

void soc_sandbox_push_next(lua_State *L)
{
    lua_pushcfunction(L, sandbox_next);
}

void soc_sandbox_open_pairs(lua_State *L)
{
    lua_pushcfunction(L, sandbox_pairs);
    lua_setfield(L, -2, "pairs");
    soc_sandbox_push_next(L);
    lua_setfield(L, -2, "next");
}

/* Sandbox table: a stable sort, and bounded loops.
 *
 * `table.sort` is a merge sort: equal elements keep their order, and an inconsistent
 * order function gives some order but no error. The table is written only at the end,
 * so an error leaves it unchanged. An order function cannot wait or yield. The other
 * functions work like the native ones but refuse absurd numbers of elements, because no
 * budget hook runs inside them. They report to the budget every few elements, and at each one
 * if there is a metatable: it may lead through a long chain of `__index`, or to a function
 * that takes long. At once as well, since they may be metamethods themselves, which a loop
 * without a hook calls.
 * Layer: sandbox. Thread: loop. */
#include "sandbox/sandbox_parts.h"

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include <lauxlib.h>

/* Stack slots of a running sort. */
#define SORT_TABLE  1
#define SORT_LESS   2 /* a function or nil */
#define SORT_VALUES 3 /* list of the elements in their original order */
#define SORT_PLACES 4 /* userdata with the arrays below */

/* Elements that are sorted at once: their places take 8 bytes each, asked for at once. */
#define SORT_ELEMENTS_MAX 32000000

/* A running sort. */
struct sort {
    uint32_t comparisons;
};

/* Raises if there are absurdly many elements. */
static void check_count(lua_State *L, lua_Integer count)
{
    if (count > SOC_SANDBOX_ELEMENTS_MAX)
        luaL_error(L, "too many elements (at most %d)", SOC_SANDBOX_ELEMENTS_MAX);
}

/* Elements between two reports to the budget. */
#define ELEMENTS_PER_LOOK 64

/* Steps of an element of a table that has a metatable. */
#define STEPS_OF_INDEX 32

/* A loop over elements, of which each may lead through metamethods. */
struct walk {
    bool has_metatable;
};

/* Begins a loop over the table at `index`: reports to the budget if it has a metatable. */
static struct walk begin_walk(lua_State *L, int index)
{
    struct walk walk = {lua_getmetatable(L, index) != 0};
    if (!walk.has_metatable)
        return walk;
    lua_pop(L, 1);
    soc_sandbox_charge(L, STEPS_OF_INDEX);
    return walk;
}

/* Counts the element of that number. */
static void charge_element(lua_State *L, struct walk walk, lua_Integer number)
{
    if (walk.has_metatable)
        soc_sandbox_charge(L, STEPS_OF_INDEX);
    else if (number % ELEMENTS_PER_LOOK == 0)
        soc_sandbox_charge(L, ELEMENTS_PER_LOOK);
}

/* Returns how many integers are from `first` to `last`, at most one too many. */
static lua_Integer count_range(lua_Integer first, lua_Integer last)
{
    if (first > last)
        return 0;
    uint64_t distance = (uint64_t)last - (uint64_t)first;
    return distance >= SOC_SANDBOX_ELEMENTS_MAX ? SOC_SANDBOX_ELEMENTS_MAX + 1
                                                : (lua_Integer)distance + 1;
}

/* Raises if the value at 1 cannot be used as a list; returns its length. Begins a walk over it. */
static lua_Integer check_list(lua_State *L, struct walk *walk)
{
    if (!lua_istable(L, 1)) {
        bool has_index = luaL_getmetafield(L, 1, "__index") != LUA_TNIL;
        bool has_newindex = luaL_getmetafield(L, 1, "__newindex") != LUA_TNIL;
        bool has_len = luaL_getmetafield(L, 1, "__len") != LUA_TNIL;
        lua_pop(L, has_index + has_newindex + has_len);
        if (!has_index || !has_newindex || !has_len)
            luaL_checktype(L, 1, LUA_TTABLE);
    }
    *walk = begin_walk(L, 1);
    lua_Integer count = luaL_len(L, 1);
    if (count < 0)
        luaL_error(L, "the length of a list cannot be negative");
    check_count(L, count);
    return count;
}

/* Comparisons between two reports to the budget. */
#define COMPARISONS_PER_LOOK 256

/* Counts a comparison of the two values on top of the stack. */
static void charge_comparison(lua_State *L, struct sort *sort)
{
    if (++sort->comparisons % COMPARISONS_PER_LOOK == 0)
        soc_sandbox_charge(L, COMPARISONS_PER_LOOK);
    if (lua_type(L, -1) == LUA_TSTRING && lua_type(L, -2) == LUA_TSTRING) {
        size_t a = lua_rawlen(L, -1);
        size_t b = lua_rawlen(L, -2);
        soc_sandbox_check_bytes(L, a < b ? a : b);
    }
}

/* Returns true if element number `a` goes before element number `b`. */
static bool is_less(lua_State *L, struct sort *sort, int32_t a, int32_t b)
{
    bool has_function = !lua_isnil(L, SORT_LESS);
    if (has_function)
        lua_pushvalue(L, SORT_LESS);
    if (has_function && lua_iscfunction(L, SORT_LESS)) /* which no hook interrupts */
        soc_sandbox_charge(L, 1);
    lua_rawgeti(L, SORT_VALUES, a);
    lua_rawgeti(L, SORT_VALUES, b);
    if (!has_function) {
        charge_comparison(L, sort);
        bool result = lua_compare(L, -2, -1, LUA_OPLT);
        lua_pop(L, 2);
        return result;
    }
    lua_call(L, 2, 1);
    bool result = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return result;
}

/* Merges from[left, middle) and from[middle, right) into `to`. */
static void merge(lua_State *L, struct sort *sort, const int32_t *from, int32_t *to,
                  const size_t edges[3])
{
    assert(edges[0] <= edges[1] && edges[1] <= edges[2]);
    size_t i = edges[0];
    size_t j = edges[1];
    for (size_t k = edges[0]; k < edges[2]; k++) {
        bool take_right = i >= edges[1] || (j < edges[2] && is_less(L, sort, from[j], from[i]));
        to[k] = take_right ? from[j++] : from[i++];
    }
}

/* Sorts the numbers 1 to `count` of the elements and returns the half of `places` they
 * end up in. */
static const int32_t *sort_places(lua_State *L, struct sort *sort, int32_t *places, size_t count)
{
    int32_t *from = places;
    int32_t *to = places + count;
    for (size_t i = 0; i < count; i++)
        from[i] = (int32_t)i + 1;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t left = 0; left < count; left += 2 * width) {
            size_t middle = left + width < count ? left + width : count;
            size_t right = left + 2 * width < count ? left + 2 * width : count;
            /* One comparison suffices for two runs that are already in order. */
            if (middle == right || !is_less(L, sort, from[middle], from[middle - 1]))
                memcpy(to + left, from + left, (right - left) * sizeof(*to));
            else
                merge(L, sort, from, to, (size_t[3]){left, middle, right});
        }
        int32_t *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* table.sort(list [, less]) */
static int sandbox_sort(lua_State *L)
{
    struct walk walk;
    lua_Integer count = check_list(L, &walk);
    if (count < 2)
        return 0;
    if (count > SORT_ELEMENTS_MAX)
        return luaL_error(L, "too many elements to sort (at most %d)", SORT_ELEMENTS_MAX);
    if (!lua_isnoneornil(L, 2))
        luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    /* A length that `__len` claims reserves nothing: the elements are counted as they come. */
    lua_Integer there = (lua_Integer)lua_rawlen(L, SORT_TABLE);
    lua_createtable(L, (int)(there < count ? there : count), 0);
    for (lua_Integer i = 1; i <= count; i++) {
        charge_element(L, walk, i);
        lua_geti(L, SORT_TABLE, i);
        lua_rawseti(L, SORT_VALUES, i);
    }
    int32_t *places = lua_newuserdatauv(L, 2 * (size_t)count * sizeof(*places), 0);
    struct sort sort = {0};
    const int32_t *sorted = sort_places(L, &sort, places, (size_t)count);
    for (lua_Integer i = 1; i <= count; i++) {
        charge_element(L, walk, i);
        lua_rawgeti(L, SORT_VALUES, sorted[i - 1]);
        lua_seti(L, SORT_TABLE, i);
    }
    return 0;
}

/* table.insert(list, [position,] value) */
static int sandbox_insert(lua_State *L)
{
    struct walk walk;
    lua_Integer position = check_list(L, &walk) + 1;
    switch (lua_gettop(L)) {
    case 2:
        break;
    case 3: {
        lua_Integer last = position;
        position = luaL_checkinteger(L, 2);
        luaL_argcheck(L, (lua_Unsigned)position - 1u < (lua_Unsigned)last, 2,
                      "position out of bounds");
        for (lua_Integer i = last; i > position; i--) {
            charge_element(L, walk, i);
            lua_geti(L, 1, i - 1);
            lua_seti(L, 1, i);
        }
        break;
    }
    default:
        return luaL_error(L, "wrong number of arguments to 'insert'");
    }
    lua_seti(L, 1, position);
    return 0;
}

/* table.remove(list [, position]) -> the removed element */
static int sandbox_remove(lua_State *L)
{
    struct walk walk;
    lua_Integer count = check_list(L, &walk);
    lua_Integer position = luaL_optinteger(L, 2, count);
    if (position != count)
        luaL_argcheck(L, (lua_Unsigned)position - 1u <= (lua_Unsigned)count, 2,
                      "position out of bounds");
    lua_geti(L, 1, position);
    for (; position < count; position++) {
        charge_element(L, walk, position);
        lua_geti(L, 1, position + 1);
        lua_seti(L, 1, position);
    }
    lua_pushnil(L);
    lua_seti(L, 1, position);
    return 1;
}

/* table.move(from, first, last, at [, to]) -> to */
static int sandbox_move(lua_State *L)
{
    lua_Integer first = luaL_checkinteger(L, 2);
    lua_Integer last = luaL_checkinteger(L, 3);
    lua_Integer at = luaL_checkinteger(L, 4);
    int to = lua_isnoneornil(L, 5) ? 1 : 5;
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checktype(L, to, LUA_TTABLE);
    struct walk walk = begin_walk(L, 1);
    if (begin_walk(L, to).has_metatable)
        walk.has_metatable = true;
    lua_Integer count = count_range(first, last);
    check_count(L, count);
    luaL_argcheck(L, count == 0 || at <= LUA_MAXINTEGER - (count - 1), 4,
                  "destination wrap around");
    /* Backwards where the elements would overwrite each other. */
    bool is_forward = at > last || at <= first || (to != 1 && !lua_compare(L, 1, to, LUA_OPEQ));
    for (lua_Integer i = 0; i < count; i++) {
        lua_Integer offset = is_forward ? i : count - 1 - i;
        charge_element(L, walk, i + 1);
        lua_geti(L, 1, first + offset);
        lua_seti(L, to, at + offset);
    }
    lua_pushvalue(L, to);
    return 1;
}

/* Returns the length of the text of `count` elements of the table at 1, with the separator
 * at 2. Raises where it is far too long. */
static size_t sum_elements(lua_State *L, struct walk walk, lua_Integer first, lua_Integer count)
{
    size_t separator;
    luaL_optlstring(L, 2, "", &separator);
    size_t bytes = 0;
    for (lua_Integer i = 0; i < count; i++) {
        charge_element(L, walk, i + 1);
        if (lua_geti(L, 1, first + i) == LUA_TSTRING)
            bytes += lua_rawlen(L, -1);
        lua_pop(L, 1);
        bytes += separator;
    }
    return bytes;
}

/* Adds the element at `index` of the table at 1. */
static void add_element(lua_State *L, luaL_Buffer *out, lua_Integer index)
{
    lua_geti(L, 1, index);
    if (!lua_isstring(L, -1))
        luaL_error(L, "invalid value (at index %I) in table for 'concat'", (LUAI_UACINT)index);
    luaL_addvalue(out);
}

/* table.concat(list [, separator [, first [, last]]]) -> text */
static int sandbox_concat(lua_State *L)
{
    if (!lua_istable(L, 1))
        return soc_sandbox_call_wrapped(L);
    luaL_Buffer out;
    size_t separator_length;
    struct walk walk = begin_walk(L, 1);
    lua_Integer first = luaL_optinteger(L, 3, 1);
    lua_Integer last = lua_isnoneornil(L, 4) ? luaL_len(L, 1) : luaL_checkinteger(L, 4);
    const char *separator = luaL_optlstring(L, 2, "", &separator_length);
    lua_Integer count = count_range(first, last);
    check_count(L, count);
    soc_sandbox_charge(L, (uint64_t)count);
    soc_sandbox_check_bytes(L, sum_elements(L, walk, first, count));
    luaL_buffinit(L, &out);
    for (lua_Integer i = 0; i < count; i++) {
        charge_element(L, walk, i + 1);
        add_element(L, &out, first + i);
        if (i + 1 < count)
            luaL_addlstring(&out, separator, separator_length);
    }
    luaL_pushresult(&out);
    return 1;
}

/* Beyond the elements, for what reports to the budget. */
#define UNPACK_SLOTS 8

/* table.unpack(list [, first [, last]]) -> the elements */
static int sandbox_unpack(lua_State *L)
{
    struct walk walk = {false};
    if (lua_istable(L, 1))
        walk = begin_walk(L, 1);
    lua_Integer first = luaL_optinteger(L, 2, 1);
    lua_Integer last = lua_isnoneornil(L, 3) ? luaL_len(L, 1) : luaL_checkinteger(L, 3);
    lua_Integer count = count_range(first, last);
    if (count >= INT_MAX / 2 || !lua_checkstack(L, (int)count + UNPACK_SLOTS))
        return luaL_error(L, "too many results to unpack");
    for (lua_Integer i = 0; i < count; i++) {
        charge_element(L, walk, i + 1);
        lua_geti(L, 1, first + i);
    }
    return (int)count;
}

void soc_sandbox_open_table(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"sort", sandbox_sort}, {"insert", sandbox_insert}, {"remove", sandbox_remove},
        {"move", sandbox_move}, {"unpack", sandbox_unpack}, {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
    soc_sandbox_wrap(L, "concat", sandbox_concat);
}

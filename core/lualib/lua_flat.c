#include "lualib/lua_flat.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "lualib/lua_json.h"

#define MEMBERS_MAX 16
#define SHAPES      64 /* a power of two */

/* Lua interns only strings up to this length; longer ones cannot be compared by
 * address. */
#define NAME_BYTES_MAX 40

/* Consecutive misses before a shape is replaced, so that two shapes with the same hash
 * do not evict each other all the time. */
#define MISSES_MAX 16

/* The member names of a table, in the order in which Lua iterates. */
struct shape {
    uint32_t count; /* 0: unused */
    uint32_t misses;
    const char *names[MEMBERS_MAX];
    uint8_t order[MEMBERS_MAX]; /* indexes of the names, sorted by bytes */
    uint16_t ends[MEMBERS_MAX]; /* end offsets in `text`, in that order */
    struct soc_buf text;        /* {"first": ,"second": and so on */
    int names_ref;              /* reference to a list that keeps the names alive */
    bool is_watched;
};

struct soc_flat_shapes {
    const char *const *watched;
    struct shape places[SHAPES];
};

struct value {
    int type; /* LUA_T... */
    bool is_integer;
    size_t length; /* of text */
    union {
        lua_Integer integer; /* also of a boolean */
        lua_Number number;
        const char *text;
    };
};

struct members {
    uint32_t count;
    uint64_t hash; /* of the names' addresses */
    const char *names[MEMBERS_MAX];
    size_t lengths[MEMBERS_MAX];
    struct value values[MEMBERS_MAX];
};

struct soc_flat_shapes *soc_flat_shapes_new(const char *const *watched)
{
    struct soc_flat_shapes *shapes = soc_alloc_zero(sizeof(*shapes));
    shapes->watched = watched;
    return shapes;
}

static void clear_shape(lua_State *L, struct shape *shape)
{
    if (shape->count > 0)
        luaL_unref(L, LUA_REGISTRYINDEX, shape->names_ref);
    shape->count = 0;
    shape->text.length = 0;
}

void soc_flat_shapes_free(lua_State *L, struct soc_flat_shapes *shapes)
{
    if (shapes == NULL)
        return;
    for (int i = 0; i < SHAPES; i++) {
        clear_shape(L, &shapes->places[i]);
        soc_buf_fini(&shapes->places[i].text);
    }
    free(shapes);
}

/* Reads the value on top of the stack; false if it is not a plain one. */
static bool read_value(lua_State *L, struct value *value)
{
    value->type = lua_type(L, -1);
    switch (value->type) {
    case LUA_TSTRING:
        value->text = lua_tolstring(L, -1, &value->length);
        return true;
    case LUA_TNUMBER:
        value->is_integer = lua_isinteger(L, -1);
        if (value->is_integer)
            value->integer = lua_tointeger(L, -1);
        else
            value->number = lua_tonumber(L, -1);
        return value->is_integer || isfinite(value->number);
    case LUA_TBOOLEAN:
        value->integer = lua_toboolean(L, -1);
        return true;
    case LUA_TLIGHTUSERDATA:
        return lua_touserdata(L, -1) == NULL;
    default:
        return false;
    }
}

/* Iterates over the table and leaves its names and values on the stack, alternating. */
static bool read_members(lua_State *L, int index, struct members *members)
{
    uint32_t count = 0;
    uint64_t hash = 0;
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        if (count == MEMBERS_MAX || lua_type(L, -2) != LUA_TSTRING)
            return false;
        const char *name = lua_tolstring(L, -2, &members->lengths[count]);
        if (members->lengths[count] > NAME_BYTES_MAX || !read_value(L, &members->values[count]))
            return false;
        members->names[count++] = name;
        hash = (hash ^ (uintptr_t)name) * 0x9e3779b97f4a7c15u;
        lua_pushvalue(L, -2);
    }
    members->count = count;
    members->hash = hash;
    return count > 0;
}

static bool is_before(const struct members *members, uint8_t a, uint8_t b)
{
    size_t left = members->lengths[a];
    size_t right = members->lengths[b];
    int order = memcmp(members->names[a], members->names[b], left < right ? left : right);
    return order != 0 ? order < 0 : left < right;
}

static void sort_names(const struct members *members, uint8_t *order)
{
    for (uint8_t i = 0; i < members->count; i++) {
        uint8_t to = i;
        for (; to > 0 && is_before(members, i, order[to - 1]); to--)
            order[to] = order[to - 1];
        order[to] = i;
    }
}

static bool is_watched(const char *const *watched, const char *name, size_t length)
{
    for (int i = 0; watched[i] != NULL; i++)
        if (strlen(watched[i]) == length && memcmp(watched[i], name, length) == 0)
            return true;
    return false;
}

/* Writes the names as JSON; false if one is not UTF-8. */
static bool write_names(struct shape *shape, const struct members *members)
{
    for (uint32_t i = 0; i < members->count; i++) {
        uint8_t number = shape->order[i];
        soc_buf_put_byte(&shape->text, i == 0 ? '{' : ',');
        struct soc_slice name = soc_slice(members->names[number], members->lengths[number]);
        if (soc_json_put_checked_string(&shape->text, name) >= 0)
            return false;
        soc_buf_put_byte(&shape->text, ':');
        shape->ends[i] = (uint16_t)shape->text.length;
    }
    return true;
}

/* Stores the names of the members, which are above `base` on the stack, as the shape in
 * this slot. */
static bool learn_shape(lua_State *L, const char *const *watched, struct shape *shape,
                        const struct members *members, int base)
{
    assert(lua_gettop(L) == base + 2 * (int)members->count);
    clear_shape(L, shape);
    sort_names(members, shape->order);
    if (!write_names(shape, members))
        return false;
    lua_createtable(L, (int)members->count, 0);
    shape->is_watched = false;
    for (uint32_t i = 0; i < members->count; i++) {
        lua_pushvalue(L, base + 1 + 2 * (int)i);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
        shape->names[i] = members->names[i];
        shape->is_watched |= is_watched(watched, members->names[i], members->lengths[i]);
    }
    shape->names_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    shape->count = members->count;
    shape->misses = 0;
    return true;
}

static bool is_shape(const struct shape *shape, const struct members *members)
{
    if (shape->count != members->count)
        return false;
    for (uint32_t i = 0; i < members->count; i++)
        if (shape->names[i] != members->names[i])
            return false;
    return true;
}

/* Lends the shape of the members. Learns it if it is new and its slot is free. */
static const struct shape *find_shape(lua_State *L, struct soc_flat_shapes *shapes,
                                      const struct members *members, int base)
{
    struct shape *shape = &shapes->places[members->hash >> 32 & (SHAPES - 1)];
    if (is_shape(shape, members)) {
        shape->misses = 0;
        return shape;
    }
    if (shape->count > 0 && ++shape->misses < MISSES_MAX)
        return NULL;
    return learn_shape(L, shapes->watched, shape, members, base) ? shape : NULL;
}

static bool write_value(struct soc_buf *out, const struct value *value)
{
    switch (value->type) {
    case LUA_TSTRING:
        return soc_json_put_checked_string(out, soc_slice(value->text, value->length)) < 0;
    case LUA_TNUMBER:
        if (value->is_integer)
            soc_json_put_integer(out, value->integer);
        else
            soc_json_put_number(out, value->number);
        return true;
    case LUA_TBOOLEAN:
        soc_buf_put_slice(out, value->integer ? SOC_SLICE("true") : SOC_SLICE("false"));
        return true;
    default:
        soc_buf_put_slice(out, SOC_SLICE("null"));
        return true;
    }
}

/* Like soc_buf_put, but inlined: the pieces are so small that a call shows. */
static inline void put_piece(struct soc_buf *out, const char *data, size_t length)
{
    if (out->capacity - out->length < length)
        soc_buf_reserve(out, length);
    memcpy(out->data + out->length, data, length);
    out->length += length;
}

static bool write_members(struct soc_buf *out, const struct shape *shape,
                          const struct members *members, size_t length_max)
{
    assert(shape->count == members->count);
    uint32_t begin = 0;
    for (uint32_t i = 0; i < shape->count; i++) {
        const struct value *value = &members->values[shape->order[i]];
        put_piece(out, shape->text.data + begin, shape->ends[i] - begin);
        begin = shape->ends[i];
        if ((value->type == LUA_TSTRING && out->length + value->length > length_max) ||
            !write_value(out, value))
            return false;
    }
    soc_buf_put_byte(out, '}');
    return out->length <= length_max;
}

bool soc_flat_encode(lua_State *L, struct soc_flat_shapes *shapes, int index, size_t bytes_max,
                     struct soc_buf *out, struct soc_flat *flat)
{
    struct members members;
    size_t length_before = out->length;
    if (lua_type(L, index) != LUA_TTABLE || !lua_checkstack(L, 2 * MEMBERS_MAX + 8))
        return false;
    if (lua_getmetatable(L, index)) {
        lua_pop(L, 1);
        return false;
    }
    index = lua_absindex(L, index);
    lua_pushnil(L); /* placeholder for the copy */
    int base = lua_gettop(L);
    const struct shape *shape = NULL;
    if (read_members(L, index, &members))
        shape = find_shape(L, shapes, &members, base);
    if (shape == NULL || !write_members(out, shape, &members, length_before + bytes_max)) {
        out->length = length_before;
        lua_settop(L, base - 1);
        return false;
    }
    flat->is_watched = shape->is_watched;
    if (!flat->wants_copy) {
        lua_settop(L, base - 1);
        return true;
    }
    lua_createtable(L, 0, (int)members.count);
    lua_replace(L, base);
    for (uint32_t i = 0; i < members.count; i++)
        lua_rawset(L, base);
    return true;
}

/* Encodes Lua values as JSON.
 *
 * Errors do not depend on the order in which Lua keeps a table: the members of an
 * object are checked in the order they are written, and a list with wrong keys is
 * reported as such even if a wrong element was found first. */
#include "lualib/lua_json.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <lauxlib.h>

#include "base/json_scan.h"
#include "base/limits.h"
#include "lualib/lua_fill.h"
#include "lualib/lua_work.h"

/* Members kept on the C stack, for all open objects together. Objects beyond that keep
 * their members in a userdata. */
#define MEMBERS_IN_PLACE 64

/* Up to this many members are sorted by insertion. */
#define MEMBERS_FEW 24

/* Tables between two reports of a script's call. Of one without tables inside the memory of the
 * turn bounds the work. */
#define REPORT_TABLES   1024
#define STEPS_PER_TABLE 8

/* Slots of the Lua stack that one open table needs. */
#define STACK_SLOTS 8

/* A Lua value read ahead of its writing. Texts are lent by the table that holds them;
 * nothing changes it meanwhile, because scripts have no finalizers. */
struct value {
    int type; /* LUA_T... */
    bool is_integer;
    union {
        lua_Integer integer; /* also of a boolean: 0 or 1 */
        lua_Number number;
        const char *text;
        const void *pointer;
    };
    size_t length; /* of text */
};

struct member {
    uint64_t prefix; /* the first bytes of the name, comparable as a number */
    struct soc_slice name;
    struct value value;
};

/* A table being written. On the Lua stack: the table, then for an object its members'
 * userdata, if any, or for a list the current key. */
struct level {
    bool is_object;
    bool is_moved;          /* the members are in a userdata */
    bool is_by_index;       /* a list that Lua does not iterate in order */
    int slot;               /* of the table */
    lua_Integer index;      /* of the current element; 0 before the first */
    lua_Integer index_last; /* if is_by_index */
    struct member *members; /* in the order of iteration */
    uint32_t *order;        /* their numbers, sorted by name */
    size_t member_count;    /* all */
    size_t member_next;     /* number of the next one to write */
    size_t in_place_before; /* in_place_used of the encoder without this object */
};

struct encoder {
    lua_State *L;
    struct soc_buf *out;
    size_t length_max; /* of `out` */
    const char *name;
    struct soc_detail *detail;
    int code;     /* of the fault */
    bool reports; /* a script calls: the work is counted */
    uint32_t tables;
    size_t depth;
    size_t in_place_used;
    struct level levels[SOC_JSON_DEPTH_MAX];
    struct member in_place[MEMBERS_IN_PLACE];
    uint32_t in_place_order[MEMBERS_IN_PLACE];
};

enum step {
    STEP_FAULT,
    STEP_CHILD, /* the table to write next is on top of the Lua stack */
    STEP_DONE,
};

/* Returns true, with n, if the table at `slot` has exactly the keys 1..n. */
static bool is_list(lua_State *L, int slot, lua_Integer *n)
{
    lua_Integer count = 0;
    lua_Integer last = 0;
    lua_pushnil(L);
    while (lua_next(L, slot)) {
        lua_pop(L, 1);
        lua_Integer key = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
        if (key < 1) {
            lua_pop(L, 1);
            return false;
        }
        last = key > last ? key : last;
        count++;
    }
    *n = last;
    return last == count;
}

/* The path of a fault, for people; a long one ends in dots. */
struct path {
    char text[160];
    size_t length;
    bool is_full;
};

static void add_to_path(struct path *path, const char *text, size_t length)
{
    static const char dots[] = "...";
    size_t room = sizeof(path->text) - path->length - sizeof(dots);
    if (path->is_full)
        return;
    if (length > room) {
        path->is_full = true;
        text = dots;
        length = sizeof(dots) - 1;
    }
    memcpy(path->text + path->length, text, length);
    path->length += length;
    path->text[path->length] = '\0';
}

static bool is_identifier(struct soc_slice name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
                                  "0123456789";
    if (name.length == 0 || (name.data[0] >= '0' && name.data[0] <= '9'))
        return false;
    for (size_t i = 0; i < name.length; i++)
        if (memchr(letters, name.data[i], sizeof(letters) - 1) == NULL)
            return false;
    return true;
}

/* Appends `.name`, or `["any name"]` escaped as in JSON. */
static void add_name_to_path(struct path *path, struct soc_slice name)
{
    struct soc_buf part = {0};
    if (is_identifier(name)) {
        soc_buf_put_byte(&part, '.');
        soc_buf_put_slice(&part, name);
    } else {
        soc_buf_put_byte(&part, '[');
        soc_json_put_string(&part, name);
        soc_buf_put_byte(&part, ']');
    }
    add_to_path(path, part.data, part.length);
    soc_buf_fini(&part);
}

static void fill_path(const struct encoder *encoder, struct path *path, size_t depth)
{
    path->length = 0;
    path->is_full = false;
    add_to_path(path, encoder->name, strlen(encoder->name));
    for (size_t i = 0; i < depth; i++) {
        const struct level *level = &encoder->levels[i];
        if (level->is_object) {
            uint32_t number = level->order[level->member_next - 1];
            add_name_to_path(path, level->members[number].name);
        } else {
            char text[32];
            int length = snprintf(text, sizeof(text), "[%lld]", (long long)level->index);
            add_to_path(path, text, (size_t)length);
        }
    }
}

static bool fail_at(struct encoder *encoder, size_t depth, int code, const char *reason)
{
    struct path path;
    fill_path(encoder, &path, depth);
    encoder->code = soc_fail(encoder->detail, code, "%s: %s", path.text, reason);
    return false;
}

#define KEYS_REASON "table keys must be strings, or 1 to n without gaps"

/* Fails because of the current value, or because of the outermost list around it that
 * has wrong keys. */
static bool fail(struct encoder *encoder, int code, const char *reason)
{
    for (size_t i = 0; i < encoder->depth; i++) {
        lua_Integer unused;
        const struct level *level = &encoder->levels[i];
        if (!level->is_object && !is_list(encoder->L, level->slot, &unused))
            return fail_at(encoder, i, SOC_EINVAL, KEYS_REASON);
    }
    return fail_at(encoder, encoder->depth, code, reason);
}

static bool fail_size(struct encoder *encoder)
{
    return fail(encoder, SOC_ETOOLARGE, "the JSON would be too large");
}

static void put_byte(struct soc_buf *out, char byte)
{
    if (out->length == out->capacity)
        soc_buf_reserve(out, 1);
    out->data[out->length++] = byte;
}

static void read_value(lua_State *L, int index, struct value *value)
{
    value->type = lua_type(L, index);
    switch (value->type) {
    case LUA_TSTRING:
        value->text = lua_tolstring(L, index, &value->length);
        break;
    case LUA_TNUMBER:
        value->is_integer = lua_isinteger(L, index);
        if (value->is_integer)
            value->integer = lua_tointeger(L, index);
        else
            value->number = lua_tonumber(L, index);
        break;
    case LUA_TBOOLEAN:
        value->integer = lua_toboolean(L, index);
        break;
    case LUA_TLIGHTUSERDATA:
        value->pointer = lua_touserdata(L, index);
        break;
    default:
        break;
    }
}

static bool write_string(struct encoder *encoder, struct soc_slice text, const char *reason)
{
    if (encoder->out->length + text.length > encoder->length_max)
        return fail_size(encoder);
    if (soc_json_put_checked_string(encoder->out, text) >= 0)
        return fail(encoder, SOC_EINVAL, reason);
    return true;
}

static bool write_number(struct encoder *encoder, const struct value *value)
{
    if (value->is_integer)
        soc_json_put_integer(encoder->out, value->integer);
    else if (isnan(value->number))
        return fail(encoder, SOC_EINVAL, "not-a-number cannot be JSON");
    else if (isinf(value->number))
        return fail(encoder, SOC_EINVAL, "an infinite number cannot be JSON");
    else
        soc_json_put_number(encoder->out, value->number);
    return true;
}

static bool fail_type(struct encoder *encoder, int type)
{
    static const char *const reasons[] = {
        [LUA_TNIL] = "nil cannot be JSON",
        [LUA_TLIGHTUSERDATA] = "a userdata cannot be JSON",
        [LUA_TFUNCTION] = "a function cannot be JSON",
        [LUA_TUSERDATA] = "a userdata cannot be JSON",
        [LUA_TTHREAD] = "a coroutine cannot be JSON",
    };
    return fail(encoder, SOC_EINVAL, reasons[type]);
}

/* Writes anything but a table. */
static bool write_value(struct encoder *encoder, const struct value *value)
{
    struct soc_buf *out = encoder->out;
    switch (value->type) {
    case LUA_TSTRING:
        if (!write_string(encoder, soc_slice(value->text, value->length),
                          "the string is not UTF-8"))
            return false;
        break;
    case LUA_TNUMBER:
        if (!write_number(encoder, value))
            return false;
        break;
    case LUA_TBOOLEAN:
        soc_buf_put_slice(out, value->integer ? SOC_SLICE("true") : SOC_SLICE("false"));
        break;
    case LUA_TLIGHTUSERDATA:
        if (value->pointer != NULL)
            return fail_type(encoder, value->type);
        soc_buf_put_slice(out, SOC_SLICE("null"));
        break;
    default:
        return fail_type(encoder, value->type);
    }
    return out->length <= encoder->length_max || fail_size(encoder);
}

static bool is_before(const struct member *a, const struct member *b)
{
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix;
    size_t shorter = a->name.length < b->name.length ? a->name.length : b->name.length;
    int order = memcmp(a->name.data, b->name.data, shorter);
    return order != 0 ? order < 0 : a->name.length < b->name.length;
}

static int compare_members(const void *left, const void *right, void *user)
{
    const struct member *members = user;
    const uint32_t *a = left;
    const uint32_t *b = right;
    return is_before(&members[*a], &members[*b]) ? -1 : 1;
}

/* Fills `order` with the members' numbers, sorted by name. The members stay in place:
 * moving them right after they were written is surprisingly slow. */
static void sort_members(const struct member *members, uint32_t *order, size_t count)
{
    if (count > MEMBERS_FEW) {
        for (uint32_t i = 0; i < count; i++)
            order[i] = i;
        qsort_r(order, count, sizeof(*order), compare_members, (void *)(uintptr_t)members);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        size_t to = i;
        for (; to > 0 && is_before(&members[i], &members[order[to - 1]]); to--)
            order[to] = order[to - 1];
        order[to] = i;
    }
}

/* Gives the object a userdata, right above its table, for `capacity` members and their
 * order, and moves its `count` members there. A key and a value are on top of the
 * stack. */
static void move_members(lua_State *L, struct level *level, size_t count, size_t capacity)
{
    assert(count <= capacity);
    struct member *moved =
        lua_newuserdatauv(L, capacity * (sizeof(*moved) + sizeof(*level->order)), 0);
    if (count > 0)
        memcpy(moved, level->members, count * sizeof(*moved));
    if (level->is_moved)
        lua_replace(L, level->slot + 1);
    else
        lua_insert(L, level->slot + 1);
    level->is_moved = true;
    level->members = moved;
    level->order = (uint32_t *)(moved + capacity);
}

static uint64_t read_prefix(struct soc_slice name)
{
    uint64_t word =
        name.length < 8 ? soc_json_load_tail(name.data, name.length) : soc_json_load(name.data);
    return __builtin_bswap64(word);
}

/* Reads and sorts all members of the object. Its first key and value are on top of the
 * stack. */
static bool collect_members(struct encoder *encoder, struct level *level)
{
    assert(encoder->in_place_used <= MEMBERS_IN_PLACE);
    lua_State *L = encoder->L;
    int slot = level->slot;
    size_t capacity = MEMBERS_IN_PLACE - encoder->in_place_used;
    size_t count = 0;
    level->in_place_before = encoder->in_place_used;
    level->is_moved = false;
    level->members = encoder->in_place + encoder->in_place_used;
    level->order = encoder->in_place_order + encoder->in_place_used;
    struct member *member = level->members;
    do {
        if (lua_type(L, -2) != LUA_TSTRING)
            return fail(encoder, SOC_EINVAL, KEYS_REASON);
        if (count == capacity) {
            capacity = 2 * capacity + MEMBERS_IN_PLACE;
            move_members(L, level, count, capacity);
            member = level->members + count;
        }
        member->name.data = lua_tolstring(L, -2, &member->name.length);
        member->prefix = read_prefix(member->name);
        read_value(L, -1, &member->value);
        lua_pop(L, 1);
        member++;
        count++;
    } while (lua_next(L, slot));
    if (!level->is_moved)
        encoder->in_place_used += count;
    level->member_count = count;
    level->member_next = 0;
    sort_members(level->members, level->order, count);
    return true;
}

/* Returns true if the table at `slot` is marked as a list. */
static bool is_marked(lua_State *L, int slot)
{
    if (!lua_getmetatable(L, slot))
        return false;
    soc_lua_push_array_mark(L);
    bool is_same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    if (!is_same)
        soc_lua_fill(L, slot);
    return is_same;
}

/* Opens the table on top of the stack; writes and pops an empty one. */
static bool open_table(struct encoder *encoder)
{
    lua_State *L = encoder->L;
    if (encoder->depth == SOC_JSON_DEPTH_MAX)
        return fail(encoder, SOC_EINVAL, "tables are nested too deeply or form a cycle");
    if (!lua_checkstack(L, STACK_SLOTS))
        return fail(encoder, SOC_ETOOLARGE, "the Lua stack is full");
    if (++encoder->tables % REPORT_TABLES == 0 && encoder->reports)
        soc_lua_work(L, (uint64_t)REPORT_TABLES * STEPS_PER_TABLE);
    struct level *level = &encoder->levels[encoder->depth];
    level->slot = lua_gettop(L);
    bool must_be_list = is_marked(L, level->slot);
    lua_pushnil(L);
    if (!lua_next(L, level->slot)) {
        lua_pop(L, 1);
        soc_buf_put_slice(encoder->out, must_be_list ? SOC_SLICE("[]") : SOC_SLICE("{}"));
        return encoder->out->length <= encoder->length_max || fail_size(encoder);
    }
    level->is_object = !must_be_list && lua_type(L, -2) != LUA_TNUMBER;
    if (level->is_object) {
        if (!collect_members(encoder, level))
            return false;
    } else {
        level->index = 0;
        level->is_by_index = false;
    }
    put_byte(encoder->out, level->is_object ? '{' : '[');
    encoder->depth++;
    return true;
}

/* Writes members of the object up to one whose value is a table. */
static enum step write_members(struct encoder *encoder, struct level *level)
{
    lua_State *L = encoder->L;
    while (level->member_next < level->member_count) {
        const struct member *member = &level->members[level->order[level->member_next++]];
        if (level->member_next > 1)
            put_byte(encoder->out, ',');
        if (!write_string(encoder, member->name, "the name is not UTF-8"))
            return STEP_FAULT;
        put_byte(encoder->out, ':');
        if (member->value.type == LUA_TTABLE) {
            lua_pushlstring(L, member->name.data, member->name.length);
            lua_rawget(L, level->slot);
            return STEP_CHILD;
        }
        if (!write_value(encoder, &member->value))
            return STEP_FAULT;
    }
    put_byte(encoder->out, '}');
    encoder->in_place_used = level->in_place_before;
    return STEP_DONE;
}

/* Pushes the next element of the list; false after the last. */
static bool next_element(lua_State *L, struct level *level)
{
    if (!level->is_by_index)
        return lua_next(L, level->slot);
    if (level->index == level->index_last)
        return false;
    lua_rawgeti(L, level->slot, level->index + 1);
    return true;
}

/* Switches to access by index, because Lua turned out to iterate in another order. */
static bool order_by_index(struct encoder *encoder, struct level *level)
{
    lua_State *L = encoder->L;
    lua_settop(L, level->slot);
    if (!is_list(L, level->slot, &level->index_last))
        return fail(encoder, SOC_EINVAL, KEYS_REASON);
    level->is_by_index = true;
    return next_element(L, level);
}

/* Writes elements of the list up to one that is a table. Lua usually iterates over a
 * list in order, which also checks its keys. */
static enum step write_elements(struct encoder *encoder, struct level *level)
{
    lua_State *L = encoder->L;
    bool has_element = level->index == 0 || next_element(L, level);
    while (has_element) {
        if (!level->is_by_index &&
            !(lua_isinteger(L, -2) && lua_tointeger(L, -2) == level->index + 1) &&
            !order_by_index(encoder, level))
            return STEP_FAULT;
        if (level->index++ > 0)
            put_byte(encoder->out, ',');
        struct value value;
        read_value(L, -1, &value);
        if (value.type == LUA_TTABLE)
            return STEP_CHILD;
        if (!write_value(encoder, &value))
            return STEP_FAULT;
        lua_pop(L, 1);
        has_element = next_element(L, level);
    }
    put_byte(encoder->out, ']');
    return STEP_DONE;
}

/* Writes the value on top of the stack. */
static bool write_all(struct encoder *encoder)
{
    struct value value;
    read_value(encoder->L, -1, &value);
    if (value.type != LUA_TTABLE)
        return write_value(encoder, &value);
    bool is_right = open_table(encoder);
    while (is_right && encoder->depth > 0) {
        struct level *level = &encoder->levels[encoder->depth - 1];
        switch (level->is_object ? write_members(encoder, level) : write_elements(encoder, level)) {
        case STEP_FAULT:
            return false;
        case STEP_CHILD:
            is_right = open_table(encoder);
            break;
        case STEP_DONE:
            lua_settop(encoder->L, level->slot - 1);
            encoder->depth--;
            break;
        }
    }
    return is_right && (encoder->out->length <= encoder->length_max || fail_size(encoder));
}

/* The value is on top of the stack. */
static int encode(lua_State *L, const char *name, size_t bytes_max, struct soc_buf *out,
                  struct soc_detail *detail, bool reports)
{
    struct encoder encoder;
    size_t length_before = out->length;
    assert(name != NULL);
    encoder.L = L;
    encoder.out = out;
    encoder.length_max =
        bytes_max > SIZE_MAX - length_before ? SIZE_MAX : length_before + bytes_max;
    encoder.name = name;
    encoder.detail = detail;
    encoder.code = SOC_OK;
    encoder.depth = 0;
    encoder.in_place_used = 0;
    encoder.reports = reports;
    encoder.tables = 0;
    if (write_all(&encoder))
        return SOC_OK;
    out->length = length_before;
    return encoder.code;
}

int soc_lua_json_encode(lua_State *L, int index, const char *name, size_t bytes_max,
                        struct soc_buf *out, struct soc_detail *detail)
{
    int top = lua_gettop(L);
    if (!lua_checkstack(L, STACK_SLOTS))
        return soc_fail(detail, SOC_ETOOLARGE, "%s: the Lua stack is full", name);
    lua_pushvalue(L, index);
    int rc = encode(L, name, bytes_max, out, detail, false);
    lua_settop(L, top);
    return rc;
}

int soc_lua_json_encode_counted(lua_State *L, const char *name, size_t bytes_max,
                                struct soc_buf *out, struct soc_detail *detail)
{
    int top = lua_gettop(L);
    luaL_checkstack(L, STACK_SLOTS, NULL);
    lua_pushvalue(L, -1);
    int rc = encode(L, name, bytes_max, out, detail, true);
    lua_settop(L, top);
    return rc;
}

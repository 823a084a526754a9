/* Decodes JSON into Lua values in one pass. */
#include "lualib/lua_json.h"

#include <assert.h>
#include <stdbool.h>

#include "base/json_scan.h"
#include "base/limits.h"
#include "lualib/lua_work.h"

/* Up to this many elements or members stay on the Lua stack until their list ends, so
 * that its table is created with the right size. A longer list gets its table earlier
 * and grows it. */
#define PENDING_MAX 32

/* Strings with escapes up to this size are unescaped on the C stack. */
#define UNESCAPE_BYTES 256

/* Values between two reports of a script's call. */
#define REPORT_VALUES 4096

/* An open list or object. On the Lua stack: a slot for its table, then the pending
 * elements, or names and values alternating. */
struct level {
    bool is_object;
    bool has_table;     /* the table exists and nothing is pending */
    int slot;           /* of the table */
    int pending;        /* elements or members above the slot */
    lua_Integer stored; /* elements in the table */
    uint64_t seen;      /* names, as a Bloom filter with one hash */
};

struct decoder {
    lua_State *L;
    struct soc_json_scan scan;
    bool reports; /* a script calls: the work is counted */
    uint32_t values;
    size_t depth;
    struct level levels[SOC_JSON_DEPTH_MAX + SOC_JSON_WRAP_MAX];
};

/* Pushes the text of a string with escapes. */
static void push_unescaped(lua_State *L, struct soc_slice inside)
{
    char room[UNESCAPE_BYTES];
    if (inside.length <= sizeof(room)) {
        lua_pushlstring(L, room, soc_json_unescape(inside, room));
        return;
    }
    char *owned = lua_newuserdatauv(L, inside.length, 0);
    lua_pushlstring(L, owned, soc_json_unescape(inside, owned));
    lua_remove(L, -2);
}

static void push_string(lua_State *L, struct soc_slice inside, bool has_escapes)
{
    if (has_escapes)
        push_unescaped(L, inside);
    else
        lua_pushlstring(L, inside.data, inside.length);
}

/* Returns the bit that stands for a name in a level's filter. */
static uint64_t name_bit(struct soc_slice name)
{
    uint64_t word = name.length < 8 ? soc_json_load_tail(name.data, name.length)
                                    : soc_json_load(name.data) ^
                                          soc_json_load(name.data + name.length - 8) << 1;
    return (uint64_t)1 << ((word + name.length) * 0x9e3779b97f4a7c15u >> 58);
}

/* Returns true if the object already has the name on top of the stack. The filter has
 * said that it may. */
static bool has_name(lua_State *L, const struct level *level)
{
    if (level->has_table) {
        lua_pushvalue(L, -1);
        bool has = lua_rawget(L, level->slot) != LUA_TNIL;
        lua_pop(L, 1);
        return has;
    }
    for (int i = 0; i < level->pending; i++)
        if (lua_rawequal(L, -1, level->slot + 1 + 2 * i))
            return true;
    return false;
}

/* Reads `"name":` and pushes the name. The filter uses the unescaped name, so an
 * escaped duplicate is found. */
static bool read_name(struct decoder *decoder, struct level *level)
{
    struct soc_slice inside;
    bool has_escapes;
    if (!soc_json_scan_name(&decoder->scan, &inside, &has_escapes))
        return false;
    struct soc_slice name = inside;
    push_string(decoder->L, inside, has_escapes);
    if (has_escapes)
        name.data = lua_tolstring(decoder->L, -1, &name.length);
    uint64_t bit = name_bit(name);
    if ((level->seen & bit) != 0 && has_name(decoder->L, level))
        return soc_json_scan_repeated(&decoder->scan, inside.data);
    level->seen |= bit;
    return true;
}

/* Creates the table of a level and moves the pending values into it. */
static void make_table(lua_State *L, struct level *level, int size)
{
    assert(!level->has_table && level->pending <= PENDING_MAX);
    assert(lua_gettop(L) == level->slot + level->pending * (level->is_object ? 2 : 1));
    if (level->is_object)
        lua_createtable(L, 0, size);
    else
        lua_createtable(L, size, 0);
    lua_replace(L, level->slot);
    if (level->is_object) {
        for (int i = level->pending; i > 0; i--)
            lua_rawset(L, level->slot);
    } else {
        for (int i = level->pending; i > 0; i--)
            lua_rawseti(L, level->slot, i);
        soc_lua_push_array_mark(L);
        lua_setmetatable(L, level->slot);
    }
    level->stored = level->pending;
    level->pending = 0;
    level->has_table = true;
}

/* Adds the value on top of the stack, with the name below it, to its level. */
static void add_value(lua_State *L, struct level *level)
{
    if (!level->has_table) {
        if (++level->pending == PENDING_MAX)
            make_table(L, level, 2 * PENDING_MAX);
    } else if (level->is_object) {
        lua_rawset(L, level->slot);
    } else {
        lua_rawseti(L, level->slot, ++level->stored);
    }
}

/* Continues after a value, which is on top of the stack: closes the levels that end
 * here and stops before the next value, or at depth 0. */
static bool finish_value(struct decoder *decoder)
{
    assert(decoder->depth <= SOC_JSON_DEPTH_MAX + SOC_JSON_WRAP_MAX);
    while (decoder->depth > 0) {
        struct level *level = &decoder->levels[decoder->depth - 1];
        bool is_closed;
        add_value(decoder->L, level);
        if (!soc_json_scan_next(&decoder->scan, level->is_object, &is_closed))
            return false;
        if (!is_closed)
            return !level->is_object || read_name(decoder, level);
        if (!level->has_table)
            make_table(decoder->L, level, level->pending);
        decoder->depth--;
    }
    return true;
}

/* Ensures `count` free slots on the Lua stack. */
static bool ensure_stack(struct decoder *decoder, int count)
{
    if (lua_checkstack(decoder->L, count))
        return true;
    decoder->scan.code = SOC_ETOOLARGE;
    decoder->scan.reason = "the Lua stack is full";
    return false;
}

/* Opens the list at `next` and stops before its first value; pushes an empty one. */
static bool open_level(struct decoder *decoder, bool *is_empty)
{
    lua_State *L = decoder->L;
    bool is_object = *decoder->scan.next == '{';
    if (!soc_json_scan_open(&decoder->scan, decoder->depth, is_empty))
        return false;
    if (!ensure_stack(decoder, 2 * PENDING_MAX + 8))
        return false;
    if (*is_empty) {
        lua_createtable(L, 0, 0);
        if (!is_object) {
            soc_lua_push_array_mark(L);
            lua_setmetatable(L, -2);
        }
        return true;
    }
    lua_pushnil(L);
    struct level *level = &decoder->levels[decoder->depth++];
    *level = (struct level){.is_object = is_object, .slot = lua_gettop(L)};
    return !is_object || read_name(decoder, level);
}

static bool push_number(struct decoder *decoder)
{
    struct soc_json_numeral numeral;
    if (!soc_json_scan_number(&decoder->scan, &numeral))
        return false;
    if (numeral.is_integer)
        lua_pushinteger(decoder->L, numeral.integer);
    else
        lua_pushnumber(decoder->L, numeral.number);
    return true;
}

/* Pushes a value, or opens a list that is not empty. Then `*is_whole` is false and the
 * first value of the list comes next. */
static bool push_value(struct decoder *decoder, bool *is_whole)
{
    struct soc_json_scan *scan = &decoder->scan;
    struct soc_slice inside;
    bool has_escapes;
    *is_whole = true;
    switch (soc_json_skip_space(scan) ? *scan->next : '\0') {
    case '"':
        scan->next++;
        if (!soc_json_scan_string(scan, &inside, &has_escapes))
            return false;
        push_string(decoder->L, inside, has_escapes);
        return true;
    case '{':
    case '[':
        return open_level(decoder, is_whole);
    case 't':
        lua_pushboolean(decoder->L, 1);
        return soc_json_scan_word(scan, SOC_SLICE("true"));
    case 'f':
        lua_pushboolean(decoder->L, 0);
        return soc_json_scan_word(scan, SOC_SLICE("false"));
    case 'n':
        soc_lua_push_null(decoder->L);
        return soc_json_scan_word(scan, SOC_SLICE("null"));
    default:
        return push_number(decoder);
    }
}

static bool push_text(struct decoder *decoder)
{
    do {
        bool is_whole;
        if (!push_value(decoder, &is_whole))
            return false;
        if (is_whole && !finish_value(decoder))
            return false;
        if (++decoder->values % REPORT_VALUES == 0 && decoder->reports)
            soc_lua_work(decoder->L, REPORT_VALUES);
    } while (decoder->depth > 0);
    return soc_json_scan_end(&decoder->scan);
}

static int decode(lua_State *L, struct soc_slice text, bool reports, struct soc_json_fault *fault)
{
    struct decoder decoder;
    int top = lua_gettop(L);
    if (text.data == NULL)
        text.data = "";
    decoder.L = L;
    decoder.depth = 0;
    decoder.reports = reports;
    decoder.values = 0;
    bool is_right = soc_json_scan_begin(&decoder.scan, text);
    decoder.scan.depth_max = SOC_JSON_DEPTH_MAX + (reports ? 0 : SOC_JSON_WRAP_MAX);
    if (is_right && ensure_stack(&decoder, 4) && push_text(&decoder)) {
        assert(lua_gettop(L) == top + 1);
        return SOC_OK;
    }
    lua_settop(L, top);
    fault->position = (size_t)(decoder.scan.next - text.data);
    fault->reason = decoder.scan.reason;
    return decoder.scan.code;
}

int soc_lua_json_decode_at(lua_State *L, struct soc_slice text, struct soc_json_fault *fault)
{
    return decode(L, text, true, fault);
}

int soc_lua_json_decode(lua_State *L, struct soc_slice text, struct soc_detail *detail)
{
    struct soc_json_fault fault;
    int rc = decode(L, text, false, &fault);
    if (rc < 0)
        soc_fail(detail, rc, "byte %zu: %s", fault.position + 1, fault.reason);
    return rc;
}

#include "lualib/lua_json.h"

#include <stdbool.h>

#include <lauxlib.h>

#include "base/limits.h"
#include "lualib/lua_work.h"

/* Larger buffers are freed after use. */
#define SCRATCH_BYTES_KEPT (64u << 10)

#define SCRATCH "society.json_scratch"

/* The output buffer of encode(). It belongs to the collector, so an out-of-memory error
 * cannot leak it, and is reused between calls. */
struct scratch {
    struct soc_buf buf;
    bool is_busy; /* in use, or abandoned by a call that raised */
};

/* Second registry key of the metatable: a lookup by address is faster than by name. */
static const char array_key = 'a';

void soc_lua_push_array_mark(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &array_key) == LUA_TTABLE)
        return;
    lua_pop(L, 1);
    luaL_newmetatable(L, SOC_LUA_ARRAY);
    /* All scripts share it, so it must not be visible or changeable. */
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &array_key);
}

void soc_lua_push_null(lua_State *L)
{
    lua_pushlightuserdata(L, NULL);
}

int soc_lua_is_null(lua_State *L, int index)
{
    return lua_type(L, index) == LUA_TLIGHTUSERDATA && lua_touserdata(L, index) == NULL;
}

static int scratch_gc(lua_State *L)
{
    struct scratch *scratch = lua_touserdata(L, 1);
    soc_buf_fini(&scratch->buf);
    return 0;
}

static struct scratch *push_scratch(lua_State *L)
{
    struct scratch *scratch = lua_newuserdatauv(L, sizeof(*scratch), 0);
    *scratch = (struct scratch){0};
    if (luaL_newmetatable(L, SCRATCH)) {
        lua_pushcfunction(L, scratch_gc);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return scratch;
}

/* Pushes the function's scratch, or replaces it with a new one if it is busy: a
 * finalizer may call encode() during encode(). */
static struct scratch *take_scratch(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    struct scratch *scratch = lua_touserdata(L, -1);
    if (scratch->is_busy) {
        lua_pop(L, 1);
        scratch = push_scratch(L);
        lua_pushvalue(L, -1);
        lua_replace(L, lua_upvalueindex(1));
    }
    scratch->is_busy = true;
    scratch->buf.length = 0;
    return scratch;
}

/* Pushes nil and { error, message }. */
static int push_failure(lua_State *L, int code, const char *message)
{
    luaL_pushfail(L);
    lua_createtable(L, 0, 3);
    lua_pushstring(L, soc_error_name(code));
    lua_setfield(L, -2, "error");
    lua_pushstring(L, message);
    lua_setfield(L, -2, "message");
    return 2;
}

/* Bytes that are written in the time of a step. */
#define BYTES_PER_STEP 16

/* encode(value) -> text | nil, { error, message } */
static int json_encode(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_settop(L, 1);
    soc_lua_work(L, 1); /* it may be a metamethod, which a loop without a hook calls */
    struct scratch *scratch = take_scratch(L);
    struct soc_detail detail;
    lua_pushvalue(L, 1);
    int rc = soc_lua_json_encode_counted(L, "value", SOC_JSON_BYTES_MAX, &scratch->buf, &detail);
    if (rc < 0) {
        scratch->is_busy = false;
        return push_failure(L, rc, detail.text);
    }
    lua_pushlstring(L, scratch->buf.data, scratch->buf.length);
    size_t length = scratch->buf.length;
    if (scratch->buf.capacity > SCRATCH_BYTES_KEPT)
        soc_buf_fini(&scratch->buf);
    scratch->is_busy = false;
    soc_lua_work(L, length / BYTES_PER_STEP);
    return 1;
}

/* decode(text) -> value | nil, { error, message, position } */
static int json_decode(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TSTRING);
    size_t length;
    const char *text = lua_tolstring(L, 1, &length);
    struct soc_json_fault fault;
    int rc = soc_lua_json_decode_at(L, soc_slice(text, length), &fault);
    if (rc == SOC_OK)
        return 1;
    push_failure(L, rc, fault.reason);
    lua_pushinteger(L, (lua_Integer)fault.position + 1);
    lua_setfield(L, -2, "position");
    return 2;
}

/* array(t) -> t, marked as a list */
static int json_array(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    soc_lua_push_array_mark(L);
    if (lua_getmetatable(L, 1)) {
        if (!lua_rawequal(L, 2, 3))
            return luaL_argerror(L, 1, "the table already has a metatable");
        lua_pop(L, 1);
    }
    lua_setmetatable(L, 1);
    return 1;
}

void soc_lua_json_list(struct soc_buf *object, const char *name, struct soc_buf *scratch)
{
    struct soc_slice text = soc_buf_slice(object);
    if (!soc_slice_equal(soc_json_member(text, name), SOC_SLICE("{}")))
        return;
    scratch->length = 0;
    soc_json_put_changed(scratch, text, name, SOC_SLICE("[]"));
    object->length = 0;
    soc_buf_put_slice(object, soc_buf_slice(scratch));
}

int soc_lua_json_open(lua_State *L)
{
    soc_lua_push_array_mark(L);
    lua_pop(L, 1);
    lua_createtable(L, 0, 4);
    push_scratch(L);
    lua_pushcclosure(L, json_encode, 1);
    lua_setfield(L, -2, "encode");
    lua_pushcfunction(L, json_decode);
    lua_setfield(L, -2, "decode");
    lua_pushcfunction(L, json_array);
    lua_setfield(L, -2, "array");
    soc_lua_push_null(L);
    lua_setfield(L, -2, "null");
    return 1;
}

#include "sandbox/sandbox.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "sandbox/sandbox_parts.h"

/* Registry name of the table with the methods of strings. */
#define STRING_METHODS "society.string_methods"

/* A native function that scripts get as it is or wrapped. */
struct native {
    const char *library; /* NULL: the environment itself */
    const char *name;
    lua_CFunction function; /* filled in by find_natives */
};

/* Every native function that scripts get is in this list. */
static const struct native native_list[] = {
    {NULL, "assert", NULL},      {NULL, "error", NULL},        {NULL, "ipairs", NULL},
    {NULL, "rawequal", NULL},    {NULL, "rawlen", NULL},       {NULL, "select", NULL},
    {NULL, "tonumber", NULL},    {NULL, "type", NULL},

    {"string", "byte", NULL},    {"string", "char", NULL},     {"string", "find", NULL},
    {"string", "format", NULL},  {"string", "gmatch", NULL},   {"string", "gsub", NULL},
    {"string", "len", NULL},     {"string", "lower", NULL},    {"string", "match", NULL},
    {"string", "pack", NULL},    {"string", "packsize", NULL}, {"string", "rep", NULL},
    {"string", "reverse", NULL}, {"string", "sub", NULL},      {"string", "unpack", NULL},
    {"string", "upper", NULL},

    {"table", "concat", NULL},   {"table", "pack", NULL},

    {"math", "abs", NULL},       {"math", "acos", NULL},       {"math", "asin", NULL},
    {"math", "atan", NULL},      {"math", "ceil", NULL},       {"math", "cos", NULL},
    {"math", "deg", NULL},       {"math", "exp", NULL},        {"math", "floor", NULL},
    {"math", "fmod", NULL},      {"math", "log", NULL},        {"math", "max", NULL},
    {"math", "min", NULL},       {"math", "modf", NULL},       {"math", "rad", NULL},
    {"math", "sin", NULL},       {"math", "sqrt", NULL},       {"math", "tan", NULL},
    {"math", "tointeger", NULL}, {"math", "type", NULL},       {"math", "ult", NULL},

    {"utf8", "char", NULL},      {"utf8", "codepoint", NULL},  {"utf8", "codes", NULL},
    {"utf8", "len", NULL},       {"utf8", "offset", NULL},
};

#define NATIVE_COUNT (sizeof(native_list) / sizeof(native_list[0]))

/* Fills in the functions. They come from a fresh state, because other code in this one
 * may have replaced the global ones. */
static bool fill_natives(struct native natives[NATIVE_COUNT])
{
    memcpy(natives, native_list, sizeof(native_list));
    lua_State *pristine = luaL_newstate();
    if (pristine == NULL)
        return false;
    luaL_openlibs(pristine);
    for (size_t i = 0; i < NATIVE_COUNT; i++) {
        lua_getglobal(pristine, natives[i].library == NULL ? "_G" : natives[i].library);
        lua_getfield(pristine, -1, natives[i].name);
        natives[i].function = lua_tocfunction(pristine, -1);
        lua_settop(pristine, 0);
    }
    lua_close(pristine);
    return true;
}

/* Lends the natives with their functions, looked up once for each Lua state. */
static const struct native *find_natives(lua_State *L)
{
    soc_sandbox_push_state(L);
    if (lua_getiuservalue(L, -1, SOC_SANDBOX_NATIVES) != LUA_TUSERDATA) {
        lua_pop(L, 1);
        struct native *natives = lua_newuserdatauv(L, sizeof(native_list), 0);
        if (!fill_natives(natives))
            luaL_error(L, "not enough memory");
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, -3, SOC_SANDBOX_NATIVES);
    }
    const struct native *natives = lua_touserdata(L, -1); /* referenced by the state */
    lua_pop(L, 2);
    return natives;
}

/* Pushes a new table with the native functions of `library`. */
static void push_library(lua_State *L, const struct native *natives, const char *library)
{
    lua_newtable(L);
    for (size_t i = 0; i < NATIVE_COUNT; i++) {
        const char *of = natives[i].library;
        if (library == NULL || of == NULL ? library != of : strcmp(library, of) != 0)
            continue;
        lua_pushcfunction(L, natives[i].function);
        lua_setfield(L, -2, natives[i].name);
    }
}

static int sandbox_randomseed(lua_State *L)
{
    return luaL_error(L, "random numbers come from the host's seed");
}

static void open_math(lua_State *L, const struct soc_sandbox_gate *gate)
{
    lua_pushnumber(L, 3.141592653589793238462643383279502884);
    lua_setfield(L, -2, "pi");
    lua_pushnumber(L, (lua_Number)HUGE_VAL);
    lua_setfield(L, -2, "huge");
    lua_pushinteger(L, LUA_MAXINTEGER);
    lua_setfield(L, -2, "maxinteger");
    lua_pushinteger(L, LUA_MININTEGER);
    lua_setfield(L, -2, "mininteger");
    lua_pushlightuserdata(L, gate->upvalue);
    lua_pushcclosure(L, gate->random, 1);
    lua_setfield(L, -2, "random");
    lua_pushcfunction(L, sandbox_randomseed);
    lua_setfield(L, -2, "randomseed");
}

static void open_utf8(lua_State *L)
{
    static const char pattern[] = "[\0-\x7F\xC2-\xFD][\x80-\xBF]*";
    lua_pushlstring(L, pattern, sizeof(pattern) - 1);
    lua_setfield(L, -2, "charpattern");
}

/* Sets the library on top of the stack in the environment below it and pops it. */
static void set_library(lua_State *L, const char *name)
{
    assert(lua_istable(L, -1) && lua_istable(L, -2));
    lua_pushvalue(L, -1);
    soc_sandbox_preload(L, -3, name);
    lua_setfield(L, -2, name);
}

/* Gives strings a table of methods without `dump` and addresses. Scripts cannot reach
 * the table, because all environments share it. */
static void protect_strings(lua_State *L, const struct native *natives)
{
    lua_pushliteral(L, "");
    if (!lua_getmetatable(L, -1))
        lua_newtable(L);
    if (lua_getfield(L, LUA_REGISTRYINDEX, STRING_METHODS) == LUA_TNIL) {
        lua_pop(L, 1);
        push_library(L, natives, "string");
        soc_sandbox_open_string(L);
        lua_pushvalue(L, -1);
        lua_setfield(L, LUA_REGISTRYINDEX, STRING_METHODS);
    }
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

void soc_sandbox_push(lua_State *L, const struct soc_sandbox_gate *gate)
{
    assert(gate->print != NULL && gate->time != NULL && gate->clock != NULL &&
           gate->random != NULL);
    luaL_checkstack(L, 12, NULL);
    const struct native *natives = find_natives(L);
    protect_strings(L, natives);

    push_library(L, natives, NULL);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "_G");
    lua_pushliteral(L, LUA_VERSION);
    lua_setfield(L, -2, "_VERSION");
    soc_sandbox_open_calls(L);
    soc_sandbox_open_pairs(L);
    soc_sandbox_open_text(L, gate);
    soc_sandbox_open_metatables(L);
    soc_sandbox_open_require(L);

    push_library(L, natives, "string");
    soc_sandbox_open_string(L);
    set_library(L, "string");
    push_library(L, natives, "table");
    soc_sandbox_open_table(L);
    set_library(L, "table");
    push_library(L, natives, "math");
    open_math(L, gate);
    set_library(L, "math");
    push_library(L, natives, "utf8");
    open_utf8(L);
    set_library(L, "utf8");
    lua_newtable(L);
    soc_sandbox_open_os(L, gate);
    set_library(L, "os");
    lua_newtable(L);
    soc_sandbox_open_coroutine(L);
    set_library(L, "coroutine");
    soc_sandbox_note_names(L);
}

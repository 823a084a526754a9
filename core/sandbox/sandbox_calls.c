/* Sandbox calls: errors that scripts cannot catch, and the functions that catch the
 * others.
 *
 * A fatal error is a userdata that carries the host's value; pcall, xpcall, load and
 * coroutine.* rethrow it. A `<close>` variable of a script may raise another error in
 * its place. So fatal errors are numbered and remembered with their thread: if a thread
 * had a fatal error since pcall began, pcall rethrows that one, whatever it caught.
 * Layer: sandbox. Thread: loop. */
#include "lualib/lua_weak.h"
#include "lualib/lua_work.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_parts.h"

#include <assert.h>
#include <string.h>

#include <lauxlib.h>

#define SANDBOX_STATE "society.sandbox"
#define FATAL_ERROR   "society.fatal"

/* User value 1 is what the host reads. */
struct fatal_error {
    uint64_t number;
};

struct soc_sandbox_state *soc_sandbox_push_state(lua_State *L)
{
    if (lua_getfield(L, LUA_REGISTRYINDEX, SANDBOX_STATE) == LUA_TUSERDATA)
        return lua_touserdata(L, -1);
    lua_pop(L, 1);
    struct soc_sandbox_state *state =
        lua_newuserdatauv(L, sizeof(*state), (int)SOC_SANDBOX_NATIVES);
    memset(state, 0, sizeof(*state));
    for (int i = SOC_SANDBOX_DOOMED; i <= SOC_SANDBOX_MODULES; i++) {
        soc_lua_weak_push(L, "k");
        lua_setiuservalue(L, -2, i);
    }
    lua_newtable(L);
    lua_setiuservalue(L, -2, SOC_SANDBOX_CHUNKS);
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, SANDBOX_STATE);
    return state;
}

void soc_sandbox_push_state_value(lua_State *L, enum soc_sandbox_state_value which)
{
    assert(which >= SOC_SANDBOX_DOOMED && which <= SOC_SANDBOX_NATIVES);
    soc_sandbox_push_state(L);
    lua_getiuservalue(L, -1, (int)which);
    lua_remove(L, -2);
}

struct soc_sandbox_budget soc_sandbox_set_budget(lua_State *L,
                                                 const struct soc_sandbox_budget *budget)
{
    struct soc_sandbox_state *state = soc_sandbox_push_state(L);
    struct soc_sandbox_budget former = state->budget;
    state->budget = *budget;
    lua_pop(L, 1);
    soc_lua_work_set(L, soc_sandbox_charge);
    return former;
}

void soc_sandbox_charge(lua_State *L, uint64_t steps)
{
    luaL_checkstack(L, 4, NULL);
    const struct soc_sandbox_state *state = soc_sandbox_push_state(L);
    lua_pop(L, 1); /* referenced by the registry */
    if (state->budget.charge != NULL)
        state->budget.charge(L, steps);
}

/* Texts up to here cost as little as the call that makes them. */
#define SHORT_BYTES    4096
#define BYTES_PER_STEP 64

void soc_sandbox_check_bytes(lua_State *L, size_t bytes)
{
    if (bytes <= SHORT_BYTES)
        return;
    luaL_checkstack(L, 4, NULL);
    const struct soc_sandbox_budget *budget = &soc_sandbox_push_state(L)->budget;
    lua_pop(L, 1);
    if (budget->text_bytes_max > 0 && bytes > budget->text_bytes_max)
        budget->refuse_text(L, budget->text_bytes_max);
    if (budget->charge != NULL)
        budget->charge(L, bytes / BYTES_PER_STEP);
}

void soc_sandbox_check_growth(lua_State *L, size_t bytes, size_t *bytes_checked)
{
    if (bytes <= 2 * *bytes_checked)
        return;
    *bytes_checked = bytes;
    soc_sandbox_check_bytes(L, bytes);
}

void soc_sandbox_wrap(lua_State *L, const char *name, lua_CFunction wrapper)
{
    assert(lua_istable(L, -1));
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, wrapper, 1);
    lua_setfield(L, -2, name);
}

int soc_sandbox_call_wrapped(lua_State *L)
{
    assert(lua_iscfunction(L, lua_upvalueindex(1)));
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

static int fatal_tostring(lua_State *L)
{
    luaL_checkudata(L, 1, FATAL_ERROR);
    lua_getiuservalue(L, 1, 1);
    soc_sandbox_push_text(L, -1);
    return 1;
}

/* Wraps the value on top of the stack into a fatal error. */
static void wrap_fatal(lua_State *L)
{
    struct fatal_error *fatal = lua_newuserdatauv(L, sizeof(*fatal), 1);
    fatal->number = ++soc_sandbox_push_state(L)->fatal_count;
    lua_pop(L, 1);
    lua_insert(L, -2);
    lua_setiuservalue(L, -2, 1);
    if (luaL_newmetatable(L, FATAL_ERROR)) {
        lua_pushcfunction(L, fatal_tostring);
        lua_setfield(L, -2, "__tostring");
    }
    lua_setmetatable(L, -2);
}

int soc_sandbox_raise_fatal(lua_State *L)
{
    if (luaL_testudata(L, -1, FATAL_ERROR) == NULL)
        wrap_fatal(L);
    soc_sandbox_push_state_value(L, SOC_SANDBOX_DOOMED);
    lua_pushthread(L);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    return lua_error(L);
}

const uint64_t *soc_sandbox_fatal_count(lua_State *L)
{
    const struct soc_sandbox_state *state = soc_sandbox_push_state(L);
    lua_pop(L, 1); /* referenced by the registry */
    return &state->fatal_count;
}

/* Pushes the last fatal error of the thread at index `thread` (0: this one) or nil.
 * Lends it, or returns NULL. */
static struct fatal_error *push_last_fatal(lua_State *L, int thread)
{
    if (thread == 0)
        lua_pushthread(L);
    else
        lua_pushvalue(L, thread);
    soc_sandbox_push_state_value(L, SOC_SANDBOX_DOOMED);
    lua_insert(L, -2);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    return lua_touserdata(L, -1);
}

int soc_sandbox_fatal_value(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    struct fatal_error *last = push_last_fatal(L, 0);
    if (luaL_testudata(L, index, FATAL_ERROR) != NULL)
        lua_pushvalue(L, index);
    else if (last != NULL)
        lua_pushvalue(L, -1);
    else {
        lua_pop(L, 1);
        return 0;
    }
    lua_remove(L, -2);
    soc_sandbox_push_state_value(L, SOC_SANDBOX_DOOMED);
    lua_pushthread(L);
    lua_pushnil(L);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    lua_getiuservalue(L, -1, 1);
    lua_remove(L, -2);
    return 1;
}

void soc_sandbox_pass_fatal(lua_State *L, int thread, int status, uint64_t fatal_count)
{
    const struct fatal_error *fatal = luaL_testudata(L, -1, FATAL_ERROR);
    if (status == LUA_ERRMEM || (fatal != NULL && fatal->number > fatal_count))
        soc_sandbox_raise_fatal(L);
    uint64_t now = soc_sandbox_push_state(L)->fatal_count;
    lua_pop(L, 1);
    if (now == fatal_count)
        return;
    fatal = push_last_fatal(L, thread);
    if (fatal != NULL && fatal->number > fatal_count)
        soc_sandbox_raise_fatal(L);
    lua_pop(L, 1);
}

int soc_sandbox_is_fatal(lua_State *L, int index)
{
    return luaL_testudata(L, index, FATAL_ERROR) != NULL;
}

bool soc_sandbox_is_doomed(lua_State *L, int index)
{
    bool is_doomed = push_last_fatal(L, index) != NULL;
    lua_pop(L, 1);
    return is_doomed;
}

/* Returns the number of the last fatal error. For functions with the state as upvalue
 * 1. */
static lua_KContext read_fatal_count(lua_State *L)
{
    assert(lua_isuserdata(L, lua_upvalueindex(1)));
    const struct soc_sandbox_state *state = lua_touserdata(L, lua_upvalueindex(1));
    return (lua_KContext)state->fatal_count;
}

/* Leaves false and the error, or rethrows it. */
static int catch_error(lua_State *L, int status, lua_KContext fatal_count)
{
    soc_sandbox_pass_fatal(L, 0, status, (uint64_t)fatal_count);
    lua_pushboolean(L, 0);
    lua_insert(L, -2);
    return 2;
}

static int finish_pcall(lua_State *L, int status, lua_KContext fatal_count)
{
    if (status != LUA_OK && status != LUA_YIELD)
        return catch_error(L, status, fatal_count);
    return lua_gettop(L);
}

/* pcall(f, ...) -> true, ... | false, error */
static int sandbox_pcall(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_pushboolean(L, 1);
    lua_insert(L, 1);
    lua_KContext context = read_fatal_count(L);
    int status = lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, context, finish_pcall);
    return finish_pcall(L, status, context);
}

/* Wraps a script's message handler, upvalue 1, and hides fatal errors from it. */
static int handle_message(lua_State *L)
{
    if (soc_sandbox_is_fatal(L, 1))
        return 1;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

/* The function and the message handler are below the results. */
static int finish_xpcall(lua_State *L, int status, lua_KContext fatal_count)
{
    if (status != LUA_OK && status != LUA_YIELD)
        return catch_error(L, status, fatal_count);
    return lua_gettop(L) - 2;
}

/* xpcall(f, handler, ...) -> true, ... | false, what the handler returned */
static int sandbox_xpcall(lua_State *L)
{
    luaL_checktype(L, 2, LUA_TFUNCTION);
    int count = lua_gettop(L);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, handle_message, 1);
    lua_replace(L, 2);
    lua_pushboolean(L, 1);
    lua_pushvalue(L, 1);
    lua_rotate(L, 3, 2);
    lua_KContext context = read_fatal_count(L);
    int status = lua_pcallk(L, count - 2, LUA_MULTRET, 2, context, finish_xpcall);
    return finish_xpcall(L, status, context);
}

/* A text that is compiled piece by piece, so that the budget can end it. */
struct pieces {
    const char *rest;
    size_t length;
    bool has_reader; /* a function at 1, which is asked for more */
};

#define PIECE_BYTES 1024

/* Where the text lies that the reader gave last. */
#define READ_SLOT 5

/* Asks the function at 1 for the next text; false: there is none. */
static bool ask_reader(lua_State *L, struct pieces *pieces)
{
    luaL_checkstack(L, 4, "too many nested functions");
    soc_sandbox_charge(L, 1);
    lua_pushvalue(L, 1);
    lua_call(L, 0, 1);
    if (!lua_isnil(L, -1) && !lua_isstring(L, -1))
        luaL_error(L, "reader function must return a string");
    lua_replace(L, READ_SLOT);
    pieces->rest = lua_tolstring(L, READ_SLOT, &pieces->length);
    return pieces->rest != NULL && pieces->length > 0;
}

/* A lua_Reader. What it raises ends the compilation. */
static const char *read_piece(lua_State *L, void *user, size_t *length)
{
    struct pieces *pieces = user;
    *length = 0;
    if (pieces->length == 0 && (!pieces->has_reader || !ask_reader(L, pieces)))
        return NULL;
    const char *piece = pieces->rest;
    *length = pieces->length < PIECE_BYTES ? pieces->length : PIECE_BYTES;
    soc_sandbox_charge(L, *length);
    pieces->rest += *length;
    pieces->length -= *length;
    return piece;
}

/* Compiles the text at 1, or of the function there, with the name at 2 and the environment at 4,
 * as the native load does; returns the number of results. */
static int load_text(lua_State *L)
{
    struct pieces pieces = {.has_reader = !lua_isstring(L, 1)};
    if (pieces.has_reader)
        luaL_checktype(L, 1, LUA_TFUNCTION);
    else
        pieces.rest = lua_tolstring(L, 1, &pieces.length);
    const char *name = luaL_optstring(L, 2, pieces.has_reader ? "=(load)" : pieces.rest);
    lua_settop(L, READ_SLOT);
    if (lua_load(L, read_piece, &pieces, name, "t") != LUA_OK) {
        lua_pushnil(L);
        lua_insert(L, -2);
        return 2;
    }
    lua_pushvalue(L, 4);
    if (lua_setupvalue(L, -2, 1) == NULL)
        lua_pop(L, 1);
    return 1;
}

static int refuse_load(lua_State *L, const char *message)
{
    lua_pushnil(L);
    lua_pushstring(L, message);
    return 2;
}

/* load(chunk [, name [, mode [, env]]]) -> function | nil, message. Upvalue 1 is the
 * environment. */
static int sandbox_load(lua_State *L)
{
    luaL_checkany(L, 1);
    if (strchr(luaL_optstring(L, 3, "t"), 't') == NULL)
        return refuse_load(L, "load: only text can be loaded, but the mode has no 't'");
    if (!soc_sandbox_may_load(L, lua_upvalueindex(1)))
        return refuse_load(L, "load: texts are not loaded while agents run; allow it with "
                              "society.config{ load = true }, or hand the text to agent:run_lua");
    if (lua_isnone(L, 4)) {
        lua_settop(L, 3);
        lua_pushvalue(L, lua_upvalueindex(1));
    }
    lua_settop(L, 4);
    uint64_t fatal_count = soc_sandbox_push_state(L)->fatal_count;
    lua_pop(L, 1);
    int count = load_text(L);
    if (count == 2) /* the parser caught an error of the reader, which may be fatal */
        soc_sandbox_pass_fatal(L, 0, LUA_ERRRUN, fatal_count);
    return count;
}

void soc_sandbox_open_calls(lua_State *L)
{
    soc_sandbox_push_state(L);
    lua_pushvalue(L, -1);
    lua_pushcclosure(L, sandbox_pcall, 1);
    lua_setfield(L, -3, "pcall");
    lua_pushcclosure(L, sandbox_xpcall, 1);
    lua_setfield(L, -2, "xpcall");

    lua_pushvalue(L, -1);
    lua_pushcclosure(L, sandbox_load, 1);
    lua_setfield(L, -2, "load");
}

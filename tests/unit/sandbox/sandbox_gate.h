/* Sandbox gate: the pretended gate of the sandbox's tests.
 *
 * It prints into a buffer, tells a fixed time, and waits as a real one does, by
 * yielding the host's key. Layer: tests. Thread: one. */
#ifndef SOC_TESTS_SANDBOX_GATE_H
#define SOC_TESTS_SANDBOX_GATE_H

#include "check.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "base/buf.h"
#include "sandbox/sandbox.h"

/* An environment with a gate. */
struct world {
    lua_State *L;           /* the environment is at 1 */
    int waits;              /* ended so far */
    int64_t now;            /* what os.time tells */
    struct soc_buf printed; /* lines of print */
    struct soc_buf result;  /* of the last script */
};

/* Returns the world that is upvalue 1. */
static inline struct world *world_of(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

/* print: keeps the line. */
static inline int world_print(lua_State *L)
{
    struct world *world = world_of(L);
    for (int i = 1; i <= lua_gettop(L); i++) {
        CHECK_INT(lua_type(L, i), LUA_TSTRING);
        soc_buf_put_text(&world->printed, i > 1 ? "\t" : "");
        soc_buf_put_text(&world->printed, lua_tostring(L, i));
    }
    soc_buf_put_byte(&world->printed, '\n');
    return 0;
}

/* os.time() */
static inline int world_time(lua_State *L)
{
    CHECK_INT(lua_gettop(L), 0);
    lua_pushinteger(L, world_of(L)->now);
    return 1;
}

/* os.clock */
static inline int world_clock(lua_State *L)
{
    CHECK(world_of(L)->L != NULL);
    lua_pushnumber(L, 1.5);
    return 1;
}

/* math.random: the sum of its arguments, so that a test sees they came. */
static inline int world_random(lua_State *L)
{
    CHECK(world_of(L)->L != NULL);
    lua_pushinteger(L, luaL_optinteger(L, 1, 0) + luaL_optinteger(L, 2, 0));
    return 1;
}

/* The end of a wait: its value is at 1, as the host resumes with nothing. */
static inline int world_wait_ended(lua_State *L, int status, lua_KContext context)
{
    (void)context;
    CHECK_INT(status, LUA_YIELD);
    CHECK_INT(lua_gettop(L), 1);
    return 1;
}

/* wait(v) -> v */
static inline int world_wait(lua_State *L)
{
    lua_settop(L, 1);
    if (!lua_isyieldable(L))
        return luaL_error(L, "cannot wait here");
    lua_pushlightuserdata(L, soc_sandbox_host_yield_key());
    return lua_yieldk(L, 1, 0, world_wait_ended);
}

/* fatal(v) */
static inline int world_fatal(lua_State *L)
{
    lua_settop(L, 1);
    return soc_sandbox_raise_fatal(L);
}

/* count_waits() -> integer */
static inline int world_count_waits(lua_State *L)
{
    lua_pushinteger(L, world_of(L)->waits);
    return 1;
}

#endif

/* Sandbox world: an environment with a pretended gate, for the tests of the sandbox.
 *
 * Scripts run as a turn does: on a thread of the host's that is resumed again
 * after each wait. They have three functions more: wait(v) waits once and
 * returns v, fatal(v) raises a fatal error, count_waits() tells how often the host
 * was waited for. Layer: tests. Thread: one. */
#ifndef SOC_TESTS_SANDBOX_WORLD_H
#define SOC_TESTS_SANDBOX_WORLD_H

#include "sandbox_gate.h"

/* Sets a function of the tests in the environment. */
static inline void world_set(struct world *world, const char *name, lua_CFunction function)
{
    lua_pushlightuserdata(world->L, world);
    lua_pushcclosure(world->L, function, 1);
    lua_setfield(world->L, 1, name);
}

/* Makes an environment in a Lua state of its own. */
static inline void world_init(struct world *world)
{
    *world = (struct world){.L = luaL_newstate(), .now = 1767614400};
    luaL_openlibs(world->L);
    struct soc_sandbox_gate gate = {.print = world_print,
                                    .time = world_time,
                                    .clock = world_clock,
                                    .random = world_random,
                                    .upvalue = world};
    soc_sandbox_push(world->L, &gate);
    CHECK_INT(lua_gettop(world->L), 1);
    world_set(world, "wait", world_wait);
    world_set(world, "fatal", world_fatal);
    world_set(world, "count_waits", world_count_waits);
}

/* Ends the world. */
static inline void world_fini(struct world *world)
{
    lua_close(world->L);
    soc_buf_fini(&world->printed);
    soc_buf_fini(&world->result);
}

/* Appends the values on top of `turn` to the result, with spaces between. */
static inline void world_keep(struct world *world, lua_State *turn, int count)
{
    for (int i = lua_gettop(turn) - count + 1; i <= lua_gettop(turn); i++) {
        size_t length;
        const char *text = luaL_tolstring(turn, i, &length);
        if (world->result.length > 0 && world->result.data[world->result.length - 1] != ':')
            soc_buf_put_byte(&world->result, ' ');
        soc_buf_put(&world->result, text, length);
        lua_pop(turn, 1);
    }
}

/* Resumes the thread until it ends, however often it waits, and keeps its values,
 * "error:" and its error or "fatal:" and what a fatal error carries. */
static inline const char *world_finish(struct world *world, lua_State *turn)
{
    int count;
    int status;
    world->result.length = 0;
    while ((status = lua_resume(turn, world->L, 0, &count)) == LUA_YIELD) {
        CHECK_INT(count, 1);
        CHECK(lua_touserdata(turn, -1) == soc_sandbox_host_yield_key());
        lua_pop(turn, count);
        world->waits++;
    }
    if (status != LUA_OK) {
        count = 1;
        bool is_fatal = soc_sandbox_fatal_value(turn, -1);
        soc_buf_put_text(&world->result, is_fatal ? "fatal:" : "error:");
    }
    world_keep(world, turn, count);
    return soc_buf_text(&world->result);
}

/* Runs a script as a turn; returns its result as world_finish tells it. */
static inline const char *world_run(struct world *world, const char *script)
{
    lua_State *turn = lua_newthread(world->L);
    if (luaL_loadbufferx(turn, script, strlen(script), "=script", "t") == LUA_OK) {
        lua_pushvalue(world->L, 1);
        lua_xmove(world->L, turn, 1);
        lua_setupvalue(turn, -2, 1);
        world_finish(world, turn);
    } else {
        world->result.length = 0;
        world_keep(world, turn, 1);
    }
    lua_pop(world->L, 1);
    return soc_buf_text(&world->result);
}

/* Runs a script in a new environment and compares its result. */
static inline bool world_check(const char *file, int line, const char *script, const char *expected)
{
    struct world world;
    world_init(&world);
    bool holds = check_text(file, line, script, world_run(&world, script), expected);
    world_fini(&world);
    return holds;
}

#define CHECK_SCRIPT(script, expected) world_check(__FILE__, __LINE__, (script), (expected))

#endif

/* Covers: core/sandbox/sandbox_coroutine.c */
#include "sandbox_world.h"

static void pcall_and_xpcall_behave_like_the_native_ones(void)
{
    CHECK_SCRIPT("return pcall(function(...) return ... end, 1, nil, 3)", "true 1 nil 3");
    CHECK_SCRIPT("return pcall(error, 'x', 0)", "false x");
    CHECK_SCRIPT("return pcall(error)", "false nil");
    CHECK_SCRIPT("pcall()", "error:script:1: bad argument #1 to 'pcall' (value expected)");
    CHECK_SCRIPT("return xpcall(function(...) return ... end, print, 1, nil, 3)", "true 1 nil 3");
    CHECK_SCRIPT(
        "return xpcall(function(a) error(a, 0) end, function(e) return e .. '!', 2 end, 'x')",
        "false x!");
    CHECK_SCRIPT("return xpcall(error, function() error('again') end)",
                 "false error in error handling");
    CHECK_SCRIPT("local function f() return pcall(f) end local function g() return g() + 1 end "
                 "return (pcall(f)), (pcall(g))",
                 "true false");
}

static void waits_pass_through_pcall_and_xpcall(void)
{
    CHECK_SCRIPT("local a, b = pcall(wait, 1) local c, d, e = xpcall(function(x) "
                 "local y = wait(x) return y, wait(3) end, print, 2) "
                 "return a, b, c, d, e, count_waits()",
                 "true 1 true 2 3 3");
    CHECK_SCRIPT("return pcall(function() wait(1) error('late', 0) end)", "false late");
    CHECK_SCRIPT(
        "return xpcall(function() wait(1) error('late', 0) end, function(e) return e .. '!' "
        "end)",
        "false late!");
}

static void fatal_errors_pass_through_everything(void)
{
    CHECK_SCRIPT("fatal('budget')", "fatal:budget");
    CHECK_SCRIPT("pcall(fatal, 'budget') return 'caught'", "fatal:budget");
    CHECK_SCRIPT("pcall(pcall, pcall, fatal, 'budget') return 'caught'", "fatal:budget");
    CHECK_SCRIPT("xpcall(fatal, function() return 'seen' end, 'budget') return 'caught'",
                 "fatal:budget");
    CHECK_SCRIPT("pcall(function() wait(1) fatal('budget') end) return 'caught'", "fatal:budget");
    CHECK_SCRIPT("pcall(table.sort, { 2, 1 }, fatal) return 'caught'", "fatal:1");
    CHECK_SCRIPT("pcall(load, function() fatal('budget') end) return 'caught'", "fatal:budget");
    CHECK_SCRIPT("xpcall(error, function() fatal('budget') end) return 'caught'", "fatal:budget");
    CHECK_SCRIPT("pcall(string.gsub, 'x', 'x', function() fatal('budget') end) return 'caught'",
                 "fatal:budget");
    CHECK_SCRIPT("coroutine.resume(coroutine.create(fatal), 'budget') return 'caught'",
                 "fatal:budget");
    CHECK_SCRIPT("pcall(coroutine.wrap(fatal), 'budget') return 'caught'", "fatal:budget");
    CHECK_SCRIPT("pcall(coroutine.wrap(function() wait(1) pcall(fatal, 'budget') end)) "
                 "return 'caught'",
                 "fatal:budget");
    CHECK_SCRIPT("local co = coroutine.create(function() local x <close> = setmetatable({}, "
                 "{ __close = function() fatal('budget') end }) coroutine.yield() end) "
                 "coroutine.resume(co) pcall(coroutine.close, co) return 'caught'",
                 "fatal:budget");
}

static void no_message_handler_sees_a_fatal_error(void)
{
    struct world world;
    world_init(&world);
    CHECK_TEXT(world_run(&world, "xpcall(function() xpcall(fatal, print, 'budget') end, print)"),
               "fatal:budget");
    CHECK_TEXT(soc_buf_text(&world.printed), "");
    world_fini(&world);
}

#define CLOSER "local closer = setmetatable({}, { __close = function() error('mine', 0) end }) "

static void a_close_method_cannot_replace_a_fatal_error(void)
{
    CHECK_SCRIPT(CLOSER "pcall(function() local x <close> = closer fatal('budget') end) "
                        "return 'caught'",
                 "fatal:budget");
    CHECK_SCRIPT(CLOSER "xpcall(function() local x <close> = closer fatal('budget') end, print) "
                        "return 'caught'",
                 "fatal:budget");
    CHECK_SCRIPT(CLOSER "local x <close> = closer pcall(fatal, 'budget') return 'caught'",
                 "fatal:budget");
    CHECK_SCRIPT(CLOSER "pcall(coroutine.wrap(function() local x <close> = closer "
                        "pcall(fatal, 'budget') end)) return 'caught'",
                 "fatal:budget");
    CHECK_SCRIPT(CLOSER "coroutine.resume(coroutine.create(function() pcall(function() "
                        "local x <close> = closer wait(1) fatal('budget') end) end)) "
                        "return 'caught'",
                 "fatal:budget");
    CHECK_SCRIPT(CLOSER "return pcall(function() local x <close> = closer error('first') end)",
                 "false mine");
}

static void a_fatal_error_of_one_turn_does_not_affect_others(void)
{
    struct world world;
    world_init(&world);
    CHECK_TEXT(world_run(&world,
                         "kept = coroutine.create(function() pcall(fatal, 'old') end) "
                         "spy = setmetatable({}, { __close = function(_, e) seen = e end }) "
                         "local x <close> = spy coroutine.resume(kept)"),
               "fatal:old");
    CHECK_TEXT(world_run(&world, "return coroutine.resume(kept)"),
               "false cannot resume dead coroutine");
    CHECK_TEXT(world_run(&world, "return coroutine.close(kept)"),
               "false the host ended the coroutine");
    CHECK_TEXT(world_run(&world, "return coroutine.close(kept)"),
               "false the host ended the coroutine");
    CHECK_TEXT(world_run(&world, "return (pcall(error, seen))"), "false");
    CHECK_TEXT(world_run(&world, "return pcall(error, 'x', 0)"), "false x");
    world_fini(&world);
}

static void a_reused_thread_is_free_of_its_last_fatal_error(void)
{
    struct world world;
    world_init(&world);
    lua_State *turn = lua_newthread(world.L);
    static const char *const scripts[] = {"fatal('budget')", "return pcall(error, 'x', 0)",
                                          "error('plain', 0)"};
    static const char *const results[] = {"fatal:budget", "false x", "error:plain"};
    for (int i = 0; i < 3; i++) {
        luaL_loadstring(turn, scripts[i]);
        lua_pushvalue(world.L, 1);
        lua_xmove(world.L, turn, 1);
        lua_setupvalue(turn, -2, 1);
        CHECK_TEXT(world_finish(&world, turn), results[i]);
        lua_resetthread(turn);
        lua_settop(turn, 0);
    }
    world_fini(&world);
}

/* apart(f): calls f in a thread of the host's and raises its error on. */
static int call_apart(lua_State *L)
{
    int count;
    lua_State *apart = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, apart, 1);
    int status = lua_resume(apart, L, 0, &count);
    lua_xmove(apart, L, 1);
    return status == LUA_OK ? 1 : lua_error(L);
}

static void a_fatal_error_stays_fatal_when_the_host_rethrows_it(void)
{
    struct world world;
    world_init(&world);
    world_set(&world, "apart", call_apart);
    CHECK_TEXT(world_run(&world, "pcall(apart, function() fatal('budget') end) return 'caught'"),
               "fatal:budget");
    world_fini(&world);
}

static void the_host_sees_a_fatal_error_that_a_close_method_hid(void)
{
    struct world world;
    world_init(&world);
    luaL_loadstring(world.L, CLOSER "local x <close> = closer fatal('budget')");
    lua_pushvalue(world.L, 1);
    lua_setupvalue(world.L, -2, 1);
    CHECK_INT(lua_pcall(world.L, 0, 0, 0), LUA_ERRRUN);
    CHECK_TEXT(lua_tostring(world.L, -1), "mine");
    CHECK_INT(soc_sandbox_fatal_value(world.L, -1), 1);
    CHECK_TEXT(lua_tostring(world.L, -1), "budget");
    world_fini(&world);
}

static void a_fatal_error_can_carry_any_value(void)
{
    struct world world;
    world_init(&world);
    CHECK_TEXT(world_run(&world, "pcall(fatal, nil)"), "fatal:nil");
    CHECK_TEXT(world_run(&world, "pcall(fatal, 12)"), "fatal:12");
    lua_pushliteral(world.L, "plain");
    CHECK_INT(soc_sandbox_fatal_value(world.L, -1), 0);
    CHECK_INT(lua_gettop(world.L), 2);
    world_fini(&world);
}

static void coroutines_behave_like_the_native_ones(void)
{
    CHECK_SCRIPT("local co = coroutine.create(function(a, b) local c = coroutine.yield(a + b) "
                 "local d, e = coroutine.yield(c * 2) return d, e end) local out = {} "
                 "local function add(...) for i = 1, select('#', ...) do "
                 "out[#out + 1] = tostring((select(i, ...))) end end "
                 "add(coroutine.status(co)) add(coroutine.resume(co, 1, 2)) "
                 "add(coroutine.resume(co, 10)) add(coroutine.status(co)) "
                 "add(coroutine.resume(co, 'x', nil)) add(coroutine.status(co)) "
                 "add(coroutine.resume(co)) return table.concat(out, ' ')",
                 "suspended true 3 true 20 suspended true x nil dead false cannot resume dead "
                 "coroutine");
    CHECK_SCRIPT("local sum = 0 for i in coroutine.wrap(function() for i = 1, 10 do "
                 "coroutine.yield(i) end end) do sum = sum + i end return sum",
                 "55");
    CHECK_SCRIPT("local f = coroutine.wrap(function() error('x') end) return pcall(f)",
                 "false script:1: x");
    CHECK_SCRIPT("local f = coroutine.wrap(function() error({}) end) "
                 "local _, e = pcall(f) return type(e), pcall(f)",
                 "table false cannot resume dead coroutine");
    CHECK_SCRIPT("local co co = coroutine.create(function() return coroutine.status(co), "
                 "coroutine.resume(co) end) return coroutine.resume(co)",
                 "true running false cannot resume non-suspended coroutine");
    CHECK_SCRIPT("local co = coroutine.create(function() error('x', 0) end) coroutine.resume(co) "
                 "local a, b = coroutine.close(co) return a, b, coroutine.close(co)",
                 "false x true");
    CHECK_SCRIPT(
        "local closed local co = coroutine.create(function() local x <close> = "
        "setmetatable({}, { __close = function() closed = true end }) coroutine.yield() end) "
        "coroutine.resume(co) return coroutine.close(co), closed, coroutine.status(co)",
        "true true dead");
    CHECK_SCRIPT("return coroutine.wrap(function() local co, main = coroutine.running() "
                 "return type(co), main, coroutine.isyieldable(), "
                 "pcall(coroutine.close, co) end)()",
                 "thread false true false cannot close a running coroutine");
    CHECK_SCRIPT("coroutine.create(1)",
                 "error:script:1: bad argument #1 to 'create' (function expected, got number)");
    CHECK_SCRIPT("return coroutine.wrap(function() return pcall(function() coroutine.yield() "
                 "error('x', 0) end) end)() or 'none'",
                 "none");
}

static void the_thread_of_a_turn_belongs_to_the_host(void)
{
    struct world world;
    world_init(&world);
    CHECK_TEXT(world_run(&world, "turn, is_main = coroutine.running() return is_main, "
                                 "coroutine.isyieldable(), pcall(coroutine.yield, 1)"),
               "true false false attempt to yield from outside a coroutine");
    CHECK_TEXT(world_run(&world, "coroutine.resume(turn)"),
               "error:script:1: bad argument #1 to 'resume' (this coroutine belongs to the host)");
    CHECK_TEXT(world_run(&world, "coroutine.close(turn)"),
               "error:script:1: bad argument #1 to 'close' (this coroutine belongs to the host)");
    world_fini(&world);
}

static void waits_inside_coroutines_reach_the_host(void)
{
    CHECK_SCRIPT("local co = coroutine.create(function(a) local b = wait(a + 1) "
                 "local c = coroutine.yield(b) return wait(c), wait('end') end) "
                 "local x, y = coroutine.resume(co, 1) local s = coroutine.status(co) "
                 "return x, y, s, count_waits(), coroutine.resume(co, 'again')",
                 "true 2 suspended 1 true again end");
    CHECK_SCRIPT("local out = {} for v in coroutine.wrap(function() for i = 1, 3 do "
                 "coroutine.yield(wait(i)) end end) do out[#out + 1] = v end "
                 "return table.concat(out, ' '), count_waits()",
                 "1 2 3 3");
    CHECK_SCRIPT("local function nest(n) if n == 0 then return wait('deep') end "
                 "return coroutine.wrap(function() return pcall(nest, n - 1) end)() end "
                 "return nest(5)",
                 "true true true true true deep");
    CHECK_SCRIPT("return coroutine.resume(coroutine.create(function() wait(1) error('x', 0) end))",
                 "false x");
}

static void a_waiting_coroutine_cannot_be_resumed_by_others(void)
{
    struct world world;
    world_init(&world);
    lua_State *turn = lua_newthread(world.L);
    luaL_loadstring(turn, "co = coroutine.create(function() return wait('mine') end) "
                          "return coroutine.resume(co)");
    lua_pushvalue(world.L, 1);
    lua_xmove(world.L, turn, 1);
    lua_setupvalue(turn, -2, 1);
    int count;
    CHECK_INT(lua_resume(turn, world.L, 0, &count), LUA_YIELD);
    lua_pop(turn, count);
    CHECK_TEXT(world_run(&world, "return coroutine.status(co), coroutine.resume(co, 'stolen')"),
               "normal false cannot resume non-suspended coroutine");
    CHECK_TEXT(world_run(&world, "return pcall(coroutine.close, co)"),
               "false cannot close a normal coroutine");
    CHECK_TEXT(world_finish(&world, turn), "true mine");
    world_fini(&world);
}

static void a_wait_that_cannot_yield_ends_the_turn(void)
{
    CHECK_SCRIPT("pcall(table.sort, { 2, 1 }, coroutine.wrap(function() wait(1) end)) "
                 "return 'caught'",
                 "fatal:a coroutine cannot wait for the host inside a function called by sort, "
                 "gsub, load or a metamethod");
}

static void coroutines_nest_to_a_limit(void)
{
    CHECK_SCRIPT("local function nest(n) local ok, v = coroutine.resume(coroutine.create(nest), "
                 "n + 1) if ok then return v end return v .. ' ' .. n end return nest(0)",
                 "coroutines are nested too deeply (at most 50) 50");
    CHECK_SCRIPT("local function nest(n) if n == 0 then return wait(7) end "
                 "return coroutine.wrap(nest)(n - 1) end return nest(50), count_waits()",
                 "7 1");
}

static void coroutines_that_close_each_other_are_ended_before_the_stack_of_c_is_full(void)
{
    CHECK_SCRIPT("local all = {} for i = 1, 20000 do local former = all[i - 1] "
                 "all[i] = coroutine.create(function() local x <close> = setmetatable({}, "
                 "{ __close = function() if former then coroutine.close(former) end end }) "
                 "coroutine.yield() end) coroutine.resume(all[i]) end "
                 "return coroutine.close(all[20000]), coroutine.status(all[19999]), "
                 "coroutine.status(all[19900])",
                 "true dead suspended");
}

/* A budget as the host keeps it: the extra space of the turn's thread points to
 * the steps left. */
static void spend(lua_State *L, lua_Debug *event)
{
    (void)event;
    int *left;
    memcpy(&left, lua_getextraspace(L), sizeof(left));
    *left -= lua_gethookcount(L);
    if (*left >= 0)
        return;
    lua_pushliteral(L, "budget");
    soc_sandbox_raise_fatal(L);
}

/* Runs a script with so many steps; returns its result. */
static const char *run_with_budget(struct world *world, const char *script, int steps)
{
    lua_State *turn = lua_newthread(world->L);
    int *left = &steps;
    memcpy(lua_getextraspace(turn), &left, sizeof(left));
    lua_sethook(turn, spend, LUA_MASKCOUNT, 1000);
    luaL_loadstring(turn, script);
    lua_pushvalue(world->L, 1);
    lua_xmove(world->L, turn, 1);
    lua_setupvalue(turn, -2, 1);
    world_finish(world, turn);
    lua_pop(world->L, 1);
    return soc_buf_text(&world->result);
}

static void a_budget_applies_inside_coroutines(void)
{
    struct world world;
    world_init(&world);
    CHECK_TEXT(run_with_budget(&world, "while true do pcall(function() while true do end end) end",
                               100000),
               "fatal:budget");
    CHECK_TEXT(run_with_budget(&world,
                               "pcall(coroutine.wrap(function() while true do end end)) "
                               "return 'caught'",
                               100000),
               "fatal:budget");
    CHECK_TEXT(run_with_budget(&world,
                               "local f = coroutine.wrap(function() while true do "
                               "coroutine.yield() for i = 1, 30 do end end end) "
                               "for i = 1, 10000 do f() end return 'done'",
                               200000),
               "fatal:budget");
    CHECK_TEXT(run_with_budget(&world,
                               "kept = coroutine.wrap(function() while true do "
                               "coroutine.yield(1) end end) return kept()",
                               100000),
               "1");
    CHECK_TEXT(run_with_budget(&world, "for i = 1, 100 do kept() end return 'done'", 100000),
               "done");
    CHECK_TEXT(world_run(&world, "for i = 1, 10000 do kept() end return 'no hook'"), "no hook");
    CHECK_TEXT(run_with_budget(&world, "while true do kept() end", 100000), "fatal:budget");
    world_fini(&world);
}

/* An allocator that refuses beyond a limit. */
struct memory {
    size_t used;
    size_t max;
};

static void *allocate(void *user, void *old, size_t old_size, size_t new_size)
{
    struct memory *memory = user;
    size_t before = old == NULL ? 0 : old_size;
    if (new_size > before && memory->used + (new_size - before) > memory->max)
        return NULL;
    memory->used = memory->used - before + new_size;
    if (new_size > 0)
        return realloc(old, new_size);
    free(old);
    return NULL;
}

static void running_out_of_memory_ends_the_turn(void)
{
    struct world world;
    world_init(&world);
    struct memory memory = {.used = (size_t)lua_gc(world.L, LUA_GCCOUNT) * 1024 +
                                    (size_t)lua_gc(world.L, LUA_GCCOUNTB)};
    memory.max = memory.used + (1u << 20);
    lua_setallocf(world.L, allocate, &memory);
    CHECK_TEXT(world_run(&world, "pcall(string.rep, 'x', 1 << 24) return 'caught'"),
               "fatal:not enough memory");
    CHECK_TEXT(world_run(&world, "pcall(function() local t = {} for i = 1, 1e7 do t[i] = { i } end "
                                 "end) return 'caught'"),
               "fatal:not enough memory");
    CHECK_TEXT(world_run(&world, "coroutine.resume(coroutine.create(string.rep), 'x', 1 << 24) "
                                 "return 'caught'"),
               "fatal:not enough memory");
    CHECK_TEXT(world_run(&world, "return 'goes on'"), "goes on");
    world_fini(&world);
}

int main(void)
{
    RUN(pcall_and_xpcall_behave_like_the_native_ones);
    RUN(waits_pass_through_pcall_and_xpcall);
    RUN(fatal_errors_pass_through_everything);
    RUN(no_message_handler_sees_a_fatal_error);
    RUN(a_close_method_cannot_replace_a_fatal_error);
    RUN(a_fatal_error_of_one_turn_does_not_affect_others);
    RUN(a_reused_thread_is_free_of_its_last_fatal_error);
    RUN(a_fatal_error_stays_fatal_when_the_host_rethrows_it);
    RUN(the_host_sees_a_fatal_error_that_a_close_method_hid);
    RUN(a_fatal_error_can_carry_any_value);
    RUN(coroutines_behave_like_the_native_ones);
    RUN(the_thread_of_a_turn_belongs_to_the_host);
    RUN(waits_inside_coroutines_reach_the_host);
    RUN(a_waiting_coroutine_cannot_be_resumed_by_others);
    RUN(a_wait_that_cannot_yield_ends_the_turn);
    RUN(coroutines_nest_to_a_limit);
    RUN(coroutines_that_close_each_other_are_ended_before_the_stack_of_c_is_full);
    RUN(a_budget_applies_inside_coroutines);
    RUN(running_out_of_memory_ends_the_turn);
    return check_done();
}

/* Patterns of the sandbox against Lua's own, and their steps.
 *
 * Covers: core/lualib/lua_pattern.c, core/sandbox/sandbox_pattern.c */
#include "sandbox_world.h"

#include <lualib.h>

/* Gives the environment Lua's own string library as `native`. */
static void open_native(lua_State *L)
{
    luaL_requiref(L, "native_string", luaopen_string, 0);
    lua_setfield(L, 1, "native");
}

/* Compares `count` generated calls. `at` is a generator of numbers from 1 to its argument. */
#define COMPARE                                                                                    \
    "local seed = 7 "                                                                              \
    "local function at(n) seed = (seed * 1103515245 + 12345) % 2147483648 "                        \
    "  return seed // 65536 % n + 1 end "                                                          \
    "local items = { 'a', 'b', '.', '%a', '%d', '%s', '%S', '%w', '%x', '%p', '%%', '[ab]', "      \
    "  '[^a]', '[a-c]', '[%a_]', '[]a]', '[^]]', '[a-]', '(', ')', '()', '^', '$', '%b()', "       \
    "  '%f[%w]', '%f[^a]', '%1', '%2', '%0', '*', '+', '-', '?', '[', '%', '%b', '%f', '\\0', "    \
    "  '\\255', '%u', '%L', '%c', '%g', '%z', 'x-' } "                                             \
    "local function text(set, n) local out = {} for i = 1, at(n) - 1 do "                          \
    "  out[i] = set[at(#set)] end return table.concat(out) end "                                   \
    "local letters = { 'a', 'b', 'c', '(', ')', '1', ' ', '_', '\\0', '\\255', 'A', ']', '-' } "   \
    "local function show(...) local out = table.pack(...) for i = 1, out.n do "                    \
    "  out[i] = math.type(out[i]) == nil and tostring(out[i]) or 'n' .. out[i] end "               \
    "  return (table.concat(out, '|'):gsub('%S+:%d+: ', '')) end "                                 \
    "local function walk(lib, s, p, i) local out = {} "                                            \
    "  for a, b in lib.gmatch(s, p, i) do out[#out + 1] = show(a, b) end "                         \
    "  return table.concat(out, ';') end "                                                         \
    "local swaps = { '<%0>', '%1%1', '%%', '%2', 'x', '%', '%z', { a = 'A', ab = false }, "        \
    "  function(a, b) return b or a ~= 'a' and a end, 7, function() return {} end } "              \
    "for round = 1, 40000 do "                                                                     \
    "  local s, p, i = text(letters, 12), text(items, 7), at(16) - 8 "                             \
    "  local swap, most = swaps[at(#swaps)], at(5) < 5 and 100 or at(3) - 1 "                      \
    "  for _, of in ipairs({ "                                                                     \
    "    { function(l) return l.find(s, p, i) end, 'find' }, "                                     \
    "    { function(l) return l.find(s, p, i, true) end, 'plain' }, "                              \
    "    { function(l) return l.match(s, p, i) end, 'match' }, "                                   \
    "    { function(l) return l.gsub(s, p, swap, most) end, 'gsub' }, "                            \
    "    { function(l) return walk(l, s, p, i) end, 'gmatch' } }) do "                             \
    "    local ours, theirs = show(pcall(of[1], string)), show(pcall(of[1], native)) "             \
    "    if ours ~= theirs then error(('%s(%q, %q, %d, %s): %s, not %s'):format( "                 \
    "      of[2], s, p, i, tostring(swap), ours, theirs), 0) end "                                 \
    "  end "                                                                                       \
    "end return 'same' "

static void patterns_match_as_lua_s_own_do(void)
{
    struct world world;
    world_init(&world);
    open_native(world.L);
    CHECK_TEXT(world_run(&world, COMPARE), "same");
    world_fini(&world);
}

static void arguments_are_checked_as_lua_does(void)
{
    CHECK_SCRIPT(
        "return string.gsub('x', 'x')",
        "error:script:1: bad argument #3 to 'gsub' (string/function/table expected, got no value)");
    CHECK_SCRIPT("return string.find('x')",
                 "error:script:1: bad argument #2 to 'find' (string expected, got no value)");
    CHECK_SCRIPT("return ('x'):rep(3):gsub('x', { x = 'y' })", "yyy 3");
    CHECK_SCRIPT("return (12):rep(2)", "error:script:1: attempt to index a number value");
    CHECK_SCRIPT("return table.concat(table.move({ 1, 2, 3 }, 1, 3, 2), ' ')", "1 1 2 3");
    CHECK_SCRIPT("return table.concat(table.move({ 1, 2, 3 }, 2, 3, 1), ' ')", "2 3 3");
    CHECK_SCRIPT("return table.concat(table.move({ 1, 2, 3 }, 1, 3, 2, { 9 }), ' ')", "9 1 2 3");
    CHECK_SCRIPT("return #table.move({ 1 }, 2, 1, 1)", "1");
}

/* Steps left; the budget of these tests. */
static int64_t steps_left;

static void charge(lua_State *L, uint64_t steps)
{
    steps_left -= (int64_t)steps;
    if (steps_left > 0)
        return;
    lua_pushliteral(L, "spent");
    soc_sandbox_raise_fatal(L);
}

static void refuse_text(lua_State *L, uint64_t limit)
{
    lua_pushfstring(L, "at most %d", (int)limit);
    soc_sandbox_raise_fatal(L);
}

/* Runs a script whose library functions may make so many steps; returns its result. */
static const char *run_counted(struct world *world, const char *script, int64_t steps)
{
    steps_left = steps;
    soc_sandbox_set_budget(world->L, &(struct soc_sandbox_budget){.charge = charge,
                                                                  .refuse_text = refuse_text,
                                                                  .text_bytes_max = 1 << 20});
    return world_run(world, script);
}

static void work_in_libraries_is_counted(void)
{
    static const char *const scripts[] = {
        "return ('a'):rep(5000):find(('.-'):rep(40) .. 'b')",
        "return pcall(string.match, ('a'):rep(5000), ('a*'):rep(40) .. 'b')",
        "return ('a'):rep(5000):gsub(('.-'):rep(40) .. 'b', '')",
        "for _ in ('a'):rep(5000):gmatch(('.-'):rep(40) .. 'b') do end",
        "return ('('):rep(100000):find('%b()')",
        "local t = {} for i = 1, 3000 do t[i] = ('a'):rep(5000) .. i end table.sort(t)",
        "local t = {} for i = 1, 100000 do t[i] = i % 1000 end table.sort(t)",
        "local t = {} for i = 1, 100000 do t[i] = i end for i = 1, 100 do table.insert(t, 1, 1) "
        "end",
        "local t = {} for i = 1, 100000 do t[i] = i end for i = 1, 100 do table.remove(t, 1) end",
        "local t = {} for i = 1, 100 do table.move(t, 1, 1000000, 2) end",
        "local t = {} for i = 1, 1000 do t[i] = ('a'):rep(1000) end "
        "while true do table.concat(t) end",
        "local s = ('a'):rep(100000) while true do s:lower() end",
        "local s = ('a'):rep(100000) while true do s:find('b', 1, true) end",
    };
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        struct world world;
        world_init(&world);
        CHECK_TEXT(run_counted(&world, scripts[i], 300000), "fatal:spent");
        world_fini(&world);
    }
}

static void long_texts_are_refused_before_they_are_made(void)
{
    static const char *const scripts[] = {
        "return ('a'):rep(1e9)",
        "return ('a'):rep(math.maxinteger, ',')",
        "local s = ('a'):rep(1000000) return ('%s%s'):format(s, s)",
        "local s = ('a'):rep(1000000) return string.pack('s4s4', s, s)",
        "local s, t = ('a'):rep(1000), {} for i = 1, 2000 do t[i] = s end return table.concat(t)",
        "local t = {} for i = 1, 2000 do t[i] = '' end return table.concat(t, ('a'):rep(1000))",
        "return (('a'):rep(1000):gsub('a', ('b'):rep(10000)))",
    };
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        struct world world;
        world_init(&world);
        CHECK_TEXT(run_counted(&world, scripts[i], 100000000), "fatal:at most 1048576");
        world_fini(&world);
    }
}

static void a_search_for_plain_text_is_linear(void)
{
    struct world world;
    world_init(&world);
    CHECK_TEXT(run_counted(&world,
                           "local s = ('a'):rep(1000000) "
                           "return s:find(('a'):rep(400000) .. 'b', 1, true)",
                           100000),
               "nil");
    world_fini(&world);
}

static void chains_of_closed_coroutines_are_bounded(void)
{
    CHECK_SCRIPT("local last for i = 1, 20000 do local inner = last last = coroutine.create("
                 "function() local x <close> = setmetatable({}, { __close = function() "
                 "if inner then coroutine.close(inner) end end }) coroutine.yield() end) "
                 "coroutine.resume(last) end "
                 "return coroutine.close(last)",
                 "true");
    CHECK_SCRIPT("local depth, first = 0 local function close(n) local co = coroutine.create("
                 "function() local x <close> = setmetatable({}, { __close = function() "
                 "depth = n local fine, err = pcall(close, n + 1) if not fine then "
                 "first = first or err end end }) coroutine.yield() end) "
                 "coroutine.resume(co) return coroutine.close(co) end close(1) "
                 "return depth, (first:gsub('^%S+ ', ''))",
                 "50 coroutines are nested too deeply (at most 50)");
}

static void a_broken_concat_is_refused(void)
{
    CHECK_SCRIPT("return select(2, pcall(setmetatable, {}, { __concat = function() end })) "
                 ":match('__concat corrupts memory')",
                 "__concat corrupts memory");
}

/* It recurses, which is what corrupts memory. */
static void a_broken_concat_is_refused_that_is_set_later(void)
{
    CHECK_SCRIPT("local m = {} local t = setmetatable({}, m) "
                 "local function f(n) return n == 0 and 'x' or f(n - 1) .. t end "
                 "m.__concat = function() return f(150) end "
                 "local _, one = pcall(function() return t .. 'a' end) "
                 "local _, two = pcall(function() return 'a' .. 1 .. t end) "
                 "return one:match('__concat corrupts memory') == two:match('__concat .- memory') "
                 "and one:match('^%S+:1: __concat') ~= nil",
                 "true");
    CHECK_SCRIPT("local _, one = pcall(function() return {} .. 'a' end) "
                 "local _, two = pcall(function() return 'a' .. nil end) "
                 "return one:match('concatenate a %a+') .. two:match('concatenate a %a+')",
                 "concatenate a tableconcatenate a nil");
}

int main(void)
{
    RUN(patterns_match_as_lua_s_own_do);
    RUN(arguments_are_checked_as_lua_does);
    RUN(work_in_libraries_is_counted);
    RUN(long_texts_are_refused_before_they_are_made);
    RUN(a_search_for_plain_text_is_linear);
    RUN(chains_of_closed_coroutines_are_bounded);
    RUN(a_broken_concat_is_refused);
    RUN(a_broken_concat_is_refused_that_is_set_later);
    return check_done();
}

/* Covers: core/sandbox/sandbox_load.c, core/sandbox/sandbox_table.c
 * Covers: core/sandbox/sandbox_text.c, core/sandbox/sandbox_metatables.c
 * Covers: core/sandbox/sandbox_require.c, core/sandbox/sandbox_os.c
 * Covers: core/sandbox/sandbox_pairs.c */
#include "sandbox_world.h"

#include <sys/stat.h>
#include <unistd.h>

/* Collects what pairs gives as "k=v". */
#define WALK                                                                                       \
    "local function walk(t) local out = {} "                                                       \
    "for k, v in pairs(t) do out[#out + 1] = tostring(k) .. '=' .. tostring(v) end "               \
    "return table.concat(out, ',') end "
/* What an error that names its place in the script begins with. */
#define FAULT "error:script:1: "

static void scripts_get_exactly_these_names(void)
{
    CHECK_SCRIPT("local out = {} for k in pairs(_G) do out[#out + 1] = k end "
                 "return table.concat(out, ' ')",
                 "_G _VERSION assert coroutine count_waits error fatal getmetatable ipairs load "
                 "math next os pairs pcall print rawequal rawget rawlen rawset require select "
                 "setmetatable string table tonumber tostring type utf8 wait xpcall");
    CHECK_SCRIPT("local out = {} for _, lib in ipairs{'string', 'table', 'os', 'coroutine', 'utf8'}"
                 " do for k in pairs(_G[lib]) do out[#out + 1] = k end out[#out + 1] = '/' end "
                 "return table.concat(out, ' ')",
                 "byte char find format gmatch gsub len lower match pack packsize rep reverse sub "
                 "unpack upper / concat insert move pack remove sort unpack / clock date time / "
                 "close create isyieldable resume running status wrap yield / char charpattern "
                 "codepoint codes len offset /");
    CHECK_SCRIPT("local out = {} for k in pairs(math) do out[#out + 1] = k end "
                 "return table.concat(out, ' ')",
                 "abs acos asin atan ceil cos deg exp floor fmod huge log max maxinteger min "
                 "mininteger modf pi rad random randomseed sin sqrt tan tointeger type ult");
    CHECK_SCRIPT("return _G._G == _G, _VERSION, require('string') == string", "true Lua 5.4 true");
}

static void every_environment_has_its_own_libraries(void)
{
    struct world world;
    world_init(&world);
    struct soc_sandbox_gate gate = {world_print, world_time, world_clock, world_random, &world};
    CHECK_TEXT(world_run(&world, "string.len = 7; table.x = 1; math.pi = 3; return string.len"),
               "7");
    soc_sandbox_push(world.L, &gate);
    lua_replace(world.L, 1);
    CHECK_TEXT(world_run(&world, "return string.len('ab'), table.x, math.pi"),
               "2 nil 3.1415926535898");
    lua_getglobal(world.L, "string");
    lua_getfield(world.L, -1, "len");
    CHECK(lua_iscfunction(world.L, -1));
    lua_pop(world.L, 2);
    world_fini(&world);
}

static void altered_globals_of_the_state_do_not_reach_scripts(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    CHECK_INT(luaL_dostring(L, "assert = nil; string.len = nil; type = print"), LUA_OK);
    struct soc_sandbox_gate gate = {world_print, world_time, world_clock, world_random, NULL};
    soc_sandbox_push(L, &gate);
    luaL_loadstring(L, "return type(assert) .. type(string.len) .. ('x'):len()");
    lua_pushvalue(L, -2);
    lua_setupvalue(L, -2, 1);
    CHECK_INT(lua_pcall(L, 0, 1, 0), LUA_OK);
    CHECK_TEXT(lua_tostring(L, -1), "functionfunction1");
    lua_close(L);
}

static void pairs_returns_numbers_then_sorted_strings(void)
{
    CHECK_SCRIPT(WALK "return walk{ b = 1, a = 2, [10] = 3, [-1] = 4, [1.5] = 5, aa = 6, [''] = 7, "
                      "[2^70] = 8, [-2^70] = 9, [1] = 10, ['1'] = 11 }",
                 "-1.1805916207174e+21=9,-1=4,1=10,1.5=5,10=3,1.1805916207174e+21=8,"
                 "=7,1=11,a=2,aa=6,b=1");
    CHECK_SCRIPT(WALK "return walk{ 'a', 'b', 'c' }, walk{ 'a', nil, 'c' }, walk{}",
                 "1=a,2=b,3=c 1=a,3=c ");
    CHECK_SCRIPT(WALK "return walk{ [math.maxinteger] = 1, [math.mininteger] = 2, [2^63] = 3, "
                      "[1/0] = 4, [-1/0] = 5, [0.5] = 6, [0] = 7, [-0.5] = 8 }",
                 "-inf=5,-9223372036854775808=2,-0.5=8,0=7,0.5=6,9223372036854775807=1,"
                 "9.2233720368548e+18=3,inf=4");
    CHECK_SCRIPT(WALK "return walk{ ['a\\0b'] = 1, ['a'] = 2, ['a\\0a'] = 3, ['\\xff'] = 4 } == "
                      "'a=2,a\\0a=3,a\\0b=1,\\xff=4'",
                 "true");
}

static void pairs_puts_fractions_between_integers(void)
{
    CHECK_SCRIPT(WALK "local t = {} for i = 2, -2, -1 do t[i + 0.5] = 'f' t[i] = 'i' end "
                      "return walk(t)",
                 "-2=i,-1.5=f,-1=i,-0.5=f,0=i,0.5=f,1=i,1.5=f,2=i,2.5=f");
    CHECK_SCRIPT(WALK "return walk{ 'a', 'b', [100] = 'c' }", "1=a,2=b,100=c");
}

static void pairs_sorts_large_tables(void)
{
    CHECK_SCRIPT(
        "local t, n, last = {}, 0, '' for i = 1, 5000 do t['k' .. i * 7919 % 5003] = i end "
        "for k, v in pairs(t) do assert(last < k) assert(t[k] == v) last = k n = n + 1 end "
        "return n",
        "5000");
    CHECK_SCRIPT(
        "local t, n, last = {}, 0 for i = 1, 100 do t[i] = i t[-i] = i t[i / 8] = i end "
        "for k in pairs(t) do assert(not last or last < k) last = k n = n + 1 end return n",
        "288");
    CHECK_SCRIPT("local t = {} for i = 1, 1000 do t[i] = i end local n = 0 "
                 "for k, v in pairs(t) do n = n + 1 assert(k == n and v == n) end return n",
                 "1000");
}

static void pairs_allows_changing_and_clearing_fields_meanwhile(void)
{
    CHECK_SCRIPT("local t = { a = 1, b = 2, c = 3, d = 4 } local out = {} "
                 "for k, v in pairs(t) do out[#out + 1] = k .. v t[k] = nil "
                 "if k == 'a' then t.b = nil t.c = 30 t.bb = 5 end end "
                 "return table.concat(out, ' '), t.bb",
                 "a1 c30 d4 5");
    CHECK_SCRIPT("local t, n = {}, 0 for i = 1, 300 do t['k' .. i] = i end "
                 "for k in pairs(t) do n = n + 1 t[k] = nil if n == 1 then t.k50 = nil end end "
                 "return n, next(t)",
                 "299 nil");
    CHECK_SCRIPT("local t, out = { 1, 2, 3, 4 }, {} "
                 "for k, v in pairs(t) do out[#out + 1] = v t[k] = nil t[3] = nil end "
                 "return table.concat(out, ' ')",
                 "1 2 4");
    CHECK_SCRIPT("local f, t = pairs{ a = 1, b = 2 } local k = f(t) k = f(t, k) "
                 "return k, f(t, k), f(t)",
                 "b nil a 1");
}

static void pairs_refuses_keys_without_an_order(void)
{
    CHECK_SCRIPT("pairs({ [{}] = 1 })",
                 FAULT "pairs: cannot order a table key; only numbers and strings can be ordered");
    CHECK_SCRIPT("pairs({ 1, [true] = 1 })", FAULT
                 "pairs: cannot order a boolean key; only numbers and strings can be ordered");
    CHECK_SCRIPT("local t = { [print] = 1 } for i = 1, 99 do t[i] = i end return pairs(t)",
                 "error:script:1: pairs: cannot order a function key; only numbers and strings can "
                 "be ordered");
    CHECK_SCRIPT("next({ [true] = 1 })",
                 FAULT "next: cannot order a boolean key; only numbers and strings can be ordered");
    CHECK_SCRIPT("pairs(nil)", FAULT "bad argument #1 to 'pairs' (table expected, got nil)");
}

static void pairs_honours_its_metamethod(void)
{
    CHECK_SCRIPT("local t = setmetatable({}, { __pairs = function(t) wait(1) "
                 "return function(_, k) return not k and 'only' or nil, 5 end, t, nil end }) "
                 "for k, v in pairs(t) do return k, v end",
                 "only 5");
}

static void next_returns_the_sorted_successor(void)
{
    CHECK_SCRIPT("local t, out = { b = 1, a = 2, 10, 20, [0.5] = 3 }, {} "
                 "for k, v in next, t do out[#out + 1] = k .. '=' .. v end "
                 "return table.concat(out, ',')",
                 "0.5=3,1=10,2=20,a=2,b=1");
    CHECK_SCRIPT("return next({ [1] = 1, [1.5] = 2, [2] = 3 }, 1)", "1.5 2");
    CHECK_SCRIPT("return next({}), next({ 1 }, 1), next({ 1, 2 }, 1.0)", "nil nil 2 2");
    CHECK_SCRIPT("next({ 1 }, 0/0)", FAULT "bad argument #2 to 'next' (NaN cannot be a key)");
}

static void sort_is_stable(void)
{
    CHECK_SCRIPT("local t = {} for i = 1, 1000 do t[i] = { k = i * 7 % 10, i = i } end "
                 "table.sort(t, function(a, b) return a.k < b.k end) "
                 "for i = 2, 1000 do local a, b = t[i - 1], t[i] "
                 "assert(a.k < b.k or a.k == b.k and a.i < b.i) end return #t",
                 "1000");
    CHECK_SCRIPT("local t = { 3, 1, 2.5, -7, 1 } table.sort(t) return table.concat(t, ' ')",
                 "-7 1 1 2.5 3");
    CHECK_SCRIPT("local t = { 'b', 'a', 'B', '' } table.sort(t, function(a, b) return a > b end) "
                 "return table.concat(t, ' ')",
                 "b a B ");
    CHECK_SCRIPT("for n = 0, 70 do local t = {} for i = 1, n do t[i] = (i * 37) % 11 end "
                 "table.sort(t) for i = 2, n do assert(t[i - 1] <= t[i], n) end end",
                 "");
}

static void sort_survives_any_order_function(void)
{
    CHECK_SCRIPT("local t, s = {}, 0 for i = 1, 200 do t[i] = i end "
                 "table.sort(t, function() return true end) "
                 "table.sort(t, function(a, b) return a * 31 % 7 < b * 17 % 5 end) "
                 "for i = 1, 200 do s = s + t[i] end return #t, s",
                 "200 20100");
    CHECK_SCRIPT("local t = { 3, 2, 1 } local _, e = pcall(table.sort, t, function() error('no', 0)"
                 " end) return e, table.concat(t, ' ')",
                 "no 3 2 1");
    CHECK_SCRIPT("table.sort({ 1, 'a' })", "error:attempt to compare string with number");
    CHECK_SCRIPT("table.sort({ 1, 2 }, 3)",
                 FAULT "bad argument #2 to 'sort' (function expected, got number)");
    CHECK_SCRIPT("table.sort({ 2, 1 }, wait)", "error:cannot wait here");
    CHECK_SCRIPT("local t = { 3, 2, 1 } table.sort(t, function(a, b) t[1] = nil t = {} "
                 "return a < b end) return #t",
                 "0");
}

static void the_table_library_behaves_like_the_native_one(void)
{
    CHECK_SCRIPT("local t = { 1, 2 } table.insert(t, 3) table.insert(t, 1, 0) "
                 "table.insert(t, 5, 4) return table.concat(t, ','), table.remove(t), "
                 "table.remove(t, 1), table.concat(t, ','), table.remove({}), table.remove({}, 0)",
                 "0,1,2,3,4 4 0 1,2,3 nil nil");
    CHECK_SCRIPT("table.insert({ 1 }, 3, 1)",
                 FAULT "bad argument #2 to 'insert' (position out of bounds)");
    CHECK_SCRIPT("table.remove({ 1 }, 3)",
                 FAULT "bad argument #2 to 'remove' (position out of bounds)");
    CHECK_SCRIPT("table.insert({ 1 })", FAULT "wrong number of arguments to 'insert'");
    CHECK_SCRIPT("return table.concat(table.move({ 1, 2, 3 }, 2, 3, 1), ','), "
                 "table.concat({ 1, 2, 3 }, '-', 2), table.unpack(table.pack(1, nil, 3), 1, 3)",
                 "2,3,3 2-3 1 nil 3");
    CHECK_SCRIPT("table.concat(nil)",
                 FAULT "bad argument #1 to 'concat' (table expected, got nil)");
}

static void no_loop_of_the_libraries_is_endless(void)
{
    CHECK_SCRIPT("return (''):rep(1 << 62) == '', ('ab'):rep(3, '-')", "true ab-ab-ab");
    CHECK_SCRIPT("local long = setmetatable({}, { __len = function() return 1 << 60 end }) "
                 "for _, f in ipairs{ table.remove, table.sort, table.concat } do "
                 "assert(select(2, pcall(f, long)) == 'too many elements (at most 100000000)') end "
                 "return pcall(table.insert, long, 1, 1)",
                 "false too many elements (at most 100000000)");
    CHECK_SCRIPT(
        "return pcall(table.insert, setmetatable({}, { __len = function() return -5 end }),"
        " math.mininteger, 1)",
        "false the length of a list cannot be negative");
    CHECK_SCRIPT("return pcall(table.move, {}, math.mininteger, math.maxinteger, 1)",
                 "false too many elements (at most 100000000)");
    CHECK_SCRIPT("return pcall(table.concat, {}, '', 1, 1 << 60)",
                 "false too many elements (at most 100000000)");
}

static void text_shows_no_addresses(void)
{
    CHECK_SCRIPT("return tostring({}), tostring(print), tostring(coroutine.create(print)), "
                 "tostring(nil), tostring(true), tostring(1), tostring(1.0), tostring('x')",
                 "table function thread nil true 1 1.0 x");
    CHECK_SCRIPT(
        "local named = setmetatable({}, { __name = 'Point' }) "
        "local shown = setmetatable({}, { __tostring = function() return 'me' end }) "
        "return tostring(named), tostring(shown), ('%s %s %5s|%-6s|'):format(named, shown, "
        "{}, {}), string.format('%%%s%d', print, 3)",
        "Point me Point me table|table | %function3");
    CHECK_SCRIPT(
        "return pcall(tostring, setmetatable({}, { __tostring = function() return {} end}))",
        "false '__tostring' must return a string");
    CHECK_SCRIPT("return pcall(string.format, '%p', {})",
                 "false string.format: %p would show an address");
    CHECK_SCRIPT("return pcall(('%10p').format, '%-10p', {})",
                 "false string.format: %p would show an address");
    CHECK_SCRIPT("string.format('%s')", FAULT "bad argument #2 to 'format' (no value)");
    CHECK_SCRIPT("string.format('%y', 1)", FAULT "invalid conversion '%y' to 'format'");
    CHECK_SCRIPT("return string.format('%q %x %5.2f %g', 'a\\n', 255, 1.5, 2)",
                 "\"a\\\n\" ff  1.50 2");
}

static void strings_offer_no_escape(void)
{
    CHECK_SCRIPT("return ('x').dump, string.dump, getmetatable(''), ('x').rep ~= nil",
                 "nil nil nil true");
    CHECK_SCRIPT("string.upper = function() return 'mine' end return ('x'):upper()", "X");
    CHECK_SCRIPT("return pcall(function() ('x').y = 1 end)",
                 "false script:1: attempt to index a string value (constant 'x')");
    CHECK_SCRIPT("return ('10' + 5), #('x'):rep(3)", "15 3");
}

static void print_sends_texts_to_the_gate(void)
{
    struct world world;
    world_init(&world);
    CHECK_TEXT(world_run(&world, "print('a', 1, {}, nil, setmetatable({}, { __tostring = "
                                 "function() return 'x' end })) print()"),
               "");
    CHECK_TEXT(soc_buf_text(&world.printed), "a\t1\ttable\tnil\tx\n\n");
    world_fini(&world);
}

static void time_and_chance_come_from_the_gate(void)
{
    CHECK_SCRIPT("return os.time(), os.clock(), math.random(3, 4), math.random()",
                 "1767614400 1.5 7 0");
    CHECK_SCRIPT("return pcall(math.randomseed, 1)",
                 "false random numbers come from the host's seed");
    CHECK_SCRIPT("return os.date(), os.date('!%F %T'), os.date('*t').year, os.date('!*t').hour",
                 "Mon Jan  5 12:00:00 2026 2026-01-05 12:00:00 2026 12");
}

static void dates_are_utc_and_agree_with_the_native_ones(void)
{
    /* The native function, with an explicit `!`, is the second opinion. */
    struct world world;
    world_init(&world);
    lua_getglobal(world.L, "os");
    lua_getfield(world.L, -1, "date");
    lua_setfield(world.L, 1, "native");
    lua_pop(world.L, 1);
    CHECK_TEXT(
        world_run(
            &world,
            "local f = '!%a %A %b %B %c %C %d %D %e %F %g %G %h %H %I %j %m %M %n %p %r %R %S "
            "%t %T %u %U %V %w %W %x %X %y %Y %z %% %Ey %Od' local n = 0 "
            "for t = -30e9 // 1 | 0, 260e9 // 1 | 0, 86400 * 97 + 12345 do "
            "local mine, theirs = os.date(f, t), native(f, t) "
            "if mine ~= theirs then return t, mine, theirs end "
            "local parts = os.date('*t', t) assert(os.time(parts) == t) "
            "for k, v in pairs(native('!*t', t)) do assert(parts[k] == v, k) end n = n + 1 end "
            "for t = 1703980800, 1703980800 + 86400 * 900, 86400 do "
            "assert(os.date(f, t) == native(f, t)) end return n"),
        "34553");
    world_fini(&world);
    CHECK_SCRIPT("return os.date('%Z', 0), os.date('%Y-%m-%d', 2^40)", "UTC 36812-02-20");
}

static void time_of_a_table_is_normalized(void)
{
    CHECK_SCRIPT("local t = { year = 2024, month = 14, day = -3, hour = 25, min = -1, sec = 61 } "
                 "return os.time(t), t.year, t.month, t.day, t.hour, t.min, t.sec, t.wday, t.yday, "
                 "t.isdst",
                 "1738112401 2025 1 29 1 0 1 4 29 false");
    CHECK_SCRIPT("return os.time{ year = 1970, month = 1, day = 1 }", "43200");
    CHECK_SCRIPT("return pcall(os.time, { year = 1970 })",
                 "false field 'month' missing in date table");
    CHECK_SCRIPT("return pcall(os.time, { year = 'x' })", "false field 'year' is not an integer");
    CHECK_SCRIPT("return pcall(os.time, { year = 1 << 40 })", "false field 'year' is out-of-bound");
    CHECK_SCRIPT("return pcall(os.date, '%Q', 0)", "false os.date: '%Q' is not a conversion");
    CHECK_SCRIPT("os.date('%c', math.maxinteger)",
                 FAULT "bad argument #2 to 'date' (time out-of-bounds)");
    CHECK_SCRIPT("return (pcall(os.date, '%'))", "false");
}

static void setmetatable_refuses_what_depends_on_the_collector(void)
{
    CHECK_SCRIPT("return pcall(setmetatable, {}, { __gc = print })",
                 "false setmetatable: scripts cannot use __gc, which depends on the garbage "
                 "collector");
    CHECK_SCRIPT("local f = function() return 'called' end "
                 "for i = 1, 16 do f = setmetatable({}, { __call = f }) end "
                 "return f(), pcall(setmetatable, {}, { __call = setmetatable({}, { __call = f }) "
                 "})",
                 "called false setmetatable: __call leads through more than 16 tables");
    CHECK_SCRIPT("return pcall(setmetatable, {}, { __mode = 'k' })",
                 "false setmetatable: scripts cannot use __mode, which depends on the garbage "
                 "collector");
    CHECK_SCRIPT("local mt = { __metatable = 'mine' } local t = setmetatable({}, mt) "
                 "return getmetatable(t), pcall(setmetatable, t, nil)",
                 "mine false cannot change a protected metatable");
    CHECK_SCRIPT("local mt = {} local t = setmetatable({}, mt) "
                 "return getmetatable(t) == mt, getmetatable(setmetatable(t, nil))",
                 "true nil");
}

static void a_finalizer_added_later_never_runs(void)
{
    struct world world;
    world_init(&world);
    CHECK_TEXT(world_run(&world, "local mt = {} setmetatable({}, mt) "
                                 "mt.__gc = function() print('ran') end "
                                 "return (pcall(setmetatable, {}, mt))"),
               "false");
    lua_gc(world.L, LUA_GCCOLLECT);
    lua_gc(world.L, LUA_GCCOLLECT);
    CHECK_TEXT(soc_buf_text(&world.printed), "");
    world_fini(&world);
}

static void metatables_of_the_host_are_hidden(void)
{
    struct world world;
    world_init(&world);
    lua_newtable(world.L);
    luaL_newmetatable(world.L, "society.test");
    lua_setmetatable(world.L, -2);
    lua_setfield(world.L, 1, "list");
    lua_newuserdatauv(world.L, 1, 0);
    lua_newtable(world.L);
    lua_setmetatable(world.L, -2);
    lua_setfield(world.L, 1, "handle");
    lua_pushlightuserdata(world.L, &world);
    lua_setfield(world.L, 1, "pointer");
    CHECK_TEXT(world_run(&world, "return getmetatable(list), getmetatable(handle), tostring(list), "
                                 "tostring(handle), ('%s'):format(handle), tostring(pointer), "
                                 "('%s'):format(pointer)"),
               "nil nil society.test userdata userdata userdata userdata");
    world_fini(&world);
}

static void load_accepts_only_text_and_uses_the_environment(void)
{
    CHECK_SCRIPT("x = 5 return load('return x, ...')(6)", "5 6");
    CHECK_SCRIPT("return load('return x', '=n', 't', { x = 7 })(), "
                 "pcall(load('return x', '=n', 't', nil))",
                 "7 false n:1: attempt to index a nil value (upvalue '_ENV')");
    CHECK_SCRIPT("return load('\\27Lua')", "nil attempt to load a binary chunk (mode is 't')");
    CHECK_SCRIPT("return load('\\27Lua', 'x', 'bt')",
                 "nil attempt to load a binary chunk (mode is 't')");
    CHECK_SCRIPT("return load('return 1', 'x', 'b')",
                 "nil load: only text can be loaded, but the mode has no 't'");
    CHECK_SCRIPT("local parts = { 'return ', '1', '+2' } local i = 0 "
                 "return load(function() i = i + 1 return parts[i] end)()",
                 "3");
    CHECK_SCRIPT("return load('x =', '=chunk')", "nil chunk:1: unexpected symbol near <eof>");
    CHECK_SCRIPT("return load(function() error('bad', 0) end)", "nil bad");
}

/* A directory for the files of one test. */
struct folder {
    char path[64];
    char file[512]; /* the last one written */
};

static void make_folder(struct folder *folder)
{
    strcpy(folder->path, "/tmp/sandbox_test.XXXXXX");
    CHECK(mkdtemp(folder->path) != NULL);
}

/* Writes a file, its folder with it if there is one. */
static const char *write_file(struct folder *folder, const char *name, const char *text)
{
    snprintf(folder->file, sizeof(folder->file), "%s/%s", folder->path, name);
    char *slash = strrchr(folder->file, '/');
    *slash = '\0';
    mkdir(folder->file, 0700);
    *slash = '/';
    FILE *file = fopen(folder->file, "w");
    if (CHECK(file != NULL)) {
        fputs(text, file);
        fclose(file);
    }
    return folder->file;
}

static void remove_folder(struct folder *folder)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder->path);
    CHECK_INT(system(command), 0);
}

/* Checks a result in which the folder's path is written as $. */
static void check_in_folder(struct world *world, const struct folder *folder, const char *script,
                            const char *expected)
{
    lua_State *L = world->L;
    luaL_gsub(L, world_run(world, script), folder->path, "$");
    CHECK_TEXT(lua_tostring(L, -1), expected);
    lua_pop(L, 1);
}

static void require_runs_a_file_once_in_the_environment(void)
{
    struct world world;
    struct folder folder;
    world_init(&world);
    make_folder(&folder);
    write_file(&folder, "counter.lua",
               "runs = (runs or 0) + 1 return { n = runs, args = { ... } }");
    write_file(&folder, "deep/part.lua", "#!/usr/bin/lua\nreturn 'deep'");
    write_file(&folder, "pack/init.lua", "return 'init'");
    write_file(&folder, "none.lua", "silent = true");
    soc_sandbox_add_path(world.L, 1, "/nowhere");
    soc_sandbox_add_path(world.L, 1, folder.path);
    lua_pushliteral(world.L, "own");
    soc_sandbox_preload(world.L, 1, "society");
    check_in_folder(&world, &folder,
                    "local c = require('counter') return c == require('counter'), c.n, runs, "
                    "c.args[1], c.args[2], select(2, require('none'))",
                    "true 1 1 counter $/counter.lua $/none.lua");
    check_in_folder(&world, &folder,
                    "return require('society'), require('none'), (require('deep.part')), "
                    "(require('pack'))",
                    "own true deep init");
    CHECK_INT(lua_gettop(world.L), 1);
    remove_folder(&folder);
    world_fini(&world);
}

static void require_does_not_reveal_where_the_program_is(void)
{
    struct world world;
    struct folder folder;
    world_init(&world);
    make_folder(&folder);
    write_file(&folder, "part.lua",
               "return { path = select(2, ...), fail = function() error('x') "
               "end }");
    soc_sandbox_add_path(world.L, 1, "app");
    soc_sandbox_add_own_path(world.L, 1, folder.path);
    CHECK_TEXT(world_run(&world, "return select(2, pcall(require, 'x.y'))"),
               "require: no module 'x.y'; tried app/x/y.lua, app/x/y/init.lua, "
               "[society]/lua/x/y.lua, [society]/lua/x/y/init.lua");
    CHECK_TEXT(world_run(&world, "local m, path = require('part') return path, m.path"),
               "[society]/lua/part.lua [society]/lua/part.lua");
    CHECK_TEXT(world_run(&world, "return pcall(require('part').fail)"),
               "false [society]/lua/part.lua:1: x");
    remove_folder(&folder);
    world_fini(&world);
}

static void require_reports_what_is_wrong(void)
{
    struct world world;
    struct folder folder;
    world_init(&world);
    CHECK_TEXT(world_run(&world, "require('a')"),
               "error:script:1: require: no module 'a' and no directory to search");
    make_folder(&folder);
    write_file(&folder, "a.lua", "return require('b')");
    write_file(&folder, "b.lua", "local x = require('c') return x");
    write_file(&folder, "c.lua", "return { require('a') }");
    write_file(&folder, "syntax.lua", "x = = 1");
    write_file(&folder, "raises.lua", "times = (times or 0) + 1 error({ times })");
    write_file(&folder, "waits.lua", "wait(1)");
    write_file(&folder, "binary.lua", "\x1bLua");
    soc_sandbox_add_path(world.L, 1, folder.path);
    check_in_folder(&world, &folder, "return pcall(require, 'x.y')",
                    "false require: no module 'x.y'; tried $/x/y.lua, $/x/y/init.lua");
    check_in_folder(&world, &folder, "return select(2, pcall(require, 'a')):match('require: .*')",
                    "require: module 'a' requires itself (a -> b -> c -> a)");
    check_in_folder(&world, &folder, "return pcall(require, 'syntax')",
                    "false require: module 'syntax': $/syntax.lua:1: unexpected symbol near '='");
    check_in_folder(
        &world, &folder, "return pcall(require, 'binary')",
        "false require: module 'binary': $/binary.lua: precompiled code cannot be loaded");
    check_in_folder(&world, &folder,
                    "pcall(require, 'raises') return select(2, pcall(require, 'raises'))[1]", "2");
    check_in_folder(&world, &folder, "return pcall(require, 'waits')",
                    "false $/waits.lua:1: cannot wait here");
    static const char *const names[] = {"",   "..", "a..b",  "/etc/passwd", "a/b",
                                        ".a", "a.", "a\\0b", "a b",         "\xc3\xa4"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char script[128];
        snprintf(
            script, sizeof(script),
            "return (select(2, pcall(require, '%s')):find('is not a module name', 1, true)) ~= nil",
            names[i]);
        CHECK_TEXT(world_run(&world, script), "true");
    }
    remove_folder(&folder);
    world_fini(&world);
}

static void a_file_is_loaded_as_text_or_refused(void)
{
    struct world world;
    struct folder folder;
    struct soc_detail detail;
    world_init(&world);
    make_folder(&folder);
    const char *path = write_file(&folder, "app.lua", "#!/bin/society\nlocal x = nil\nreturn x.y");
    CHECK_INT(soc_sandbox_load(world.L, 1, path, "app.lua", &detail), SOC_OK);
    CHECK_INT(lua_pcall(world.L, 0, 0, 0), LUA_ERRRUN);
    CHECK_TEXT(lua_tostring(world.L, -1), "app.lua:3: attempt to index a nil value (local 'x')");
    lua_pop(world.L, 1);
    write_file(&folder, "app.lua", "\xEF\xBB\xBF#!/bin/society\nreturn 1"); /* some editors */
    CHECK_INT(soc_sandbox_load(world.L, 1, path, "app.lua", &detail), SOC_OK);
    lua_pop(world.L, 1);
    write_file(&folder, "app.lua", "x = 1\nx = = 2");
    CHECK_INT(soc_sandbox_load(world.L, -1, path, "app.lua", &detail), SOC_ESCRIPT);
    CHECK_TEXT(detail.text, "app.lua:2: unexpected symbol near '='");
    write_file(&folder, "app.lua", "");
    CHECK_INT(soc_sandbox_load(world.L, 1, path, "app.lua", NULL), SOC_OK);
    lua_pop(world.L, 1);
    CHECK_INT(soc_sandbox_load(world.L, 1, folder.path, "x", &detail), SOC_ENOFILE);
    unlink(path);
    CHECK_INT(soc_sandbox_load(world.L, 1, path, "x", &detail), SOC_ENOFILE);
    CHECK(strstr(detail.text, "No such file") != NULL);
    CHECK_INT(lua_gettop(world.L), 1);
    remove_folder(&folder);
    world_fini(&world);
}

int main(void)
{
    RUN(scripts_get_exactly_these_names);
    RUN(every_environment_has_its_own_libraries);
    RUN(altered_globals_of_the_state_do_not_reach_scripts);
    RUN(pairs_returns_numbers_then_sorted_strings);
    RUN(pairs_puts_fractions_between_integers);
    RUN(pairs_sorts_large_tables);
    RUN(pairs_allows_changing_and_clearing_fields_meanwhile);
    RUN(pairs_refuses_keys_without_an_order);
    RUN(pairs_honours_its_metamethod);
    RUN(next_returns_the_sorted_successor);
    RUN(sort_is_stable);
    RUN(sort_survives_any_order_function);
    RUN(the_table_library_behaves_like_the_native_one);
    RUN(no_loop_of_the_libraries_is_endless);
    RUN(text_shows_no_addresses);
    RUN(strings_offer_no_escape);
    RUN(print_sends_texts_to_the_gate);
    RUN(time_and_chance_come_from_the_gate);
    RUN(dates_are_utc_and_agree_with_the_native_ones);
    RUN(time_of_a_table_is_normalized);
    RUN(setmetatable_refuses_what_depends_on_the_collector);
    RUN(a_finalizer_added_later_never_runs);
    RUN(metatables_of_the_host_are_hidden);
    RUN(load_accepts_only_text_and_uses_the_environment);
    RUN(require_runs_a_file_once_in_the_environment);
    RUN(require_does_not_reveal_where_the_program_is);
    RUN(require_reports_what_is_wrong);
    RUN(a_file_is_loaded_as_text_or_refused);
    return check_done();
}

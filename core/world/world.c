#include "world/world.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/version.h"
#include "check/check.h"
#include "kernel/look.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/turns/batch.h"
#include "lualib/lua_json.h"
#include "parts/table.h"
#include "parts/telemetry/telemetry.h"
#include "script/bindings/bind.h"
#include "script/bindings/settings.h"
#include "script/calls/chat_keys.h"
#include "script/calls/exchange.h"
#include "script/calls/keys.h"
#include "script/policies/swap.h"
#include "script/turns/effect.h"
#include "store/memory.h"
#include "store/sqlite/sqlite.h"
#include "world/fleet.h"
#include "world/world_state.h"

/* The userdata of society.new. Its user values: 1 the box, 2 the app (a path or a
 * function) or nil, 3 the list of declarations made by hand (s:role{…}), which
 * recover() repeats, 4 the table of options, 5 the fleet it is a host of, or nil. */
enum { UV_BOX = 1, UV_APP, UV_DECLARED, UV_OPTIONS, UV_FLEET, UV_COUNT = UV_FLEET };

static struct soc_world *check_world(lua_State *L)
{
    return luaL_checkudata(L, 1, SOC_WORLD);
}

static struct soc_world *check_running(lua_State *L)
{
    struct soc_world *world = check_world(L);
    if (world->host == NULL)
        luaL_error(L, "this society is not running: call recover() after crash(), or society.new");
    return world;
}

/* For functions that drive the society, which they cannot do from inside one of its
 * turns. */
struct soc_world *soc_world_check_idle(lua_State *L)
{
    struct soc_world *world = check_world(L);
    if (world->host != NULL && soc_gate_activation(world->host) != NULL)
        luaL_error(L, "a society cannot be driven from inside one of its own turns");
    return world;
}

struct soc_world *soc_world_check_ready(lua_State *L)
{
    soc_world_check_idle(L);
    return check_running(L);
}

static void write_line(struct soc_slice line, void *user)
{
    struct soc_world *world = user;
    soc_buf_put_slice(&world->transcript, line);
}

static bool show(void *user, struct soc_slice stream, struct soc_slice agent, struct soc_slice text)
{
    struct soc_world *world = user;
    char time[SOC_TIME_BYTES];
    if (world->check != NULL)
        soc_check_shown(world->check, stream, agent, text);
    soc_time_format(time, soc_clock_date(soc_host_clock(world->host)));
    bool is_mail = soc_slice_equal(stream, SOC_SLICE("mail"));
    bool is_item = soc_slice_equal(stream, SOC_SLICE("inbox"));
    soc_buf_put(&world->transcript, time + 11, 12);
    soc_buf_put_text(&world->transcript, is_mail ? " shown " : is_item ? " inbox " : " print ");
    soc_buf_put_slice(&world->transcript, agent);
    bool is_withdrawn = is_item && soc_json_member(text, "withdrawn").data != NULL;
    soc_buf_put_text(&world->transcript, is_withdrawn ? ": withdrawn: " : ": ");
    soc_buf_put_slice(&world->transcript, is_mail   ? soc_json_member(text, "payload")
                                          : is_item ? soc_json_member(text, "title")
                                                    : text);
    soc_buf_put_byte(&world->transcript, '\n');
    return true;
}

static void failed(void *user, const struct soc_detail *detail)
{
    struct soc_world *world = user;
    soc_buf_printf(&world->transcript, "storage failed: %s\n", detail->text);
}

static void take_span(void *user, struct soc_slice span)
{
    struct soc_world *world = user;
    if (world->spans.length > 0)
        soc_buf_put_byte(&world->spans, ',');
    soc_buf_put_slice(&world->spans, span);
}

void soc_world_stop(struct soc_world *world, bool as_crash)
{
    if (world->host != NULL) {
        world->date_ms = soc_clock_date(soc_host_clock(world->host));
        if (world->fleet != NULL)
            soc_fleet_leaving(world);
        if (as_crash)
            soc_host_crash(world->host);
        else
            soc_host_close(world->host, 0);
        if (world->fleet != NULL)
            soc_fleet_left(world);
    }
    soc_world_note_calls(world);
    soc_script_free(world->script);
    world->host = NULL;
    world->script = NULL;
    world->is_declaring = false;
}

/* Applies options.config and options.policies. */
static void apply_options(lua_State *L, struct soc_world *world, int options)
{
    struct soc_detail detail;
    if (soc_option_field(L, options, "config") == LUA_TTABLE) {
        lua_pushnil(L);
        while (lua_next(L, -2) != 0) {
            if (soc_settings_set(L, world->script, soc_option_name(L, "config"), lua_gettop(L),
                                 &detail) < 0)
                luaL_error(L, "config: %s", detail.text);
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
    soc_option_check(L, options, "society.new", "http", LUA_TFUNCTION);
    if (soc_option_field(L, options, "http") != LUA_TNIL)
        soc_exchange_set_world(L, world->script, lua_gettop(L));
    lua_pop(L, 1);
    if (soc_option_field(L, options, "policies") == LUA_TTABLE) {
        lua_pushnil(L);
        while (lua_next(L, -2) != 0) {
            struct soc_swap swap = {.kind = soc_option_name(L, "policies"), .by = "option"};
            soc_swap_read(L, lua_gettop(L), &swap);
            if (soc_swap_do(L, world->script, &swap, &detail) < 0)
                luaL_error(L, "policies: %s", detail.text);
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
}

static void run_declared(lua_State *L, int self)
{
    lua_getiuservalue(L, self, UV_DECLARED);
    int list = lua_gettop(L);
    lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, list, i);
        int call = lua_gettop(L);
        lua_getiuservalue(L, self, UV_BOX);
        soc_script_push_module(L, lua_gettop(L));
        lua_getfield(L, call, "name");
        lua_gettable(L, -2);
        lua_Integer arguments = (lua_Integer)lua_rawlen(L, call);
        for (lua_Integer k = 1; k <= arguments; k++)
            lua_rawgeti(L, call, k);
        lua_call(L, (int)arguments, 0);
        lua_settop(L, list);
    }
    lua_pop(L, 1);
}

static void run_app(lua_State *L, struct soc_world *world, int self)
{
    struct soc_detail detail = {{0}};
    int type = lua_getiuservalue(L, self, UV_APP);
    int rc = SOC_OK;
    world->is_declaring = true;
    if (type == LUA_TSTRING) {
        rc = soc_script_run_file(world->script, lua_tostring(L, -1), 0, NULL, &detail);
        lua_pop(L, 1);
    } else if (type == LUA_TFUNCTION) {
        rc = soc_world_run_function(L, world->script, self, &detail);
    } else {
        lua_pop(L, 1);
        run_declared(L, self);
    }
    world->is_declaring = false;
    if (rc < 0)
        luaL_error(L, "%s", detail.text);
}

/* Returns the directory of the app's file, for its own modules and policies. */
static const char *app_directory(lua_State *L, int self)
{
    const char *directory = NULL;
    if (lua_getiuservalue(L, self, UV_APP) == LUA_TSTRING) {
        const char *path = lua_tostring(L, -1);
        const char *slash = strrchr(path, '/');
        if (slash == NULL)
            directory = lua_pushstring(L, ".");
        else
            directory = lua_pushlstring(L, path, (size_t)(slash - path));
        lua_remove(L, -2);
    }
    return directory;
}

/* Creates host and script on the store and loads its state. The stack: the world's
 * userdata. */
static int make_parts(lua_State *L)
{
    assert(lua_isuserdata(L, 1));
    struct soc_world *world = lua_touserdata(L, 1);
    struct soc_detail detail = {{0}};
    struct soc_host_options options = {
        .store = world->store,
        .seed = world->seed,
        .log = {.level = SOC_LOG_INFO, .write = write_line, .user = world},
        .show = show,
        .failed = failed,
        .user = world,
        .injector = world->has_faults ? &world->plan.injector : NULL,
        .parts = soc_part_table,
        .witness = world->witness.sealed == NULL ? NULL : &world->witness,
    };
    lua_getfield(L, LUA_REGISTRYINDEX, SOC_WORLD_HOME);
    const char *home = lua_tostring(L, -1);
    const char *app_dir = app_directory(L, 1);
    lua_getiuservalue(L, 1, UV_OPTIONS);
    int option_table = lua_gettop(L);
    if (soc_option_field(L, option_table, "quiet"), lua_toboolean(L, -1))
        options.log.level = SOC_LOG_NONE;
    if (soc_option_field(L, option_table, "telemetry"), lua_toboolean(L, -1))
        options.parts = soc_part_table_observed;
    world->host = soc_host_new(&options);
    soc_telemetry_listen(world->host, &(struct soc_trace_sampler){0}, take_span, world);
    if (world->fleet != NULL)
        soc_fleet_set_date(world);
    if (world->date_ms != 0)
        soc_clock_set(soc_host_clock(world->host), world->date_ms);
    struct soc_script_options script_options = {
        .L = L, .host = world->host, .home = home, .app_dir = app_dir};
    lua_getiuservalue(L, 1, UV_BOX);
    if (soc_script_new(&world->script, &script_options, lua_gettop(L), &detail) < 0)
        return luaL_error(L, "%s", detail.text);
    apply_options(L, world, option_table);
    run_app(L, world, 1);
    const char *name = soc_script_app_name(world->script);
    struct soc_slice app = soc_slice_text(name == NULL ? "app" : name);
    if (soc_host_start(world->host, app, &detail) < 0)
        return luaL_error(L, "%s", detail.text);
    soc_script_started(world->script);
    soc_world_open_door(world);
    soc_batch_seal(world->host);
    if (world->fleet != NULL)
        soc_fleet_joined(L, world);
    return 0;
}

/* Runs on the main thread, which outlives every coroutine that may be calling. On an
 * error the world is stopped and false is returned, with the error on top of the
 * caller's stack. */
bool soc_world_start(lua_State *L, struct soc_world *world, int self)
{
    assert(world->host == NULL && world->script == NULL);
    assert(world->store != NULL && lua_isuserdata(L, self));
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    lua_State *main = lua_tothread(L, -1);
    lua_pop(L, 1);
    if (!lua_checkstack(main, LUA_MINSTACK))
        luaL_error(L, "stack overflow");
    lua_pushcfunction(L, make_parts);
    lua_pushvalue(L, self);
    if (L != main)
        lua_xmove(L, main, 2);
    if (lua_pcall(main, 1, 0, 0) == LUA_OK)
        return true;
    if (L != main)
        lua_xmove(main, L, 1);
    soc_world_stop(world, true);
    return false;
}

static const char *const declarations[] = {"role", "root", "main", "policy", "config", NULL};

static bool is_declaration(const char *name)
{
    for (int i = 0; declarations[i] != NULL; i++)
        if (strcmp(declarations[i], name) == 0)
            return true;
    return false;
}

/* Pushes { name = upvalue 2, the arguments }. */
static void push_declaration(lua_State *L, int arguments)
{
    lua_createtable(L, arguments, 1);
    for (int i = 1; i <= arguments; i++) {
        lua_pushvalue(L, i);
        lua_rawseti(L, -2, i);
    }
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_setfield(L, -2, "name");
}

/* Calls the declaration below its arguments. A spec that declares its society step by
 * step may also set where keys go: they only reach the simulated world. */
static void call_declaration(lua_State *L, struct soc_script *script, int arguments)
{
    struct soc_keys *keys = script == NULL ? NULL : script->keys;
    if (keys == NULL || !keys->is_settled) {
        lua_call(L, arguments, LUA_MULTRET);
        return;
    }
    soc_keys_unsettle(keys);
    int status = lua_pcall(L, arguments, LUA_MULTRET, 0);
    soc_chat_keys_settle(L, script);
    if (status != LUA_OK)
        lua_error(L);
}

/* Upvalues: 1 the world, 2 the name, 3 the module's function. A declaration is recorded
 * once it was accepted. */
static int declare(lua_State *L)
{
    struct soc_world *world = lua_touserdata(L, lua_upvalueindex(1));
    if (luaL_testudata(L, 1, SOC_WORLD) != NULL)
        lua_remove(L, 1);
    int arguments = lua_gettop(L);
    push_declaration(L, arguments);
    lua_insert(L, 1);
    lua_pushvalue(L, lua_upvalueindex(3));
    lua_insert(L, 2);
    call_declaration(L, world->script, arguments);
    if (!world->is_declaring) {
        lua_getiuservalue(L, lua_upvalueindex(1), UV_DECLARED);
        lua_pushvalue(L, 1);
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
        lua_pop(L, 1);
    }
    return lua_gettop(L) - 1;
}

/* In a turn nothing drives the society: `dispatch` is that of an app there, for `main`. */
static bool is_of_app(const struct soc_world *world, const char *name)
{
    return world->host != NULL && soc_gate_activation(world->host) != NULL &&
           strcmp(name, "dispatch") == 0;
}

static int world_index(lua_State *L)
{
    const char *name = luaL_checkstring(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL && !is_of_app(check_world(L), name))
        return 1;
    struct soc_world *world = check_running(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, world->script->module_ref);
    lua_getfield(L, -1, name);
    if (lua_isnil(L, -1) || !is_declaration(name))
        return 1;
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -3);
    lua_pushcclosure(L, declare, 3);
    return 1;
}

static int world_now(lua_State *L)
{
    lua_pushinteger(L, soc_clock_date(soc_host_clock(check_running(L)->host)));
    return 1;
}

/* s:crash(): as kill -9 does, at the last durable point */
static int world_crash(lua_State *L)
{
    soc_world_stop(soc_world_check_ready(L), true);
    lua_settop(L, 1);
    return 1;
}

/* s:recover(): runs the app again, with the state from the store */
static int world_recover(lua_State *L)
{
    struct soc_world *world = soc_world_check_idle(L);
    if (world->store == NULL)
        return luaL_error(L, "this society was closed");
    soc_world_stop(world, true);
    if (!soc_world_restart(L, world, 1, world->date_ms, true))
        return lua_error(L);
    lua_settop(L, 1);
    return 1;
}

static int world_close(lua_State *L)
{
    struct soc_world *world = soc_world_check_idle(L);
    soc_world_stop(world, false);
    soc_store_close(world->store);
    world->store = NULL;
    soc_buf_fini(&world->transcript);
    soc_buf_fini(&world->spans);
    soc_buf_fini(&world->unexpected);
    soc_world_free_door(world);
    soc_world_free_faults(world);
    return 0;
}

static int world_transcript(lua_State *L)
{
    const struct soc_world *world = check_world(L);
    lua_pushlstring(L, world->transcript.data == NULL ? "" : world->transcript.data,
                    world->transcript.length);
    return 1;
}

static void take_dump(int rc, struct soc_slice rows, void *user)
{
    if (rc == SOC_OK)
        soc_buf_put_slice(user, rows);
}

/* s:dump() -> every row of the store as one JSON text, sorted */
static int world_dump(lua_State *L)
{
    struct soc_world *world = soc_world_check_ready(L);
    struct soc_query query = {.what = "dump"};
    struct soc_buf *out = &soc_frame_open(world->script)->answer;
    soc_batch_seal(world->host);
    soc_look_query(world->host, &query, take_dump, out);
    lua_pushlstring(L, out->data == NULL ? "" : out->data, out->length);
    return 1;
}

/* s:spans() -> the spans that left so far, as OTLP writes them in JSON */
static int world_spans(lua_State *L)
{
    struct soc_world *world = check_world(L);
    struct soc_buf list = {0};
    if (world->host != NULL)
        soc_batch_seal(world->host);
    soc_buf_put_byte(&list, '[');
    soc_buf_put_slice(&list, soc_buf_slice(&world->spans));
    soc_buf_put_byte(&list, ']');
    int rc = soc_lua_json_decode(L, soc_buf_slice(&list), NULL);
    soc_buf_fini(&list);
    return rc < 0 ? luaL_error(L, "a span is not JSON") : 1;
}

static const luaL_Reg world_functions[] = {
    {"now", world_now},     {"crash", world_crash}, {"recover", world_recover},
    {"close", world_close}, {"dump", world_dump},   {"transcript", world_transcript},
    {"spans", world_spans}, {NULL, NULL},
};

static void make_metatable(lua_State *L)
{
    if (luaL_newmetatable(L, SOC_WORLD)) {
        luaL_newlib(L, world_functions);
        soc_world_add_mail(L);
        soc_world_add_run(L);
        soc_world_add_outside(L);
        lua_pushcclosure(L, world_index, 1);
        lua_setfield(L, -2, "__index");
        lua_pushcfunction(L, world_close);
        lua_setfield(L, -2, "__gc");
    }
    lua_pop(L, 1);
}

struct soc_world *soc_world_set_fleet(lua_State *L, int index, struct soc_fleet *fleet, int place)
{
    struct soc_world *world = luaL_checkudata(L, -1, SOC_WORLD);
    lua_pushvalue(L, index);
    lua_setiuservalue(L, -2, UV_FLEET);
    world->fleet = fleet;
    world->fleet_place = place;
    return world;
}

void soc_world_push_fleet(lua_State *L, int index)
{
    lua_getiuservalue(L, index, UV_FLEET);
}

/* Upvalue: the witness of a fleet for the host that is made; nothing: it is alone.
 * society.new{ seed?, store?, policies?, config?, app?, hosts?, quiet?, http?, faults?,
 * unexpected_calls?, telemetry? } */
static int society_new(lua_State *L)
{
    static const char *const known[] = {
        "seed", "store",  "policies",         "config",    "app",   "quiet",
        "http", "faults", "unexpected_calls", "telemetry", "hosts", NULL};
    struct soc_detail detail = {{0}};
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    soc_option_check_names(L, 1, "society.new", known);
    if (lua_getfield(L, 1, "hosts") != LUA_TNIL)
        return soc_fleet_new(L, society_new);
    lua_settop(L, 1);
    soc_option_check(L, 1, "society.new", "store", LUA_TSTRING);
    soc_option_check(L, 1, "society.new", "policies", LUA_TTABLE);
    soc_option_check(L, 1, "society.new", "config", LUA_TTABLE);
    soc_option_check(L, 1, "society.new", "telemetry", LUA_TBOOLEAN);
    make_metatable(L);
    struct soc_world *world = lua_newuserdatauv(L, sizeof(*world), UV_COUNT);
    *world = (struct soc_world){0};
    const struct soc_witness *witness = lua_touserdata(L, lua_upvalueindex(1));
    if (witness != NULL)
        world->witness = *witness;
    luaL_setmetatable(L, SOC_WORLD);
    int self = lua_gettop(L);
    soc_script_push_box(L);
    lua_setiuservalue(L, self, UV_BOX);
    int type = soc_option_field(L, 1, "app");
    bool is_file = type == LUA_TSTRING && *lua_tostring(L, -1) != '\0';
    if (type != LUA_TNIL && type != LUA_TFUNCTION && !is_file)
        return luaL_error(L, "society.new: 'app' must be a file or a function");
    lua_setiuservalue(L, self, UV_APP);
    lua_newtable(L);
    lua_setiuservalue(L, self, UV_DECLARED);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, self, UV_OPTIONS);
    int64_t seed = soc_option_integer(L, 1, "society.new", "seed", 1);
    if (seed < 0)
        return luaL_error(L, "society.new: 'seed' must be an integer of at least 0");
    world->seed = (uint64_t)seed;
    soc_option_field(L, 1, "store");
    const char *store = luaL_optstring(L, -1, "memory");
    struct soc_sqlite_options options = {.directory = strcmp(store, "memory") == 0 ? NULL : store};
    soc_option_field(L, 1, "unexpected_calls");
    world->takes_unexpected_calls = lua_toboolean(L, -1);
    soc_world_read_faults(L, world, 1);
    options.disk = world->disk;
    if (options.disk != NULL && options.directory != NULL)
        return luaL_error(L, "society.new: disk faults need a store in memory");
    if (options.disk == NULL && options.directory == NULL)
        world->store = soc_memory_open(NULL);
    else if (soc_sqlite_open(&world->store, &options, &detail) < 0)
        return luaL_error(L, "%s", detail.text);
    if (!soc_world_start(L, world, self)) {
        soc_store_close(world->store); /* now rather than when it is collected */
        world->store = NULL;
        return lua_error(L);
    }
    lua_pushvalue(L, self);
    return 1;
}

static int use_outside(lua_State *L)
{
    return luaL_error(L, "society.%s works only inside an app; create a society with society.new",
                      luaL_checkstring(L, 2));
}

int soc_world_open(lua_State *L)
{
    lua_newtable(L);
    lua_pushcfunction(L, society_new);
    lua_setfield(L, -2, "new");
    lua_pushcfunction(L, soc_world_message_fields);
    lua_setfield(L, -2, "message_fields");
    lua_pushliteral(L, SOC_VERSION);
    lua_setfield(L, -2, "version");
    lua_newtable(L);
    lua_pushcfunction(L, use_outside);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    return 1;
}

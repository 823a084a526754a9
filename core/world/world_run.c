#include "world/world_state.h"

#include <assert.h>
#include <string.h>

#include "check/check.h"
#include "kernel/look.h"
#include "kernel/turns/batch.h"
#include "script/calls/chat.h"
#include "script/turns/environments.h"
#include "sim/simulate.h"
#include "store/disk/disk.h"
#include "store/sqlite/sqlite.h"
#include "world/fleet.h"
#include "world/witness.h"

/* Pushes a list of names as one text with commas. */
static void push_names(lua_State *L, int list)
{
    assert(lua_istable(L, list));
    luaL_Buffer names;
    lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    luaL_buffinit(L, &names);
    for (lua_Integer i = 1; i <= count; i++) {
        if (i > 1)
            luaL_addchar(&names, ',');
        if (lua_rawgeti(L, list, i) != LUA_TSTRING)
            luaL_error(L, "society.new: 'faults' must be a list of names");
        luaL_addvalue(&names);
    }
    if (count == 0)
        luaL_addstring(&names, "none");
    luaL_pushresult(&names);
}

void soc_world_read_faults(lua_State *L, struct soc_world *world, int index)
{
    assert(world->check == NULL && world->disk == NULL);
    assert(world->store == NULL);
    struct soc_detail detail;
    uint32_t set;
    int type = soc_option_field(L, index, "faults");
    if (type == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    if (type == LUA_TTABLE) {
        push_names(L, lua_gettop(L));
        lua_remove(L, -2);
    }
    if (lua_type(L, -1) != LUA_TSTRING)
        luaL_error(L, "society.new: 'faults' must be a list of names");
    if (!soc_faults_parse(lua_tostring(L, -1), &set, &detail))
        luaL_error(L, "society.new: %s", detail.text);
    lua_pop(L, 1);
    world->has_faults = true;
    if (world->witness.sealed == NULL) {
        world->check = soc_check_new();
        world->witness = soc_witness_of(world->check);
    }
    soc_faults_init(&world->plan, set, world->seed);
    if (world->plan.has_disk)
        world->disk = soc_disk_new(world->seed);
}

void soc_world_free_faults(struct soc_world *world)
{
    soc_check_free(world->check);
    soc_disk_free(world->disk);
    world->check = NULL;
    world->disk = NULL;
}

void soc_world_note_restart(struct soc_world *world)
{
    assert(world->store != NULL);
    if (world->check != NULL)
        soc_check_reload(world->check, world->store);
}

/* Ends the process, takes the store off its disk and opens it again. */
static int reopen(struct soc_world *world, bool has_power)
{
    struct soc_sqlite_options options = {.disk = world->disk};
    struct soc_detail detail;
    if (world->disk == NULL) {
        soc_world_stop(world, true);
        return SOC_OK;
    }
    soc_disk_kill(world->disk);
    soc_world_stop(world, true);
    soc_store_close(world->store);
    world->store = NULL;
    soc_disk_restart(world->disk, has_power ? SOC_DISK_KILL : SOC_DISK_POWER_LOSS);
    return soc_sqlite_open(&world->store, &options, &detail);
}

/* Who drives, and the stack that has the world at 1. */
struct drive {
    lua_State *L;
    struct soc_world *world;
};

bool soc_world_restart(lua_State *L, struct soc_world *world, int self, int64_t date_ms,
                       bool has_power)
{
    int top = lua_gettop(L);
    bool is_up = false;
    bool is_first = true;
    bool is_struck;
    do {
        lua_settop(L, top);
        if (reopen(world, has_power) == SOC_OK) {
            if (world->fleet == NULL || is_first) /* a fleet moves it on by the time passed */
                world->date_ms = date_ms;
            is_first = false;
            soc_world_note_restart(world);
            is_up = soc_world_start(L, world, self);
        } else {
            lua_pushliteral(L, "the simulated disk cannot be read");
        }
        is_struck = world->disk != NULL && soc_disk_struck(world->disk) != SOC_DISK_NONE;
        has_power = true;
    } while (!is_up && is_struck);
    return is_up;
}

static void restart(struct soc_simulation *simulation, int64_t date_ms, bool has_power)
{
    struct drive *drive = simulation->user;
    lua_settop(drive->L, 1);
    soc_world_restart(drive->L, drive->world, 1, date_ms, has_power);
    simulation->host = drive->world->host;
}

static void count_all(struct soc_simulation *simulation)
{
    struct drive *drive = simulation->user;
    soc_witness_census(drive->world->check, simulation->host);
}

static void complain(lua_State *L, const struct soc_world *world)
{
    if (soc_check_fault(world->check) != NULL)
        luaL_error(L, "seed %I: %s", (LUAI_UACINT)world->seed, soc_check_fault(world->check));
}

void soc_world_note_calls(struct soc_world *world)
{
    if (world->script == NULL)
        return;
    if (world->unexpected.length == 0)
        soc_buf_put_text(&world->unexpected, soc_chat_unexpected(world->script));
    soc_chat_expect_again(world->script);
}

void soc_world_complain_of_calls(lua_State *L, struct soc_world *world)
{
    soc_world_note_calls(world);
    bool is_meant = world->unexpected.length == 0 || world->takes_unexpected_calls;
    lua_pushlstring(L, soc_buf_text(&world->unexpected), world->unexpected.length);
    world->unexpected.length = 0;
    if (!is_meant)
        lua_error(L);
    lua_pop(L, 1);
}

/* Like run_until below, with faults. A restart that fails leaves its error on top. */
static void run_with_faults(lua_State *L, struct soc_world *world, int64_t until_ms)
{
    struct drive drive = {L, world};
    struct soc_simulation simulation = {
        .host = world->host,
        .faults = &world->plan,
        .disk = world->disk,
        .restart = restart,
        .count = count_all,
        .user = &drive,
    };
    lua_settop(L, 1);
    if (soc_simulate(&simulation, until_ms, false) == SOC_SIMULATED_MOVED)
        luaL_error(L, "seed %I: %s", (LUAI_UACINT)world->seed, SOC_SIMULATED_MOVED_TEXT);
    if (simulation.host == NULL)
        lua_error(L);
    complain(L, world);
}

/* Many turns share a batch, as they do in production. */
static void run_ready(struct soc_world *world)
{
    while (soc_host_tick(world->host) == SOC_TICK_NOW)
        continue;
}

/* Advances time up to `until_ms` (0: no limit) while anything happens. */
static void run_until(lua_State *L, struct soc_world *world, int64_t until_ms)
{
    if (world->fleet != NULL) {
        soc_fleet_run(L, world->fleet, world, until_ms, NULL);
        return;
    }
    if (world->check != NULL) {
        run_with_faults(L, world, until_ms);
        return;
    }
    for (;;) {
        run_ready(world);
        int64_t due_ms = soc_host_next_due(world->host);
        if (until_ms == 0 && soc_host_next_wait(world->host) == 0)
            break;
        if (due_ms == 0 || (until_ms != 0 && due_ms > until_ms) ||
            soc_host_main_has_failed(world->host) || soc_host_is_failed(world->host))
            break;
        soc_clock_move(soc_host_clock(world->host), due_ms);
    }
    if (until_ms != 0)
        soc_clock_move(soc_host_clock(world->host), until_ms);
    soc_batch_seal(world->host);
}

/* s:run(): until nothing is ready and no timeout, sleep or delay is pending. */
static int world_run(lua_State *L)
{
    struct soc_world *world = soc_world_check_ready(L);
    run_until(L, world, 0);
    soc_world_complain_of_calls(L, world);
    lua_settop(L, 1);
    return 1;
}

/* s:step() -> true if anything was done */
static int world_step(lua_State *L)
{
    struct soc_world *world = soc_world_check_ready(L);
    bool did = world->fleet != NULL ? soc_fleet_step(world->fleet) : soc_host_step(world->host);
    soc_batch_seal(world->host);
    soc_world_complain_of_calls(L, world);
    lua_pushboolean(L, did);
    return 1;
}

/* s:advance(ms): advances time and lets what is due happen; after crash() nothing
 * happens. */
static int world_advance(lua_State *L)
{
    struct soc_world *world = soc_world_check_idle(L);
    int is_integer;
    lua_Integer ms = lua_tointegerx(L, 2, &is_integer);
    if (lua_type(L, 2) != LUA_TNUMBER || !is_integer || ms < 0 || ms > SOC_WORLD_ADVANCE_MS_MAX)
        return luaL_error(L, "s:advance needs ms from 0 to 10^14, not %s",
                          lua_type(L, 2) == LUA_TNUMBER ? lua_tostring(L, 2) : luaL_typename(L, 2));
    if (world->host == NULL && world->store != NULL) {
        if (world->fleet != NULL)
            return luaL_error(L, "this host is down: advance the fleet");
        world->date_ms += ms;
        lua_settop(L, 1);
        return 1;
    }
    soc_world_check_ready(L);
    run_until(L, world, soc_clock_now(soc_host_clock(world->host)) + ms);
    soc_world_complain_of_calls(L, world);
    lua_settop(L, 1);
    return 1;
}

/* Pushes nil and a sentence if `main` raised, or has not finished and never will. */
static bool push_fault_of_main(lua_State *L, const struct soc_world *world)
{
    struct soc_host *host = world->host;
    struct soc_buf waits = {0};
    if (soc_host_main_has_failed(host)) {
        struct soc_slice error = soc_host_main_error(host);
        lua_pushnil(L);
        lua_pushliteral(L, "main raised: ");
        lua_pushlstring(L, error.data == NULL ? "" : error.data, error.length);
        lua_concat(L, 2);
        return true;
    }
    if (soc_host_main_is_done(host) || !soc_host_is_stalled(host))
        return false;
    soc_look_waits(host, &waits);
    lua_pushnil(L);
    lua_pushfstring(L, "nothing is left to run and main has not finished; waiting: %s",
                    soc_buf_text(&waits));
    soc_buf_fini(&waits);
    return true;
}

/* s:check() -> true | nil, a sentence: whether the history so far is valid, `main` has not
 * failed and, if nothing can happen any more, nothing is left over */
static int world_check(lua_State *L)
{
    struct soc_world *world = soc_world_check_ready(L);
    if (world->fleet != NULL)
        return luaL_error(L, "s:check is for a society alone; society sim has books for a fleet");
    if (world->check == NULL)
        return luaL_error(L, "s:check needs society.new{ faults = … }, which may be empty");
    if (soc_host_is_quiet(world->host) && soc_host_main_is_done(world->host))
        soc_check_end(world->check, soc_clock_now(soc_host_clock(world->host)));
    if (soc_check_fault(world->check) == NULL) {
        if (push_fault_of_main(L, world))
            return 2;
        lua_pushboolean(L, true);
        return 1;
    }
    lua_pushnil(L);
    lua_pushstring(L, soc_check_fault(world->check));
    return 2;
}

/* Pushes s:activity{ type = "spawned" }: of all agents, terminated ones included. */
static void push_births(lua_State *L)
{
    lua_getfield(L, 1, "activity");
    lua_pushvalue(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "spawned");
    lua_setfield(L, -2, "type");
    lua_call(L, 2, 1);
}

/* s:unused_answers() -> the scripted answers that no model call has used */
static int world_unused_answers(lua_State *L)
{
    struct soc_script *script = soc_world_check_ready(L)->script;
    lua_settop(L, 1);
    soc_environments_require(L, script, "society.llm.unused");
    soc_environments_push_llm(L, script);
    push_births(L);
    lua_getfield(L, 1, "usage");
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    lua_call(L, 3, 1);
    return 1;
}

void soc_world_add_run(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"run", world_run},
        {"step", world_step},
        {"advance", world_advance},
        {"check", world_check},
        {"unused_answers", world_unused_answers},
        {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
}

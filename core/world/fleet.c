#include "world/fleet.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "base/mem.h"
#include "bridge/links/links.h"
#include "env/ids.h"
#include "kernel/host.h"
#include "kernel/turns/batch.h"
#include "script/bindings/bind.h"
#include "store/disk/disk.h"
#include "world/fleet_state.h"

#define DELAY_MOST 600000
#define SOCIETY    "fleet" /* its common name */

static struct soc_fleet_member *member_of(const struct soc_world *world)
{
    return &world->fleet->members[world->fleet_place];
}

int64_t soc_fleet_host_now(const struct soc_fleet_member *member)
{
    return soc_clock_now(soc_host_clock(member->world->host));
}

/* Tells whether the host does anything at all. */
bool soc_fleet_is_running(const struct soc_fleet_member *member)
{
    return member->world != NULL && member->world->host != NULL && member->links != NULL &&
           !soc_host_main_has_failed(member->world->host) &&
           (member->world->has_faults || !soc_host_is_failed(member->world->host));
}

/* ---- joining ---- */

static struct soc_carrier *carry(void *user, const char *host, const char *const *peers,
                                 int peer_count, const struct soc_carrier_events *events,
                                 struct soc_detail *detail)
{
    struct soc_fleet *fleet = user;
    (void)detail;
    return soc_network_join(fleet->network, host, peers, peer_count, events);
}

void soc_fleet_joined(lua_State *L, struct soc_world *world)
{
    struct soc_fleet *fleet = world->fleet;
    struct soc_fleet_member *member = member_of(world);
    const char *peers[SOC_FLEET_HOSTS_MAX];
    int count = 0;
    struct soc_detail detail = {{0}};
    member->world = world;
    member->offset_ms = soc_fleet_host_now(member) - fleet->now_ms;
    for (int i = 0; i < fleet->count; i++)
        if (i != world->fleet_place)
            peers[count++] = fleet->members[i].name;
    struct soc_links_options options = {
        .host = world->host,
        .society = SOCIETY,
        .name = member->name,
        .peers = peers,
        .peer_count = count,
        .number = world->fleet_place + 1,
        .carry = carry,
        .user = fleet,
    };
    if (soc_links_open(&member->links, &options, &detail) < 0)
        luaL_error(L, "%s", detail.text);
    if (member->is_cut)
        soc_network_cut(fleet->network, member->name, true);
    soc_batch_seal(world->host);
    world->plan.log = soc_host_log(world->host); /* its transcript tells what strikes it */
}

void soc_fleet_leaving(struct soc_world *world)
{
    struct soc_fleet_member *member = member_of(world);
    member->left_ms = world->fleet->now_ms;
    soc_links_stop(member->links);
    soc_fleet_books_lose(world->fleet->books, member->name);
}

void soc_fleet_left(struct soc_world *world)
{
    struct soc_fleet_member *member = member_of(world);
    soc_links_free(member->links);
    member->links = NULL;
    world->plan.log = NULL;
}

void soc_fleet_set_date(struct soc_world *world)
{
    const struct soc_fleet_member *member = member_of(world);
    if (world->date_ms != 0)
        world->date_ms += world->fleet->now_ms - member->left_ms;
    else
        world->date_ms = world->fleet->now_ms;
}

/* ---- time ---- */

/* Runs one host as far as it comes at this moment. */
static bool run_member(struct soc_fleet_member *member)
{
    struct soc_host *host = member->world->host;
    bool is_any = false;
    while (!soc_host_main_has_failed(host) && !soc_host_is_failed(host) && soc_host_step(host))
        is_any = true;
    soc_batch_seal(host);
    int64_t due_ms = soc_links_due(member->links);
    is_any |= due_ms >= 0 && due_ms <= soc_fleet_host_now(member);
    soc_links_tick(member->links);
    return is_any;
}

static void move_clocks(struct soc_fleet *fleet)
{
    for (int i = 0; i < fleet->count; i++)
        if (soc_fleet_is_running(&fleet->members[i]))
            soc_clock_move(soc_host_clock(fleet->members[i].world->host),
                           fleet->now_ms + fleet->members[i].offset_ms);
}

static bool step(struct soc_fleet *fleet)
{
    move_clocks(fleet);
    bool is_any = soc_network_step(fleet->network, fleet->now_ms);
    for (int i = 0; i < fleet->count; i++) {
        struct soc_fleet_member *member = &fleet->members[i];
        if (!soc_fleet_is_running(member))
            continue;
        bool is_struck = fleet->L != NULL && member->world->has_faults;
        is_any |= is_struck ? soc_fleet_strike(fleet, member) : run_member(member);
    }
    return is_any;
}

bool soc_fleet_step(struct soc_fleet *fleet)
{
    fleet->L = NULL;
    return step(fleet);
}

static void at_earliest(int64_t *next_ms, int64_t due_ms)
{
    if (due_ms < *next_ms)
        *next_ms = due_ms;
}

/* When something happens next; INT64_MAX: never. */
static int64_t next_due(const struct soc_fleet *fleet)
{
    int64_t next_ms = INT64_MAX;
    int64_t due_ms = soc_network_due(fleet->network);
    if (due_ms >= 0)
        at_earliest(&next_ms, due_ms);
    for (int i = 0; i < fleet->count; i++) {
        const struct soc_fleet_member *member = &fleet->members[i];
        if (!soc_fleet_is_running(member))
            continue;
        due_ms = soc_host_next_due(member->world->host);
        if (due_ms > 0)
            at_earliest(&next_ms, due_ms - member->offset_ms);
        due_ms = soc_links_due(member->links);
        if (due_ms >= 0)
            at_earliest(&next_ms, due_ms - member->offset_ms);
    }
    return next_ms;
}

/* Tells whether nobody waits and no mail is under way, except to where nothing can go. */
static bool is_quiet(const struct soc_fleet *fleet)
{
    for (int i = 0; i < fleet->count; i++) {
        const struct soc_fleet_member *member = &fleet->members[i];
        if (!soc_fleet_is_running(member))
            continue;
        if (soc_host_next_wait(member->world->host) != 0)
            return false;
        if (!member->is_cut && !fleet->is_down && soc_links_is_busy(member->links))
            return false;
    }
    return true;
}

void soc_fleet_run(lua_State *L, struct soc_fleet *fleet, const struct soc_world *world,
                   int64_t until_ms, const struct soc_buf *answer)
{
    int64_t end_ms = INT64_MAX;
    fleet->L = L;
    if (until_ms != 0 && until_ms != INT64_MAX)
        end_ms = until_ms - (world == NULL ? 0 : member_of(world)->offset_ms);
    for (;;) {
        while (step(fleet))
            if (answer != NULL && answer->length > 0)
                return;
        if (answer != NULL && answer->length > 0)
            return;
        if (end_ms == INT64_MAX && is_quiet(fleet))
            break;
        int64_t due_ms = next_due(fleet);
        if (due_ms > end_ms || due_ms == INT64_MAX)
            break;
        fleet->now_ms = due_ms > fleet->now_ms ? due_ms : fleet->now_ms + 1;
    }
    if (end_ms != INT64_MAX && end_ms > fleet->now_ms)
        fleet->now_ms = end_ms;
    move_clocks(fleet);
    soc_fleet_settle(fleet);
}

/* ---- for scripts ---- */

static struct soc_fleet *check_fleet(lua_State *L)
{
    struct soc_fleet *fleet = luaL_checkudata(L, 1, SOC_FLEET);
    if (fleet->network == NULL)
        luaL_error(L, "this fleet was closed");
    for (int i = 0; i < fleet->count; i++) {
        const struct soc_world *world = fleet->members[i].world;
        if (world != NULL && world->host != NULL && soc_gate_activation(world->host) != NULL)
            luaL_error(L, "a fleet cannot be driven from inside a turn");
    }
    return fleet;
}

static struct soc_fleet_member *find(struct soc_fleet *fleet, const char *name)
{
    for (int i = 0; i < fleet->count; i++)
        if (strcmp(fleet->members[i].name, name) == 0)
            return &fleet->members[i];
    return NULL;
}

static struct soc_fleet_member *check_member(lua_State *L, struct soc_fleet *fleet, int index)
{
    const char *name = luaL_checkstring(L, index);
    struct soc_fleet_member *member = find(fleet, name);
    if (member == NULL)
        luaL_error(L, "the fleet has no host '%s'", name);
    return member;
}

static int64_t check_ms(lua_State *L, int index, int64_t least, int64_t most)
{
    int64_t ms = luaL_checkinteger(L, index);
    luaL_argcheck(L, ms >= least && ms <= most, index, "out of range");
    return ms;
}

static void complain(lua_State *L, struct soc_fleet *fleet)
{
    for (int i = 0; i < fleet->count; i++)
        if (fleet->members[i].world != NULL)
            soc_world_complain_of_calls(L, fleet->members[i].world);
}

static int push_self(lua_State *L)
{
    lua_settop(L, 1);
    return 1;
}

/* f:run(): until no agent waits and no mail is under way */
static int fleet_run(lua_State *L)
{
    struct soc_fleet *fleet = check_fleet(L);
    soc_fleet_run(L, fleet, NULL, 0, NULL);
    complain(L, fleet);
    return push_self(L);
}

/* f:advance(ms) */
static int fleet_advance(lua_State *L)
{
    struct soc_fleet *fleet = check_fleet(L);
    soc_fleet_run(L, fleet, NULL, fleet->now_ms + check_ms(L, 2, 0, SOC_WORLD_ADVANCE_MS_MAX),
                  NULL);
    complain(L, fleet);
    return push_self(L);
}

static int set_cut(lua_State *L, bool is_cut)
{
    struct soc_fleet *fleet = check_fleet(L);
    struct soc_fleet_member *member = lua_isnoneornil(L, 2) ? NULL : check_member(L, fleet, 2);
    if (member == NULL)
        fleet->is_down = is_cut;
    else
        member->is_cut = is_cut;
    soc_network_cut(fleet->network, member == NULL ? NULL : member->name, is_cut);
    return push_self(L);
}

/* f:cut(name?): the host, or all of them, cannot reach the carrier; f:mend(name?) */
static int fleet_cut(lua_State *L)
{
    return set_cut(L, true);
}

static int fleet_mend(lua_State *L)
{
    return set_cut(L, false);
}

/* f:flush(): the carrier forgets everything */
static int fleet_flush(lua_State *L)
{
    soc_network_flush(check_fleet(L)->network);
    return push_self(L);
}

/* f:failback(frames): another server takes over, without the newest frames */
static int fleet_failback(lua_State *L)
{
    struct soc_fleet *fleet = check_fleet(L);
    soc_network_fail_over(fleet->network, (uint64_t)check_ms(L, 2, 0, 1000000));
    return push_self(L);
}

/* f:delay(ms): the carrier takes up to so long for each request */
static int fleet_delay(lua_State *L)
{
    struct soc_fleet *fleet = check_fleet(L);
    soc_network_delay(fleet->network, check_ms(L, 2, 0, DELAY_MOST));
    return push_self(L);
}

/* f:skew(ms): the carrier's clock differs from the hosts' by so much */
static int fleet_skew(lua_State *L)
{
    struct soc_fleet *fleet = check_fleet(L);
    soc_network_skew(fleet->network, luaL_checkinteger(L, 2));
    return push_self(L);
}

/* f:calm(): the option `faults` injects nothing any more, and disks have space */
static int fleet_calm(lua_State *L)
{
    struct soc_fleet *fleet = check_fleet(L);
    for (int i = 0; i < fleet->count; i++) {
        struct soc_world *world = fleet->members[i].world;
        if (world == NULL || !world->has_faults)
            continue;
        soc_faults_end(&world->plan);
        if (world->disk != NULL)
            soc_disk_clear(world->disk);
    }
    return push_self(L);
}

/* f:fault() -> nil or a sentence, a number: a host that told another what was not durable, or
 * whose `main` raised or disk failed; how many acknowledgements were looked at */
static int fleet_fault(lua_State *L)
{
    struct soc_fleet *fleet = check_fleet(L);
    uint64_t checked;
    lua_pushstring(L, soc_fleet_books_fault(fleet->books, &checked));
    for (int i = 0; i < fleet->count && lua_isnil(L, -1); i++) {
        const struct soc_fleet_member *member = &fleet->members[i];
        if (member->world == NULL || member->world->host == NULL || soc_fleet_is_running(member))
            continue;
        struct soc_slice error = soc_host_main_error(member->world->host);
        lua_pop(L, 1);
        lua_pushfstring(L, "main of %s raised: ", member->name);
        lua_pushlstring(L, error.data == NULL ? "" : error.data, error.length);
        lua_concat(L, 2);
    }
    lua_pushinteger(L, (lua_Integer)checked);
    return 2;
}

/* Calls the method `name` of all hosts. */
static int each(lua_State *L, struct soc_fleet *fleet, const char *name)
{
    lua_settop(L, 1);
    lua_getiuservalue(L, 1, SOC_FLEET_WORLDS);
    for (int i = 0; i < fleet->count; i++) {
        if (lua_getfield(L, 2, fleet->members[i].name) == LUA_TUSERDATA) {
            lua_getfield(L, -1, name);
            lua_pushvalue(L, -2);
            lua_call(L, 1, 0);
        }
        lua_settop(L, 2);
    }
    return push_self(L);
}

static int fleet_close(lua_State *L)
{
    struct soc_fleet *fleet = luaL_checkudata(L, 1, SOC_FLEET);
    if (fleet->network == NULL)
        return 0;
    check_fleet(L);
    each(L, fleet, "close");
    for (int i = 0; i < fleet->count; i++)
        free(fleet->members[i].name);
    fleet->count = 0;
    soc_network_free(fleet->network);
    soc_fleet_books_free(fleet->books);
    fleet->network = NULL;
    return 0;
}

/* f:host(name) -> its society */
static int fleet_host(lua_State *L)
{
    struct soc_fleet_member *member = check_member(L, check_fleet(L), 2);
    lua_getiuservalue(L, 1, SOC_FLEET_WORLDS);
    lua_getfield(L, -1, member->name);
    return 1;
}

/* f.name: a method, or the society of that host */
static int fleet_index(lua_State *L)
{
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    return fleet_host(L);
}

static const luaL_Reg fleet_functions[] = {
    {"run", fleet_run},     {"advance", fleet_advance}, {"cut", fleet_cut},
    {"mend", fleet_mend},   {"flush", fleet_flush},     {"failback", fleet_failback},
    {"delay", fleet_delay}, {"skew", fleet_skew},       {"close", fleet_close},
    {"host", fleet_host},   {"fault", fleet_fault},     {"calm", fleet_calm},
    {NULL, NULL},
};

static void make_metatable(lua_State *L)
{
    if (luaL_newmetatable(L, SOC_FLEET)) {
        luaL_newlib(L, fleet_functions);
        lua_pushcclosure(L, fleet_index, 1);
        lua_setfield(L, -2, "__index");
        lua_pushcfunction(L, fleet_close);
        lua_setfield(L, -2, "__gc");
    }
    lua_pop(L, 1);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct soc_fleet_member *)a)->name,
                  ((const struct soc_fleet_member *)b)->name);
}

/* Reads the names of the table `hosts` on top. */
static void read_names(lua_State *L, struct soc_fleet *fleet)
{
    int hosts = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, hosts) != 0) {
        size_t length = 0;
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tolstring(L, -2, &length) : NULL;
        if (name == NULL || !soc_id_is_host(soc_slice(name, length)))
            luaL_error(L, "society.new: 'hosts' must name its hosts: { alpha = …, beta = … }");
        if (fleet->count == SOC_FLEET_HOSTS_MAX)
            luaL_error(L, "society.new: at most %d hosts", SOC_FLEET_HOSTS_MAX);
        fleet->members[fleet->count++].name = soc_copy_text(name, length);
        lua_pop(L, 1);
    }
    qsort(fleet->members, (size_t)fleet->count, sizeof(struct soc_fleet_member), by_name);
}

/* Pushes the options of one host: what all hosts have, and its own. An app alone will do. */
static void push_options(lua_State *L, int hosts, const char *name, int64_t seed)
{
    lua_newtable(L);
    int options = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_settable(L, options);
    }
    lua_pushnil(L);
    lua_setfield(L, options, "hosts");
    lua_pushinteger(L, seed);
    lua_setfield(L, options, "seed");
    if (lua_getfield(L, hosts, name) != LUA_TTABLE) {
        lua_setfield(L, options, "app");
        return;
    }
    lua_pushnil(L);
    while (lua_next(L, options + 1) != 0) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_settable(L, options);
    }
    lua_settop(L, options);
}

int soc_fleet_new(lua_State *L, lua_CFunction make)
{
    soc_option_check(L, 1, "society.new", "hosts", LUA_TTABLE);
    int64_t seed = soc_option_integer(L, 1, "society.new", "seed", 1);
    lua_settop(L, 1);
    make_metatable(L);
    struct soc_fleet *fleet = lua_newuserdatauv(L, sizeof(*fleet), SOC_FLEET_VALUES);
    *fleet = (struct soc_fleet){.now_ms = SOC_CLOCK_VIRTUAL_START_MS};
    fleet->network = soc_network_new((uint64_t)seed);
    fleet->books = soc_fleet_books_new(SOCIETY);
    soc_network_watch(fleet->network, soc_fleet_books_frame, fleet->books);
    luaL_setmetatable(L, SOC_FLEET);
    lua_newtable(L);
    lua_setiuservalue(L, 2, SOC_FLEET_WORLDS);
    lua_getfield(L, 1, "hosts");
    read_names(L, fleet);
    for (int i = 0; i < fleet->count; i++) {
        struct soc_fleet_member *member = &fleet->members[i];
        member->witness = soc_fleet_books_add(fleet->books, member->name);
        lua_pushlightuserdata(L, &member->witness);
        lua_pushcclosure(L, make, 1);
        push_options(
            L, 3, member->name,
            (int64_t)(((uint64_t)seed + ((uint64_t)i << 32)) & INT64_MAX)); /* each its own */
        lua_call(L, 1, 1);
        struct soc_world *world = soc_world_set_fleet(L, 2, fleet, i);
        lua_getiuservalue(L, 2, SOC_FLEET_WORLDS);
        lua_insert(L, -2);
        lua_setfield(L, -2, member->name);
        soc_fleet_joined(L, world);
        lua_settop(L, 3);
    }
    lua_settop(L, 2);
    return 1;
}

#include "world/fleet_state.h"

#include <lauxlib.h>

#include "bridge/links/links.h"

/* Starts a host anew; one that cannot raises to who drives. */
static void restart(struct soc_simulation *simulation, int64_t date_ms, bool has_power)
{
    struct soc_fleet_member *member = simulation->user;
    struct soc_world *world = member->world;
    lua_State *L = world->fleet->L;
    int top = lua_gettop(L);
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    if (luaL_testudata(L, 1, SOC_FLEET) != NULL)
        lua_pushvalue(L, 1);
    else
        soc_world_push_fleet(L, 1);
    lua_getiuservalue(L, -1, SOC_FLEET_WORLDS);
    lua_getfield(L, -1, member->name);
    if (!soc_world_restart(L, world, lua_gettop(L), date_ms, has_power))
        lua_error(L);
    lua_settop(L, top);
    simulation->host = world->host;
}

bool soc_fleet_strike(struct soc_fleet *fleet, struct soc_fleet_member *member)
{
    struct soc_simulation *simulation = &member->simulation;
    simulation->host = member->world->host;
    simulation->faults = &member->world->plan;
    simulation->disk = member->world->disk;
    simulation->restart = restart;
    simulation->user = member;
    bool is_any = soc_simulate_step(simulation);
    if (simulation->has_moved)
        luaL_error(fleet->L, "%s: %s", member->name, SOC_SIMULATED_MOVED_TEXT);
    if (!soc_fleet_is_running(member) || soc_host_is_failed(member->world->host))
        return true; /* the next step starts it */
    int64_t late_ms = soc_fleet_host_now(member) - member->offset_ms - fleet->now_ms;
    if (late_ms > 0)
        fleet->now_ms += late_ms; /* a slow turn: time goes on for all */
    int64_t due_ms = soc_links_due(member->links);
    is_any |= due_ms >= 0 && due_ms <= soc_fleet_host_now(member);
    soc_links_tick(member->links);
    return is_any;
}

void soc_fleet_settle(struct soc_fleet *fleet)
{
    for (int i = 0; i < fleet->count; i++) {
        struct soc_fleet_member *member = &fleet->members[i];
        if (!soc_fleet_is_running(member) || !member->world->has_faults ||
            member->simulation.host == NULL)
            continue;
        member->simulation.host = member->world->host;
        soc_simulate_settle(&member->simulation);
    }
    fleet->L = NULL;
}

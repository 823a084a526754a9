/* Fleet: several societies of society.new as hosts of one, on one virtual clock.
 *
 * society.new{ hosts = { alpha = …, beta = … } } makes it. Each host is a society of its own
 * (world_state.h), joined to all others by a simulated network; driving one of them drives
 * all. Hosts run in the order of their names, so the same seed gives the same run.
 *
 * The fleet owns the network and the time. A host that is down keeps its place; what the
 * others send it waits. A fleet keeps its worlds alive, and each world its fleet.
 * Layer: world. Thread: loop. */
#ifndef SOC_WORLD_FLEET_H
#define SOC_WORLD_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

struct soc_buf;
struct soc_fleet;
struct soc_world;

/* society.new for the table at 1, whose member `hosts` is set: pushes the fleet. `make` makes
 * a society of the table at 1. */
int soc_fleet_new(lua_State *L, lua_CFunction make);

/* A host has started: joins it to the others. It is about to stop, it has stopped, or it is
 * closed for good. */
void soc_fleet_joined(lua_State *L, struct soc_world *world);
void soc_fleet_leaving(struct soc_world *world);
void soc_fleet_left(struct soc_world *world);

/* Sets the clock for the next start of a host: time went on while it was down. */
void soc_fleet_set_date(struct soc_world *world);

/* Runs all hosts at this moment, once. Returns whether anything happened. */
bool soc_fleet_step(struct soc_fleet *fleet);

/* Runs all hosts until `answer` (NULL: none) holds something, or the time of `world` is
 * `until_ms`; if that is 0, until no agent waits and no mail is under way. With `L`, which has
 * the fleet or one of its worlds at 1, the option `faults` is heeded; NULL: nothing strikes. */
void soc_fleet_run(lua_State *L, struct soc_fleet *fleet, const struct soc_world *world,
                   int64_t until_ms, const struct soc_buf *answer);

#endif

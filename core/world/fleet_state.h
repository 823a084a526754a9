/* Fleet state: the internals of fleets, for the files fleet*.c only.
 * Layer: world. Thread: loop. */
#ifndef SOC_WORLD_FLEET_STATE_H
#define SOC_WORLD_FLEET_STATE_H

#include "sim/network.h"
#include "sim/simulate.h"
#include "world/fleet_books.h"
#include "world/world_state.h"

#define SOC_FLEET           "society.fleet" /* the metatable */
#define SOC_FLEET_HOSTS_MAX 16              /* of one fleet */

/* User values of the fleet's userdata: 1 name -> world. */
enum { SOC_FLEET_WORLDS = 1, SOC_FLEET_VALUES = SOC_FLEET_WORLDS };

/* A host of the fleet. */
struct soc_fleet_member {
    char *name;
    struct soc_world *world; /* lent; NULL: not made yet, or closed */
    struct soc_links *links; /* NULL: it is down */
    int64_t offset_ms;       /* its time, less the fleet's */
    int64_t left_ms;         /* when it went down */
    bool is_cut;
    struct soc_witness witness;
    struct soc_simulation simulation; /* with the option `faults` */
};

/* A fleet. */
struct soc_fleet {
    lua_State *L; /* who drives; its index 1 is the fleet or one of its worlds */
    struct soc_fleet_books *books;
    struct soc_network *network; /* NULL: closed */
    int64_t now_ms;
    struct soc_fleet_member members[SOC_FLEET_HOSTS_MAX]; /* by name */
    int count;
    bool is_down; /* the carrier, for all of them */
};

/* Tells whether the host does anything at all; and its time. */
bool soc_fleet_is_running(const struct soc_fleet_member *member);
int64_t soc_fleet_host_now(const struct soc_fleet_member *member);

/* Lets a host with the option `faults` go one step: any may be the last before a crash, and
 * what it wrote becomes durable late. Returns whether there was anything. */
bool soc_fleet_strike(struct soc_fleet *fleet, struct soc_fleet_member *member);

/* The end of a run with faults: everything is durable, and nothing is held back. */
void soc_fleet_settle(struct soc_fleet *fleet);

#endif

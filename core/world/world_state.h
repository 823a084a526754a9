/* World state: the internals of society.new, for the files world*.c only.
 * Layer: world. Thread: loop. */
#ifndef SOC_WORLD_WORLD_STATE_H
#define SOC_WORLD_WORLD_STATE_H

#include "script/script.h"
#include "script/turns/box.h"
#include "sim/faults.h"

struct soc_check;
struct soc_disk;
struct soc_fleet;
struct soc_world_handed; /* private to world_outside.c */

/* A society made by society.new. */
struct soc_world {
    struct soc_store *store;
    struct soc_host *host;     /* NULL: crashed or closed */
    struct soc_script *script; /* NULL if `host` is */
    uint64_t seed;
    int64_t date_ms; /* what the clock shows at the next start; 0: what the store had reached */
    struct soc_buf transcript;
    struct soc_buf spans; /* with the option `telemetry`: those that left, JSON with commas */
    bool is_declaring;    /* the app is running: declarations are not recorded */
    bool takes_unexpected_calls; /* unscripted model calls are allowed; agents get the error */
    struct soc_buf unexpected;   /* the first unscripted call not reported yet */
    /* What was handed to outside agents, oldest first. Owned, and kept across a crash,
     * which does not affect them. */
    struct soc_world_handed *handed_first;
    struct soc_world_handed *handed_last;
    /* With the option `faults`; otherwise NULL or zero. */
    bool has_faults;
    struct soc_check *check;    /* NULL also for a host of a fleet, which has books of its own */
    struct soc_witness witness; /* of the checker or of the fleet */
    struct soc_faults plan;
    struct soc_disk *disk; /* below the store, if the fault plan needs one */
    /* A host of a fleet (fleet.h); NULL: it is alone. */
    struct soc_fleet *fleet;
    int fleet_place;
};

#define SOC_WORLD_ADVANCE_MS_MAX 100000000000000

/* Makes the world on top of the stack the host at `place` of the fleet whose userdata is at
 * `index`; lends it. */
struct soc_world *soc_world_set_fleet(lua_State *L, int index, struct soc_fleet *fleet, int place);

/* Returns the world at 1 if it is running and can be driven; raises otherwise. */
struct soc_world *soc_world_check_ready(lua_State *L);

/* The same, but also accepts a crashed one. */
struct soc_world *soc_world_check_idle(lua_State *L);

/* Stops host and script, cleanly or as a crash does; creates them again for the
 * userdata at `self`: false, with the error on top, if that fails. */
void soc_world_stop(struct soc_world *world, bool as_crash);
bool soc_world_start(lua_State *L, struct soc_world *world, int self);

/* Runs the function on top, which is popped, as the app of the userdata at `self` in a
 * fresh environment. SOC_ESCRIPT: `detail` is set. */
int soc_world_run_function(lua_State *L, struct soc_script *script, int self,
                           struct soc_detail *detail);

/* Reads the option `faults` of the table at `index`, before the store is opened; frees
 * what it allocated. */
void soc_world_read_faults(lua_State *L, struct soc_world *world, int index);
void soc_world_free_faults(struct soc_world *world);

/* Starts a host anew, as after kill -9 or, without `has_power`, after a power failure, until it
 * comes through: a disk may fail again meanwhile. `self` is its userdata. False, with the error
 * on top, if it does not start. */
bool soc_world_restart(lua_State *L, struct soc_world *world, int self, int64_t date_ms,
                       bool has_power);

/* Pushes the userdata of the fleet of the world at `index`. */
void soc_world_push_fleet(lua_State *L, int index);

/* Tells the checker, if any, what the store of a crashed world still holds. */
void soc_world_note_restart(struct soc_world *world);

/* Keeps an unscripted model call, even when the script ends, and fails the spec unless
 * such calls are allowed. */
void soc_world_note_calls(struct soc_world *world);
void soc_world_complain_of_calls(lua_State *L, struct soc_world *world);

/* Adds s:send and s:dispatch to the table on top. */
void soc_world_add_mail(lua_State *L);

/* Adds s:run, s:step, s:advance, s:check and s:unused_answers to the table on top. */
void soc_world_add_run(lua_State *L);

/* Opens the scripted door of a started world; frees what it keeps. */
void soc_world_open_door(struct soc_world *world);
void soc_world_free_door(struct soc_world *world);

/* society.message_fields() -> the table of fields: a list of { name, kind, expects?,
 * shown, hashed, names = { [context] = names by which it can be given }, payload =
 * members of a payload that set it }. A lua_CFunction. */
int soc_world_message_fields(lua_State *L);

/* Adds s:outside, s:outside_send, s:ack, s:heartbeat and s:position to the table on top. */
void soc_world_add_outside(lua_State *L);

#endif

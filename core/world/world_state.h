/* World state: the inside of society.new, for the files world*.c only.
 *
 * Layer: world. Thread: loop. */
#ifndef SOC_WORLD_WORLD_STATE_H
#define SOC_WORLD_WORLD_STATE_H

#include "script/script.h"
#include "script/turns/box.h"
#include "sim/faults.h"

struct soc_check;
struct soc_disk;
struct soc_world_handed; /* private to world_outside.c */

/* A society of society.new. */
struct soc_world {
    struct soc_store *store;
    struct soc_host *host;     /* NULL: crashed or closed */
    struct soc_script *script; /* NULL with it */
    uint64_t seed;
    int64_t now_ms; /* of the clock when the host stopped: time does not go back */
    struct soc_buf transcript;
    bool is_declaring;           /* the app runs: nothing is noted */
    bool takes_unexpected_calls; /* to models: agents get the error, and that is all */
    struct soc_buf unexpected;   /* the first such call that was not told yet */
    /* What was handed out to agents that live outside, the oldest first: owned, and
     * kept across a crash, which they do not share. */
    struct soc_world_handed *handed_first;
    struct soc_world_handed *handed_last;
    /* With the option `faults`; else NULL and nothing. */
    struct soc_check *check;
    struct soc_witness witness;
    struct soc_faults plan;
    struct soc_disk *disk; /* under the store, if the plan wants one */
};

/* Returns the world at 1 if it runs and can be driven; raises otherwise. */
struct soc_world *soc_world_check_ready(lua_State *L);

/* The same, also if it has crashed. */
struct soc_world *soc_world_check_idle(lua_State *L);

/* Ends host and script, durable or as a crash does; makes them anew for the userdata at
 * `self`: false, with the error on top, if that fails. */
void soc_world_stop(struct soc_world *world, bool as_crash);
bool soc_world_start(lua_State *L, struct soc_world *world, int self);

/* Runs the function on top, popped, as the app of the userdata at `self`, in a fresh
 * environment: SOC_OK, or SOC_ESCRIPT with `detail`. */
int soc_world_run_function(lua_State *L, struct soc_script *script, int self,
                           struct soc_detail *detail);

/* Reads the option `faults` of the table at `index`, before the store is opened; and lets
 * go of what came of it. */
void soc_world_read_faults(lua_State *L, struct soc_world *world, int index);
void soc_world_free_faults(struct soc_world *world);

/* Tells the checker, if there is one, what the store of a crashed world still holds. */
void soc_world_note_restart(struct soc_world *world);

/* A call to a model that the spec did not think of is kept, also when the script ends; and
 * fails the spec, unless it said that such calls are meant. */
void soc_world_note_calls(struct soc_world *world);
void soc_world_complain_of_calls(lua_State *L, struct soc_world *world);

/* Adds s:send and s:dispatch to the table on top. */
void soc_world_add_mail(lua_State *L);

/* Adds s:run, s:step, s:advance, s:check and s:unused_answers to the table on top. */
void soc_world_add_run(lua_State *L);

/* Opens the scripted door of a world that has started, and frees what it keeps. */
void soc_world_open_door(struct soc_world *world);
void soc_world_free_door(struct soc_world *world);

/* society.message_fields() -> the table of fields: a list of { name, kind, expects?, shown,
 * hashed, names = { [context] = names it may be said by }, payload = members of a payload
 * that say it }. A lua_CFunction. */
int soc_world_message_fields(lua_State *L);

/* Adds s:outside, s:outside_send, s:ack, s:heartbeat and s:position to the table on top. */
void soc_world_add_outside(lua_State *L);

#endif

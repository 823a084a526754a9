/* World state: the inside of society.new, for the files world*.c only.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_WORLD_STATE_H
#define SOC_SCRIPT_WORLD_STATE_H

#include "script/inside.h"

struct soc_world_handed; /* private to world_outside.c */

struct soc_world {
    struct soc_store *store;
    struct soc_host *host;     /* NULL: crashed or closed */
    struct soc_script *script; /* NULL with it */
    uint64_t seed;
    int64_t now_ms; /* of the clock when the host stopped: time does not go back */
    struct soc_buf transcript;
    bool is_declaring; /* the app runs: nothing is noted */
    /* What was handed out to agents that live outside, the oldest first: owned, and
     * kept across a crash, which they do not share. */
    struct soc_world_handed *handed_first;
    struct soc_world_handed *handed_last;
};

/* Returns the world at 1 if it runs and can be driven; raises otherwise. */
struct soc_world *soc_world_check_ready(lua_State *L);

/* Opens the scripted door of a world that has started, and frees what it keeps. */
void soc_world_open_door(struct soc_world *world);
void soc_world_free_door(struct soc_world *world);

/* Adds s:outside, s:outside_send, s:ack, s:heartbeat and s:position to the table on top. */
void soc_world_add_outside(lua_State *L);

#endif

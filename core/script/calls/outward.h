/* Outward: the hooks that make calls (parts/models/calls.h), by their kind.
 *
 * Requests of agents to servers are made so many at a time; the others wait, in the order
 * they came. Those to models have a limiter of their own.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_OUTWARD_H
#define SOC_SCRIPT_CALLS_OUTWARD_H

#include "parts/models/calls.h"
#include "script/calls/keys.h"
#include "script/turns/box.h"

struct soc_visit; /* a request of agent:http */

/* All that leaves. */
struct soc_outward {
    struct soc_http *http;   /* NULL: none was made yet */
    struct soc_buf carried;  /* secrets.h: names that requests carried, each with a NUL */
    struct soc_keys keys;    /* which of them may go where */
    struct soc_visit *first; /* that wait for their turn */
    struct soc_visit *last;
    uint32_t visits;     /* under way */
    uint32_t visits_max; /* at once */
};

/* Lends it, made when it is first needed. */
struct soc_outward *soc_outward_of(struct soc_script *script);

/* Sets how many requests of agents are under way at once. */
void soc_outward_set_concurrency(struct soc_script *script, uint32_t count);

/* The hooks of kernel/hooks.h. */
void soc_outward_call(void *user, struct soc_outcall *call);
void soc_outward_due(void *user, struct soc_outcall *call);
void soc_outward_end(void *user, struct soc_outcall *call);

/* Sets the function at `index` as the world beyond of a simulation. */
void soc_outward_set_world(lua_State *L, struct soc_script *script, int index);

/* The same with the field `http`, if there is one, of the options of society.new. */
void soc_outward_take_option(lua_State *L, struct soc_script *script, int options);

/* Closes the client and forgets the world. */
void soc_outward_fini(struct soc_script *script);

#endif

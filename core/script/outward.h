/* Outward: the hooks that make calls (host/calls.h), by their kind.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_OUTWARD_H
#define SOC_SCRIPT_OUTWARD_H

#include "host/calls.h"
#include "script/inside.h"

/* The hooks of host/hooks.h. */
void soc_outward_call(void *user, struct soc_outcall *call);
void soc_outward_due(void *user, struct soc_outcall *call);
void soc_outward_end(void *user, struct soc_outcall *call);

/* bind_http.c: agent:http. */
void soc_bind_http(lua_State *L, struct soc_script *script);

/* Sets the function at `index` as the world beyond of a simulation. */
void soc_outward_set_world(lua_State *L, struct soc_script *script, int index);

/* The same with the field `http`, if there is one, of the options of society.new. */
void soc_outward_take_option(lua_State *L, struct soc_script *script, int options);

/* Closes the client and forgets the world. */
void soc_outward_fini(struct soc_script *script);

#endif

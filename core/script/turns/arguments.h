/* Arguments: what a script gave an effect, as JSON for people to read.
 *
 * Replay compares hashes. The arguments themselves are for history and for the error
 * that says a script did something else than before.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_ARGUMENTS_H
#define SOC_SCRIPT_TURNS_ARGUMENTS_H

#include <lua.h>

#include "base/buf.h"
#include "model/effect.h"

/* Appends the arguments of the binding that runs in `L`, which is about to begin an
 * effect of that kind, as a JSON list. A message is given by its id. */
void soc_arguments_put(lua_State *L, enum soc_effect_kind kind, struct soc_buf *out);

/* Appends the value at `index`, `null` if it is not JSON. */
void soc_arguments_put_value(lua_State *L, int index, struct soc_buf *out);

#endif

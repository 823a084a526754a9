/* Human: agents escalate to the user, and the user decides.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_BINDINGS_BIND_HUMAN_H
#define SOC_SCRIPT_BINDINGS_BIND_HUMAN_H

#include "parts/human/human.h"
#include "script/turns/frame.h"

/* Reads an item's id at `index` and the table { decision?, choice?, changes?, comment? } after
 * it. Its texts are lent by Lua, the changes and the choice by `frame->payload`. Wrong types
 * and unknown names raise; the host checks the values. */
void soc_bind_human_read(lua_State *L, struct soc_frame *frame, int index,
                         struct soc_verdict *verdict);

/* Gives agents escalate, and decide, which works for `user` only. */
void soc_bind_human(lua_State *L, struct soc_script *script);

/* Performs the effect `decide` of the running agent with the arguments from `index` on.
 * Returns the number of results pushed. */
int soc_bind_human_decide(lua_State *L, struct soc_script *script, int index);

#endif

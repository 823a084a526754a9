/* Human: what agents ask of the person and the person decides, as scripts say it.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_BINDINGS_BIND_HUMAN_H
#define SOC_SCRIPT_BINDINGS_BIND_HUMAN_H

#include "parts/human/human.h"
#include "script/turns/frame.h"

/* Reads an item's id at `index` and the table { decision, changes?, comment? } behind
 * it. Its texts are lent by Lua, the changes by `frame->payload`. Wrong types and
 * unknown names raise; what the words say is the host's to judge. */
void soc_bind_human_read(lua_State *L, struct soc_frame *frame, int index,
                         struct soc_verdict *verdict);

/* Gives agents escalate, and decide, which works for `user` only. */
void soc_bind_human(lua_State *L, struct soc_script *script);

#endif

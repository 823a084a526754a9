/* Roles: the table of society.role and agent:create_role as a draft.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_BINDINGS_ROLES_H
#define SOC_SCRIPT_BINDINGS_ROLES_H

#include "script/turns/frame.h"

/* Reads the role's table at `index`; the draft lends its texts from the table and
 * from `frame->payload`. Mistakes raise; a bad interface_spec is SOC_EINVAL with
 * the object in `frame->error`. A role without an id gets one made of its name.
 * `in_turn`: the behaviour must be a name, because a function cannot survive a
 * restart. `*behaviour` becomes its reference, LUA_NOREF if there is none. */
int soc_role_read(lua_State *L, struct soc_frame *frame, int index, struct soc_role_draft *draft,
                  bool in_turn, int *behaviour);

#endif

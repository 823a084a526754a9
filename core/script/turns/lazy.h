/* Lazy: the metatable of tables that are filled in when somebody looks.
 *
 * Such a table holds what it stands for in a form of its own. Reading a field asks
 * its `index`; writing to it or walking it fills it in first, so that a script
 * never sees the difference.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_LAZY_H
#define SOC_SCRIPT_TURNS_LAZY_H

#include "script/turns/box.h"

/* Pushes such a metatable. `index` is its __index, with the society's box as
 * upvalue 1; `fill` makes the table at index 1 a plain one and may be called again. */
void soc_lazy_push(lua_State *L, const struct soc_script *script, lua_CFunction index,
                   lua_CFunction fill);

#endif

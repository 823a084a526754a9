/* Lazy: the metatable of tables that are filled on demand.
 *
 * Such a table holds its content in a compact form. Reading a field calls its `index`;
 * writing to it or iterating over it fills it first, so scripts never see the difference.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_LAZY_H
#define SOC_SCRIPT_TURNS_LAZY_H

#include "script/turns/box.h"

/* Pushes such a metatable. `index` is its __index, with the society's box as
 * upvalue 1; `fill` makes the table at index 1 a plain one and may be called again. */
void soc_lazy_push(lua_State *L, const struct soc_script *script, lua_CFunction index,
                   lua_CFunction fill);

#endif

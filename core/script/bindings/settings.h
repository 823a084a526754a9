/* Settings: society.config{ … } and --set KEY=VALUE.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_BINDINGS_SETTINGS_H
#define SOC_SCRIPT_BINDINGS_SETTINGS_H

#include "script/inside.h"

/* Sets one setting, whose value is at `index`. SOC_EINVAL and `detail` for an unknown
 * name or a wrong value. */
int soc_script_set(lua_State *L, struct soc_script *script, const char *name, int index,
                   struct soc_detail *detail);

#endif

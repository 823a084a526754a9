/* Settings of the file door, as the app gives them.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_BINDINGS_SETTINGS_FILES_H
#define SOC_SCRIPT_BINDINGS_SETTINGS_FILES_H

#include "script/inside.h"

/* Sets `files` of society.config from the table at `index`, and the policies that follow
 * from it. SOC_EINVAL with `detail`. */
int soc_script_set_files(lua_State *L, struct soc_script *script, int index,
                         struct soc_detail *detail);

/* Frees what was set. */
void soc_script_free_files(struct soc_script *script);

#endif

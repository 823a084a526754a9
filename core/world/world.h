/* World: society.new, an independent simulated society for specs and tools.
 * Layer: world. Thread: loop. */
#ifndef SOC_WORLD_WORLD_H
#define SOC_WORLD_WORLD_H

#include <lua.h>

/* Pushes the module table of require("society") outside any society, where `new` makes
 * simulated ones. The registry field SOC_WORLD_HOME must hold the home directory with
 * lua/ and policies/. A lua_CFunction, for package.preload. */
int soc_world_open(lua_State *L);

#define SOC_WORLD_HOME "society.home"

#endif

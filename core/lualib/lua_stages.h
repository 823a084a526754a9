/* Lua stages: a behaviour { sense, think, act } as one function.
 *
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_LUA_STAGES_H
#define SOC_LUALIB_LUA_STAGES_H

#include <stdbool.h>

#include <lua.h>

/* Tells whether the table at `index` has one of the stages. */
bool soc_lua_stages_has(lua_State *L, int index);

/* Pushes a function that runs the stages of the table at `index`, each with the result of the
 * one before. It is a Lua function, so that every stage may wait. */
void soc_lua_stages_push(lua_State *L, int index);

#endif

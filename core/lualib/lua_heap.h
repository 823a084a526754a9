/* Lua heap: memory for Lua states, bounded and quick for small pieces.
 *
 * A society makes and drops dozens of small strings and tables per message.
 * Pieces up to a few hundred bytes come from free lists by size; larger ones from
 * malloc. What a state has taken counts against its limit; beyond it Lua reports
 * «not enough memory» and ends the turn. Pieces of a size stay with that size
 * until the state is closed.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_LUA_HEAP_H
#define SOC_LUALIB_LUA_HEAP_H

#include <lua.h>
#include <stddef.h>

/* Returns a Lua state with a heap of its own of at most `bytes_max`, without any
 * library, or NULL if not even that fits. Release with soc_lua_heap_close(). */
lua_State *soc_lua_heap_open(size_t bytes_max);

/* Sets how much garbage may gather in the heap by its size at this moment. Costs
 * nearly nothing: it is called whenever an activation begins. A state that has its memory
 * from elsewhere is left as it is. */
void soc_lua_heap_tend(lua_State *L);

/* Closes the state and frees its heap. NULL is allowed. */
void soc_lua_heap_close(lua_State *L);

#endif

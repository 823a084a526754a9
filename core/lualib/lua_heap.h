/* Lua heap: a bounded allocator for Lua states, fast for small blocks.
 *
 * A society creates and drops dozens of small strings and tables per message. Blocks of
 * up to a few hundred bytes come from free lists by size, larger ones from malloc.
 * Allocations count against the state's limit; beyond it Lua reports «not enough
 * memory», unless somebody would rather end the process. A freed block is reused for the
 * same size only, until the state is closed.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_LUA_HEAP_H
#define SOC_LUALIB_LUA_HEAP_H

#include <lua.h>
#include <stddef.h>
#include <stdint.h>

/* Returns a Lua state without libraries, with a heap of at most `bytes_max`; NULL if
 * not even that fits. Release with soc_lua_heap_close(). */
lua_State *soc_lua_heap_open(size_t bytes_max);

/* The same with a seed of its own for the hashes of strings (lualib/lua_seed.h); 0: the usual. */
lua_State *soc_lua_heap_open_seeded(size_t bytes_max, uint32_t seed);

/* Returns the seed, 0 for another allocator. */
uint32_t soc_lua_heap_seed(lua_State *L);

/* Tunes the collector to the current size of the heap. Nearly free; called whenever an
 * activation begins. Does nothing to a state with another allocator. */
void soc_lua_heap_tend(lua_State *L);

/* Returns how many bytes are in use, garbage included; 0 for another allocator. */
size_t soc_lua_heap_bytes(lua_State *L);

/* Calls `cb` once, inside the allocation that takes the heap `bytes_more` beyond what is used
 * now: it must not call Lua, but may set a hook. `cb` NULL: nobody watches. */
typedef void soc_lua_heap_cb(void *user);
void soc_lua_heap_watch(lua_State *L, size_t bytes_more, soc_lua_heap_cb *cb, void *user);

/* From now on `end`, which must not return and must not call Lua, is called instead of refusing
 * a request: one that takes the heap `bytes_more` beyond what is used now, or beyond its
 * limit, or that the system does not grant. Lua 5.4.4 does not survive each refusal. NULL:
 * they are refused. */
void soc_lua_heap_set_end(lua_State *L, size_t bytes_more, soc_lua_heap_cb *end, void *user);

/* Closes the state and frees its heap. NULL is allowed. */
void soc_lua_heap_close(lua_State *L);

#endif

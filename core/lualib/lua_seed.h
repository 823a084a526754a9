/* Lua seed: every Lua state hashes strings in the same way.
 *
 * Lua draws a seed for each state from the time and from addresses. It decides
 * which strings collide, hence when a table grows, hence what `#` says of one with
 * holes, and in which order lua_next goes. A script would then do one thing before a
 * crash and another after it, or in two runs of the same seed.
 *
 * lua_newstate has no argument for it. It calls luaS_hash once, to mix what it has
 * drawn; no other object of liblua5.4.a calls that function but the one that defines
 * it. So programs are linked with -Wl,--wrap=luaS_hash, which leads that one call to a
 * constant and leaves the hashing of strings as it is. Without the flag, or with Lua
 * as a shared library, everything works and states differ: soc_lua_seed_is_fixed
 * tells.
 *
 * The price: who knows the seed can make keys that collide. A turn's steps and the
 * size of a payload are bounded, so it costs time and nothing else.
 * Layer: lualib. Thread: any. */
#ifndef SOC_LUALIB_LUA_SEED_H
#define SOC_LUALIB_LUA_SEED_H

#include <stdbool.h>

/* Tells whether the program was linked so: two states put the same strings in the
 * same order. Takes some ten microseconds. */
bool soc_lua_seed_is_fixed(void);

#endif

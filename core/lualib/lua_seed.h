/* Lua seed: makes every Lua state hash strings the same way.
 *
 * Lua seeds each state from the time and from addresses. The seed decides which strings
 * collide, hence when a table grows, hence the result of `#` for a table with holes and
 * the order of lua_next. A script could then behave differently after a crash, or in
 * two runs of the same simulation seed.
 *
 * lua_newstate has no parameter for the seed. It calls luaS_hash once to mix it, and in
 * liblua5.4.a no other object file calls that function except the one that defines it.
 * So programs are linked with -Wl,--wrap=luaS_hash, which redirects that one call to a
 * constant and leaves the hashing of strings alone. Without the flag, or with a shared
 * Lua library, everything works but states differ; soc_lua_seed_is_fixed detects it.
 *
 * The price: whoever knows the seed can construct colliding keys. Steps per turn and
 * payload sizes are bounded, so this costs only time.
 * Layer: lualib. Thread: any. */
#ifndef SOC_LUALIB_LUA_SEED_H
#define SOC_LUALIB_LUA_SEED_H

#include <stdbool.h>

/* Returns true if the program was linked with the flag: two states iterate in the same
 * order. Takes about ten microseconds. */
bool soc_lua_seed_is_fixed(void);

#endif

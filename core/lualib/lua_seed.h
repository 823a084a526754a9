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
 * constant, or the seed of the state's heap, and leaves the hashing of strings alone. Without the
 * flag, or with a shared Lua library, everything works but states differ; soc_lua_seed_is_fixed
 * detects it.
 *
 * Whoever knows the seed can construct colliding texts, and reading so many of them takes
 * the square of their number. So a society with a state directory has the directory's seed
 * (store/directory.h), which those who are not on the machine do not know; others, which are
 * simulations, and worker processes, which harm themselves alone, have the constant.
 * Layer: lualib. Thread: any. */
#ifndef SOC_LUALIB_LUA_SEED_H
#define SOC_LUALIB_LUA_SEED_H

#include <stdbool.h>

/* Returns true if the program was linked with the flag: two states iterate in the same
 * order. Takes about ten microseconds. */
bool soc_lua_seed_is_fixed(void);

#endif

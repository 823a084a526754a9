/* Policy shelf: caches shipped policies that were loaded and checked.
 *
 * Policies are pure, so all societies of a Lua state can share the tables of the
 * shipped ones. Tests and simulations create thousands of societies, which would load
 * the same files and run the same examples each time. An entry is valid while its files
 * are unchanged (by inode, size and modification time). An app's own policies are not
 * cached.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_SHELF_H
#define SOC_SCRIPT_POLICIES_POLICY_SHELF_H

#include "script/policies/policy.h"
#include "script/turns/box.h"

/* Like soc_policy_load_hashed, from the cache if possible. */
int soc_policy_shelf_load(lua_State *L, const struct soc_script *script, const char *path,
                          char hash[SOC_POLICY_HASH_BYTES], struct soc_detail *detail);

/* Caches the checked policy at `index` if it is a shipped one. */
void soc_policy_shelf_put(lua_State *L, const struct soc_script *script, const char *path,
                          const char *hash, int index);

/* Returns true if the value at `index` is cached, and so was checked before. */
bool soc_policy_is_shelved(lua_State *L, int index);

#endif

/* Policy shelf: shipped policies that were loaded and checked once.
 *
 * Policies are pure, so all societies of one Lua state may share the tables of the
 * shipped ones: a test or a campaign makes thousands of societies and would load
 * the same files and run the same examples each time. A policy is taken from the
 * shelf only while its files are the same (by inode, size and time of change); an
 * app's own policies are never put there.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_SHELF_H
#define SOC_SCRIPT_POLICIES_POLICY_SHELF_H

#include "script/policies/policy.h"
#include "script/turns/box.h"

/* As soc_policy_load_hashed, from the shelf if it is there. */
int soc_policy_shelf_load(lua_State *L, const struct soc_script *script, const char *path,
                          char hash[SOC_POLICY_HASH_BYTES], struct soc_detail *detail);

/* Puts the checked policy at `index` there, if it is a shipped one. */
void soc_policy_shelf_put(lua_State *L, const struct soc_script *script, const char *path,
                          const char *hash, int index);

/* Tells whether the value at `index` was put there, and so was checked before. */
bool soc_policy_is_shelved(lua_State *L, int index);

#endif

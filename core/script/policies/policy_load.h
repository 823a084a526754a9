/* Policy load: from a file to a table that may be let in.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_LOAD_H
#define SOC_SCRIPT_POLICIES_POLICY_LOAD_H

#include "script/policies/policy.h"
#include "script/turns/box.h"

/* How the place of the program's own files is called in records: the same wherever it was
 * installed. */
#define SOC_POLICY_OWN "[society]"

/* Lends what stands behind the program's own folder in the path of a shipped policy, from
 * its slash on; NULL: it is no shipped one. */
const char *soc_policy_shipped(const struct soc_script *script, const char *path);

/* Appends the path of a policy as it is recorded, and back. */
void soc_policy_put_name(const struct soc_script *script, const char *path, struct soc_buf *out);
void soc_policy_put_path(const struct soc_script *script, const char *name, struct soc_buf *out);

/* Finds the file of a policy: a path, or a name in the app's policies, then in the
 * shipped ones. False if there is none. */
bool soc_policy_find(const struct soc_script *script, const char *kind, const char *name,
                     char *path, size_t size);

/* Pushes the environment policies run in: no effects, and of modules only
 * society.json and the host's own. */
void soc_policy_push_environment(lua_State *L, const struct soc_script *script);

/* Pushes the table the file at `path` returns, run in an environment without
 * effects and with a budget, its texts read (policy_texts.h). `detail` begins with FILE:LINE. */
int soc_policy_load(lua_State *L, const struct soc_script *script, const char *path,
                    struct soc_detail *detail);

/* The same; `hash` gets the hash of the very bytes that were loaded, also if they
 * are broken, and is empty if the file could not be read. */
int soc_policy_load_hashed(lua_State *L, const struct soc_script *script, const char *path,
                           char hash[SOC_POLICY_HASH_BYTES], struct soc_detail *detail);

/* Lends what an error of Lua says behind `PATH:LINE: `, with the line; without such
 * a beginning `message` itself, with line 0. Lua shortens a long path. */
const char *soc_policy_locate(const char *path, const char *message, int *line);

/* Pushes the defaults of the policy at `index` with the settings at
 * `settings_index` (0: none) over them; SOC_EINVAL and nothing pushed for a setting
 * it does not have. */
int soc_policy_push_settings(lua_State *L, int index, int settings_index,
                             struct soc_detail *detail);

/* As lua_pcall with a policy's budget, whatever hook was there before. A policy
 * cannot catch the error that ends it. */
int soc_policy_call(lua_State *L, int arguments, int results);

#endif

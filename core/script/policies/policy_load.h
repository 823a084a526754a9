/* Policy load: finds and loads the files of policies.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_LOAD_H
#define SOC_SCRIPT_POLICIES_POLICY_LOAD_H

#include "script/policies/policy.h"
#include "script/turns/box.h"

/* The program's own folder in records: the same wherever it is installed. */
#define SOC_POLICY_OWN "[society]"

/* Lends the part of a shipped policy's path after the program's folder, with its slash;
 * NULL for other policies. */
const char *soc_policy_shipped(const struct soc_script *script, const char *path);

/* Append the recorded form of a policy's path, and convert it back. */
void soc_policy_put_name(const struct soc_script *script, const char *path, struct soc_buf *out);
void soc_policy_put_path(const struct soc_script *script, const char *name, struct soc_buf *out);

/* Finds the file of a policy: a path, or a name in the app's policies, then in the
 * shipped ones. False if there is none. */
bool soc_policy_find(const struct soc_script *script, const char *kind, const char *name,
                     char *path, size_t size);

/* Pushes the environment of policies: no effects, and only the modules society.json and
 * the host's own. */
void soc_policy_push_environment(lua_State *L, const struct soc_script *script);

/* Pushes the table that the file at `path` returns, run in an environment without
 * effects and with a budget, with its texts read (policy_texts.h). `detail` begins with
 * FILE:LINE. */
int soc_policy_load(lua_State *L, const struct soc_script *script, const char *path,
                    struct soc_detail *detail);

/* The same; `hash` gets the hash of the bytes that were loaded, even if they are
 * invalid, and is empty if the file could not be read. */
int soc_policy_load_hashed(lua_State *L, const struct soc_script *script, const char *path,
                           char hash[SOC_POLICY_HASH_BYTES], struct soc_detail *detail);

/* Lends the message of a Lua error after `PATH:LINE: `, with the line; without such a
 * prefix `message` itself, with line 0. Lua shortens long paths. */
const char *soc_policy_locate(const char *path, const char *message, int *line);

/* Pushes the defaults of the policy at `index` merged with the settings at
 * `settings_index` (0: none). SOC_EINVAL, with nothing pushed, for an unknown setting. */
int soc_policy_push_settings(lua_State *L, int index, int settings_index,
                             struct soc_detail *detail);

/* Like lua_pcall, with a policy's budget in place of any hook. A policy cannot catch
 * the error that ends it. */
int soc_policy_call(lua_State *L, int arguments, int results);

#endif

/* Policy load: from a file to a table that may be let in.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICY_LOAD_H
#define SOC_SCRIPT_POLICY_LOAD_H

#include "script/inside.h"

/* What a policy of some kind must look like. */
struct soc_policy_shape {
    const char *kind;
    const char *name; /* of this one, for messages */
    struct {
        const char *name; /* NULL ends the list */
        bool is_required;
    } functions[8];
};

/* Finds the file of a policy: a path, or a name in the app's policies, then in the
 * shipped ones. False if there is none. */
bool soc_policy_find(const struct soc_script *script, const char *kind, const char *name,
                     char *path, size_t size);

/* Pushes the table the file at `path` returns, run in an environment without
 * effects and with a budget. */
int soc_policy_load(lua_State *L, const struct soc_script *script, const char *path,
                    struct soc_detail *detail);

/* Checks the shape of the table at `index` and runs its examples. */
int soc_policy_check(lua_State *L, struct soc_script *script, int index,
                     const struct soc_policy_shape *shape, struct soc_detail *detail);

/* Pushes the defaults of the policy at `index` with the settings at
 * `settings_index` (0: none) over them; SOC_EINVAL and nothing pushed for a setting
 * it does not have. */
int soc_policy_push_settings(lua_State *L, int index, int settings_index,
                             struct soc_detail *detail);

/* As lua_pcall with a policy's budget, whatever hook was there before. */
int soc_policy_call(lua_State *L, int arguments, int results);

#endif

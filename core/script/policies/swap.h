/* Swap: policies that change while the society runs, and the record of it.
 *
 * Which policies are in force is a list the journal knows (parts/policies/policies.h). Each
 * change of it is an event of the activity log, `policy_swapped`, with both names and
 * hashes and by what it came: a call, an option of the command line, a saved file, a
 * command, or another app at a start. A policy that is not let in is an event
 * `policy_refused`; the last good one stays.
 * Layer: script. Thread: loop; never inside a turn. */
#ifndef SOC_SCRIPT_POLICIES_SWAP_H
#define SOC_SCRIPT_POLICIES_SWAP_H

#include "script/policies/policy.h"
#include "script/turns/box.h"

/* One policy to be put in force. */
struct soc_swap {
    const char *kind;
    const char *name;   /* as people say it; for a table or function of the app "app" */
    int index;          /* of the table; 0: the policy of that name */
    int settings_index; /* of the settings; 0: none */
    const char *by;     /* "call", "command" or "option" */
};

/* Sets `name` and `index` from what a script gave at `index`: a name, a table or a
 * function, which is replaced by a table around it. Raises for anything else. */
void soc_swap_read(lua_State *L, int index, struct soc_swap *swap);

/* Puts a policy in force. Before the society has started nothing is recorded: the
 * start compares with the run before. */
int soc_swap_do(lua_State *L, struct soc_script *script, const struct soc_swap *swap,
                struct soc_detail *detail);

/* Puts the policy of any kind in the file at `source->path` in force, without a record;
 * the hash of what was read is set even on failure. `settings_index` 0: no settings. */
int soc_swap_use_file(lua_State *L, struct soc_script *script, struct soc_policy_source *source,
                      int settings_index, struct soc_detail *detail);

/* Records what is in force at a start; what differs from the run before is a swap. */
void soc_swap_start(lua_State *L, struct soc_script *script);

/* Loads the policies whose files have changed since they were loaded. A file that is
 * gone or cannot be read is left alone; one that is refused is reported once. */
void soc_swap_reload(lua_State *L, struct soc_script *script);

/* Calls `each` with every file that soc_swap_reload looks at. */
void soc_swap_each_file(struct soc_script *script, void (*each)(void *user, const char *path),
                        void *user);

/* Appends the policies in force as a JSON list, as parts/policies/policies.h has it. */
void soc_swap_put_list(lua_State *L, const struct soc_script *script, struct soc_buf *out);

#endif

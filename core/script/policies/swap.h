/* Swap: changes policies while the society runs, and records the changes.
 *
 * The journal holds the list of active policies (parts/policies/policies.h). Each
 * change is an event `policy_swapped` in the activity log, with both names and hashes
 * and its cause: a call, a command-line option, a saved file, a command, or another app
 * at a start. A policy that is not accepted is an event `policy_refused`; the last good
 * one stays active.
 * Layer: script. Thread: loop; never inside a turn. */
#ifndef SOC_SCRIPT_POLICIES_SWAP_H
#define SOC_SCRIPT_POLICIES_SWAP_H

#include "script/policies/policy.h"
#include "script/turns/box.h"

/* A policy to activate. */
struct soc_swap {
    const char *kind;
    const char *name;   /* as given; "app" for a table or function of the app */
    int index;          /* of the table; 0: use the name */
    int settings_index; /* of the settings; 0: none */
    const char *by;     /* "call", "command" or "option" */
    bool is_trial;      /* only checks whether it could be activated */
};

/* Sets `name` and `index` from the value at `index`: a name, a table or a function,
 * which is replaced with a table around it. Raises for anything else. */
void soc_swap_read(lua_State *L, int index, struct soc_swap *swap);

/* Activates a policy. Before the society has started nothing is recorded: the start
 * compares with the previous run. A swap by its name while the society runs is kept for the
 * next starts (soc_swap_restore); an empty name by a command ends that. */
int soc_swap_do(lua_State *L, struct soc_script *script, const struct soc_swap *swap,
                struct soc_detail *detail);

/* Sets the language, "en" or "zh": activates the policies `prompts` and `presentation` of that
 * name, unless the app has others than these two, and has `briefs` refuse in it, unless it was
 * given words. A policy of briefs that is activated later does the same. */
int soc_swap_set_language(lua_State *L, struct soc_script *script, const char *language,
                          struct soc_detail *detail);

/* Activates the policy of any kind in the file at `source->path` without a record; the
 * hash of its bytes is set even on failure. `settings_index` 0: no settings. */
int soc_swap_use_file(lua_State *L, struct soc_script *script, struct soc_policy_source *source,
                      int settings_index, struct soc_detail *detail);

/* Activates again, at a start, what was swapped while the society ran, over the app's policies
 * and those of the command line. One that cannot be loaded any more is reported. */
void soc_swap_restore(lua_State *L, struct soc_script *script);

/* Records the active policies at a start; differences from the previous run are swaps. */
void soc_swap_start(lua_State *L, struct soc_script *script);

/* Loads the policies whose files have changed. A missing or unreadable file is ignored;
 * a refused one is reported once. */
void soc_swap_reload(lua_State *L, struct soc_script *script);

/* Calls `each` with every file that soc_swap_reload examines. */
void soc_swap_each_file(struct soc_script *script, void (*each)(void *user, const char *path),
                        void *user);

/* Appends the active policies as a JSON list, in the form of parts/policies/policies.h. */
void soc_swap_put_list(lua_State *L, const struct soc_script *script, struct soc_buf *out);

#endif

/* Environments: what scripts, the host's own Lua and an app's providers run in.
 *
 * Scripts share one environment. Libraries and the program's modules are frozen there
 * once the app has loaded, so that no agent changes them for others; modules, globals and
 * file-level locals of the app are the app's own and shared. What the host relies on runs
 * elsewhere: the model client and the behaviour `llm` in an
 * environment of their own, and each provider that an app brings in another. Each loads
 * its own modules, so what a script gets from `require` is never what the host uses.
 * Between environments pass texts, numbers, functions and copies of tables.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_ENVIRONMENTS_H
#define SOC_SCRIPT_TURNS_ENVIRONMENTS_H

#include "sandbox/sandbox_gate.h"
#include "script/turns/box.h"

/* Makes the app's environment, `script->env_ref`; the module table of `society` must be
 * filled. Release with soc_environments_fini(). */
void soc_environments_open(lua_State *L, struct soc_script *script,
                           const struct soc_sandbox_gate *gate);
void soc_environments_fini(lua_State *L, struct soc_script *script);

/* Freezes the app's environment (sandbox/sandbox.h): the app has loaded. */
void soc_environments_freeze(lua_State *L, const struct soc_script *script);

/* Pushes a new environment without modules of the app or the program, for an isolated agent in
 * a simulation. While it is built (`script->is_building`) nothing is printed. */
void soc_environments_push_cell(lua_State *L, const struct soc_script *script);

/* Pushes the program's module `name`, as the host uses it. Raises what it raises. */
void soc_environments_require(lua_State *L, struct soc_script *script, const char *name);

/* Pushes the app's module `name`, a provider of models, from an environment of its own.
 * It is loaded once, and sees a copy of the settings at index `settings`. Raises what it
 * raises. */
void soc_environments_push_provider(lua_State *L, struct soc_script *script, const char *name,
                                    int settings);

/* Forgets the providers: other settings are in force. */
void soc_environments_forget_providers(lua_State *L, struct soc_script *script);

/* Pushes the table of society.config{ llm = … }: the host's, or the copy that scripts may
 * read. Both stay the same tables, so that modules loaded before see what is set. */
void soc_environments_push_llm(lua_State *L, const struct soc_script *script);
void soc_environments_push_shown_llm(lua_State *L, const struct soc_script *script);

#endif

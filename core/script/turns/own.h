/* Own: environments of the host's own, which no script can reach.
 *
 * Scripts share one environment and may change every table they can name there. What
 * the host relies on runs elsewhere: the model client and the behaviour `llm` in one
 * environment, and each provider that an app brings in another. Each loads modules of
 * its own, so what a script gets from `require` is never what the host uses. Between
 * environments pass texts, numbers, functions and copies of tables.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_OWN_H
#define SOC_SCRIPT_TURNS_OWN_H

#include <stdbool.h>

#include <lua.h>

#include "sandbox/sandbox.h"

/* What environments are made of, and those made so far. */
struct soc_own {
    struct soc_sandbox_gate gate;
    const char *home;    /* where lua/ is; lent */
    const char *app_dir; /* where the app's modules are; lent; NULL: it has none */
    int module_ref;      /* the table of require("society"): each environment has a copy */
    int settings_ref;    /* society.config{ llm = … } as the host keeps it */
    int env_ref;         /* the host's environment; 0: not made yet */
    int providers_ref;   /* name -> the app's module; 0: none was loaded */
};

/* Pushes a new environment with `society`, `society.json` and the program's modules; the
 * app's come first if `has_app`. The table on top of the stack, which is popped, becomes
 * the module society.llm.settings. */
void soc_own_push_environment(lua_State *L, const struct soc_own *own, bool has_app);

/* Pushes the program's module `name`, as the host uses it. Raises what it raises. */
void soc_own_require(lua_State *L, struct soc_own *own, const char *name);

/* Pushes the app's module `name`, a provider of models, from an environment of its own.
 * It is loaded once, and sees a copy of the settings at index `settings`. Raises what it
 * raises. */
void soc_own_push_provider(lua_State *L, struct soc_own *own, const char *name, int settings);

/* Forgets the providers: other settings are in force. */
void soc_own_forget_providers(lua_State *L, struct soc_own *own);

/* Releases the environments. */
void soc_own_fini(lua_State *L, struct soc_own *own);

#endif

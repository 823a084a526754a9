/* Policy: the scripts that decide what the protocol leaves open.
 *
 * A policy is a table a file returns: its kind, version, defaults, functions, and
 * examples that are run before it is let in. It runs in an environment without
 * effects and with a budget; one that fails leaves the usual answer in force.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICY_H
#define SOC_SCRIPT_POLICY_H

#include "script/inside.h"

/* Puts a policy in force, from its file or its table; the settings are
 * the table at `settings_index`, 0: none. The last good one stays on failure. */
int soc_policy_use(lua_State *L, struct soc_script *script, const char *kind, const char *name,
                   int settings_index, struct soc_detail *detail);
int soc_policy_use_table(lua_State *L, struct soc_script *script, const char *kind,
                         const char *name, int index, int settings_index,
                         struct soc_detail *detail);

/* Replaces the function at `index` by a policy table of that kind around it. */
void soc_policy_wrap(lua_State *L, const char *kind, int index);

/* Puts the usual policies in force. */
int soc_policy_use_defaults(lua_State *L, struct soc_script *script, struct soc_detail *detail);

/* Releases what soc_policy_use_defaults and later calls keep. */
void soc_policy_free(lua_State *L, struct soc_script *script);

/* Puts a question with the `count` values on top (popped) to the policy in force;
 * its settings are the last argument. Pushes two results, the first a sensible one
 * (questions.h). If the policy fails or talks nonsense that is reported once and
 * the usual policy answers; false, with nothing pushed, if that fails too. Inside
 * a turn a question costs some of the turn's steps. */
bool soc_policy_ask(lua_State *L, struct soc_script *script, enum soc_question question, int count);

/* Reports, once, that the policy in force answered with something that cannot be
 * done. */
void soc_policy_complain(struct soc_script *script, enum soc_question question, const char *text);

#endif

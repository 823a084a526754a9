/* Policy set: the policies in force, and how they are asked.
 *
 * Each kind has one policy in force and one to fall back on, the shipped default.
 * Policies run in an environment without effects and with a budget. One that is refused
 * leaves the last good one in force; one that fails to answer leaves the answer to the
 * fallback. Vocabularies are not in the set: see script/policies/messages.h.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_SET_H
#define SOC_SCRIPT_POLICIES_POLICY_SET_H

#include "script/policies/kinds.h"
#include "script/policies/policy.h"
#include "script/turns/box.h"

/* Puts the default policies in force. SOC_ESCRIPT with `detail` if one is broken.
 * Release with soc_policy_set_fini(). */
int soc_policy_set_open(lua_State *L, struct soc_script *script, struct soc_detail *detail);
void soc_policy_set_fini(lua_State *L, struct soc_script *script);

/* Puts a policy in force: one by name or path, the table at `index`, or the file at
 * `source->path`, whose hash is set even on failure. `settings_index` 0: no settings.
 * On failure the last good one stays. */
int soc_policy_set_use(lua_State *L, struct soc_script *script, const char *kind, const char *name,
                       int settings_index, struct soc_detail *detail);
int soc_policy_set_use_table(lua_State *L, struct soc_script *script, const char *kind,
                             const char *name, int index, int settings_index,
                             struct soc_detail *detail);
int soc_policy_set_use_file(lua_State *L, struct soc_script *script,
                            struct soc_policy_source *source, int settings_index,
                            struct soc_detail *detail);

/* Lends the policy of that kind that is in force. */
struct soc_policy *soc_policy_set_get(const struct soc_script *script, enum soc_policy_kind kind);

/* Puts a question with the `count` values on top (popped) to the policy in force; its
 * settings are the last argument. Pushes two results, the first of the right form
 * (kinds.h). A failure is logged once and the fallback answers; false, with nothing
 * pushed, if that fails as well. Inside a turn a question costs some of its steps. */
bool soc_policy_set_ask(lua_State *L, struct soc_script *script, enum soc_policy_question question,
                        int count);

/* The same to the fallback alone, when the answer of the one in force cannot be used. */
bool soc_policy_set_ask_fallback(lua_State *L, struct soc_script *script,
                                 enum soc_policy_question question, int count);

/* Logs, once, that the policy in force gave an answer that cannot be used. */
void soc_policy_set_complain(struct soc_script *script, enum soc_policy_question question,
                             const char *text);

/* Takes the price of asking a policy from the steps of the turn under way, so that a
 * script cannot go on for ever by asking. Ends a turn that has none left. */
void soc_policy_set_charge(lua_State *L, struct soc_script *script);

#endif

/* Policy set: the active policies, and how they are asked.
 *
 * Each kind has one active policy and a fallback, the shipped default. Policies run in
 * an environment without effects and with a budget. If a policy is refused, the last
 * good one stays active; if it fails to answer, the fallback does. Vocabularies are not
 * in the set: see script/policies/messages.h.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_SET_H
#define SOC_SCRIPT_POLICIES_POLICY_SET_H

#include "script/policies/kinds.h"
#include "script/policies/policy.h"
#include "script/turns/box.h"

/* Activates the default policies. SOC_ESCRIPT with `detail` if one is broken. Release
 * with soc_policy_set_fini(). */
int soc_policy_set_open(lua_State *L, struct soc_script *script, struct soc_detail *detail);
void soc_policy_set_fini(lua_State *L, struct soc_script *script);

/* Activate a policy: one by name or path, the table at `index`, or the file at
 * `source->path`, whose hash is set even on failure. `settings_index` 0: no settings.
 * On failure the last good one stays active. */
int soc_policy_set_use(lua_State *L, struct soc_script *script, const char *kind, const char *name,
                       int settings_index, struct soc_detail *detail);
int soc_policy_set_use_table(lua_State *L, struct soc_script *script, const char *kind,
                             const char *name, int index, int settings_index,
                             struct soc_detail *detail);
int soc_policy_set_use_file(lua_State *L, struct soc_script *script,
                            struct soc_policy_source *source, int settings_index,
                            struct soc_detail *detail);

/* Lends the active policy of that kind. */
struct soc_policy *soc_policy_set_get(const struct soc_script *script, enum soc_policy_kind kind);

/* Asks the active policy a question with the `count` values on top (popped); its
 * settings are the last argument. Pushes two results, the first of a valid form
 * (kinds.h). A failure is logged once and the fallback answers; false, with nothing
 * pushed, if that fails as well. Inside a turn a question costs some of its steps. */
bool soc_policy_set_ask(lua_State *L, struct soc_script *script, enum soc_policy_question question,
                        int count);

/* Tells whether any policy would answer: the active one or the fallback has the function. */
bool soc_policy_set_answers(const struct soc_script *script, enum soc_policy_question question);

/* Tells whether what is given with a question can make a difference: false if those who would
 * answer it take no parameters and nobody keeps what they are asked. It can then be left out. */
bool soc_policy_set_heeds(lua_State *L, const struct soc_script *script,
                          enum soc_policy_question question);

/* Asks the fallback alone, if the answer of the active policy cannot be used. */
bool soc_policy_set_ask_fallback(lua_State *L, struct soc_script *script,
                                 enum soc_policy_question question, int count);

/* Logs once that the active policy gave an answer that cannot be used. */
void soc_policy_set_complain(struct soc_script *script, enum soc_policy_question question,
                             const char *text);

/* Charges the current turn for asking a policy, so that a script cannot run forever by
 * asking. Ends a turn without steps left. */
void soc_policy_set_charge(lua_State *L, struct soc_script *script);

#endif

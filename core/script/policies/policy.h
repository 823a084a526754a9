/* Policy: the scripts that decide what the protocol leaves open.
 *
 * A policy is a table a file returns: its kind, version, defaults, functions, and
 * examples that are run before it is let in. It runs in an environment without
 * effects and with a budget; one that fails leaves the usual answer in force.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_H
#define SOC_SCRIPT_POLICIES_POLICY_H

#include "script/inside.h"
#include "script/policies/policy_load.h"

/* Where a policy comes from. */
struct soc_policy_source {
    const char *kind;
    const char *name;
    const char *path;                   /* NULL: the app made it */
    char hash[SOC_IDENTITY_HASH_BYTES]; /* of the file's bytes, once it was read */
};

/* Returns the name of kind `number`, from 0; NULL behind the last. */
const char *soc_policy_kind_name(int number);

/* Finds the question that policies of that kind answer by that function. */
bool soc_policy_question(const char *kind, const char *function, enum soc_question *question);

/* Says what a policy of that kind must look like; false if there is no such kind. */
bool soc_policy_shape(const char *kind, const char *name, const char *path,
                      struct soc_policy_shape *shape);

/* Appends that there is no such kind, which one was meant, and which there are. */
void soc_policy_put_unknown_kind(struct soc_buf *out, const char *kind);

/* Puts a policy in force, from its file or its table; the settings are
 * the table at `settings_index`, 0: none. The last good one stays on failure. */
int soc_policy_use(lua_State *L, struct soc_script *script, const char *kind, const char *name,
                   int settings_index, struct soc_detail *detail);
int soc_policy_use_table(lua_State *L, struct soc_script *script, const char *kind,
                         const char *name, int index, int settings_index,
                         struct soc_detail *detail);

/* The same from the file at `source->path`, whatever its name; the hash of what was
 * read is set, also on failure. */
int soc_policy_use_file(lua_State *L, struct soc_script *script, struct soc_policy_source *source,
                        int settings_index, struct soc_detail *detail);

/* Keeps a copy of the caller's settings at `settings_index` (0: none), for when the
 * policy's file is loaded again. */
void soc_policy_keep_given(lua_State *L, struct soc_policy *policy, int settings_index);

/* Replaces the function at `index` by a policy table of that kind around it, which has
 * the settings at `settings_index` (0: none), whatever they are called. */
void soc_policy_wrap(lua_State *L, const char *kind, int index, int settings_index);

/* Puts the usual policies in force. */
int soc_policy_use_defaults(lua_State *L, struct soc_script *script, struct soc_detail *detail);

/* Releases what soc_policy_use_defaults and later calls keep. */
void soc_policy_free(lua_State *L, struct soc_script *script);

/* Takes what asking a policy costs, whatever it does, from the steps of the turn
 * under way, so that a script cannot spend for ever by asking. Ends a turn that has
 * none left. */
void soc_policy_charge(lua_State *L, struct soc_script *script);

/* Puts a question with the `count` values on top (popped) to the policy in force;
 * its settings are the last argument. Pushes two results, the first a sensible one
 * (questions.h). If the policy fails or talks nonsense that is reported once and
 * the usual policy answers; false, with nothing pushed, if that fails too. Inside
 * a turn a question costs some of the turn's steps. */
bool soc_policy_ask(lua_State *L, struct soc_script *script, enum soc_question question, int count);

/* The same to the usual policy alone, when what the one in force says cannot be. */
bool soc_policy_ask_usual(lua_State *L, struct soc_script *script, enum soc_question question,
                          int count);

/* Reports, once, that the policy in force answered with something that cannot be
 * done. */
void soc_policy_complain(struct soc_script *script, enum soc_question question, const char *text);

#endif

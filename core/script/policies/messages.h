/* Messages: the active vocabularies, and whether a message fits its type.
 *
 * Several are active at once, in order: the first one that knows a type decides about
 * it. An unknown type is refused, unless all vocabularies only warn.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_MESSAGES_H
#define SOC_SCRIPT_POLICIES_MESSAGES_H

#include "script/policies/vocabulary.h"

/* Activates the shipped vocabularies. SOC_ESCRIPT with `detail` if one is broken.
 * Release with soc_messages_fini(). */
int soc_messages_open(lua_State *L, struct soc_script *script, struct soc_detail *detail);
void soc_messages_fini(lua_State *L, struct soc_script *script);

/* Activates the vocabulary with that name or path after the others, or replaces the one
 * with the same name. Names separated or followed by commas are the whole set. On
 * failure nothing changes. */
int soc_messages_use(lua_State *L, struct soc_script *script, const char *names, int settings_index,
                     struct soc_detail *detail);

/* The same for the file at `source->path`, whatever its name; the hash of its bytes is
 * set even on failure. */
int soc_messages_use_file(lua_State *L, struct soc_script *script, struct soc_policy_source *source,
                          int settings_index, struct soc_detail *detail);

/* The same for the table at `index`: a vocabulary, or a list of names and vocabularies
 * that is the whole set. */
int soc_messages_use_table(lua_State *L, struct soc_script *script, int index, int settings_index,
                           struct soc_detail *detail);

/* Lends active vocabulary number `place`, from 0, as a policy; NULL after the last. */
struct soc_policy *soc_messages_policy(const struct soc_script *script, size_t place);

/* Records whether the last activation came from the command line. */
void soc_messages_mark_option(struct soc_script *script, bool is_option);

/* The function check_message of struct soc_hooks; `user` is the script. */
int soc_messages_check(void *user, const struct soc_candidate *candidate, bool *requires_ack,
                       struct soc_buf *error);

#endif

/* Messages: the vocabularies in force, and whether a message fits its type.
 *
 * Several are in force at once, in an order: the first one that knows a type
 * decides about it. A type nobody knows is refused, unless all of them only warn.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_MESSAGES_H
#define SOC_SCRIPT_POLICIES_MESSAGES_H

#include "script/policies/vocabulary.h"

/* Puts the shipped vocabularies in force. SOC_ESCRIPT with `detail` if one is broken.
 * Release with soc_messages_fini(). */
int soc_messages_open(lua_State *L, struct soc_script *script, struct soc_detail *detail);
void soc_messages_fini(lua_State *L, struct soc_script *script);

/* Puts the vocabulary of that name or path in force behind the others, or in the
 * place of the one of the same name. Names with commas between or behind are the
 * whole set. On failure what was in force stays. */
int soc_messages_use(lua_State *L, struct soc_script *script, const char *names, int settings_index,
                     struct soc_detail *detail);

/* The same for the file at `source->path`, whatever its name; the hash of what was
 * read is set, also on failure. */
int soc_messages_use_file(lua_State *L, struct soc_script *script, struct soc_policy_source *source,
                          int settings_index, struct soc_detail *detail);

/* The same for the table at `index`: a vocabulary, or a list of names and
 * vocabularies that is the whole set. */
int soc_messages_use_table(lua_State *L, struct soc_script *script, int index, int settings_index,
                           struct soc_detail *detail);

/* Lends the vocabulary in force at that place, from 0, as a policy; NULL behind the
 * last. */
struct soc_policy *soc_messages_policy(const struct soc_script *script, size_t place);

/* Notes whether what was put in force last came from the command line. */
void soc_messages_mark_option(struct soc_script *script, bool is_option);

/* The function check_message of struct soc_hooks; `user` is the script. */
int soc_messages_check(void *user, const struct soc_candidate *candidate, bool *requires_ack,
                       struct soc_buf *error);

#endif

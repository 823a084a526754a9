/* Policy: an active policy and its identity.
 *
 * A policy is a table that a file returns or an app supplies: its kind, version,
 * defaults, functions, and examples that must hold before it is activated.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_H
#define SOC_SCRIPT_POLICIES_POLICY_H

#include <stdbool.h>

#include <lua.h>

#include "base/slice.h"

/* 16 hex digits and a NUL. */
#define SOC_POLICY_HASH_BYTES 17

/* Where a policy comes from. */
struct soc_policy_source {
    const char *kind;
    const char *name;
    const char *path;                 /* NULL: made by the app */
    char hash[SOC_POLICY_HASH_BYTES]; /* of the file's bytes, once read */
};

/* The identity of a policy, for people and the journal. */
struct soc_policy_identity {
    char *name;                       /* owned */
    char *path;                       /* of its file, owned; NULL: a table or function of the app */
    char hash[SOC_POLICY_HASH_BYTES]; /* of the bytes of its file and texts; "app": no file */
    char refused[SOC_POLICY_HASH_BYTES]; /* of the last version of the file that was refused */
    bool is_option;                      /* activated by the command line */
};

/* An active policy. */
struct soc_policy {
    int table_ref;    /* LUA_NOREF: none */
    int settings_ref; /* defaults merged with the given settings; LUA_NOREF: none */
    int given_ref;    /* the given settings alone; LUA_NOREF: none */
    bool is_reported; /* it has failed, which was logged */
    struct soc_policy_identity identity;
};

/* Initializes it as empty; releases what it holds. */
void soc_policy_init(struct soc_policy *policy);
void soc_policy_fini(lua_State *L, struct soc_policy *policy);

/* Sets the identity. A policy given by its path is named after its file. */
void soc_policy_identify(struct soc_policy *policy, const struct soc_policy_source *source);

/* Keeps a copy of the settings at `settings_index` (0: none), for when the file is
 * reloaded. */
void soc_policy_keep_given(lua_State *L, struct soc_policy *policy, int settings_index);

/* Pops the value on top and stores it in place of what `*ref` refers to; nil: nothing. */
void soc_policy_keep_ref(lua_State *L, int *ref);

/* Writes the hash of a file's bytes as hex digits; extends a hash by more bytes. */
void soc_policy_hash(char hash[SOC_POLICY_HASH_BYTES], struct soc_slice bytes);
void soc_policy_hash_more(char hash[SOC_POLICY_HASH_BYTES], struct soc_slice bytes);

#endif

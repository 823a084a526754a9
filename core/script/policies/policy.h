/* Policy: one policy that is in force, and which one it is.
 *
 * A policy is a table that a file returns or an app gives: its kind, version, defaults,
 * functions, and examples that must hold before it is put in force.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_H
#define SOC_SCRIPT_POLICIES_POLICY_H

#include <stdbool.h>

#include <lua.h>

#include "base/slice.h"

/* Room for the 16 hex digits of a hash and a NUL. */
#define SOC_POLICY_HASH_BYTES 17

/* Where a policy comes from. */
struct soc_policy_source {
    const char *kind;
    const char *name;
    const char *path;                 /* NULL: the app made it */
    char hash[SOC_POLICY_HASH_BYTES]; /* of the file's bytes, once it was read */
};

/* Which policy it is, for people and the journal. */
struct soc_policy_identity {
    char *name;                       /* owned */
    char *path;                       /* of its file, owned; NULL: a table or function of the app */
    char hash[SOC_POLICY_HASH_BYTES]; /* of the bytes of its file and texts; "app": no file */
    char refused[SOC_POLICY_HASH_BYTES]; /* bytes of that file that were refused last */
    bool is_option;                      /* the command line put it in force */
};

/* A policy in force. */
struct soc_policy {
    int table_ref;    /* LUA_NOREF: none */
    int settings_ref; /* defaults with the caller's settings over them; LUA_NOREF: none */
    int given_ref;    /* the caller's settings alone; LUA_NOREF: none */
    bool is_reported; /* it has failed, and that was logged */
    struct soc_policy_identity identity;
};

/* Makes it no policy yet, and releases what it holds. */
void soc_policy_init(struct soc_policy *policy);
void soc_policy_fini(lua_State *L, struct soc_policy *policy);

/* Sets which policy it is. A policy named by its path is called as its file is. */
void soc_policy_identify(struct soc_policy *policy, const struct soc_policy_source *source);

/* Keeps a copy of the caller's settings at `settings_index` (0: none), for when the file
 * is loaded again. */
void soc_policy_keep_given(lua_State *L, struct soc_policy *policy, int settings_index);

/* Pops the value on top and keeps it in place of what `*ref` refers to; nil: nothing. */
void soc_policy_keep_ref(lua_State *L, int *ref);

/* Writes the hash of a file's bytes as hex digits; or changes a hash so that it counts
 * these bytes as well. */
void soc_policy_hash(char hash[SOC_POLICY_HASH_BYTES], struct soc_slice bytes);
void soc_policy_hash_more(char hash[SOC_POLICY_HASH_BYTES], struct soc_slice bytes);

#endif

/* Identity: which policy it is that is in force, for people and the journal.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_IDENTITY_H
#define SOC_SCRIPT_POLICIES_IDENTITY_H

#include <stdbool.h>

#include "base/slice.h"

/* Room for the 16 hex digits of a hash and a NUL. */
#define SOC_IDENTITY_HASH_BYTES 17

/* An all-zero struct is nothing yet. */
struct soc_identity {
    char *name; /* owned */
    char *path; /* of its file, owned; NULL: a table or function of the app */
    char hash[SOC_IDENTITY_HASH_BYTES];    /* of the file's bytes and its texts'; "app": no file */
    char refused[SOC_IDENTITY_HASH_BYTES]; /* bytes of that file that were refused last */
    bool is_option;                        /* the command line put it in force */
};

/* Sets who it is; NULL for `path` and `hash`: the app made it. The name of a policy
 * that is called by its path is its file's. */
void soc_identity_set(struct soc_identity *identity, const char *name, const char *path,
                      const char *hash);

/* Frees what it owns. */
void soc_identity_fini(struct soc_identity *identity);

/* Writes the hash of a file's bytes as hex digits. */
void soc_identity_hash(char hash[SOC_IDENTITY_HASH_BYTES], struct soc_slice bytes);

/* The same of those bytes and of further ones. */
void soc_identity_hash_more(char hash[SOC_IDENTITY_HASH_BYTES], struct soc_slice bytes);

#endif

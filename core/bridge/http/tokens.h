/* Tokens: who may use the HTTP door.
 *
 * The owner's token is in STATE/http.token, made at the first start. Other tokens have a
 * name, scopes and maybe an outside agent they speak as; STATE/http.tokens has a line of
 * JSON for each, with the SHA-256 of the token and never the token itself. That file is read
 * again when it has changed. Both files are for their owner only.
 * Layer: bridge. Thread: any, one at a time. */
#ifndef SOC_BRIDGE_HTTP_TOKENS_H
#define SOC_BRIDGE_HTTP_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "net/digest.h"

struct soc_tokens;

/* One token. */
struct soc_token {
    char *name;
    unsigned scopes; /* enum soc_scope bits */
    char *agent;     /* the outside agent it speaks as; NULL: user */
    uint8_t digest[SOC_DIGEST_BYTES];
};

/* Reads the tokens of a state directory, and makes the owner's if it is missing.
 * SOC_EACCESS, SOC_EIO, SOC_EINVAL (a file is malformed) with `detail`. */
int soc_tokens_open(struct soc_tokens **out, const char *directory, struct soc_detail *detail);

/* Frees them. NULL is allowed. */
void soc_tokens_free(struct soc_tokens *tokens);

/* Lends the token that a client has shown, until the next call; NULL: there is none such.
 * It takes the same time for every text of that length. A malformed file counts as it was
 * before. */
const struct soc_token *soc_tokens_find(struct soc_tokens *tokens, struct soc_slice shown);

/* Tells whether there still is a token with that digest. */
bool soc_tokens_has(struct soc_tokens *tokens, const uint8_t digest[SOC_DIGEST_BYTES]);

/* Lends the owner's token, the key of logins. */
struct soc_slice soc_tokens_key(const struct soc_tokens *tokens);

/* Appends the owner's token of a state directory. SOC_ENOFILE: it has none. */
int soc_tokens_read_key(const char *directory, struct soc_buf *out, struct soc_detail *detail);

/* Adds a token and appends it to `out`: it is shown only now. `scopes` is a list of names
 * with commas, `agent` may be NULL. SOC_EEXISTS, SOC_EINVAL, SOC_EACCESS, SOC_EIO. */
int soc_tokens_add(const char *directory, const char *name, const char *scopes, const char *agent,
                   struct soc_buf *out, struct soc_detail *detail);

/* Removes the token of that name; SOC_ENOFILE if there is none. */
int soc_tokens_remove(const char *directory, const char *name, struct soc_detail *detail);

/* Appends a JSON list of { name, scopes, as?, created_at }, the owner's first. */
int soc_tokens_list(const char *directory, struct soc_buf *out, struct soc_detail *detail);

#endif

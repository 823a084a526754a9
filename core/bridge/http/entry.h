/* Entry: who is asking, by token or by cookie.
 *
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_HTTP_ENTRY_H
#define SOC_BRIDGE_HTTP_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"
#include "kernel/operations/operation.h"
#include "net/digest.h"
#include "net/server.h"

struct soc_entry;

/* Who asks; a copy, since tokens may be removed meanwhile. */
struct soc_visitor {
    char name[SOC_ID_BYTES_MAX + 1];
    char agent[SOC_ID_BYTES_MAX + 1];   /* empty: user */
    char holder[SOC_ID_BYTES_MAX + 18]; /* of a token: name and hash; empty: of none, or owner */
    unsigned scopes;
    bool is_by_cookie;
    bool is_by_token;
    uint8_t digest[SOC_DIGEST_BYTES]; /* of that token */
};

/* What entry is granted. */
enum soc_entry_grant {
    SOC_ENTRY_GRANTED,
    SOC_ENTRY_MISSING, /* no token was shown */
    SOC_ENTRY_WRONG,
    SOC_ENTRY_LIMITED, /* a wrong one, after too many of that address */
};

/* Options. */
struct soc_entry_options {
    const char *directory; /* the state directory */
    int64_t wrong_tokens;  /* a minute and address */
    bool is_open;          /* who shows no valid token is the owner */
};

/* Reads the tokens. Errors as soc_tokens_open. */
int soc_entry_open(struct soc_entry **out, const struct soc_entry_options *options,
                   struct soc_detail *detail);

/* Frees it. NULL is allowed. */
void soc_entry_free(struct soc_entry *entry);

/* Sets the port, which names the cookie: browsers do not tell ports apart. */
void soc_entry_set_port(struct soc_entry *entry, int port);

/* Lends the name of the cookie. */
const char *soc_entry_cookie(const struct soc_entry *entry);

/* Finds out who sends a request. */
enum soc_entry_grant soc_entry_check(struct soc_entry *entry,
                                     const struct soc_server_request *request,
                                     struct soc_visitor *visitor);

/* Tells whether the token by which a visitor came is still valid; true without one. */
bool soc_entry_holds(struct soc_entry *entry, const struct soc_visitor *visitor);

/* Exchanges the code of a login, still encoded, for the value of a Set-Cookie header, which
 * is appended. */
enum soc_entry_grant soc_entry_login(struct soc_entry *entry,
                                     const struct soc_server_request *request,
                                     struct soc_buf *cookie);

#define SOC_VISITOR_SCOPES_BYTES 32

/* Writes the names of the visitor's scopes, with commas between them. */
void soc_visitor_scopes(const struct soc_visitor *visitor, char text[SOC_VISITOR_SCOPES_BYTES]);

/* Fills the caller of an operation; it lends the texts of the visitor. */
struct soc_caller soc_visitor_caller(const struct soc_visitor *visitor);

#endif

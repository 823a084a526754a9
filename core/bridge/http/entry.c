#include "bridge/http/entry.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/mem.h"
#include "bridge/http/logins.h"
#include "bridge/http/misses.h"
#include "bridge/http/tokens.h"
#include "env/clock.h"
#include "net/url.h"

struct soc_entry {
    struct soc_entry_options options;
    struct soc_tokens *tokens;
    struct soc_logins *logins;
    struct soc_misses misses;
    char cookie[24]; /* its name */
};

/* The clock on the wall: codes are made by another process. */
static int64_t wall_ms(void)
{
    struct soc_clock clock;
    soc_clock_init(&clock, false);
    return soc_clock_now(&clock);
}

int soc_entry_open(struct soc_entry **out, const struct soc_entry_options *options,
                   struct soc_detail *detail)
{
    struct soc_tokens *tokens;
    int rc = soc_tokens_open(&tokens, options->directory, detail);
    if (rc < 0)
        return rc;
    struct soc_entry *entry = soc_alloc_zero(sizeof(*entry));
    entry->options = *options;
    entry->options.directory = NULL;
    entry->tokens = tokens;
    entry->logins = soc_logins_new(soc_tokens_key(tokens), wall_ms());
    *out = entry;
    return SOC_OK;
}

void soc_entry_free(struct soc_entry *entry)
{
    if (entry == NULL)
        return;
    soc_logins_free(entry->logins);
    soc_tokens_free(entry->tokens);
    free(entry);
}

void soc_entry_set_port(struct soc_entry *entry, int port)
{
    snprintf(entry->cookie, sizeof(entry->cookie), "society_%d", port);
}

const char *soc_entry_cookie(const struct soc_entry *entry)
{
    return entry->cookie;
}

/* Copies a text, which fits. */
static void copy_text(char *to, size_t room, const char *id)
{
    size_t length = strlen(id);
    assert(length < room);
    memcpy(to, id, length + 1);
}

static void fill(struct soc_visitor *visitor, const char *name, unsigned scopes, const char *agent)
{
    copy_text(visitor->name, sizeof(visitor->name), name);
    copy_text(visitor->agent, sizeof(visitor->agent), agent == NULL ? "" : agent);
    visitor->scopes = scopes;
}

/* Names who holds the token: a later one with the name of a token that was removed is another's.
 * There is one owner, by whatever token. */
static void name_holder(struct soc_visitor *visitor)
{
    uint64_t hash = soc_hash(visitor->digest, sizeof(visitor->digest), 0);
    if (strcmp(visitor->name, "owner") != 0)
        snprintf(visitor->holder, sizeof(visitor->holder), "%s %016" PRIx64, visitor->name, hash);
}

/* The token of an Authorization header; absent if it shows none. */
static struct soc_slice read_bearer(struct soc_slice header)
{
    size_t skipped = 7;
    if (header.length <= skipped || strncasecmp(header.data, "Bearer ", skipped) != 0)
        return (struct soc_slice){0};
    while (skipped < header.length && header.data[skipped] == ' ')
        skipped++;
    return soc_slice(header.data + skipped, header.length - skipped);
}

static enum soc_entry_grant count_miss(struct soc_entry *entry,
                                       const struct soc_server_request *request)
{
    bool may_try = soc_misses_add(&entry->misses, soc_server_peer(request),
                                  soc_clock_monotonic_us() / 1000, entry->options.wrong_tokens);
    return may_try ? SOC_ENTRY_WRONG : SOC_ENTRY_LIMITED;
}

enum soc_entry_grant soc_entry_check(struct soc_entry *entry,
                                     const struct soc_server_request *request,
                                     struct soc_visitor *visitor)
{
    struct soc_slice shown = read_bearer(soc_server_header(request, "Authorization"));
    struct soc_slice cookie = {0};
    const struct soc_token *token = NULL;
    *visitor = (struct soc_visitor){0};
    if (shown.length > 0) {
        token = soc_tokens_find(entry->tokens, shown);
        if (token != NULL) {
            fill(visitor, token->name, token->scopes, token->agent);
            visitor->is_by_token = true;
            memcpy(visitor->digest, token->digest, sizeof(visitor->digest));
            name_holder(visitor);
        }
    } else {
        cookie =
            soc_url_cookie(soc_server_header(request, "Cookie"), soc_slice_text(entry->cookie));
        visitor->is_by_cookie =
            cookie.length > 0 && soc_logins_has_cookie(entry->logins, cookie, wall_ms());
        if (visitor->is_by_cookie)
            fill(visitor, "owner", SOC_SCOPE_ALL, NULL);
    }
    if (token != NULL || visitor->is_by_cookie)
        return SOC_ENTRY_GRANTED;
    if (entry->options.is_open) {
        fill(visitor, "anybody", SOC_SCOPE_ALL, NULL);
        return SOC_ENTRY_GRANTED;
    }
    if (shown.length > 0)
        return count_miss(entry, request);
    return cookie.length > 0 ? SOC_ENTRY_WRONG : SOC_ENTRY_MISSING; /* cookies just run out */
}

bool soc_entry_holds(struct soc_entry *entry, const struct soc_visitor *visitor)
{
    return !visitor->is_by_token || soc_tokens_has(entry->tokens, visitor->digest);
}

enum soc_entry_grant soc_entry_login(struct soc_entry *entry,
                                     const struct soc_server_request *request,
                                     struct soc_buf *cookie)
{
    struct soc_url_walk walk;
    struct soc_slice code = {0};
    soc_url_walk(&walk, soc_server_query(request));
    while (soc_url_next(&walk))
        if (soc_slice_equal(walk.name, SOC_SLICE("code")))
            code = walk.value;
    if (code.length == 0)
        return SOC_ENTRY_MISSING;
    if (!soc_logins_take_code(entry->logins, code, wall_ms()))
        return count_miss(entry, request);
    soc_buf_printf(cookie, "%s=", entry->cookie);
    soc_logins_put_cookie(entry->logins, cookie, wall_ms());
    soc_buf_printf(cookie, "; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s",
                   SOC_WEB_COOKIE_MS / 1000, soc_server_is_secure(request) ? "; Secure" : "");
    return SOC_ENTRY_GRANTED;
}

void soc_visitor_scopes(const struct soc_visitor *visitor, char text[SOC_VISITOR_SCOPES_BYTES])
{
    static const struct {
        const char *name;
        unsigned bit;
    } scopes[] = {
#define S(tag, name, bit) {name, bit},
        SOC_SCOPE_MAP(S)
#undef S
    };
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
        if ((visitor->scopes & scopes[i].bit) == 0)
            continue;
        if (length > 0)
            text[length++] = ',';
        copy_text(text + length, SOC_VISITOR_SCOPES_BYTES - length, scopes[i].name);
        length += strlen(scopes[i].name);
    }
}

struct soc_caller soc_visitor_caller(const struct soc_visitor *visitor)
{
    return (struct soc_caller){
        .name = soc_slice_text(visitor->name),
        .holder =
            visitor->holder[0] == '\0' ? (struct soc_slice){0} : soc_slice_text(visitor->holder),
        .scopes = visitor->scopes,
        .agent = visitor->agent[0] == '\0' ? (struct soc_slice){0} : soc_slice_text(visitor->agent),
    };
}

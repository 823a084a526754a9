#include "bridge/http/logins.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "env/rng.h"
#include "net/digest.h"

#define NONCE_BYTES 16
#define TIME_DIGITS 13 /* of ms since 1970, until the year 2286 */
#define TICKET_SIZE (TIME_DIGITS + 1 + 2 * NONCE_BYTES + 1 + 2 * SOC_DIGEST_BYTES)

/* A code that was used. */
struct used {
    struct used *next;
    int64_t made_ms;
    uint8_t nonce[NONCE_BYTES];
};

struct soc_logins {
    struct soc_slice key;
    int64_t opened_ms;
    struct used *used;
};

/* A ticket, signed: `TIME-NONCE-SIGNATURE`, of a code when it was made, of a cookie when it
 * ends. */
struct ticket {
    int64_t time_ms;
    uint8_t nonce[NONCE_BYTES];
};

/* What is signed names the kind, so that a code is no cookie. */
static void sign(uint8_t out[SOC_DIGEST_BYTES], struct soc_slice key, const char *kind,
                 struct soc_slice ticket)
{
    struct soc_buf text = {0};
    soc_buf_printf(&text, "society %s ", kind);
    soc_buf_put_slice(&text, ticket);
    soc_digest_hmac(out, key, soc_buf_slice(&text));
    soc_buf_fini(&text);
}

static void put_ticket(struct soc_buf *out, struct soc_slice key, const char *kind, int64_t time_ms)
{
    uint8_t nonce[NONCE_BYTES];
    uint8_t signature[SOC_DIGEST_BYTES];
    size_t first = out->length;
    soc_rng_system_bytes(nonce, sizeof(nonce));
    soc_buf_printf(out, "%0*lld-", TIME_DIGITS, (long long)time_ms);
    soc_digest_put_hex(out, nonce, sizeof(nonce));
    sign(signature, key, kind, soc_slice(out->data + first, out->length - first));
    soc_buf_put_byte(out, '-');
    soc_digest_put_hex(out, signature, sizeof(signature));
}

static bool read_ticket(struct soc_slice text, struct soc_slice key, const char *kind,
                        struct ticket *ticket)
{
    uint8_t wanted[SOC_DIGEST_BYTES];
    uint8_t given[SOC_DIGEST_BYTES];
    size_t signed_length = TIME_DIGITS + 1 + 2 * NONCE_BYTES;
    if (text.length != TICKET_SIZE || text.data[TIME_DIGITS] != '-' ||
        text.data[signed_length] != '-' ||
        !soc_digest_read_hex(soc_slice(text.data + TIME_DIGITS + 1, 2 * NONCE_BYTES), ticket->nonce,
                             NONCE_BYTES) ||
        !soc_digest_read_hex(
            soc_slice(text.data + signed_length + 1, text.length - signed_length - 1), given,
            sizeof(given)))
        return false;
    ticket->time_ms = 0;
    for (int i = 0; i < TIME_DIGITS; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        ticket->time_ms = ticket->time_ms * 10 + (text.data[i] - '0');
    }
    sign(wanted, key, kind, soc_slice(text.data, signed_length));
    return soc_digest_equal(wanted, given, sizeof(wanted));
}

struct soc_logins *soc_logins_new(struct soc_slice key, int64_t now_ms)
{
    struct soc_logins *logins = soc_alloc_zero(sizeof(*logins));
    logins->key = key;
    logins->opened_ms = now_ms;
    return logins;
}

/* Forgets the codes that are too old to be used again. */
static void forget(struct soc_logins *logins, int64_t until_ms)
{
    struct used **link = &logins->used;
    while (*link != NULL) {
        struct used *used = *link;
        if (used->made_ms >= until_ms) {
            link = &used->next;
            continue;
        }
        *link = used->next;
        free(used);
    }
}

void soc_logins_free(struct soc_logins *logins)
{
    if (logins == NULL)
        return;
    forget(logins, INT64_MAX);
    free(logins);
}

void soc_logins_put_code(struct soc_buf *out, struct soc_slice key, int64_t now_ms)
{
    put_ticket(out, key, "code", now_ms);
}

bool soc_logins_take_code(struct soc_logins *logins, struct soc_slice code, int64_t now_ms)
{
    struct ticket ticket;
    if (!read_ticket(code, logins->key, "code", &ticket) || ticket.time_ms < logins->opened_ms ||
        ticket.time_ms > now_ms || now_ms - ticket.time_ms >= SOC_WEB_CODE_MS)
        return false;
    forget(logins, now_ms - SOC_WEB_CODE_MS);
    for (const struct used *used = logins->used; used != NULL; used = used->next)
        if (soc_digest_equal(used->nonce, ticket.nonce, NONCE_BYTES))
            return false;
    struct used *used = soc_alloc_zero(sizeof(*used));
    used->made_ms = ticket.time_ms;
    memcpy(used->nonce, ticket.nonce, NONCE_BYTES);
    used->next = logins->used;
    logins->used = used;
    return true;
}

void soc_logins_put_cookie(const struct soc_logins *logins, struct soc_buf *out, int64_t now_ms)
{
    put_ticket(out, logins->key, "cookie", now_ms + SOC_WEB_COOKIE_MS);
}

bool soc_logins_has_cookie(const struct soc_logins *logins, struct soc_slice cookie, int64_t now_ms)
{
    struct ticket ticket;
    return read_ticket(cookie, logins->key, "cookie", &ticket) && ticket.time_ms > now_ms &&
           ticket.time_ms <= now_ms + SOC_WEB_COOKIE_MS;
}

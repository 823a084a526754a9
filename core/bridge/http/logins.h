/* Logins: how a browser gets in without typing a token.
 *
 * `society open` signs a code with the owner's token. The door accepts a code once, for
 * SOC_WEB_CODE_MS, if it was made after the door was opened, and answers with a cookie that
 * it signs in the same way. So nothing has to be stored, and a cookie outlives a restart;
 * a new owner's token makes all of them void.
 * Layer: bridge. Thread: loop for a door; soc_logins_put_code any. */
#ifndef SOC_BRIDGE_HTTP_LOGINS_H
#define SOC_BRIDGE_HTTP_LOGINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

struct soc_logins;

/* Returns the logins of a door that is opened now. `key` is lent. */
struct soc_logins *soc_logins_new(struct soc_slice key, int64_t now_ms);

/* Frees them. NULL is allowed. */
void soc_logins_free(struct soc_logins *logins);

/* Appends a code. */
void soc_logins_put_code(struct soc_buf *out, struct soc_slice key, int64_t now_ms);

/* Tells whether a code is good, which it is once. */
bool soc_logins_take_code(struct soc_logins *logins, struct soc_slice code, int64_t now_ms);

/* Appends the value of a cookie. */
void soc_logins_put_cookie(const struct soc_logins *logins, struct soc_buf *out, int64_t now_ms);

/* Tells whether a cookie is good. */
bool soc_logins_has_cookie(const struct soc_logins *logins, struct soc_slice cookie,
                           int64_t now_ms);

#endif

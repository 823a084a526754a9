/* Scrub: takes a secret out of bytes that come in pieces.
 *
 * What a server says may hold the key it was sent: an error that repeats it, a mirror.
 * None of that may reach a script, the journal or a log. A piece that ends inside what
 * may become the secret is held back until the next one shows it.
 *
 * Bytes that are clean may still hold it once they are read: a text of JSON in pieces that
 * somebody puts together, letters written as escapes. So whatever was made of an answer is
 * looked through again as a whole, by soc_scrub_text.
 * Layer: net. Thread: any, one at a time. */
#ifndef SOC_NET_SCRUB_H
#define SOC_NET_SCRUB_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

/* An all-zero struct lets everything through. */
struct soc_scrub {
    char *secret; /* owned, or NULL */
    size_t length;
    size_t held; /* bytes at the end of what came that begin the secret */
};

/* Sets the secret, absent or empty for none. Release with soc_scrub_fini. */
void soc_scrub_init(struct soc_scrub *scrub, struct soc_slice secret);

/* Wipes the secret from memory and frees it. */
void soc_scrub_fini(struct soc_scrub *scrub);

/* Appends to `out` what can be let through of `bytes` and of what was held back. */
void soc_scrub_put(struct soc_scrub *scrub, struct soc_slice bytes, struct soc_buf *out);

/* No more comes: appends what is held back, which is not the secret. */
void soc_scrub_end(struct soc_scrub *scrub, struct soc_buf *out);

/* Appends `text` to `out` without the secret, and tells whether it was there: as it is,
 * in letters of it escaped as JSON (to any depth) or URLs have it, and in base64. What was
 * JSON is so afterwards. A secret of fewer than SOC_SECRET_BYTES_MIN bytes is none. */
bool soc_scrub_text(struct soc_slice secret, struct soc_slice text, struct soc_buf *out);

/* The same for a text that is shown while it comes: what may become the secret, in any of
 * those forms, stays in `held` until more shows it. Of long runs of backslashes some are
 * left out. */
void soc_scrub_part(struct soc_slice secret, struct soc_buf *held, struct soc_slice text,
                    struct soc_buf *out);

#endif

/* Scrub: removes a secret from bytes that come in pieces.
 *
 * A response may echo the key that was sent: an error that repeats it, a debugging
 * endpoint. None of that may reach a script, the journal or a log. A piece that ends inside
 * a possible secret is held back until the next one decides.
 *
 * Clean bytes may still contain it once they are decoded: JSON text assembled from pieces,
 * characters written as escapes. So everything made from a response is scrubbed again as a
 * whole, by soc_scrub_text.
 * Layer: net. Thread: any, one at a time. */
#ifndef SOC_NET_SCRUB_H
#define SOC_NET_SCRUB_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

/* An all-zero struct passes everything. */
struct soc_scrub {
    char *secret; /* owned, or NULL */
    size_t length;
    size_t held; /* bytes at the end of the input that start the secret */
};

/* Sets the secret; absent or empty for none. Release with soc_scrub_fini. */
void soc_scrub_init(struct soc_scrub *scrub, struct soc_slice secret);

/* Wipes the secret from memory and frees it. */
void soc_scrub_fini(struct soc_scrub *scrub);

/* Appends to `out` what can be passed on of `bytes` and of what was held back. */
void soc_scrub_put(struct soc_scrub *scrub, struct soc_slice bytes, struct soc_buf *out);

/* The input is over: appends what is held back, which is not the secret. */
void soc_scrub_end(struct soc_scrub *scrub, struct soc_buf *out);

/* Appends `text` to `out` without the secret, and tells whether it was there: literally,
 * with characters escaped as in JSON (to any depth) or URLs, or in base64. JSON stays
 * valid. A secret shorter than SOC_SECRET_BYTES_MIN is ignored. */
bool soc_scrub_text(struct soc_slice secret, struct soc_slice text, struct soc_buf *out);

/* The same for a text that is shown as it arrives: what may become the secret, in any
 * form, stays in `held` until more input decides. Some backslashes of long runs are
 * dropped. */
void soc_scrub_part(struct soc_slice secret, struct soc_buf *held, struct soc_slice text,
                    struct soc_buf *out);

#endif

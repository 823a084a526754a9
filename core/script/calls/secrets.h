/* Secrets: keeps the keys that requests carry out of everything made from the
 * responses.
 *
 * A secret is an environment variable. Scripts know its name; its value goes only to
 * the servers that keys.h allows.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_SECRETS_H
#define SOC_SCRIPT_CALLS_SECRETS_H

#include "base/buf.h"
#include "script/turns/box.h"

/* Prepare the script, and release it. */
void soc_secrets_open(struct soc_script *script);
void soc_secrets_fini(struct soc_script *script);

/* Records that a request carries the secret with this name. */
void soc_secrets_note(struct soc_script *script, const char *name);

/* Removes every recorded secret from `text`, in any encoding (see net/scrub.h). */
void soc_secrets_scrub(struct soc_script *script, struct soc_buf *text);

/* What is held back of a streamed text, for each recorded secret. An all-zero struct is
 * empty. */
struct soc_secrets_tail {
    struct soc_buf *held;
    size_t count;
};

/* Appends to `out` what can be shown of `text` and of what was held back. */
void soc_secrets_scrub_part(struct soc_script *script, struct soc_secrets_tail *tail,
                            struct soc_slice text, struct soc_buf *out);

/* Drops what is held back. */
void soc_secrets_drop_tail(struct soc_secrets_tail *tail);

#endif

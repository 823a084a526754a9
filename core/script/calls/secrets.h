/* Secrets: keys that requests carry, kept out of whatever is made of the answers.
 *
 * A secret is a variable of the environment. Scripts know its name; its value goes to the
 * servers that keys.h allows, and nowhere else.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_SECRETS_H
#define SOC_SCRIPT_CALLS_SECRETS_H

#include "base/buf.h"
#include "script/turns/box.h"

/* Prepares the script, and releases what that took. */
void soc_secrets_open(struct soc_script *script);
void soc_secrets_fini(struct soc_script *script);

/* A request carries the secret of this name. */
void soc_secrets_note(struct soc_script *script, const char *name);

/* Takes every secret that was noted out of `text`, however it is written there (see
 * net/scrub.h). */
void soc_secrets_scrub(struct soc_script *script, struct soc_buf *text);

/* What is held back of a text that comes bit by bit, of each secret that was noted. An
 * all-zero struct holds nothing. */
struct soc_secrets_tail {
    struct soc_buf *held;
    size_t count;
};

/* Appends to `out` what can be shown of `text` and of what was held back before. */
void soc_secrets_scrub_part(struct soc_script *script, struct soc_secrets_tail *tail,
                            struct soc_slice text, struct soc_buf *out);

/* Drops what is held back. */
void soc_secrets_drop_tail(struct soc_secrets_tail *tail);

#endif

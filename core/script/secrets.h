/* Secrets: the keys that requests carried, kept out of whatever is made of the answers.
 *
 * A secret is a variable of the environment. Scripts know its name; its value is read
 * here and in exchange.c, and goes to the server and nowhere else.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_SECRETS_H
#define SOC_SCRIPT_SECRETS_H

#include "base/buf.h"
#include "script/inside.h"

/* A request carries the secret of this name. */
void soc_secrets_note(struct soc_script *script, const char *name);

/* Takes every secret that was noted out of `text`, however it is written there (see
 * net/scrub.h). */
void soc_secrets_scrub(const struct soc_script *script, struct soc_buf *text);

#endif

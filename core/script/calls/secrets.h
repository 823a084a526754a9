/* Secrets: keys that requests carry, kept out of whatever is made of the answers.
 *
 * A secret is a variable of the environment. Scripts know its name; its value is read
 * here and in exchange.c, and goes to the server and nowhere else. To which servers those
 * of agent:http may go is said by society.config{ secrets = { NAME = URL } }.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_SECRETS_H
#define SOC_SCRIPT_CALLS_SECRETS_H

#include "base/buf.h"
#include "script/inside.h"

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

/* Tells whether it is the name of a variable: letters, digits and underscores. */
bool soc_secrets_is_name(struct soc_slice name);

/* Tells whether a value can be sent in a header: not a line break in it. */
bool soc_secrets_is_sendable(const char *value);

/* Takes the table at `index` as society.config{ secrets = … }, instead of the one before.
 * SOC_EINVAL and `detail` if it is none. */
int soc_secrets_configure(lua_State *L, struct soc_script *script, int index,
                          struct soc_detail *detail);

/* Lends what the URL must begin with to carry the secret of this name; NULL if it may go
 * nowhere. */
const char *soc_secrets_place(struct soc_script *script, struct soc_slice name);

/* Tells whether the URL lies there. */
bool soc_secrets_is_within(struct soc_slice url, const char *place);

#endif

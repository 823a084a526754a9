/* Live text: the end of what a model says, while it says it, for one line of a terminal.
 *
 * What comes is made harmless first: a model must not move a cursor. It is the text of one
 * call (live_talk.h has those of all), and never recorded.
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_LIVE_TEXT_H
#define SOC_EMBED_LIVE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* An all-zero struct is one that has said nothing. */
struct soc_live_text {
    struct soc_buf name; /* of the agent that asked */
    struct soc_buf tail; /* the end of what it said; UTF-8 without control characters */
    uint64_t characters; /* of all it said */
    bool is_cut;         /* the tail is not all of it */
};

/* Adds what the agent `name` says; the name is that of the first time. */
void soc_live_text_add(struct soc_live_text *live, struct soc_slice name, struct soc_slice text);

/* Appends it as one line of at most `columns` columns: its name, how many characters it
 * said so far, and the end of them. Nothing if nothing was said. */
void soc_live_text_put(const struct soc_live_text *live, size_t columns, struct soc_buf *out);

/* Frees it. */
void soc_live_text_fini(struct soc_live_text *live);

#endif

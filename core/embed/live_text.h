/* Live text: the tail of a streaming model answer, for one line of a terminal.
 *
 * Control characters are removed: a model must not move the cursor. It holds the text
 * of one call (live_talk.h holds all) and is never recorded.
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_LIVE_TEXT_H
#define SOC_EMBED_LIVE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* An all-zero struct is empty. */
struct soc_live_text {
    struct soc_buf name; /* of the agent that called */
    struct soc_buf tail; /* last part of the answer; UTF-8 without control characters */
    uint64_t characters; /* total so far */
    bool is_cut;         /* the tail is not the whole answer */
};

/* Adds text that the agent `name` streams. The first name is kept. */
void soc_live_text_add(struct soc_live_text *live, struct soc_slice name, struct soc_slice text);

/* Appends one line of at most `columns` columns: the name, the number of characters so
 * far, and the tail. Appends nothing if there is no text yet. */
void soc_live_text_put(const struct soc_live_text *live, size_t columns, struct soc_buf *out);

/* Frees it. */
void soc_live_text_fini(struct soc_live_text *live);

#endif

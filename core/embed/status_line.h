/* Status line: who thinks, who waits for whom and what it took, on the last line of a
 * terminal; above it, while a model speaks, the end of what it says (live_talk.h).
 *
 * It stands on stderr, is written anew a few times a second, and makes way for whatever
 * else is shown. A society that never asks a model has none.
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_STATUS_LINE_H
#define SOC_EMBED_STATUS_LINE_H

#include "kernel/host.h"
#include "loop/loop.h"

struct soc_status_line;

/* Begins to show it. Close it before the host ends. */
struct soc_status_line *soc_status_line_open(struct soc_loop *loop, struct soc_host *host);

/* Takes it off the screen, for something else to be written. NULL is allowed. */
void soc_status_line_clear(struct soc_status_line *line);

/* Takes it off for good. NULL is allowed. */
void soc_status_line_close(struct soc_status_line *line);

/* Appends what it says now; nothing if no model was ever asked. */
void soc_status_line_put(struct soc_host *host, struct soc_buf *out);

#endif

/* Status line: shows who thinks, who waits for whom and usage on the last line of a
 * terminal, with the tail of a streaming answer above it (live_talk.h).
 *
 * It is written to stderr, redrawn a few times a second, and cleared for other output.
 * A society that never calls a model has none.
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_STATUS_LINE_H
#define SOC_EMBED_STATUS_LINE_H

#include "kernel/host.h"
#include "loop/loop.h"

struct soc_status_line;

/* Starts to show it. Close it before the host ends. */
struct soc_status_line *soc_status_line_open(struct soc_loop *loop, struct soc_host *host);

/* Clears it for other output. NULL is allowed. */
void soc_status_line_clear(struct soc_status_line *line);

/* Removes it for good. NULL is allowed. */
void soc_status_line_close(struct soc_status_line *line);

/* Appends its current text; nothing if no model was ever called. */
void soc_status_line_put(struct soc_host *host, struct soc_buf *out);

#endif

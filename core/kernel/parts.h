/* Parts: the parts of one host, put in order when it is made.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_PARTS_H
#define SOC_KERNEL_PARTS_H

#include "kernel/part.h"

/* Lists what `parts` (NULL at the end) fill and opens them. Before anything else of the
 * host is used but its options, log, clock and types. */
void soc_parts_open(struct soc_host *host, const struct soc_part *const *parts);

/* Serves a kind of wait; for the kernel's own. */
void soc_parts_serve_wait(struct soc_parts *parts, const struct soc_wait_ops *ops);

/* Has every part free its state; no part is called any more. */
void soc_parts_free(struct soc_host *host);

#endif

/* Parts: collects the parts of one host into the call table of part.h.
 *
 * The host owns the result; parts own their states.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_PARTS_H
#define SOC_KERNEL_PARTS_H

#include "kernel/part.h"

/* Builds the call table of `parts` (NULL after the last) and opens them in order. The
 * host must have its options, log, clock and types; nothing else is ready yet. */
void soc_parts_open(struct soc_host *host, const struct soc_part *const *parts);

/* Registers a kind of wait. Parts list theirs in `waits`; the kernel calls this. */
void soc_parts_serve_wait(struct soc_parts *parts, const struct soc_wait_ops *ops);

/* Lets every part free its state; no part is called afterwards. */
void soc_parts_free(struct soc_host *host);

#endif

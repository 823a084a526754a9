/* Dot: the society as a picture, in the language of Graphviz.
 *
 * Agents are boxes with their role's name and their status; a dashed line goes from
 * parent to child, a bold one from whoever waits to whom it waits for.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_DOT_H
#define SOC_KERNEL_DOT_H

#include "base/buf.h"

struct soc_host;

/* Appends the digraph, in order of birth. */
void soc_dot_put(const struct soc_host *host, struct soc_buf *out);

#endif

/* Diagrams: a society as text that programs draw.
 *
 * Layer: kernel. Thread: any. */
#ifndef SOC_KERNEL_OPERATIONS_DIAGRAMS_H
#define SOC_KERNEL_OPERATIONS_DIAGRAMS_H

#include "base/buf.h"
#include "base/slice.h"

struct soc_host;

/* Appends a digraph for Graphviz: live agents with role and status, in order of birth, a
 * dashed line from parent to child, a bold one from an agent that waits to each it waits
 * for. */
void soc_diagrams_put_dot(const struct soc_host *host, struct soc_buf *out);

/* Appends a sequence diagram for Mermaid of `messages`, rows of that operation. Agents stand
 * in the order in which they first sent or received; replies are dotted, dead letters end
 * with a cross. */
void soc_diagrams_put_mermaid(struct soc_slice messages, struct soc_buf *out);

#endif

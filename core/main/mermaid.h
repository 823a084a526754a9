/* Mermaid: messages as a sequence diagram.
 *
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_MERMAID_H
#define SOC_MAIN_MERMAID_H

#include "base/buf.h"
#include "base/slice.h"

/* Appends the diagram of `messages`, a JSON list as `inspect messages` gives it. Agents
 * stand in the order in which they first spoke or were spoken to; replies are dotted,
 * dead letters end with a cross. */
void soc_mermaid_put(struct soc_slice messages, struct soc_buf *out);

#endif

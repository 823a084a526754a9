/* Ears: simulated listeners to the lines of the activity log.
 *
 * By seed each listens on the tap to all lines, to messages or to those of root, from the
 * first line or from now. It has room for more or not, breaks off in the middle of a page,
 * leaves, and begins again where it was, also after the society has crashed. It keeps a
 * hash of what it has heard, and knows what must never be: a line that is missing, there
 * twice, out of order, or other than it is in the log.
 * Layer: sim. Thread: loop. */
#ifndef SOC_SIM_EARS_H
#define SOC_SIM_EARS_H

#include <stdint.h>

#include "base/slice.h"

struct soc_ears;
struct soc_host;

/* Returns `count` ears driven by `seed`. Release with soc_ears_free(). */
struct soc_ears *soc_ears_new(uint64_t seed, uint32_t count);

/* Frees them; those that listen leave. NULL is allowed. */
void soc_ears_free(struct soc_ears *ears);

/* Connects them to a host; the one before is told first that they part. */
void soc_ears_join(struct soc_ears *ears, struct soc_host *host);

/* The host is about to go: all leave. */
void soc_ears_part(struct soc_ears *ears);

/* Lets ear `i` do something: listen, go on, or leave. */
void soc_ears_act(struct soc_ears *ears, uint32_t i);

/* The run is over: all listen to the end. */
void soc_ears_end(struct soc_ears *ears);

/* Compares what they have heard with `rows`, the whole log. */
void soc_ears_compare(struct soc_ears *ears, struct soc_slice rows);

/* Lends a sentence about the first violation; NULL if there is none. */
const char *soc_ears_fault(const struct soc_ears *ears);

#endif

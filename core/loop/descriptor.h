/* Descriptor: tells when a socket that belongs to somebody else is readable or writable.
 *
 * Layer: loop. Thread: loop. */
#ifndef SOC_LOOP_DESCRIPTOR_H
#define SOC_LOOP_DESCRIPTOR_H

#include <stdbool.h>

#include "loop/loop.h"

struct soc_descriptor;

/* Called when it is readable, writable, or both. An error counts as both, so that the
 * user of the socket finds out. It may set or close its descriptor. */
typedef void soc_descriptor_cb(void *user, int socket, bool can_read, bool can_write);

/* Returns an idle watch of `socket`, which is lent; `name`, a constant, is what the watchdog
 * calls it. Release with soc_descriptor_close before the socket is closed. */
struct soc_descriptor *soc_descriptor_open(struct soc_loop *loop, const char *name, int socket,
                                           soc_descriptor_cb *cb, void *user);

/* Sets what to watch for. */
void soc_descriptor_set(struct soc_descriptor *descriptor, bool reads, bool writes);

/* Stops watching. The memory is freed once the loop has run the close callback. */
void soc_descriptor_close(struct soc_descriptor *descriptor);

#endif

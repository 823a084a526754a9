/* Descriptor: tells when a socket of somebody else's can be read or written.
 *
 * Layer: loop. Thread: loop. */
#ifndef SOC_LOOP_DESCRIPTOR_H
#define SOC_LOOP_DESCRIPTOR_H

#include <stdbool.h>

#include "loop/loop.h"

struct soc_descriptor;

/* It can be read, written, or both; an error is told as both, for whoever uses the
 * socket to find out. It may set or close its descriptor. */
typedef void soc_descriptor_cb(void *user, int socket, bool can_read, bool can_write);

/* Returns a watch of `socket`, which is lent, for nothing yet. End it with
 * soc_descriptor_close before the socket is closed. */
struct soc_descriptor *soc_descriptor_open(struct soc_loop *loop, int socket, soc_descriptor_cb *cb,
                                           void *user);

/* Says what is to be told from now on. */
void soc_descriptor_set(struct soc_descriptor *descriptor, bool reads, bool writes);

/* Tells nothing more. The memory goes when the loop has run the closing. */
void soc_descriptor_close(struct soc_descriptor *descriptor);

#endif

/* Control client: asks a society that runs in another process.
 *
 * It blocks until the answer is there: for commands, not for a loop.
 * Layer: bridge. Thread: any, one at a time. */
#ifndef SOC_BRIDGE_CONTROL_CLIENT_H
#define SOC_BRIDGE_CONTROL_CLIENT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

struct soc_control_client;

/* Connects to the society that runs in `directory`. SOC_ENOFILE if none does (or
 * it has no socket), SOC_EACCESS, SOC_EIO with `detail`. The caller owns `*out`;
 * release with soc_control_client_close(). */
int soc_control_client_open(struct soc_control_client **out, const char *directory,
                            struct soc_detail *detail);

/* Puts one request, a JSON object, and waits for its answer, a JSON object that
 * was checked, into `answer`. SOC_ECLOSED if the society went away meanwhile. */
int soc_control_client_ask(struct soc_control_client *client, struct soc_slice request,
                           struct soc_buf *answer, struct soc_detail *detail);

/* Closes the connection. NULL is allowed. */
void soc_control_client_close(struct soc_control_client *client);

#endif

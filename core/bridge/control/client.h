/* Control client: sends requests to a society that runs in another process.
 *
 * Calls block until the answer arrives: for commands, not for use on a loop.
 * Layer: bridge. Thread: any, one at a time. */
#ifndef SOC_BRIDGE_CONTROL_CLIENT_H
#define SOC_BRIDGE_CONTROL_CLIENT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

struct soc_control_client;

/* Connects to the society that runs in `directory`. SOC_ENOFILE: none runs there, or it has
 * no socket. SOC_EACCESS, SOC_EIO. Errors set `detail`. The caller owns `*out`; release
 * with soc_control_client_close(). */
int soc_control_client_open(struct soc_control_client **out, const char *directory,
                            struct soc_detail *detail);

/* Calls `cb` once while a request waits, if there is no answer after a few seconds. */
void soc_control_client_on_slow(struct soc_control_client *client, void (*cb)(void *user),
                                void *user);

/* Sends one request, a JSON object, and waits for the answer, a valid JSON text in
 * `answer`. SOC_ECLOSED: the society stopped meanwhile. SOC_EJSON: the answer is not
 * JSON. */
int soc_control_client_ask(struct soc_control_client *client, struct soc_slice request,
                           struct soc_buf *answer, struct soc_detail *detail);

/* Closes the connection. NULL is allowed. */
void soc_control_client_close(struct soc_control_client *client);

#endif

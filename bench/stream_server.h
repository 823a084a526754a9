/* Stream server: a model's server in a process of its own that streams to all at once.
 *
 * Whatever it is asked it answers with STREAM_PIECES pieces of a chat completion, one
 * every STREAM_PAUSE_MS, and closes the connection.
 * Layer: bench. Thread: one. */
#ifndef STREAM_SERVER_H
#define STREAM_SERVER_H

#include <sys/types.h>

#define STREAM_PIECES   20
#define STREAM_PAUSE_MS 50

/* Starts it on a free port of loopback; end it with kill(). */
pid_t stream_server_start(int *port);

#endif

/* Stream server: a model's server in a process of its own that streams to all at once.
 *
 * Whatever it is asked it answers with STREAM_PIECES pieces of a chat completion, one
 * every STREAM_PAUSE_MS, and closes the connection. It begins when so many have asked:
 * then all streams are open at once, however long it took until the last one came.
 * Layer: bench. Thread: one. */
#ifndef STREAM_SERVER_H
#define STREAM_SERVER_H

#include <stdint.h>
#include <sys/types.h>

#define STREAM_PIECES   20
#define STREAM_PAUSE_MS 50

/* Starts it on a free port of loopback; end it with kill(). */
pid_t stream_server_start(int *port, int64_t count);

#endif

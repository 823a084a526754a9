/* Streams: events as they happen, for clients that listen.
 *
 * A stream is Server-Sent Events or a WebSocket, which only pushes. Both have the same
 * source: the tap (kernel/tap.h), whose lines arrive in order and without gaps from where a
 * client begins; and the words of models while they speak, which have no number and are not
 * repeated. A client that is SOC_STREAM_BYTES_MAX behind gets no more: the tap waits for it,
 * and reads what it has missed from the tables, and words are lost to it. With the page of
 * the tap that came last, in the form of events, at most 256 KB, or one line if that is longer,
 * are held for it.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_HTTP_STREAMS_H
#define SOC_BRIDGE_HTTP_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "bridge/http/entry.h"
#include "kernel/operations/operation.h"
#include "loop/loop.h"
#include "net/server.h"

struct soc_host;
struct soc_stream;  /* one client */
struct soc_streams; /* all of a door */

/* What a client wants to hear. */
struct soc_stream_wish {
    struct soc_buf texts;    /* of the filters; owned */
    struct soc_slice events; /* names with commas, `*` for any text; absent: all */
    struct soc_slice agent;  /* filters; absent: none */
    struct soc_slice task;
    struct soc_slice correlation_id;
    uint64_t after;
    bool has_after;
    bool is_summary; /* counts by the second instead of message.* */
    bool has_summary;
    bool is_twice; /* the parameter at fault is given twice */
};

/* The parameters of a query string, which ends with a NULL name. */
extern const struct soc_param soc_stream_params[];

/* Reads the query string of a request and its header Last-Event-ID, which counts more than
 * `after`: it is what a browser sends when it connects again. Returns NULL, or lends the
 * name of a parameter that is unknown, wrong or given twice. Release with soc_stream_wish_fini. */
const char *soc_stream_wish_read(struct soc_stream_wish *wish,
                                 const struct soc_server_request *request);

/* The sentence about the parameter whose name soc_stream_wish_read has lent. */
const char *soc_stream_wish_sentence(const struct soc_stream_wish *wish, const char *fault);

/* Frees the texts. */
void soc_stream_wish_fini(struct soc_stream_wish *wish);

/* Returns the streams of a door, none yet. All is lent. */
struct soc_streams *soc_streams_new(struct soc_loop *loop, struct soc_host *host,
                                    struct soc_entry *entry);

/* Responds with events. `visitor` is lent as long as the stream; it ends soon after the token
 * of that visitor was removed. Returns NULL, without a response, if there are too many streams.
 * End it with soc_stream_end when the server reports the request as gone. */
struct soc_stream *soc_streams_add_events(struct soc_streams *streams,
                                          struct soc_server_request *request,
                                          const struct soc_stream_wish *wish,
                                          const struct soc_visitor *visitor);

/* The same by a WebSocket. NULL after it has responded with an error. `status` becomes that
 * of the response. */
struct soc_stream *soc_streams_add_websocket(struct soc_streams *streams,
                                             struct soc_server_request *request,
                                             const struct soc_stream_wish *wish,
                                             const struct soc_visitor *visitor, int *status);

/* Frees the stream; its connection is gone. */
void soc_stream_end(struct soc_stream *stream);

/* Says goodbye to everybody; the host may be closed then. NULL is allowed. */
void soc_streams_stop(struct soc_streams *streams);

/* Ends the connections of WebSockets that have not ended by themselves, before the server
 * is closed. */
void soc_streams_cut(struct soc_streams *streams);

/* Frees them; all streams have ended. NULL is allowed. */
void soc_streams_free(struct soc_streams *streams);

#endif

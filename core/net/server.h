/* Server: HTTP/1.1 for programs and browsers, libmicrohttpd on the loop.
 *
 * A request goes through these steps:
 *   1. Its head is read. Bad framing and heads beyond the limits are answered here.
 *   2. `head` is called. It may respond at once: the body is then not read.
 *   3. The body is read, up to the limit that `head` has set.
 *   4. `body` is called, also if there is none. Somebody responds, now or later, once.
 *   5. `gone` is called, once, if `head` was: the response has left, or the client has,
 *      maybe before there is a response. The request is freed when it returns.
 * A response is a body, a stream that grows until it is ended, or a tunnel: the bare
 * connection, for WebSockets.
 *
 * A connection is closed when its head, its body or its idle time takes too long. If there
 * is no room for a new one, the oldest connection that is not trusted makes way; if all are
 * trusted the new one gets 503.
 * Layer: net. Thread: loop. */
#ifndef SOC_NET_SERVER_H
#define SOC_NET_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "loop/loop.h"

struct soc_server;         /* a listening socket with its connections */
struct soc_server_request; /* one request, from its head to its end */
struct soc_server_tunnel;  /* a connection that no longer speaks HTTP */

/* A header of a response. */
struct soc_server_header {
    const char *name;
    const char *value;
};

/* Events; all of them are set. */
struct soc_server_events {
    void (*head)(void *user, struct soc_server_request *request);
    void (*body)(void *user, struct soc_server_request *request);
    void (*gone)(void *user, struct soc_server_request *request);
    void *user;
};

/* What a server is opened with. 0 and NULL: the default of limits.h. */
struct soc_server_options {
    struct soc_loop *loop; /* lent */
    struct soc_server_events events;
    const char *address;  /* numeric, IPv4 or IPv6; NULL: 127.0.0.1 */
    int port;             /* 0: the system picks one */
    const char *tls_cert; /* PEM texts; both or none */
    const char *tls_key;
    int connections_max;
    int streams_max;       /* streams and tunnels together */
    size_t body_bytes_max; /* unless `head` sets another limit */
    int64_t head_ms;
    int64_t body_ms;
    int64_t idle_ms;
};

/* Listens. SOC_EINVAL, SOC_EACCESS, SOC_EEXISTS (the port is taken) or SOC_EIO with
 * `detail`. */
int soc_server_open(struct soc_server **out, const struct soc_server_options *options,
                    struct soc_detail *detail);

/* The port it listens on. */
int soc_server_port(const struct soc_server *server);

/* Connections and streams that are open. */
int soc_server_connections(const struct soc_server *server);
int soc_server_streams(const struct soc_server *server);

/* Takes no more connections and requests; responses still leave. */
void soc_server_stop(struct soc_server *server);

/* Drops every connection, with `gone` for every request, and frees the server. Tunnels must
 * be closed before. NULL is allowed. */
void soc_server_close(struct soc_server *server);

/* Parts of a request, lent until `gone`. Absent if there are none. */
struct soc_slice soc_server_method(const struct soc_server_request *request);
struct soc_slice soc_server_path(const struct soc_server_request *request);  /* as sent */
struct soc_slice soc_server_query(const struct soc_server_request *request); /* after the `?` */
struct soc_slice soc_server_body(const struct soc_server_request *request);
struct soc_slice soc_server_header(const struct soc_server_request *request, const char *name);
const char *soc_server_peer(const struct soc_server_request *request); /* numeric address */
bool soc_server_is_secure(const struct soc_server_request *request);   /* by TLS */

/* The user's own data of a request, initially NULL. */
void soc_server_set_user(struct soc_server_request *request, void *user);
void *soc_server_user(const struct soc_server_request *request);

/* Limits the body of this request. For `head`. */
void soc_server_limit_body(struct soc_server_request *request, size_t bytes_max);

/* The connection has shown that it is welcome: it does not make way for others. */
void soc_server_trust(struct soc_server_request *request);

/* Responds; everything is copied. `headers` ends with a NULL name; NULL: none.
 * `Content-Length` and `Date` are added. */
void soc_server_respond(struct soc_server_request *request, int status,
                        const struct soc_server_header *headers, struct soc_slice body);

/* Responds with a stream. Returns false, without a response, if there are too many
 * streams. `drained` is called with `user` whenever the stream has nothing left to send; it
 * may put more. */
bool soc_server_stream(struct soc_server_request *request, int status,
                       const struct soc_server_header *headers, void (*drained)(void *user),
                       void *user);

/* Appends to a stream; ignored if the client has left. It leaves with the next flush: one
 * call can send what came in many. */
void soc_server_stream_append(struct soc_server_request *request, struct soc_slice bytes);
void soc_server_stream_flush(struct soc_server_request *request);

/* Appends and flushes. */
void soc_server_stream_put(struct soc_server_request *request, struct soc_slice bytes);

/* Bytes of the stream that have not left yet. */
size_t soc_server_stream_held(const struct soc_server_request *request);

/* Ends a stream after what is held. */
void soc_server_stream_end(struct soc_server_request *request);

/* Responds with 101 and hands the connection over: `opened` is called with the tunnel, its
 * socket, which does not block, and what the client has sent already. Returns false, without
 * a response, if there are too many streams. */
bool soc_server_tunnel(struct soc_server_request *request, const struct soc_server_header *headers,
                       void (*opened)(void *user, struct soc_server_tunnel *tunnel, int socket,
                                      struct soc_slice early),
                       void *user);

/* Closes a tunnel with its socket. */
void soc_server_tunnel_close(struct soc_server_tunnel *tunnel);

#endif

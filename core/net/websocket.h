/* WebSocket: messages pushed to one client, on a tunnel of the HTTP server (RFC 6455).
 *
 * The client only listens: pings and a close are answered, anything else it sends ends the
 * connection. A WebSocket lives from soc_websocket_open until the server reports its
 * request as gone; then soc_websocket_free.
 * Layer: net. Thread: loop. */
#ifndef SOC_NET_WEBSOCKET_H
#define SOC_NET_WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "loop/loop.h"
#include "net/server.h"

struct soc_websocket;

/* Why a server closes a WebSocket. */
enum soc_websocket_code {
    SOC_WEBSOCKET_GOING_AWAY = 1001,
    SOC_WEBSOCKET_REFUSED = 1008, /* the client breaks a rule */
    SOC_WEBSOCKET_FAILED = 1011,
};

/* Answers a handshake and returns the WebSocket. `drained` is called with `user` whenever
 * nothing is left to send, from the first moment on; it may put more. Returns NULL after it
 * has answered what is no handshake with 400 or 426, or a client too many with 503. `status`
 * becomes that of the answer. */
struct soc_websocket *soc_websocket_open(struct soc_server_request *request, struct soc_loop *loop,
                                         void (*drained)(void *user), void *user, int *status);

/* Frees it. For `gone`. NULL is allowed. */
void soc_websocket_free(struct soc_websocket *websocket);

/* Sends one message, valid UTF-8; ignored if the connection is closing. */
void soc_websocket_put(struct soc_websocket *websocket, struct soc_slice text);

/* Bytes of memory taken by messages that have not left yet. */
size_t soc_websocket_held(const struct soc_websocket *websocket);

#define SOC_WEBSOCKET_SILENCE_US 60000000

/* Asks the client for a sign of life, unless messages are held, which ask for one as well.
 * Ends the connection at once if the last such question has had no answer for
 * SOC_WEBSOCKET_SILENCE_US. */
void soc_websocket_ping(struct soc_websocket *websocket, int64_t now_us);

/* Says goodbye with a code, after what is held. */
void soc_websocket_close(struct soc_websocket *websocket, enum soc_websocket_code code);

/* Ends the connection at once. For the end of the server. */
void soc_websocket_cut(struct soc_websocket *websocket);

#endif

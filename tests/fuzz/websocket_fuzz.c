/* WebSocket fuzz: any bytes of a client after its handshake, in any pieces.
 *
 * The server is a socket pair, so that all of it is read here: frames that are whole, unmasked
 * and of a kind that we send, with nothing after a close. A client that says anything but pings,
 * pongs and a close is closed. The first byte says how much comes with the handshake, the second
 * how long the pieces are.
 * Layer: tests. Thread: one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "loop/loop.h"
#include "net/server.h"
#include "net/websocket.h"

#define TEXT     "{\"type\":\"log\",\"id\":1}"
#define SAID_MAX 5 /* texts that are pushed */
#define CONTROL  125

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stays on whatever NDEBUG says. */
static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "websocket_fuzz: %s\n", what);
        abort();
    }
}

#define MUST(condition) must((condition), #condition)

/* The server's side of a connection, in place of net/server_stream.c. */
struct soc_server_request {
    void (*opened)(void *user, struct soc_server_tunnel *tunnel, int socket,
                   struct soc_slice early);
    void *user;
};

struct soc_server_tunnel {
    int socket;
    bool is_closed;
};

struct soc_slice soc_server_method(const struct soc_server_request *request)
{
    (void)request;
    return SOC_SLICE("GET");
}

struct soc_slice soc_server_header(const struct soc_server_request *request, const char *name)
{
    static const char *const headers[][2] = {{"Connection", "Upgrade"},
                                             {"Upgrade", "websocket"},
                                             {"Sec-WebSocket-Version", "13"},
                                             {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};
    (void)request;
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
        if (strcmp(headers[i][0], name) == 0)
            return soc_slice_text(headers[i][1]);
    return (struct soc_slice){0};
}

void soc_server_respond(struct soc_server_request *request, int status,
                        const struct soc_server_header *headers, struct soc_slice body)
{
    (void)request, (void)status, (void)headers, (void)body;
    must(false, "the handshake is refused");
}

bool soc_server_tunnel(struct soc_server_request *request, const struct soc_server_header *headers,
                       void (*opened)(void *user, struct soc_server_tunnel *tunnel, int socket,
                                      struct soc_slice early),
                       void *user)
{
    (void)headers;
    request->opened = opened;
    request->user = user;
    return true;
}

void soc_server_tunnel_close(struct soc_server_tunnel *tunnel)
{
    MUST(!tunnel->is_closed);
    tunnel->is_closed = true;
    close(tunnel->socket);
}

/* One client. */
struct client {
    struct soc_websocket *websocket;
    struct soc_buf heard;
    int socket;
    int said;
};

static void on_drained(void *user)
{
    struct client *client = user;
    if (client->said++ < SAID_MAX)
        soc_websocket_put(client->websocket, SOC_SLICE(TEXT));
}

static void hear(struct client *client)
{
    char bytes[4096];
    ssize_t got;
    while ((got = recv(client->socket, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
        soc_buf_put(&client->heard, bytes, (size_t)got);
}

/* Checks what was heard; tells whether it ends with a close. */
static bool check_heard(struct soc_slice rest)
{
    bool is_closed = false;
    while (rest.length > 0) {
        unsigned char head = (unsigned char)rest.data[0];
        MUST(!is_closed && rest.length >= 2);
        size_t length = (unsigned char)rest.data[1];
        MUST(length <= CONTROL); /* neither masked nor long */
        MUST(rest.length >= 2 + length);
        MUST(head == 0x81 || head == 0x88 || head == 0x89 || head == 0x8a);
        if (head == 0x81)
            MUST(soc_slice_equal(soc_slice(rest.data + 2, length), SOC_SLICE(TEXT)));
        is_closed = head == 0x88;
        rest = soc_slice(rest.data + 2 + length, rest.length - 2 - length);
    }
    return is_closed;
}

/* Tells whether the bytes begin with a whole frame that says something to us. */
static bool is_talk(struct soc_slice bytes)
{
    return bytes.length >= 6 && (bytes.data[0] == (char)0x81 || bytes.data[0] == (char)0x82) &&
           (unsigned char)bytes.data[1] == 0x80;
}

static void say(struct soc_loop *loop, struct client *client, struct soc_slice bytes, size_t piece)
{
    for (size_t at = 0; at < bytes.length; at += piece) {
        size_t length = bytes.length - at < piece ? bytes.length - at : piece;
        if (send(client->socket, bytes.data + at, length, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            return;
        soc_loop_poll(loop, 0);
        hear(client);
    }
}

static void try_client(struct soc_loop *loop, struct soc_slice bytes, size_t early, size_t piece)
{
    struct client client = {0};
    struct soc_server_request request = {0};
    struct soc_server_tunnel tunnel = {0};
    int sockets[2];
    int status;
    MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sockets) == 0);
    client.socket = sockets[0];
    tunnel.socket = sockets[1];
    client.websocket = soc_websocket_open(&request, loop, on_drained, &client, &status);
    MUST(client.websocket != NULL && status == 101);
    early = early < bytes.length ? early : bytes.length;
    request.opened(request.user, &tunnel, tunnel.socket, soc_slice(bytes.data, early));
    say(loop, &client, soc_slice(bytes.data + early, bytes.length - early), piece);
    if (!tunnel.is_closed)
        soc_websocket_ping(client.websocket, 1);
    soc_loop_poll(loop, 0);
    hear(&client);
    bool is_closed = check_heard(soc_buf_slice(&client.heard));
    MUST(!is_talk(bytes) || is_closed);
    if (!tunnel.is_closed)
        soc_websocket_cut(client.websocket);
    MUST(tunnel.is_closed);
    soc_loop_poll(loop, 0);
    soc_websocket_free(client.websocket);
    soc_buf_fini(&client.heard);
    close(client.socket);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct soc_loop *loop = soc_loop_new();
    char *bytes = malloc(size);
    memcpy(bytes, data, size);
    try_client(loop, soc_slice(bytes + 2, size - 2), data[0], 1 + (size_t)data[1]);
    soc_loop_free(loop);
    free(bytes);
    return 0;
}

#include "net/websocket.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <wslay/wslay.h>

#include "base/buf.h"
#include "base/mem.h"
#include "loop/descriptor.h"

#define KEY_BYTES    24  /* of a Sec-WebSocket-Key */
#define ACCEPT_BYTES 28  /* of a Sec-WebSocket-Accept */
#define QUEUED_BYTES 160 /* what wslay keeps of a message beside its text, about */
#define MAGIC        "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

struct soc_websocket {
    struct soc_loop *loop;
    wslay_event_context_ptr wslay;
    struct soc_server_tunnel *tunnel; /* NULL: not open yet, or no longer */
    struct soc_descriptor *watch;
    int socket;
    struct soc_buf early; /* what came with the handshake */
    size_t early_read;
    void (*drained)(void *user);
    void *user;
    bool is_broken;    /* the connection has failed */
    bool is_inside;    /* `drained` is running */
    int64_t pinged_us; /* when it was sent a ping that it has not answered; 0: never */
};

static ssize_t read_early(struct soc_websocket *websocket, uint8_t *out, size_t room)
{
    size_t left = websocket->early.length - websocket->early_read;
    size_t taken = left < room ? left : room;
    memcpy(out, websocket->early.data + websocket->early_read, taken);
    websocket->early_read += taken;
    return (ssize_t)taken;
}

static ssize_t on_receive(wslay_event_context_ptr wslay, uint8_t *out, size_t room, int flags,
                          void *user)
{
    struct soc_websocket *websocket = user;
    (void)flags;
    if (websocket->early_read < websocket->early.length)
        return read_early(websocket, out, room);
    ssize_t got = recv(websocket->socket, out, room, MSG_DONTWAIT);
    if (got > 0)
        return got;
    bool is_blocked = got < 0 && (errno == EAGAIN || errno == EINTR);
    websocket->is_broken |= !is_blocked;
    wslay_event_set_error(wslay, is_blocked ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static ssize_t on_send(wslay_event_context_ptr wslay, const uint8_t *data, size_t length, int flags,
                       void *user)
{
    struct soc_websocket *websocket = user;
    (void)flags;
    ssize_t sent = send(websocket->socket, data, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0)
        return sent;
    bool is_blocked = errno == EAGAIN || errno == EINTR;
    websocket->is_broken |= !is_blocked;
    wslay_event_set_error(wslay, is_blocked ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static void on_message(wslay_event_context_ptr wslay, const struct wslay_event_on_msg_recv_arg *arg,
                       void *user)
{
    struct soc_websocket *websocket = user;
    websocket->pinged_us = 0;
    if (!wslay_is_ctrl_frame(arg->opcode))
        wslay_event_queue_close(wslay, SOC_WEBSOCKET_REFUSED, (const uint8_t *)"push only", 9);
}

static void end_tunnel(struct soc_websocket *websocket)
{
    if (websocket->tunnel == NULL)
        return;
    soc_descriptor_close(websocket->watch);
    soc_server_tunnel_close(websocket->tunnel);
    websocket->watch = NULL;
    websocket->tunnel = NULL;
}

/* Sends what can be sent, asks for more when nothing is left, and watches for the rest. */
static void proceed(struct soc_websocket *websocket)
{
    wslay_event_context_ptr wslay = websocket->wslay;
    websocket->is_inside = true;
    for (;;) {
        if (wslay_event_want_write(wslay) && wslay_event_send(wslay) != 0)
            websocket->is_broken = true;
        if (websocket->is_broken || wslay_event_want_write(wslay) ||
            !wslay_event_get_write_enabled(wslay))
            break;
        websocket->drained(websocket->user);
        if (!wslay_event_want_write(wslay))
            break;
    }
    websocket->is_inside = false;
    bool wants_write = wslay_event_want_write(wslay);
    if (websocket->is_broken || (!wslay_event_want_read(wslay) && !wants_write))
        end_tunnel(websocket);
    else
        soc_descriptor_set(websocket->watch, wslay_event_want_read(wslay), wants_write);
}

static void on_ready(void *user, int socket, bool can_read, bool can_write)
{
    struct soc_websocket *websocket = user;
    (void)socket, (void)can_write;
    if (can_read && wslay_event_want_read(websocket->wslay) &&
        wslay_event_recv(websocket->wslay) != 0)
        websocket->is_broken = true;
    proceed(websocket);
}

static void on_opened(void *user, struct soc_server_tunnel *tunnel, int socket,
                      struct soc_slice early)
{
    struct soc_websocket *websocket = user;
    websocket->tunnel = tunnel;
    websocket->socket = socket;
    soc_buf_put_slice(&websocket->early, early);
    websocket->watch =
        soc_descriptor_open(websocket->loop, "websocket", socket, on_ready, websocket);
    on_ready(websocket, socket, early.length > 0, true);
}

/* Writes what proves that the server has understood the handshake. */
static void put_accept(char out[ACCEPT_BYTES + 1], struct soc_slice key)
{
    unsigned char text[KEY_BYTES + sizeof(MAGIC) - 1];
    unsigned char digest[SHA_DIGEST_LENGTH];
    unsigned int length = 0;
    memcpy(text, key.data, KEY_BYTES);
    memcpy(text + KEY_BYTES, MAGIC, sizeof(MAGIC) - 1);
    EVP_Digest(text, sizeof(text), digest, &length, EVP_sha1(), NULL);
    assert(length == SHA_DIGEST_LENGTH);
    EVP_EncodeBlock((unsigned char *)out, digest, SHA_DIGEST_LENGTH);
}

static bool header_is(struct soc_server_request *request, const char *name, const char *value)
{
    struct soc_slice header = soc_server_header(request, name);
    return header.length == strlen(value) && strncasecmp(header.data, value, header.length) == 0;
}

/* Answers with an error object, which is JSON. */
static void refuse(struct soc_server_request *request, int status, const char *error)
{
    const struct soc_server_header headers[] = {
        {"Content-Type", "application/json"},
        {"Cache-Control", "no-store"},
        {status == 503 ? "Retry-After" : "Sec-WebSocket-Version", status == 503 ? "1" : "13"},
        {status == 426 ? "Upgrade" : NULL, "websocket"},
        {NULL, NULL}};
    soc_server_respond(request, status, headers, soc_slice_text(error));
}

/* Answers a request that is no handshake and returns the status; 0: it is one. */
static int check_handshake(struct soc_server_request *request)
{
    struct soc_slice connection = soc_server_header(request, "Connection");
    if (!header_is(request, "Upgrade", "websocket") || connection.data == NULL ||
        strcasestr(connection.data, "upgrade") == NULL) {
        refuse(request, 426,
               "{\"error\":\"upgrade_required\",\"message\":\"a WebSocket handshake is "
               "expected here\"}\n");
        return 426;
    }
    if (!header_is(request, "Sec-WebSocket-Version", "13")) {
        refuse(request, 426,
               "{\"error\":\"upgrade_required\",\"message\":\"only WebSocket version 13 is "
               "supported\"}\n");
        return 426;
    }
    if (soc_server_header(request, "Sec-WebSocket-Key").length != KEY_BYTES ||
        !soc_slice_equal(soc_server_method(request), SOC_SLICE("GET"))) {
        refuse(request, 400,
               "{\"error\":\"invalid_argument\",\"message\":\"a WebSocket handshake is a GET "
               "with a key of 24 letters\",\"member\":\"Sec-WebSocket-Key\"}\n");
        return 400;
    }
    return 0;
}

struct soc_websocket *soc_websocket_open(struct soc_server_request *request, struct soc_loop *loop,
                                         void (*drained)(void *user), void *user, int *status)
{
    static const struct wslay_event_callbacks callbacks = {
        .recv_callback = on_receive, .send_callback = on_send, .on_msg_recv_callback = on_message};
    char accept[ACCEPT_BYTES + 1];
    *status = check_handshake(request);
    if (*status != 0)
        return NULL;
    *status = 101;
    put_accept(accept, soc_server_header(request, "Sec-WebSocket-Key"));
    const struct soc_server_header headers[] = {
        {"Upgrade", "websocket"}, {"Sec-WebSocket-Accept", accept}, {NULL, NULL}};
    struct soc_websocket *websocket = soc_alloc_zero(sizeof(*websocket));
    websocket->loop = loop;
    websocket->drained = drained;
    websocket->user = user;
    if (!soc_server_tunnel(request, headers, on_opened, websocket)) {
        free(websocket);
        *status = 503;
        refuse(request, 503,
               "{\"error\":\"too_many_streams\",\"message\":\"there are too many event streams; "
               "web.streams allows more\"}\n");
        return NULL;
    }
    int rc = wslay_event_context_server_init(&websocket->wslay, &callbacks, websocket);
    assert(rc == 0);
    (void)rc;
    wslay_event_config_set_max_recv_msg_length(websocket->wslay, 1024);
    return websocket;
}

void soc_websocket_free(struct soc_websocket *websocket)
{
    if (websocket == NULL)
        return;
    assert(websocket->tunnel == NULL);
    wslay_event_context_free(websocket->wslay);
    soc_buf_fini(&websocket->early);
    free(websocket);
}

void soc_websocket_put(struct soc_websocket *websocket, struct soc_slice text)
{
    struct wslay_event_msg message = {
        .opcode = WSLAY_TEXT_FRAME, .msg = (const uint8_t *)text.data, .msg_length = text.length};
    if (websocket->is_broken || wslay_event_get_close_sent(websocket->wslay))
        return;
    wslay_event_queue_msg(websocket->wslay, &message); /* refused after a close */
    if (websocket->tunnel != NULL && !websocket->is_inside)
        proceed(websocket);
}

size_t soc_websocket_held(const struct soc_websocket *websocket)
{
    return wslay_event_get_queued_msg_length(websocket->wslay) +
           wslay_event_get_queued_msg_count(websocket->wslay) * QUEUED_BYTES;
}

void soc_websocket_ping(struct soc_websocket *websocket, int64_t now_us)
{
    static const struct wslay_event_msg ping = {
        .opcode = WSLAY_PING, .msg = (const uint8_t *)"there?", .msg_length = 6};
    assert(now_us > 0);
    if (websocket->tunnel == NULL || websocket->is_inside || soc_websocket_held(websocket) > 0)
        return;
    if (websocket->pinged_us == 0) {
        websocket->pinged_us = now_us;
        wslay_event_queue_msg(websocket->wslay, &ping); /* refused after a close */
        proceed(websocket);
    } else if (now_us - websocket->pinged_us >= SOC_WEBSOCKET_SILENCE_US) {
        websocket->is_broken = true;
        end_tunnel(websocket);
    }
}

void soc_websocket_close(struct soc_websocket *websocket, enum soc_websocket_code code)
{
    wslay_event_queue_close(websocket->wslay, (uint16_t)code, NULL, 0);
    if (websocket->tunnel != NULL && !websocket->is_inside)
        proceed(websocket);
}

void soc_websocket_cut(struct soc_websocket *websocket)
{
    websocket->is_broken = true;
    end_tunnel(websocket);
}

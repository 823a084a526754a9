#include "net/websocket.h"

#include <unistd.h>

#include "check.h"
#include "server_client.h"

/* A server that makes every request a WebSocket. */
struct socket_world {
    struct soc_loop *loop;
    struct soc_server *server;
    struct soc_websocket *websocket;
    int drained;
    int gone;
    int status; /* of the last answer */
};

static void on_head(void *user, struct soc_server_request *request)
{
    (void)user, (void)request;
}

static void on_drained(void *user)
{
    struct socket_world *world = user;
    world->drained++;
}

static void on_body(void *user, struct soc_server_request *request)
{
    struct socket_world *world = user;
    world->websocket = soc_websocket_open(request, world->loop, on_drained, world, &world->status);
}

static void on_gone(void *user, struct soc_server_request *request)
{
    struct socket_world *world = user;
    (void)request;
    world->gone++;
    soc_websocket_free(world->websocket);
    world->websocket = NULL;
}

static void open_world(struct socket_world *world)
{
    struct soc_detail detail = {{0}};
    *world = (struct socket_world){.loop = soc_loop_new()};
    struct soc_server_options options = {
        .loop = world->loop, .streams_max = 1, .events = {on_head, on_body, on_gone, world}};
    CHECK_INT(soc_server_open(&world->server, &options, &detail), SOC_OK);
}

static void close_world(struct socket_world *world)
{
    if (world->websocket != NULL)
        soc_websocket_cut(world->websocket);
    soc_server_close(world->server);
    CHECK(world->websocket == NULL);
    soc_loop_free(world->loop);
}

#define HANDSHAKE                                                                                  \
    "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\n"                   \
    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"                                          \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

/* Connects and shakes hands; `in` then holds the answer. */
static int shake_hands(struct socket_world *world, struct soc_buf *in)
{
    int client = connect_client(world->server);
    client_send(client, HANDSHAKE);
    CHECK(client_read(world->loop, client, "\r\n\r\n", in));
    CHECK(strstr(soc_buf_text(in), "HTTP/1.1 101") != NULL);
    return client;
}

static void a_handshake_is_answered_as_the_rfc_shows(void)
{
    struct socket_world world;
    struct soc_buf in = {0};
    open_world(&world);
    int client = shake_hands(&world, &in);
    CHECK(strstr(soc_buf_text(&in), "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") != NULL);
    CHECK(world.drained > 0);
    close(client);
    soc_buf_fini(&in);
    close_world(&world);
}

static void what_is_put_arrives_as_text_frames(void)
{
    struct socket_world world;
    struct soc_buf in = {0};
    open_world(&world);
    int client = shake_hands(&world, &in);
    soc_websocket_put(world.websocket, SOC_SLICE("{\"type\":1}"));
    soc_websocket_put(world.websocket, SOC_SLICE("second"));
    CHECK(client_read(world.loop, client, "\x81\x0a{\"type\":1}\x81\x06second", &in));
    CHECK_INT(soc_websocket_held(world.websocket), 0);
    close(client);
    soc_buf_fini(&in);
    close_world(&world);
}

/* A masked frame with a mask of `m`s. */
static void send_frame(int client, char head, const char *text)
{
    struct soc_buf frame = {0};
    soc_buf_put_byte(&frame, head);
    soc_buf_put_byte(&frame, (char)(0x80 | strlen(text)));
    soc_buf_put_text(&frame, "mmmm");
    for (; *text != '\0'; text++)
        soc_buf_put_byte(&frame, (char)(*text ^ 'm'));
    ssize_t sent = send(client, frame.data, frame.length, MSG_NOSIGNAL);
    CHECK_INT(sent, frame.length);
    soc_buf_fini(&frame);
}

static void a_ping_is_answered_and_a_close_too(void)
{
    struct socket_world world;
    struct soc_buf in = {0};
    open_world(&world);
    int client = shake_hands(&world, &in);
    send_frame(client, (char)0x89, "hi");
    CHECK(client_read(world.loop, client, "\x8a\x02hi", &in));
    send_frame(client, (char)0x88, "\x03\xe8");
    CHECK(client_read(world.loop, client, "\x88\x02\x03\xe8", &in));
    CHECK(client_read(world.loop, client, NULL, &in));
    for (int i = 0; i < ROUNDS_MAX && world.gone == 0; i++)
        soc_loop_poll(world.loop, 5);
    CHECK_INT(world.gone, 1);
    CHECK_INT(soc_server_streams(world.server), 0);
    close(client);
    soc_buf_fini(&in);
    close_world(&world);
}

static void a_client_that_talks_is_closed_with_1008(void)
{
    struct socket_world world;
    struct soc_buf in = {0};
    open_world(&world);
    int client = shake_hands(&world, &in);
    send_frame(client, (char)0x81, "hello");
    CHECK(client_read(world.loop, client, "\x03\xf0push only", &in));
    close(client);
    soc_buf_fini(&in);
    close_world(&world);
}

static void a_client_that_vanishes_is_noticed(void)
{
    struct socket_world world;
    struct soc_buf in = {0};
    open_world(&world);
    int client = shake_hands(&world, &in);
    close(client);
    for (int i = 0; i < ROUNDS_MAX && world.gone == 0; i++)
        soc_loop_poll(world.loop, 5);
    CHECK_INT(world.gone, 1);
    soc_buf_fini(&in);
    close_world(&world);
}

static void a_client_that_answers_no_ping_is_cut_off(void)
{
    const int64_t minute_us = SOC_WEBSOCKET_SILENCE_US;
    struct socket_world world;
    struct soc_buf in = {0};
    open_world(&world);
    int client = shake_hands(&world, &in);
    in.length = 0;
    soc_websocket_ping(world.websocket, 1);
    CHECK(client_read(world.loop, client, "\x89\x06there?", &in));
    soc_websocket_ping(world.websocket, minute_us);
    send_frame(client, (char)0x8a, "");
    send_frame(client, (char)0x89, "hi");
    CHECK(client_read(world.loop, client, "\x8a\x02hi", &in));
    soc_websocket_ping(world.websocket, 2 * minute_us);
    for (int i = 0; i < 5; i++)
        soc_loop_poll(world.loop, 1);
    CHECK_INT(world.gone, 0); /* it has answered the first */
    soc_websocket_ping(world.websocket, 3 * minute_us - 1);
    CHECK_INT(world.gone, 0);
    soc_websocket_ping(world.websocket, 3 * minute_us);
    for (int i = 0; i < ROUNDS_MAX && world.gone == 0; i++)
        soc_loop_poll(world.loop, 5);
    CHECK_INT(world.gone, 1);
    close(client);
    soc_buf_fini(&in);
    close_world(&world);
}

static void other_requests_are_refused(void)
{
    static const char *const requests[][2] = {
        {"GET /ws HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 426"},
        {"GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
         "Sec-WebSocket-Version: 8\r\n\r\n",
         "HTTP/1.1 426"},
        {"GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
         "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n\r\n",
         "HTTP/1.1 400"},
    };
    struct socket_world world;
    struct soc_buf in = {0};
    open_world(&world);
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        int client = connect_client(world.server);
        in.length = 0;
        client_send(client, requests[i][0]);
        CHECK(client_read(world.loop, client, "\"}\n", &in));
        CHECK(strstr(soc_buf_text(&in), requests[i][1]) != NULL);
        CHECK_INT(world.status, atoi(requests[i][1] + strlen("HTTP/1.1 ")));
        close(client);
    }
    in.length = 0;
    int first = shake_hands(&world, &in);
    struct soc_websocket *kept = world.websocket;
    int second = connect_client(world.server);
    in.length = 0;
    client_send(second, HANDSHAKE);
    CHECK(client_read(world.loop, second, "\"error\":\"too_many_streams\"", &in));
    CHECK(strstr(soc_buf_text(&in), "HTTP/1.1 503") != NULL);
    CHECK(strstr(soc_buf_text(&in), "Retry-After: 1\r\n") != NULL);
    CHECK_INT(world.status, 503);
    close(second);
    for (int i = 0; i < ROUNDS_MAX && world.gone < 4; i++)
        soc_loop_poll(world.loop, 5);
    world.websocket = kept;
    close(first);
    soc_buf_fini(&in);
    close_world(&world);
}

int main(void)
{
    RUN(a_handshake_is_answered_as_the_rfc_shows);
    RUN(what_is_put_arrives_as_text_frames);
    RUN(a_ping_is_answered_and_a_close_too);
    RUN(a_client_that_talks_is_closed_with_1008);
    RUN(a_client_that_vanishes_is_noticed);
    RUN(a_client_that_answers_no_ping_is_cut_off);
    RUN(other_requests_are_refused);
    return check_done();
}

#include "stream_server.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <uv.h>

#include "measure.h"

#define BACKLOG 4096

static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                           "Connection: close\r\n\r\n";
static const char piece[] =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"some words that \"}}]}\n\n";
static const char tail[] =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],"
    "\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":60}}\n\ndata: [DONE]\n\n";

struct server {
    uv_tcp_t listener;
    int64_t count;        /* that must have asked */
    int64_t asked;        /* since all streamed the last time */
    struct peer *waiting; /* who asked */
};

struct peer {
    uv_tcp_t tcp;
    struct server *server;
    struct peer *next; /* of those that wait */
    bool has_asked;
    uv_timer_t timer;
    int pieces;
    int open_handles;
    char bytes[4096]; /* what comes is not looked at */
};

static void let_go(uv_handle_t *handle)
{
    struct peer *peer = handle->data;
    if (--peer->open_handles == 0)
        free(peer);
}

static void end_peer(struct peer *peer)
{
    if (uv_is_closing((uv_handle_t *)&peer->tcp))
        return;
    uv_close((uv_handle_t *)&peer->tcp, let_go);
    uv_close((uv_handle_t *)&peer->timer, let_go);
}

static void say(struct peer *peer, const char *text, size_t length)
{
    uv_buf_t buf = uv_buf_init((char *)(uintptr_t)text, (unsigned)length);
    uv_try_write((uv_stream_t *)&peer->tcp, &buf, 1);
}

static void go_on(uv_timer_t *timer)
{
    struct peer *peer = timer->data;
    if (peer->pieces++ < STREAM_PIECES) {
        say(peer, piece, sizeof(piece) - 1);
        return;
    }
    say(peer, tail, sizeof(tail) - 1);
    end_peer(peer);
}

static void give_room(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    struct peer *peer = handle->data;
    (void)size;
    *buf = uv_buf_init(peer->bytes, sizeof(peer->bytes));
}

static void wait_for_all(struct peer *peer)
{
    struct server *server = peer->server;
    peer->has_asked = true;
    peer->next = server->waiting;
    server->waiting = peer;
    if (++server->asked < server->count)
        return;
    for (; server->waiting != NULL; server->waiting = server->waiting->next) {
        say(server->waiting, head, sizeof(head) - 1);
        uv_timer_start(&server->waiting->timer, go_on, STREAM_PAUSE_MS, STREAM_PAUSE_MS);
    }
    server->asked = 0;
}

static void take(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    struct peer *peer = stream->data;
    (void)buf;
    if (count < 0) {
        end_peer(peer);
    } else if (count > 0 && !peer->has_asked) {
        wait_for_all(peer);
    }
}

static void accept_peer(uv_stream_t *listener, int status)
{
    (void)status;
    struct peer *peer = calloc(1, sizeof(*peer));
    measure_require(peer != NULL, "no memory");
    peer->server = listener->data;
    peer->open_handles = 2;
    uv_tcp_init(listener->loop, &peer->tcp);
    uv_timer_init(listener->loop, &peer->timer);
    peer->tcp.data = peer->timer.data = peer;
    uv_accept(listener, (uv_stream_t *)&peer->tcp);
    uv_read_start((uv_stream_t *)&peer->tcp, give_room, take);
}

static void serve(int socket, int64_t count)
{
    uv_loop_t loop;
    struct server server = {.count = count};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&loop);
    uv_tcp_init(&loop, &server.listener);
    server.listener.data = &server;
    uv_tcp_open(&server.listener, socket);
    uv_listen((uv_stream_t *)&server.listener, BACKLOG, accept_peer);
    uv_run(&loop, UV_RUN_DEFAULT);
    _exit(0);
}

pid_t stream_server_start(int *port, int64_t count)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    measure_require(bind(listener, (struct sockaddr *)&address, length) == 0, "bind failed");
    measure_require(listen(listener, BACKLOG) == 0, "listen failed");
    getsockname(listener, (struct sockaddr *)&address, &length);
    *port = ntohs(address.sin_port);
    pid_t pid = fork();
    measure_require(pid >= 0, "fork failed");
    if (pid == 0)
        serve(listener, count);
    close(listener);
    return pid;
}

/* Server daemon: the server as a whole, around libmicrohttpd (server_state.h). */
#include <assert.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/server_state.h"

#define POOL_BYTES (32u << 10) /* of one connection: its head, and what MHD needs */

static void on_timer(void *user)
{
    soc_server_run(user);
}

static void on_wake(void *user)
{
    struct soc_server *server = user;
    if (server->is_run_due)
        soc_server_run(server);
}

static void on_poll(void *user, int socket, bool can_read, bool can_write)
{
    (void)socket, (void)can_read, (void)can_write;
    soc_server_run(user);
}

/* Tells a client, without reading what it wants, that there is no room. */
static void turn_away(int socket)
{
    static const char body[] = "{\"error\":\"too_many_connections\",\"message\":\"there are too "
                               "many connections; web.connections allows more\"}\n";
    char text[400];
    int length = snprintf(text, sizeof(text),
                          "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
                          "Retry-After: 1\r\nContent-Type: application/json\r\n"
                          "Content-Length: %zu\r\n\r\n%s",
                          sizeof(body) - 1, body);
    assert(length > 0 && (size_t)length < sizeof(text));
    ssize_t sent = send(socket, text, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent;
    close(socket);
}

static void admit(struct soc_server *server, int socket, const struct sockaddr *address,
                  socklen_t length)
{
    int one = 1;
    if (server->connection_count >= server->options.connections_max) {
        /* A connection that was cut leaves when libmicrohttpd has read its end. */
        bool has_room = soc_server_make_room(server);
        soc_server_run(server);
        if (!has_room || server->connection_count >= server->options.connections_max) {
            turn_away(socket);
            return;
        }
    }
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (MHD_add_connection(server->mhd, socket, address, length) != MHD_YES)
        soc_server_run(server); /* it has closed the socket */
}

static void on_socket(void *user, int socket, const struct sockaddr *address, socklen_t length)
{
    struct soc_server *server = user;
    admit(server, socket, address, length);
    soc_server_run_soon(server);
}

static void on_shortage(void *user)
{
    soc_server_make_room(user);
}

/* libmicrohttpd's own complaints are about clients; nobody needs to see them. */
static void ignore_log(void *user, const char *format, va_list arguments)
{
    (void)user, (void)format, (void)arguments;
}

static struct MHD_Daemon *start_daemon(struct soc_server *server)
{
    const struct soc_server_options *options = &server->options;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)options->tls_cert},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)options->tls_key},
        {MHD_OPTION_END, 0, NULL},
    };
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE |
                     MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG;
    if (options->tls_cert != NULL)
        flags |= MHD_USE_TLS;
    else
        tls[0] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    /* One more than the limit: a connection that was cut may still be there. */
    return MHD_start_daemon(
        flags, 0, NULL, NULL, soc_server_on_access, server, MHD_OPTION_EXTERNAL_LOGGER, ignore_log,
        NULL, MHD_OPTION_NOTIFY_CONNECTION, soc_server_on_connection, server,
        MHD_OPTION_NOTIFY_COMPLETED, soc_server_on_completed, server, MHD_OPTION_URI_LOG_CALLBACK,
        soc_server_on_line, server, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)options->connections_max + 1,
        MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
}

static void set_defaults(struct soc_server_options *options)
{
    if (options->address == NULL)
        options->address = "127.0.0.1";
    if (options->connections_max == 0)
        options->connections_max = SOC_SERVER_CONNECTIONS;
    if (options->streams_max == 0)
        options->streams_max = SOC_SERVER_STREAMS;
    if (options->body_bytes_max == 0)
        options->body_bytes_max = SOC_SERVER_BODY_BYTES;
    if (options->head_ms == 0)
        options->head_ms = SOC_SERVER_HEAD_MS;
    if (options->body_ms == 0)
        options->body_ms = SOC_SERVER_BODY_MS;
    if (options->idle_ms == 0)
        options->idle_ms = SOC_SERVER_IDLE_MS;
}

int soc_server_open(struct soc_server **out, const struct soc_server_options *options,
                    struct soc_detail *detail)
{
    assert(options->events.head != NULL && options->events.body != NULL);
    assert(options->events.gone != NULL && options->loop != NULL);
    assert((options->tls_cert == NULL) == (options->tls_key == NULL));
    struct soc_server *server = soc_alloc_zero(sizeof(*server));
    server->options = *options;
    set_defaults(&server->options);
    const struct soc_listener_events events = {on_socket, on_shortage, server};
    int rc = soc_listener_open(&server->listener, options->loop, server->options.address,
                               options->port, &events, detail);
    if (rc >= 0 && (server->mhd = start_daemon(server)) == NULL) {
        soc_listener_close(server->listener);
        rc = options->tls_cert != NULL
                 ? soc_fail(
                       detail, SOC_EACCESS,
                       "web.tls: cert and key must be PEM, belong together and need no password")
                 : soc_fail(detail, SOC_EIO, "the HTTP server cannot start");
    }
    if (rc < 0) {
        free(server);
        return rc;
    }
    server->options.tls_cert = server->options.tls_key = NULL; /* libmicrohttpd has copies */
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->mhd, MHD_DAEMON_INFO_EPOLL_FD);
    server->waker = soc_loop_add_waker(options->loop, on_wake, server);
    server->sweeper = soc_alarm_open(options->loop, "http server", soc_server_sweep, server);
    server->timer = soc_alarm_open(options->loop, "http server", on_timer, server);
    server->polling =
        soc_descriptor_open(options->loop, "http server", info->epoll_fd, on_poll, server);
    soc_descriptor_set(server->polling, true, false);
    server->port = soc_listener_port(server->listener);
    *out = server;
    return SOC_OK;
}

int soc_server_port(const struct soc_server *server)
{
    return server->port;
}

int soc_server_connections(const struct soc_server *server)
{
    return server->connection_count;
}

int soc_server_streams(const struct soc_server *server)
{
    return server->stream_count;
}

void soc_server_stop(struct soc_server *server)
{
    if (server->is_stopping)
        return;
    server->is_stopping = true;
    soc_listener_close(server->listener);
    server->listener = NULL;
}

void soc_server_close(struct soc_server *server)
{
    if (server == NULL)
        return;
    soc_server_stop(server);
    server->is_closing = true;
    for (struct soc_server_connection *c = server->oldest; c != NULL; c = c->next) {
        if (c->request != NULL)
            soc_server_resume(c->request);
        soc_server_cut(c);
    }
    MHD_run(server->mhd);
    soc_descriptor_close(server->polling);
    MHD_stop_daemon(server->mhd);
    assert(server->connection_count == 0);
    soc_loop_remove_waker(server->options.loop, server->waker);
    soc_alarm_close(server->sweeper);
    soc_alarm_close(server->timer);
    free(server);
}

#include "net/server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/clock.h"
#include "loop/alarm.h"
#include "loop/descriptor.h"
#include "net/head.h"
#include "net/listener.h"

#define SWEEP_MS          500          /* how often deadlines are compared */
#define POOL_BYTES        (32u << 10)  /* of one connection: its head, and what MHD needs */
#define SURPLUS_BYTES_MAX (256u << 10) /* read and dropped of a body that is too long */

/* What a connection is doing; each has its deadline. */
enum phase {
    PHASE_HEAD, /* a request is arriving, or the first one is awaited */
    PHASE_BODY,
    PHASE_WORK, /* the answer is being made or sent: no deadline */
    PHASE_IDLE,
};

struct connection {
    struct soc_server *server;
    struct connection *next; /* in order of age, oldest first */
    struct connection *previous;
    struct soc_server_request *request; /* NULL: between two */
    enum phase phase;
    int64_t since_us; /* of the phase */
    int socket;
    bool is_trusted;
    bool is_cut; /* shut down; libmicrohttpd will notice */
    char peer[INET6_ADDRSTRLEN];
};

/* How far a request has come. */
enum stage {
    STAGE_HEAD,
    STAGE_BODY,
    STAGE_WORK,      /* the body is complete; an answer is awaited */
    STAGE_ANSWERED,  /* `response` is to be queued */
    STAGE_QUEUED,    /* it is libmicrohttpd's now */
    STAGE_STREAMING, /* the same, and the stream is open */
};

struct soc_server_request {
    struct connection *connection;
    struct MHD_Connection *mhd;
    enum stage stage;
    struct soc_buf target; /* path and query as sent; NUL-terminated */
    size_t path_length;
    const char *method; /* lent by libmicrohttpd */
    struct soc_head head;
    struct soc_buf body;
    size_t body_bytes_max;
    size_t surplus_bytes;
    void *user;
    bool is_known;  /* `head` was called, so `gone` has to be */
    bool is_inside; /* the access handler is running: it queues by itself */
    bool is_suspended;
    bool closes;
    bool is_watch_due;
    bool is_pipelined; /* the client has sent more, so it cannot be seen to leave */

    struct MHD_Response *response; /* until it is queued */
    int status;

    /* stream */
    struct soc_buf stream;
    size_t stream_sent; /* bytes of `stream` that have left */
    void (*drained)(void *user);
    void *drained_user;
    bool is_stream; /* or a tunnel; it counts as one */
    bool is_ended;

    /* tunnel */
    void (*opened)(void *user, struct soc_server_tunnel *tunnel, int socket,
                   struct soc_slice early);
    void *opened_user;

    struct soc_descriptor *watch; /* of the socket while suspended, to see a client leave */
};

struct soc_server_tunnel {
    struct MHD_UpgradeResponseHandle *handle;
    struct connection *connection;
};

struct soc_server {
    struct soc_server_options options;
    struct MHD_Daemon *mhd;
    struct soc_listener *listener; /* NULL: stopped */
    int port;
    struct soc_descriptor *polling; /* libmicrohttpd's epoll descriptor */
    struct soc_alarm *sweeper;      /* set while there are connections */
    struct soc_alarm *timer;        /* libmicrohttpd's own time-outs */
    struct connection *oldest;
    struct connection *newest;
    int connection_count;
    int stream_count;
    bool is_stopping;
    bool is_closing;
    bool is_sweeping;
    int waker;
    bool is_run_due; /* run_soon was called */
};

/* Has libmicrohttpd run soon: it does not notice what changes between its runs. */
static void run_soon(struct soc_server *server)
{
    if (!server->is_run_due)
        soc_loop_wake(server->options.loop);
    server->is_run_due = true;
}

static void run(struct soc_server *server)
{
    MHD_UNSIGNED_LONG_LONG wait_ms;
    server->is_run_due = false;
    MHD_run(server->mhd);
    if (MHD_get_timeout(server->mhd, &wait_ms) != MHD_YES)
        soc_alarm_set(server->timer, -1);
    else if (wait_ms > 0)
        soc_alarm_set(server->timer, wait_ms < INT32_MAX ? (int64_t)wait_ms : INT32_MAX);
    else
        run_soon(server); /* an alarm takes a millisecond at least, for every answer */
}

static void on_timer(void *user)
{
    run(user);
}

static void on_wake(void *user)
{
    struct soc_server *server = user;
    if (server->is_run_due)
        run(server);
}

static void on_poll(void *user, int socket, bool can_read, bool can_write)
{
    (void)socket, (void)can_read, (void)can_write;
    run(user);
}

static void enter_phase(struct connection *connection, enum phase phase)
{
    connection->phase = phase;
    connection->since_us = soc_clock_monotonic_us();
}

/* Ends a connection from our side: libmicrohttpd reads its end and closes it. */
static void cut(struct connection *connection)
{
    if (connection->is_cut)
        return;
    connection->is_cut = true;
    shutdown(connection->socket, SHUT_RDWR);
}

static int64_t phase_ms_max(const struct soc_server *server, enum phase phase)
{
    switch (phase) {
    case PHASE_HEAD:
        return server->options.head_ms;
    case PHASE_BODY:
        return server->options.body_ms;
    case PHASE_IDLE:
        return server->options.idle_ms;
    case PHASE_WORK:
        break;
    }
    return INT64_MAX / 1000;
}

static void drop_watch(struct soc_server_request *request)
{
    if (request->watch != NULL)
        soc_descriptor_close(request->watch);
    request->watch = NULL;
}

static void on_watch(void *user, int socket, bool can_read, bool can_write)
{
    struct soc_server_request *request = user;
    char byte;
    (void)can_write;
    if (!can_read)
        return;
    ssize_t got = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0) {
        drop_watch(request); /* the next request: it waits its turn */
        request->is_pipelined = true;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        drop_watch(request);
        request->connection->is_cut = true;
        request->is_suspended = false;
        MHD_resume_connection(request->mhd);
        run_soon(request->connection->server);
    }
}

/* Watches the socket of a request that waits: libmicrohttpd does not see its client leave.
 * Most do not wait long enough for it to be worth the calls. */
static void watch(struct soc_server_request *request)
{
    if (!request->is_suspended || request->watch != NULL || request->is_pipelined)
        return;
    if (!request->is_watch_due) {
        request->is_watch_due = true; /* at the next sweep */
        return;
    }
    request->watch = soc_descriptor_open(request->connection->server->options.loop, "http server",
                                         request->connection->socket, on_watch, request);
    soc_descriptor_set(request->watch, true, false);
}

static void sweep(void *user)
{
    struct soc_server *server = user;
    int64_t now_us = soc_clock_monotonic_us();
    for (struct connection *c = server->oldest; c != NULL; c = c->next) {
        if (now_us - c->since_us >= phase_ms_max(server, c->phase) * 1000)
            cut(c);
        else if (c->request != NULL)
            watch(c->request);
    }
    server->is_sweeping = server->oldest != NULL;
    if (server->is_sweeping)
        soc_alarm_set(server->sweeper, SWEEP_MS);
}

static void link_connection(struct connection *connection)
{
    struct soc_server *server = connection->server;
    connection->previous = server->newest;
    *(server->newest == NULL ? &server->oldest : &server->newest->next) = connection;
    server->newest = connection;
    server->connection_count++;
    if (!server->is_sweeping)
        soc_alarm_set(server->sweeper, SWEEP_MS);
    server->is_sweeping = true;
}

static void unlink_connection(struct connection *connection)
{
    struct soc_server *server = connection->server;
    assert(server->connection_count > 0);
    *(connection->previous == NULL ? &server->oldest : &connection->previous->next) =
        connection->next;
    *(connection->next == NULL ? &server->newest : &connection->next->previous) =
        connection->previous;
    server->connection_count--;
}

/* libmicrohttpd: a connection begins or ends. */
static void on_connection(void *user, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct soc_server *server = user;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        struct connection *connection = *context;
        unlink_connection(connection);
        free(connection);
        *context = NULL;
        return;
    }
    struct connection *connection = soc_alloc_zero(sizeof(*connection));
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    connection->server = server;
    connection->socket = info->connect_fd;
    info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info->client_addr;
    if (address->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr,
                  connection->peer, sizeof(connection->peer));
    else
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr,
                  connection->peer, sizeof(connection->peer));
    enter_phase(connection, PHASE_HEAD);
    link_connection(connection);
    *context = connection;
}

static struct connection *connection_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    assert(info != NULL && info->socket_context != NULL);
    return info->socket_context;
}

/* libmicrohttpd: the request line is there. Returns the request. */
static void *on_line(void *user, const char *uri, struct MHD_Connection *mhd)
{
    struct soc_server_request *request = soc_alloc_zero(sizeof(*request));
    struct connection *connection = connection_of(mhd);
    size_t length = strlen(uri);
    (void)user;
    assert(connection->request == NULL);
    request->connection = connection;
    request->mhd = mhd;
    request->body_bytes_max = connection->server->options.body_bytes_max;
    soc_buf_put(&request->target, uri, length);
    soc_buf_put_byte(&request->target, '\0');
    request->path_length = strcspn(request->target.data, "?");
    connection->request = request;
    if (connection->phase == PHASE_IDLE)
        enter_phase(connection, PHASE_HEAD);
    return request;
}

/* libmicrohttpd: a request is over, in one way or another. */
static void on_completed(void *user, struct MHD_Connection *mhd, void **context,
                         enum MHD_RequestTerminationCode code)
{
    struct soc_server *server = user;
    struct soc_server_request *request = *context;
    (void)mhd, (void)code;
    if (request == NULL)
        return;
    *context = NULL;
    drop_watch(request);
    if (request->is_known)
        server->options.events.gone(server->options.events.user, request);
    if (request->is_stream)
        server->stream_count--;
    if (request->response != NULL)
        MHD_destroy_response(request->response);
    request->connection->request = NULL;
    enter_phase(request->connection, PHASE_IDLE);
    soc_buf_fini(&request->target);
    soc_buf_fini(&request->body);
    soc_buf_fini(&request->stream);
    free(request);
}

/* Answers on behalf of the server itself. */
static void refuse(struct soc_server_request *request, int status, const char *code,
                   const char *message)
{
    static const struct soc_server_header headers[] = {
        {"Content-Type", "application/json"}, {"Cache-Control", "no-store"}, {NULL, NULL}};
    struct soc_buf body = {0};
    soc_buf_put_byte(&body, '{');
    soc_json_put_text_member(&body, "error", soc_slice_text(code));
    soc_json_put_text_member(&body, "message", soc_slice_text(message));
    soc_buf_put_text(&body, "}\n");
    request->closes = true;
    soc_server_respond(request, status, headers, soc_buf_slice(&body));
    soc_buf_fini(&body);
}

static enum MHD_Result add_header(void *user, enum MHD_ValueKind kind, const char *name,
                                  size_t name_length, const char *value, size_t value_length)
{
    (void)kind;
    soc_head_add(user, soc_slice(name, name_length),
                 soc_slice(value == NULL ? "" : value, value_length));
    return MHD_YES;
}

/* Refuses what cannot be framed safely, or is beyond the limits. */
static void check_head(struct soc_server_request *request, const char *version)
{
    struct soc_slice target = soc_slice(request->target.data, request->target.length - 1);
    const char *sentence;
    bool is_old = strcmp(version, MHD_HTTP_VERSION_1_0) == 0;
    MHD_get_connection_values_n(request->mhd, MHD_HEADER_KIND, add_header, &request->head);
    int status = soc_head_check(&request->head, target, is_old, &sentence);
    if (status != 0)
        refuse(request, status, "invalid_request", sentence);
}

/* Refuses a body whose announced length is too large, before it is sent. */
static void check_length(struct soc_server_request *request)
{
    if (request->head.length > request->body_bytes_max)
        refuse(request, 413, "too_large", "the body is too large");
}

/* Gives the response to libmicrohttpd. */
static enum MHD_Result queue(struct soc_server_request *request)
{
    assert(request->response != NULL && request->stage == STAGE_ANSWERED);
    if (request->closes)
        MHD_add_response_header(request->response, "Connection", "close");
    enum MHD_Result result =
        MHD_queue_response(request->mhd, (unsigned)request->status, request->response);
    MHD_destroy_response(request->response);
    request->response = NULL;
    request->stage = request->is_stream && request->opened == NULL ? STAGE_STREAMING : STAGE_QUEUED;
    return result;
}

static void suspend(struct soc_server_request *request)
{
    assert(!request->is_suspended && request->watch == NULL);
    request->is_suspended = true;
    MHD_suspend_connection(request->mhd);
}

static void resume(struct soc_server_request *request)
{
    if (!request->is_suspended)
        return;
    drop_watch(request);
    request->is_suspended = false;
    MHD_resume_connection(request->mhd);
    run_soon(request->connection->server);
}

static enum MHD_Result take_body(struct soc_server_request *request, const char *data, size_t size)
{
    size_t room = request->body_bytes_max - request->body.length;
    size_t taken = size < room ? size : room;
    soc_buf_put(&request->body, data, taken);
    request->surplus_bytes += size - taken;
    return request->surplus_bytes <= SURPLUS_BYTES_MAX ? MHD_YES : MHD_NO;
}

static void begin_request(struct soc_server_request *request, const char *method,
                          const char *version)
{
    struct soc_server *server = request->connection->server;
    request->method = method;
    check_head(request, version);
    if (request->response == NULL && server->is_stopping)
        refuse(request, 503, "stopping", "the society is stopping");
    if (request->response != NULL)
        return;
    request->stage = STAGE_BODY;
    request->is_known = true;
    enter_phase(request->connection, PHASE_BODY);
    server->options.events.head(server->options.events.user, request);
    if (request->response == NULL)
        check_length(request);
}

/* libmicrohttpd: a request moves on. It is called after the head, for each piece of the
 * body, at its end, and after a resume. */
static enum MHD_Result on_access(void *user, struct MHD_Connection *mhd, const char *url,
                                 const char *method, const char *version, const char *data,
                                 size_t *size, void **context)
{
    struct soc_server *server = user;
    struct soc_server_request *request = *context;
    enum MHD_Result result = MHD_YES;
    (void)url, (void)mhd;
    if (request == NULL || server->is_closing || request->connection->is_cut)
        return MHD_NO;
    request->is_inside = true;
    if (request->stage == STAGE_HEAD) {
        begin_request(request, method, version);
        /* A response now would close the connection; without a body we are called again. */
        request->is_inside = false;
        if (!request->closes && request->head.length == 0)
            return MHD_YES;
    } else if (request->stage == STAGE_BODY && *size > 0) {
        result = take_body(request, data, *size);
        *size = 0;
    } else if (request->stage == STAGE_BODY) {
        request->stage = STAGE_WORK;
        enter_phase(request->connection, PHASE_WORK);
        if (request->surplus_bytes > 0)
            refuse(request, 413, "too_large", "the body is too large");
        else
            server->options.events.body(server->options.events.user, request);
    }
    request->is_inside = false;
    if (request->stage == STAGE_ANSWERED) {
        enter_phase(request->connection, PHASE_WORK);
        return queue(request);
    }
    if (request->stage == STAGE_WORK)
        suspend(request);
    return result;
}

/* The response is complete: has it queued, now or when libmicrohttpd asks again. */
static void answer(struct soc_server_request *request, int status)
{
    assert(request->stage < STAGE_ANSWERED && request->response != NULL);
    request->stage = STAGE_ANSWERED;
    request->status = status;
    if (!request->is_inside)
        resume(request);
}

static void add_headers(struct MHD_Response *response, const struct soc_server_header *headers)
{
    for (; headers != NULL && headers->name != NULL; headers++) {
        enum MHD_Result is_added = MHD_add_response_header(response, headers->name, headers->value);
        assert(is_added == MHD_YES);
        (void)is_added;
    }
}

void soc_server_respond(struct soc_server_request *request, int status,
                        const struct soc_server_header *headers, struct soc_slice body)
{
    request->response = MHD_create_response_from_buffer(
        body.length, (void *)(uintptr_t)(body.data == NULL ? "" : body.data),
        MHD_RESPMEM_MUST_COPY);
    add_headers(request->response, headers);
    answer(request, status);
}

/* libmicrohttpd: there is room for more of a stream. */
static ssize_t on_stream(void *user, uint64_t position, char *out, size_t room)
{
    struct soc_server_request *request = user;
    (void)position;
    if (request->connection->is_cut || request->connection->server->is_closing)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    request->is_inside = true;
    if (request->stream_sent == request->stream.length && !request->is_ended) {
        request->stream.length = request->stream_sent = 0;
        request->drained(request->drained_user);
    }
    request->is_inside = false;
    size_t left = request->stream.length - request->stream_sent;
    if (left == 0 && request->is_ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (left == 0) {
        suspend(request);
        return 0;
    }
    size_t taken = left < room ? left : room;
    memcpy(out, request->stream.data + request->stream_sent, taken);
    request->stream_sent += taken;
    return (ssize_t)taken;
}

static bool add_stream(struct soc_server_request *request)
{
    struct soc_server *server = request->connection->server;
    if (server->stream_count >= server->options.streams_max)
        return false;
    server->stream_count++;
    request->is_stream = true;
    return true;
}

bool soc_server_stream(struct soc_server_request *request, int status,
                       const struct soc_server_header *headers, void (*drained)(void *user),
                       void *user)
{
    if (!add_stream(request))
        return false;
    request->drained = drained;
    request->drained_user = user;
    request->response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, on_stream, request, NULL);
    add_headers(request->response, headers);
    answer(request, status);
    return true;
}

void soc_server_stream_append(struct soc_server_request *request, struct soc_slice bytes)
{
    assert(request->is_stream && !request->is_ended);
    if (request->connection->is_cut)
        return;
    if (request->stream_sent > 0 && request->stream_sent == request->stream.length)
        request->stream.length = request->stream_sent = 0;
    soc_buf_put_slice(&request->stream, bytes);
}

void soc_server_stream_flush(struct soc_server_request *request)
{
    if (request->stage == STAGE_STREAMING && !request->is_inside)
        resume(request);
}

void soc_server_stream_put(struct soc_server_request *request, struct soc_slice bytes)
{
    soc_server_stream_append(request, bytes);
    soc_server_stream_flush(request);
}

size_t soc_server_stream_held(const struct soc_server_request *request)
{
    return request->stream.length - request->stream_sent;
}

void soc_server_stream_end(struct soc_server_request *request)
{
    assert(request->is_stream);
    request->is_ended = true;
    soc_server_stream_flush(request);
}

/* libmicrohttpd: the connection is ours. */
static void on_upgrade(void *user, struct MHD_Connection *mhd, void *context, const char *early,
                       size_t early_length, MHD_socket socket,
                       struct MHD_UpgradeResponseHandle *handle)
{
    struct soc_server_request *request = user;
    struct soc_server_tunnel *tunnel = soc_alloc_zero(sizeof(*tunnel));
    (void)mhd, (void)context;
    tunnel->handle = handle;
    tunnel->connection = request->connection;
    request->opened(request->opened_user, tunnel, socket, soc_slice(early, early_length));
}

bool soc_server_tunnel(struct soc_server_request *request, const struct soc_server_header *headers,
                       void (*opened)(void *user, struct soc_server_tunnel *tunnel, int socket,
                                      struct soc_slice early),
                       void *user)
{
    if (!add_stream(request))
        return false;
    request->opened = opened;
    request->opened_user = user;
    request->response = MHD_create_response_for_upgrade(on_upgrade, request);
    add_headers(request->response, headers);
    answer(request, MHD_HTTP_SWITCHING_PROTOCOLS);
    return true;
}

void soc_server_tunnel_close(struct soc_server_tunnel *tunnel)
{
    MHD_upgrade_action(tunnel->handle, MHD_UPGRADE_ACTION_CLOSE);
    run_soon(tunnel->connection->server);
    free(tunnel);
}

/* Tells a client, without reading what it wants, that there is no room. */
static void turn_away(int socket)
{
    static const char text[] = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
                               "Retry-After: 1\r\nContent-Length: 0\r\n\r\n";
    ssize_t sent = send(socket, text, sizeof(text) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent;
    close(socket);
}

/* Makes the oldest connection that is not trusted give way; false if there is none. */
static bool make_room(struct soc_server *server)
{
    struct connection *found = server->oldest;
    while (found != NULL && (found->is_trusted || found->is_cut))
        found = found->next;
    if (found == NULL)
        return false;
    cut(found);
    return true;
}

static void admit(struct soc_server *server, int socket, const struct sockaddr *address,
                  socklen_t length)
{
    int one = 1;
    if (server->connection_count >= server->options.connections_max) {
        /* A connection that was cut leaves when libmicrohttpd has read its end. */
        bool has_room = make_room(server);
        run(server);
        if (!has_room || server->connection_count >= server->options.connections_max) {
            turn_away(socket);
            return;
        }
    }
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (MHD_add_connection(server->mhd, socket, address, length) != MHD_YES)
        run(server); /* it has closed the socket */
}

static void on_socket(void *user, int socket, const struct sockaddr *address, socklen_t length)
{
    struct soc_server *server = user;
    admit(server, socket, address, length);
    run_soon(server);
}

static void on_shortage(void *user)
{
    make_room(user);
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
    return MHD_start_daemon(flags, 0, NULL, NULL, on_access, server, MHD_OPTION_EXTERNAL_LOGGER,
                            ignore_log, NULL, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
                            MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,
                            MHD_OPTION_URI_LOG_CALLBACK, on_line, server,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES,
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
                 ? soc_fail(detail, SOC_EINVAL, "the certificate and its key cannot be used")
                 : soc_fail(detail, SOC_EIO, "the HTTP server cannot start");
    }
    if (rc < 0) {
        free(server);
        return rc;
    }
    server->options.tls_cert = server->options.tls_key = NULL; /* libmicrohttpd has copies */
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->mhd, MHD_DAEMON_INFO_EPOLL_FD);
    server->waker = soc_loop_add_waker(options->loop, on_wake, server);
    server->sweeper = soc_alarm_open(options->loop, "http server", sweep, server);
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
    for (struct connection *c = server->oldest; c != NULL; c = c->next) {
        if (c->request != NULL)
            resume(c->request);
        cut(c);
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

struct soc_slice soc_server_method(const struct soc_server_request *request)
{
    return soc_slice_text(request->method);
}

struct soc_slice soc_server_path(const struct soc_server_request *request)
{
    return soc_slice(request->target.data, request->path_length);
}

struct soc_slice soc_server_query(const struct soc_server_request *request)
{
    size_t begin = request->path_length + 1;
    if (begin >= request->target.length)
        return (struct soc_slice){0};
    return soc_slice(request->target.data + begin, request->target.length - 1 - begin);
}

struct soc_slice soc_server_body(const struct soc_server_request *request)
{
    return soc_buf_slice(&request->body);
}

struct soc_slice soc_server_header(const struct soc_server_request *request, const char *name)
{
    const char *value = MHD_lookup_connection_value(request->mhd, MHD_HEADER_KIND, name);
    return value == NULL ? (struct soc_slice){0} : soc_slice_text(value);
}

const char *soc_server_peer(const struct soc_server_request *request)
{
    return request->connection->peer;
}

bool soc_server_is_secure(const struct soc_server_request *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->mhd, MHD_CONNECTION_INFO_PROTOCOL);
    return info != NULL;
}

void soc_server_set_user(struct soc_server_request *request, void *user)
{
    request->user = user;
}

void *soc_server_user(const struct soc_server_request *request)
{
    return request->user;
}

void soc_server_limit_body(struct soc_server_request *request, size_t bytes_max)
{
    assert(request->stage == STAGE_BODY && request->body.length == 0);
    request->body_bytes_max = bytes_max;
}

void soc_server_trust(struct soc_server_request *request)
{
    request->connection->is_trusted = true;
}

void soc_server_close_after(struct soc_server_request *request)
{
    request->closes = true;
}

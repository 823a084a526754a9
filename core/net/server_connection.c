/* Server connection: connections with their deadlines (server_state.h). */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "env/clock.h"
#include "net/server_state.h"

#define SWEEP_MS 500 /* how often deadlines are compared */

void soc_server_run_soon(struct soc_server *server)
{
    if (!server->is_run_due)
        soc_loop_wake(server->options.loop);
    server->is_run_due = true;
}

void soc_server_run(struct soc_server *server)
{
    MHD_UNSIGNED_LONG_LONG wait_ms;
    server->is_run_due = false;
    MHD_run(server->mhd);
    if (MHD_get_timeout(server->mhd, &wait_ms) != MHD_YES)
        soc_alarm_set(server->timer, -1);
    else if (wait_ms > 0)
        soc_alarm_set(server->timer, wait_ms < INT32_MAX ? (int64_t)wait_ms : INT32_MAX);
    else
        soc_server_run_soon(server); /* an alarm takes a millisecond at least, for every answer */
}

void soc_server_enter_phase(struct soc_server_connection *connection, enum soc_server_phase phase)
{
    connection->phase = phase;
    connection->since_us = soc_clock_monotonic_us();
}

void soc_server_cut(struct soc_server_connection *connection)
{
    if (connection->is_cut)
        return;
    connection->is_cut = true;
    shutdown(connection->socket, SHUT_RDWR);
}

static int64_t phase_ms_max(const struct soc_server *server, enum soc_server_phase phase)
{
    switch (phase) {
    case SOC_SERVER_PHASE_HEAD:
        return server->options.head_ms;
    case SOC_SERVER_PHASE_BODY:
        return server->options.body_ms;
    case SOC_SERVER_PHASE_IDLE:
        return server->options.idle_ms;
    case SOC_SERVER_PHASE_WORK:
        break;
    }
    return INT64_MAX / 1000;
}

void soc_server_drop_watch(struct soc_server_request *request)
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
        soc_server_drop_watch(request); /* the next request: it waits its turn */
        request->is_pipelined = true;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        soc_server_drop_watch(request);
        request->connection->is_cut = true;
        request->is_suspended = false;
        MHD_resume_connection(request->mhd);
        soc_server_run_soon(request->connection->server);
    }
}

void soc_server_suspend(struct soc_server_request *request)
{
    assert(!request->is_suspended && request->watch == NULL);
    request->is_suspended = true;
    MHD_suspend_connection(request->mhd);
}

void soc_server_resume(struct soc_server_request *request)
{
    if (!request->is_suspended)
        return;
    soc_server_drop_watch(request);
    request->is_suspended = false;
    MHD_resume_connection(request->mhd);
    soc_server_run_soon(request->connection->server);
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

void soc_server_sweep(void *user)
{
    struct soc_server *server = user;
    int64_t now_us = soc_clock_monotonic_us();
    for (struct soc_server_connection *c = server->oldest; c != NULL; c = c->next) {
        if (now_us - c->since_us >= phase_ms_max(server, c->phase) * 1000)
            soc_server_cut(c);
        else if (c->request != NULL)
            watch(c->request);
    }
    server->is_sweeping = server->oldest != NULL;
    if (server->is_sweeping)
        soc_alarm_set(server->sweeper, SWEEP_MS);
}

static void link_connection(struct soc_server_connection *connection)
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

static void unlink_connection(struct soc_server_connection *connection)
{
    struct soc_server *server = connection->server;
    assert(server->connection_count > 0);
    *(connection->previous == NULL ? &server->oldest : &connection->previous->next) =
        connection->next;
    *(connection->next == NULL ? &server->newest : &connection->next->previous) =
        connection->previous;
    server->connection_count--;
}

void soc_server_on_connection(void *user, struct MHD_Connection *mhd, void **context,
                              enum MHD_ConnectionNotificationCode code)
{
    struct soc_server *server = user;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        struct soc_server_connection *connection = *context;
        unlink_connection(connection);
        free(connection);
        *context = NULL;
        return;
    }
    struct soc_server_connection *connection = soc_alloc_zero(sizeof(*connection));
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
    soc_server_enter_phase(connection, SOC_SERVER_PHASE_HEAD);
    link_connection(connection);
    *context = connection;
}

bool soc_server_make_room(struct soc_server *server)
{
    struct soc_server_connection *found = server->oldest;
    while (found != NULL && (found->is_trusted || found->is_cut))
        found = found->next;
    if (found == NULL)
        return false;
    soc_server_cut(found);
    return true;
}

/* Server stream: responses that grow, and tunnels (server_state.h). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/server_state.h"

#define KEPT_BYTES_MAX 16384 /* of a stream's buffer while it is empty */

/* All that was appended has left. A slow client has made the buffer large; it is not kept
 * for the time that nothing is held. */
static void empty_stream(struct soc_server_request *request)
{
    request->stream.length = request->stream_sent = 0;
    if (request->stream.capacity > KEPT_BYTES_MAX)
        soc_buf_fini(&request->stream);
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
        empty_stream(request);
        request->drained(request->drained_user);
    }
    request->is_inside = false;
    size_t left = request->stream.length - request->stream_sent;
    if (left == 0 && request->is_ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (left == 0) {
        soc_server_suspend(request);
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
    soc_server_add_headers(request->response, headers);
    soc_server_answer(request, status);
    return true;
}

size_t soc_server_stream_held(const struct soc_server_request *request)
{
    return request->stream.length - request->stream_sent;
}

void soc_server_stream_append(struct soc_server_request *request, struct soc_slice bytes)
{
    assert(request->is_stream && !request->is_ended);
    if (request->connection->is_cut)
        return;
    size_t left = soc_server_stream_held(request);
    if (request->stream_sent > 0 && request->stream_sent >= left) {
        /* A client that never quite catches up would keep all it ever got. */
        memmove(request->stream.data, request->stream.data + request->stream_sent, left);
        request->stream.length = left;
        request->stream_sent = 0;
    }
    soc_buf_put_slice(&request->stream, bytes);
}

void soc_server_stream_flush(struct soc_server_request *request)
{
    if (request->stage == SOC_SERVER_STAGE_STREAMING && !request->is_inside)
        soc_server_resume(request);
}

void soc_server_stream_put(struct soc_server_request *request, struct soc_slice bytes)
{
    soc_server_stream_append(request, bytes);
    soc_server_stream_flush(request);
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
    soc_server_add_headers(request->response, headers);
    soc_server_answer(request, MHD_HTTP_SWITCHING_PROTOCOLS);
    return true;
}

void soc_server_tunnel_close(struct soc_server_tunnel *tunnel)
{
    MHD_upgrade_action(tunnel->handle, MHD_UPGRADE_ACTION_CLOSE);
    soc_server_run_soon(tunnel->connection->server);
    free(tunnel);
}

/* Server request: the way of one request, from its line to its response (server_state.h). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "net/server_state.h"

#define SURPLUS_BYTES_MAX (256u << 10) /* read and dropped of a body that is too long */

static struct soc_server_connection *connection_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    assert(info != NULL && info->socket_context != NULL);
    return info->socket_context;
}

void *soc_server_on_line(void *user, const char *uri, struct MHD_Connection *mhd)
{
    struct soc_server_request *request = soc_alloc_zero(sizeof(*request));
    struct soc_server_connection *connection = connection_of(mhd);
    size_t length = strlen(uri);
    (void)user;
    assert(connection->request == NULL);
    request->connection = connection;
    request->mhd = mhd;
    request->body_bytes_max = connection->server->options.body_bytes_max;
    soc_buf_put(&request->target, uri, length);
    soc_buf_put_byte(&request->target, '\0');
    request->uri = uri;
    request->path_length = strcspn(request->target.data, "?");
    connection->request = request;
    if (connection->phase == SOC_SERVER_PHASE_IDLE)
        soc_server_enter_phase(connection, SOC_SERVER_PHASE_HEAD);
    return request;
}

void soc_server_on_completed(void *user, struct MHD_Connection *mhd, void **context,
                             enum MHD_RequestTerminationCode code)
{
    struct soc_server *server = user;
    struct soc_server_request *request = *context;
    (void)mhd, (void)code;
    if (request == NULL)
        return;
    *context = NULL;
    soc_server_drop_watch(request);
    if (request->is_known)
        server->options.events.gone(server->options.events.user, request);
    if (request->is_stream)
        server->stream_count--;
    if (request->response != NULL)
        MHD_destroy_response(request->response);
    request->connection->request = NULL;
    soc_server_enter_phase(request->connection, SOC_SERVER_PHASE_IDLE);
    soc_buf_fini(&request->target);
    soc_buf_fini(&request->body);
    soc_buf_fini(&request->stream);
    free(request);
}

void soc_server_answer(struct soc_server_request *request, int status)
{
    assert(request->stage < SOC_SERVER_STAGE_ANSWERED && request->response != NULL);
    request->stage = SOC_SERVER_STAGE_ANSWERED;
    request->status = status;
    if (!request->is_inside)
        soc_server_resume(request);
}

void soc_server_add_headers(struct MHD_Response *response, const struct soc_server_header *headers)
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
    soc_server_add_headers(request->response, headers);
    soc_server_answer(request, status);
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
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    struct soc_slice received = soc_slice(request->uri, target.length);
    soc_head_begin(&request->head, soc_slice_text(request->method), received,
                   soc_slice_text(version));
    MHD_get_connection_values_n(request->mhd, MHD_HEADER_KIND, add_header, &request->head);
    soc_head_end(&request->head, request->method, info->header_size);
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
    assert(request->response != NULL && request->stage == SOC_SERVER_STAGE_ANSWERED);
    if (request->closes)
        MHD_add_response_header(request->response, "Connection", "close");
    enum MHD_Result result =
        MHD_queue_response(request->mhd, (unsigned)request->status, request->response);
    MHD_destroy_response(request->response);
    request->response = NULL;
    request->stage = request->is_stream && request->opened == NULL ? SOC_SERVER_STAGE_STREAMING
                                                                   : SOC_SERVER_STAGE_QUEUED;
    return result;
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
    request->stage = SOC_SERVER_STAGE_BODY;
    request->is_known = true;
    soc_server_enter_phase(request->connection, SOC_SERVER_PHASE_BODY);
    server->options.events.head(server->options.events.user, request);
    if (request->response == NULL)
        check_length(request);
}

enum MHD_Result soc_server_on_access(void *user, struct MHD_Connection *mhd, const char *url,
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
    if (request->stage == SOC_SERVER_STAGE_HEAD) {
        begin_request(request, method, version);
        /* A response now would close the connection; without a body we are called again. */
        request->is_inside = false;
        if (!request->closes && request->head.length == 0)
            return MHD_YES;
    } else if (request->stage == SOC_SERVER_STAGE_BODY && *size > 0) {
        result = take_body(request, data, *size);
        *size = 0;
    } else if (request->stage == SOC_SERVER_STAGE_BODY) {
        request->stage = SOC_SERVER_STAGE_WORK;
        soc_server_enter_phase(request->connection, SOC_SERVER_PHASE_WORK);
        if (request->surplus_bytes > 0)
            refuse(request, 413, "too_large", "the body is too large");
        else
            server->options.events.body(server->options.events.user, request);
    }
    request->is_inside = false;
    if (request->stage == SOC_SERVER_STAGE_ANSWERED) {
        soc_server_enter_phase(request->connection, SOC_SERVER_PHASE_WORK);
        return queue(request);
    }
    if (request->stage == SOC_SERVER_STAGE_WORK)
        soc_server_suspend(request);
    return result;
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
    assert(request->stage == SOC_SERVER_STAGE_BODY && request->body.length == 0);
    request->body_bytes_max = bytes_max;
}

void soc_server_trust(struct soc_server_request *request)
{
    request->connection->is_trusted = true;
}

/* Covers: core/loop/descriptor.c, core/loop/alarm.c */
#include "net/http.h"

#include <assert.h>
#include <signal.h>

#include <uv.h>

#include "base/buf.h"
#include "check.h"
#include "env/clock.h"

/* A server on loopback, on the loop of the client: the path selects the response. It
 * keeps what it received and counts connections. */
struct http_server {
    uv_tcp_t listener;
    struct soc_buf received; /* of the last request, whole */
    int connections;
    int requests;
    int port;
};

struct http_peer {
    uv_tcp_t tcp;
    uv_timer_t timer;
    struct http_server *server;
    struct soc_buf in;
    int step;
    bool is_slow;
    int handles; /* still open of the two */
};

/* The response to a path; of a slow one, each line of `pieces` is a piece. */
struct http_answer {
    const char *path;
    const char *text;
    bool closes;
};

static const struct http_answer http_server_answers[] = {
    {"/hello", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Kind:  Plain \r\n\r\nhello", false},
    {"/mirror", "", false}, /* echoes the request */
    {"/many", "HTTP/1.1 429 Too Many\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\n{}", false},
    {"/moved", "HTTP/1.1 302 Found\r\nLocation: /hello\r\nContent-Length: 0\r\n\r\n", false},
    {"/cut", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", true},
    {"/nothing", "", true},
    {"/garbage", "\x01\x02 this is no HTTP\r\n\r\n", true},
    {"/silent", NULL, false},
    {"/stall", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", false},
    {"/slow", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false},
    {"/huge", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", false},
    {"/continue",
     "HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\nHTTP/1.1 201 Made\r\n"
     "Content-Length: 1\r\n\r\nx",
     false},
    {"/packed_twice",
     "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nContent-Length: 1\r\n\r\nx", false},
    {"/packed_again",
     "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nContent-Encoding: deflate\r\n"
     "Content-Length: 1\r\n\r\nx",
     false},
    {NULL, NULL, false},
};

static void http_peer_free(uv_handle_t *handle)
{
    struct http_peer *peer = handle->data;
    if (--peer->handles > 0)
        return;
    soc_buf_fini(&peer->in);
    free(peer);
}

static void http_peer_close(struct http_peer *peer)
{
    if (uv_is_closing((uv_handle_t *)&peer->tcp))
        return;
    uv_close((uv_handle_t *)&peer->tcp, http_peer_free);
    uv_close((uv_handle_t *)&peer->timer, http_peer_free);
}

static void http_peer_written(uv_write_t *write, int status)
{
    (void)status;
    free(write->data);
    free(write);
}

static void http_peer_write(struct http_peer *peer, const char *text, size_t length)
{
    uv_write_t *write = malloc(sizeof(*write));
    char *copy = malloc(length + 1);
    assert(write != NULL && copy != NULL);
    memcpy(copy, text, length);
    uv_buf_t buf = uv_buf_init(copy, (unsigned)length);
    write->data = copy;
    if (uv_write(write, (uv_stream_t *)&peer->tcp, &buf, 1, http_peer_written) < 0)
        http_peer_written(write, 0);
}

/* A byte every few ms, five of them. */
static void http_peer_drip(uv_timer_t *timer)
{
    struct http_peer *peer = timer->data;
    if (peer->step++ < 5) {
        http_peer_write(peer, "1\r\nx\r\n", 6);
        return;
    }
    http_peer_write(peer, "0\r\n\r\n", 5);
    uv_timer_stop(timer);
}

static void http_peer_mirror(struct http_peer *peer)
{
    struct soc_buf out = {0};
    soc_buf_printf(&out, "HTTP/1.1 200 OK\r\nX-Mirror: %s\r\nContent-Length: %zu\r\n\r\n",
                   strstr(soc_buf_text(&peer->in), "sk-canary") == NULL ? "none" : "sk-canary-1",
                   peer->in.length);
    soc_buf_put_slice(&out, soc_buf_slice(&peer->in));
    http_peer_write(peer, out.data, out.length);
    soc_buf_fini(&out);
}

static void http_peer_answer(struct http_peer *peer, const struct http_answer *answer)
{
    if (strcmp(answer->path, "/mirror") == 0)
        http_peer_mirror(peer);
    else if (answer->text != NULL)
        http_peer_write(peer, answer->text, strlen(answer->text));
    if (strcmp(answer->path, "/slow") == 0)
        uv_timer_start(&peer->timer, http_peer_drip, 5, 5);
    if (strcmp(answer->path, "/huge") == 0) {
        char *bytes = calloc(1, 100000);
        http_peer_write(peer, bytes, 100000);
        free(bytes);
    }
    if (answer->closes) {
        uv_shutdown_t *shutdown = calloc(1, sizeof(*shutdown));
        uv_shutdown(shutdown, (uv_stream_t *)&peer->tcp, (uv_shutdown_cb)(void (*)(void))free);
    }
}

/* Tells whether a complete request is there, by its Content-Length. */
static bool http_peer_is_whole(struct http_peer *peer)
{
    const char *text = soc_buf_text(&peer->in);
    const char *end = strstr(text, "\r\n\r\n");
    const char *length = strcasestr(text, "\r\ncontent-length: ");
    if (end == NULL)
        return false;
    size_t body = length == NULL || length > end ? 0 : (size_t)atol(length + 18);
    return peer->in.length >= (size_t)(end + 4 - text) + body;
}

static void http_peer_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    struct http_peer *peer = stream->data;
    if (count > 0)
        soc_buf_put(&peer->in, buf->base, (size_t)count);
    free(buf->base);
    if (count < 0) {
        http_peer_close(peer);
        return;
    }
    if (!http_peer_is_whole(peer))
        return;
    const char *text = soc_buf_text(&peer->in);
    const char *path = strchr(text, ' ');
    for (const struct http_answer *answer = http_server_answers; answer->path != NULL; answer++) {
        const char *found = strstr(path, answer->path);
        if (found == NULL || found > strchr(path, '\r'))
            continue;
        peer->server->requests++;
        peer->server->received.length = 0;
        soc_buf_put_slice(&peer->server->received, soc_buf_slice(&peer->in));
        http_peer_answer(peer, answer);
        break;
    }
    peer->in.length = 0;
}

static void http_peer_room(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    (void)handle;
    *buf = uv_buf_init(malloc(size), (unsigned)size);
}

static void http_server_accept(uv_stream_t *listener, int status)
{
    struct http_server *server = listener->data;
    struct http_peer *peer = calloc(1, sizeof(*peer));
    (void)status;
    server->connections++;
    peer->server = server;
    peer->handles = 2;
    uv_tcp_init(listener->loop, &peer->tcp);
    uv_timer_init(listener->loop, &peer->timer);
    peer->tcp.data = peer->timer.data = peer;
    uv_accept(listener, (uv_stream_t *)&peer->tcp);
    uv_read_start((uv_stream_t *)&peer->tcp, http_peer_room, http_peer_read);
}

/* Listens on a free port of loopback. */
static void http_server_open(struct http_server *server, struct soc_loop *loop)
{
    struct sockaddr_in address;
    int length = sizeof(address);
    memset(server, 0, sizeof(*server));
    uv_tcp_init(soc_loop_uv(loop), &server->listener);
    server->listener.data = server;
    uv_ip4_addr("127.0.0.1", 0, &address);
    uv_tcp_bind(&server->listener, (const struct sockaddr *)&address, 0);
    uv_listen((uv_stream_t *)&server->listener, 600, http_server_accept);
    uv_tcp_getsockname(&server->listener, (struct sockaddr *)&address, &length);
    server->port = ntohs(address.sin_port);
}

static void http_server_close_each(uv_handle_t *handle, void *user)
{
    if (handle->type == UV_TCP && handle != user && handle->data != NULL)
        http_peer_close(handle->data);
}

/* Closes the listener and every connection. */
static void http_server_close(struct http_server *server, struct soc_loop *loop)
{
    uv_walk(soc_loop_uv(loop), http_server_close_each, &server->listener);
    uv_close((uv_handle_t *)&server->listener, NULL);
    soc_loop_poll(loop, 0);
    soc_buf_fini(&server->received);
}

struct world {
    struct soc_loop *loop;
    struct soc_http *http;
    struct http_server server;
};

/* What one transfer reported. */
struct result {
    struct soc_buf body;
    struct soc_buf headers;
    char detail[256];
    enum soc_http_end end;
    int status;
    int heads;
    int pieces;
    int ends;
    struct soc_http_transfer *cancels; /* in the first piece of its body */
    int64_t piece_us;                  /* of work for each piece */
};

static void take_head(void *user, int status, const struct soc_http_header *headers, int count)
{
    struct result *result = user;
    result->status = status;
    result->heads++;
    for (int i = 0; i < count; i++)
        soc_buf_printf(&result->headers, "%.*s=%.*s;", (int)headers[i].name.length,
                       headers[i].name.data, (int)headers[i].value.length, headers[i].value.data);
}

static void take_body(void *user, struct soc_slice bytes)
{
    struct result *result = user;
    int64_t until_us = soc_clock_thread_us() + result->piece_us;
    while (result->piece_us > 0 && soc_clock_thread_us() < until_us)
        continue;
    result->pieces++;
    soc_buf_put_slice(&result->body, bytes);
    if (result->cancels != NULL)
        soc_http_cancel(result->cancels);
}

static void take_end(void *user, enum soc_http_end end, const char *detail)
{
    struct result *result = user;
    result->ends++;
    result->end = end;
    snprintf(result->detail, sizeof(result->detail), "%s", detail);
}

static void open_world(struct world *world)
{
    signal(SIGPIPE, SIG_IGN);
    world->loop = soc_loop_new();
    http_server_open(&world->server, world->loop);
    world->http = soc_http_open(world->loop, NULL);
}

static void close_world(struct world *world)
{
    soc_http_close(world->http);
    http_server_close(&world->server, world->loop);
    soc_loop_free(world->loop);
}

static void fini(struct result *result)
{
    soc_buf_fini(&result->body);
    soc_buf_fini(&result->headers);
}

static struct soc_http_transfer *start(struct world *world, const char *path,
                                       struct soc_http_request request, struct result *result)
{
    struct soc_buf url = {0};
    struct soc_http_events events = {take_head, take_body, take_end, result};
    if (strstr(path, "://") == NULL)
        soc_buf_printf(&url, "http://127.0.0.1:%d", world->server.port);
    soc_buf_put_text(&url, path);
    request.url = soc_buf_slice(&url);
    *result = (struct result){0};
    struct soc_http_transfer *transfer = soc_http_start(world->http, &request, &events);
    soc_buf_fini(&url);
    return transfer;
}

static void run(struct world *world)
{
    for (int i = 0; i < 2000 && soc_http_count(world->http) > 0; i++)
        soc_loop_poll(world->loop, 5);
    CHECK_INT(soc_http_count(world->http), 0);
}

static void get(struct world *world, const char *path, struct soc_http_request request,
                struct result *result)
{
    start(world, path, request, result);
    run(world);
    CHECK_INT(result->ends, 1);
}

static void a_response_has_status_headers_and_body(void)
{
    struct world world;
    struct result result;
    open_world(&world);
    get(&world, "/hello", (struct soc_http_request){0}, &result);
    CHECK_INT(result.end, SOC_HTTP_DONE);
    CHECK_INT(result.status, 200);
    CHECK(strcmp(soc_buf_text(&result.body), "hello") == 0);
    CHECK(strcmp(soc_buf_text(&result.headers), "content-length=5;x-kind=Plain;") == 0);
    fini(&result);
    close_world(&world);
}

static void a_connection_is_reused(void)
{
    struct world world;
    struct result result;
    open_world(&world);
    for (int i = 0; i < 5; i++) {
        get(&world, "/hello", (struct soc_http_request){0}, &result);
        fini(&result);
    }
    CHECK_INT(world.server.requests, 5);
    CHECK_INT(world.server.connections, 1);
    close_world(&world);
}

static void method_headers_and_body_arrive(void)
{
    struct world world;
    struct result result;
    struct soc_http_header headers[] = {{SOC_SLICE("X-One"), SOC_SLICE("1")},
                                        {SOC_SLICE("X-Empty"), SOC_SLICE("")}};
    open_world(&world);
    get(&world, "/mirror",
        (struct soc_http_request){.method = SOC_SLICE("PUT"),
                                  .headers = headers,
                                  .header_count = 2,
                                  .body = SOC_SLICE("{\"a\":1}")},
        &result);
    const char *sent = soc_buf_text(&world.server.received);
    CHECK(strncmp(sent, "PUT /mirror HTTP/1.1\r\n", 22) == 0);
    CHECK(strstr(sent, "\r\nX-One: 1\r\n") != NULL);
    CHECK(strstr(sent, "\r\nX-Empty:\r\n") != NULL);
    CHECK(strstr(sent, "\r\n\r\n{\"a\":1}") != NULL);
    CHECK(strstr(sent, "Expect") == NULL);
    fini(&result);
    close_world(&world);
}

static void any_status_is_a_response_and_redirects_are_not_followed(void)
{
    struct world world;
    struct result result;
    open_world(&world);
    get(&world, "/many", (struct soc_http_request){0}, &result);
    CHECK_INT(result.end, SOC_HTTP_DONE);
    CHECK_INT(result.status, 429);
    CHECK(strstr(soc_buf_text(&result.headers), "retry-after=7;") != NULL);
    fini(&result);
    get(&world, "/moved", (struct soc_http_request){0}, &result);
    CHECK_INT(result.status, 302);
    CHECK_INT(world.server.requests, 2);
    fini(&result);
    close_world(&world);
}

static void an_interim_response_is_skipped(void)
{
    struct world world;
    struct result result;
    open_world(&world);
    get(&world, "/continue", (struct soc_http_request){0}, &result);
    CHECK_INT(result.status, 201);
    CHECK_INT(result.heads, 1);
    CHECK(strstr(soc_buf_text(&result.headers), "x-early") == NULL);
    fini(&result);
    close_world(&world);
}

static void a_body_is_reported_as_it_arrives(void)
{
    struct world world;
    struct result result;
    open_world(&world);
    get(&world, "/slow", (struct soc_http_request){0}, &result);
    CHECK_INT(result.end, SOC_HTTP_DONE);
    CHECK_INT(result.body.length, 5);
    CHECK(result.pieces > 1);
    fini(&result);
    close_world(&world);
}

static void each_failure_has_its_name(void)
{
    static const struct {
        const char *path;
        enum soc_http_end end;
        struct soc_http_request request;
    } cases[] = {
        {"/cut", SOC_HTTP_CUT, {.idle_ms = 0}},
        {"/nothing", SOC_HTTP_CUT, {.idle_ms = 0}},
        {"/garbage", SOC_HTTP_NOT_HTTP, {.idle_ms = 0}},
        {"/silent", SOC_HTTP_FIRST_BYTE_TIMEOUT, {.first_byte_ms = 20}},
        {"/silent", SOC_HTTP_TOTAL_TIMEOUT, {.total_ms = 20}},
        {"/stall", SOC_HTTP_IDLE_TIMEOUT, {.idle_ms = 20}},
        {"/huge", SOC_HTTP_TOO_LARGE, {.body_bytes_max = 1000}},
        {"/packed_twice", SOC_HTTP_NOT_HTTP, {.idle_ms = 0}},
        {"/packed_again", SOC_HTTP_NOT_HTTP, {.idle_ms = 0}},
        {"ftp://127.0.0.1/", SOC_HTTP_BAD_URL, {.idle_ms = 0}},
        {"http://", SOC_HTTP_BAD_URL, {.idle_ms = 0}},
        {"http://127.0.0.1:1/", SOC_HTTP_CONNECT_FAILED, {.idle_ms = 0}},
        {"file:///etc/hostname", SOC_HTTP_BAD_URL, {.idle_ms = 0}},
    };
    struct world world;
    struct result result;
    open_world(&world);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        get(&world, cases[i].path, cases[i].request, &result);
        if (!CHECK_INT(result.end, cases[i].end))
            printf("#   %s: %s\n", cases[i].path, result.detail);
        fini(&result);
    }
    close_world(&world);
}

static void ignore_step(void *user, const char *name, struct soc_watchdog_time time)
{
    (void)user, (void)name, (void)time;
}

static void a_body_that_takes_long_is_handed_out_in_several_steps(void)
{
    struct world world;
    struct result result;
    open_world(&world);
    struct soc_watchdog *dog = soc_watchdog_new(5, ignore_step, NULL); /* half of a piece */
    soc_loop_set_watchdog(world.loop, dog);
    start(&world, "/huge", (struct soc_http_request){0}, &result);
    result.piece_us = 10000;
    run(&world);
    CHECK_INT(result.end, SOC_HTTP_DONE);
    CHECK_INT(result.body.length, 100000);
    CHECK_INT(result.ends, 1);
    CHECK(result.pieces >= 6);
    CHECK(soc_watchdog_worst(dog).steps_long >= (uint64_t)result.pieces / 2);
    fini(&result);
    start(&world, "/huge", (struct soc_http_request){.body_bytes_max = 50000}, &result);
    result.piece_us = 10000;
    run(&world);
    CHECK_INT(result.end, SOC_HTTP_TOO_LARGE);
    CHECK_INT(result.ends, 1);
    fini(&result);
    soc_loop_set_watchdog(world.loop, NULL);
    soc_watchdog_free(dog);
    close_world(&world);
}

static void slow_bytes_are_not_idle_time(void)
{
    struct world world;
    struct result result;
    open_world(&world);
    get(&world, "/slow", (struct soc_http_request){.idle_ms = 1000, .first_byte_ms = 1000},
        &result);
    CHECK_INT(result.end, SOC_HTTP_DONE);
    fini(&result);
    close_world(&world);
}

static void a_cancelled_transfer_reports_nothing_more(void)
{
    struct world world;
    struct result result;
    struct result inside;
    open_world(&world);
    struct soc_http_transfer *transfer =
        start(&world, "/silent", (struct soc_http_request){0}, &result);
    soc_loop_poll(world.loop, 5);
    soc_http_cancel(transfer);
    transfer = start(&world, "/slow", (struct soc_http_request){0}, &inside);
    inside.cancels = transfer;
    run(&world);
    CHECK_INT(result.ends, 0);
    CHECK_INT(inside.pieces, 1);
    CHECK_INT(inside.ends, 0);
    fini(&result);
    fini(&inside);
    close_world(&world);
}

static void many_transfers_run_at_once(void)
{
    enum { COUNT = 200 };
    struct world world;
    static struct result results[COUNT];
    open_world(&world);
    for (int i = 0; i < COUNT; i++)
        start(&world, "/slow", (struct soc_http_request){0}, &results[i]);
    CHECK_INT(soc_http_count(world.http), COUNT);
    run(&world);
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT(results[i].end, SOC_HTTP_DONE);
        CHECK_INT(results[i].body.length, 5);
        fini(&results[i]);
    }
    close_world(&world);
}

static void closing_cancels_transfers(void)
{
    struct world world;
    struct result result;
    open_world(&world);
    start(&world, "/silent", (struct soc_http_request){0}, &result);
    soc_loop_poll(world.loop, 5);
    close_world(&world);
    CHECK_INT(result.ends, 0);
    fini(&result);
}

static void a_secret_is_sent_and_scrubbed_from_the_response(void)
{
    struct world world;
    struct result result;
    open_world(&world);
    get(&world, "/mirror",
        (struct soc_http_request){.secret_name = SOC_SLICE("Authorization"),
                                  .secret_prefix = SOC_SLICE("Bearer "),
                                  .secret = SOC_SLICE("sk-canary-1")},
        &result);
    CHECK(strstr(soc_buf_text(&world.server.received), "Authorization: Bearer sk-canary-1\r\n") !=
          NULL);
    CHECK(strstr(soc_buf_text(&result.body), "sk-canary") == NULL);
    CHECK(strstr(soc_buf_text(&result.body), "Bearer [secret]") != NULL);
    CHECK(strstr(soc_buf_text(&result.headers), "sk-canary") == NULL);
    fini(&result);
    close_world(&world);
}

static void a_key_of_one_letter_is_not_a_secret(void)
{
    struct world world;
    struct result result;
    open_world(&world);
    get(&world, "/hello",
        (struct soc_http_request){.secret_name = SOC_SLICE("x-api-key"), .secret = SOC_SLICE("l")},
        &result);
    CHECK(strcmp(soc_buf_text(&result.body), "hello") == 0);
    fini(&result);
    close_world(&world);
}

static void a_proxy_of_the_environment_is_used(void)
{
    struct world world;
    struct result result;
    struct soc_buf proxy = {0};
    open_world(&world);
    soc_buf_printf(&proxy, "http://127.0.0.1:%d", world.server.port);
    setenv("http_proxy", soc_buf_text(&proxy), 1);
    get(&world, "http://nowhere.invalid/hello", (struct soc_http_request){0}, &result);
    CHECK_INT(result.end, SOC_HTTP_DONE);
    CHECK(strncmp(soc_buf_text(&world.server.received), "GET http://nowhere.invalid/hello ", 33) ==
          0);
    fini(&result);
    setenv("no_proxy", "127.0.0.1", 1);
    get(&world, "/hello", (struct soc_http_request){0}, &result);
    CHECK_INT(result.end, SOC_HTTP_DONE);
    CHECK(strncmp(soc_buf_text(&world.server.received), "GET /hello ", 11) == 0);
    unsetenv("no_proxy");
    unsetenv("http_proxy");
    soc_buf_fini(&proxy);
    fini(&result);
    close_world(&world);
}

int main(void)
{
    RUN(a_response_has_status_headers_and_body);
    RUN(a_connection_is_reused);
    RUN(method_headers_and_body_arrive);
    RUN(any_status_is_a_response_and_redirects_are_not_followed);
    RUN(an_interim_response_is_skipped);
    RUN(a_body_is_reported_as_it_arrives);
    RUN(each_failure_has_its_name);
    RUN(a_body_that_takes_long_is_handed_out_in_several_steps);
    RUN(slow_bytes_are_not_idle_time);
    RUN(a_cancelled_transfer_reports_nothing_more);
    RUN(many_transfers_run_at_once);
    RUN(closing_cancels_transfers);
    RUN(a_secret_is_sent_and_scrubbed_from_the_response);
    RUN(a_key_of_one_letter_is_not_a_secret);
    RUN(a_proxy_of_the_environment_is_used);
    return check_done();
}

/* Covers: core/net/listener.c, core/net/server_connection.c, core/net/server_daemon.c
 * Covers: core/net/server_request.c, core/net/server_stream.c */
#include "net/server.h"

#include <unistd.h>

#include "base/buf.h"
#include "check.h"
#include "server_client.h"

/* A server whose path selects what happens, and what it has seen. */
struct server_world {
    struct soc_loop *loop;
    struct soc_server *server;
    struct soc_server_request *held; /* by /later, /stream and /endless */
    struct soc_server_tunnel *tunnel;
    int tunnel_socket;
    struct soc_buf early; /* what came before the tunnel */
    int heads;
    int bodies;
    int gone;
    int drained;
};

static bool path_is(struct soc_server_request *request, const char *path)
{
    return soc_slice_equal(soc_server_path(request), soc_slice_text(path));
}

static void on_head(void *user, struct soc_server_request *request)
{
    struct server_world *world = user;
    world->heads++;
    if (path_is(request, "/early"))
        soc_server_respond(request, 401, NULL, SOC_SLICE("no token"));
    if (path_is(request, "/small"))
        soc_server_limit_body(request, 4);
    if (path_is(request, "/trust"))
        soc_server_trust(request);
}

static void on_drained(void *user)
{
    struct server_world *world = user;
    world->drained++;
}

static void on_tunnel(void *user, struct soc_server_tunnel *tunnel, int socket,
                      struct soc_slice early)
{
    struct server_world *world = user;
    world->tunnel = tunnel;
    world->tunnel_socket = socket;
    soc_buf_put_slice(&world->early, early);
}

static void on_body(void *user, struct soc_server_request *request)
{
    static const struct soc_server_header headers[] = {{"X-Kind", "echo"}, {NULL, NULL}};
    static const struct soc_server_header upgrade[] = {{"Upgrade", "thing"}, {NULL, NULL}};
    struct server_world *world = user;
    world->bodies++;
    soc_server_set_user(request, world);
    if (path_is(request, "/stream")) {
        if (soc_server_stream(request, 200, NULL, on_drained, world))
            world->held = request;
        else
            soc_server_respond(request, 503, NULL, SOC_SLICE(""));
    } else if (path_is(request, "/tunnel")) {
        CHECK(soc_server_tunnel(request, upgrade, on_tunnel, world));
    } else if (path_is(request, "/later")) {
        world->held = request;
    } else {
        struct soc_buf echo = {0};
        soc_buf_put_slice(&echo, soc_server_method(request));
        soc_buf_put_byte(&echo, ' ');
        soc_buf_put_slice(&echo, soc_server_query(request));
        soc_buf_put_byte(&echo, ' ');
        soc_buf_put_slice(&echo, soc_server_body(request));
        soc_server_respond(request, 200, headers, soc_buf_slice(&echo));
        soc_buf_fini(&echo);
    }
}

static void on_gone(void *user, struct soc_server_request *request)
{
    struct server_world *world = user;
    world->gone++;
    if (world->held == request)
        world->held = NULL;
}

static void open_world(struct server_world *world, struct soc_server_options options)
{
    struct soc_detail detail = {{0}};
    *world = (struct server_world){.loop = soc_loop_new()};
    options.loop = world->loop;
    options.events = (struct soc_server_events){on_head, on_body, on_gone, world};
    CHECK_INT(soc_server_open(&world->server, &options, &detail), SOC_OK);
    CHECK(soc_server_port(world->server) > 0);
}

static void close_world(struct server_world *world)
{
    soc_server_close(world->server);
    CHECK_INT(world->gone, world->heads);
    soc_buf_fini(&world->early);
    soc_loop_free(world->loop);
}

/* Sends a request on a connection of its own and expects `wanted` in the response. */
static void expect(struct server_world *world, const char *request, const char *wanted)
{
    struct soc_buf in = {0};
    int client = connect_client(world->server);
    client_send(client, request);
    if (!client_read(world->loop, client, wanted, &in))
        printf("# %s\n# was answered with\n# %s\n", request, soc_buf_text(&in));
    CHECK(strstr(soc_buf_text(&in), wanted) != NULL);
    close(client);
    soc_buf_fini(&in);
}

#define HOST "Host: localhost\r\n"

static void a_request_is_answered_with_its_parts(void)
{
    struct server_world world;
    open_world(&world, (struct soc_server_options){0});
    expect(&world, "GET /x?a=1%20b HTTP/1.1\r\n" HOST "\r\n", "\r\n\r\nGET a=1%20b ");
    expect(&world, "GET /x HTTP/1.1\r\n" HOST "\r\n", "X-Kind: echo");
    expect(&world, "POST /x HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello", "POST  hello");
    expect(&world,
           "POST /x HTTP/1.1\r\n" HOST
           "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
           "POST  hello");
    expect(&world, "GET /x HTTP/1.0\r\n\r\n", "GET  ");
    CHECK_INT(world.heads, 5);
    close_world(&world);
}

static void pipelined_requests_are_answered_in_order(void)
{
    struct server_world world;
    struct soc_buf in = {0};
    open_world(&world, (struct soc_server_options){0});
    int client = connect_client(world.server);
    client_send(client, "GET /x?one HTTP/1.1\r\n" HOST "\r\nGET /x?two HTTP/1.1\r\n" HOST "\r\n");
    CHECK(client_read(world.loop, client, "GET two", &in));
    const char *one = strstr(soc_buf_text(&in), "GET one");
    CHECK(one != NULL && strstr(one, "GET two") != NULL);
    close(client);
    soc_buf_fini(&in);
    close_world(&world);
}

static void ambiguous_framing_is_refused(void)
{
    static const char *const requests[] = {
        "POST /x HTTP/1.1\r\n" HOST
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /x HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        "POST /x HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        "POST /x HTTP/1.1\r\n" HOST
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        "POST /x HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST /x HTTP/1.1\r\n" HOST "Content-Length: +1\r\n\r\nx",
        "POST /x HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\nx",
        "POST /x HTTP/1.1\r\n" HOST "Content-Length: 1, 1\r\n\r\nx",
        "POST /x HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n\r\nx",
        "POST /x HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET /x HTTP/1.1\r\n\r\n",
        "GET /x HTTP/1.1\r\n" HOST HOST "\r\n",
        "GET http://localhost/x HTTP/1.1\r\n" HOST "\r\n",
    };
    struct server_world world;
    open_world(&world, (struct soc_server_options){0});
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
        expect(&world, requests[i], "HTTP/1.1 4");
    CHECK_INT(world.heads, 0);
    close_world(&world);
}

static void large_heads_and_bodies_are_refused(void)
{
    struct server_world world;
    struct soc_buf text = {0};
    open_world(&world, (struct soc_server_options){.body_bytes_max = 8});
    soc_buf_put_text(&text, "GET /");
    for (int i = 0; i < 9000; i++)
        soc_buf_put_byte(&text, 'x');
    soc_buf_put_text(&text, " HTTP/1.1\r\n" HOST "\r\n");
    expect(&world, soc_buf_text(&text), "HTTP/1.1 414");
    text.length = 0;
    soc_buf_put_text(&text, "GET / HTTP/1.1\r\n" HOST);
    for (int i = 0; i < 101; i++)
        soc_buf_printf(&text, "X-%d: y\r\n", i);
    soc_buf_put_text(&text, "\r\n");
    expect(&world, soc_buf_text(&text), "HTTP/1.1 431");
    expect(&world, "POST /x HTTP/1.1\r\n" HOST "Content-Length: 8\r\n\r\n12345678", "12345678");
    expect(&world, "POST /x HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\n", "HTTP/1.1 413");
    expect(&world, "POST /small HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n", "HTTP/1.1 413");
    expect(&world,
           "POST /x HTTP/1.1\r\n" HOST
           "Transfer-Encoding: chunked\r\n\r\n9\r\n123456789\r\n0\r\n\r\n",
           "HTTP/1.1 413");
    soc_buf_fini(&text);
    close_world(&world);
}

static void a_request_refused_by_its_head_is_not_read_further(void)
{
    struct server_world world;
    open_world(&world, (struct soc_server_options){0});
    expect(&world, "POST /early HTTP/1.1\r\n" HOST "Content-Length: 100\r\n\r\n", "no token");
    CHECK_INT(world.bodies, 0);
    close_world(&world);
}

static void an_answer_may_come_later(void)
{
    struct server_world world;
    struct soc_buf in = {0};
    open_world(&world, (struct soc_server_options){0});
    int client = connect_client(world.server);
    client_send(client, "GET /later HTTP/1.1\r\n" HOST "\r\n");
    for (int i = 0; i < ROUNDS_MAX && world.held == NULL; i++)
        soc_loop_poll(world.loop, 5);
    CHECK(world.held != NULL);
    soc_server_respond(world.held, 202, NULL, SOC_SLICE("at last"));
    CHECK(client_read(world.loop, client, "at last", &in));
    client_send(client, "GET /x?again HTTP/1.1\r\n" HOST "\r\n");
    CHECK(client_read(world.loop, client, "GET again", &in));
    close(client);
    soc_buf_fini(&in);
    close_world(&world);
}

static void a_client_that_leaves_before_the_answer_is_noticed(void)
{
    struct server_world world;
    open_world(&world, (struct soc_server_options){0});
    int client = connect_client(world.server);
    client_send(client, "GET /later HTTP/1.1\r\n" HOST "\r\n");
    for (int i = 0; i < ROUNDS_MAX && world.held == NULL; i++)
        soc_loop_poll(world.loop, 5);
    close(client);
    for (int i = 0; i < ROUNDS_MAX && world.gone == 0; i++)
        soc_loop_poll(world.loop, 5);
    CHECK_INT(world.gone, 1);
    CHECK(world.held == NULL);
    close_world(&world);
}

static void a_stream_grows_until_it_is_ended(void)
{
    struct server_world world;
    struct soc_buf in = {0};
    open_world(&world, (struct soc_server_options){.streams_max = 1});
    int client = connect_client(world.server);
    client_send(client, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    CHECK(client_read(world.loop, client, "\r\n\r\n", &in));
    CHECK_INT(soc_server_streams(world.server), 1);
    expect(&world, "GET /stream HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 503");
    soc_server_stream_put(world.held, SOC_SLICE("one,"));
    CHECK(client_read(world.loop, client, "one,", &in));
    CHECK(world.drained > 0);
    CHECK_INT(soc_server_stream_held(world.held), 0);
    soc_server_stream_put(world.held, SOC_SLICE("two"));
    soc_server_stream_end(world.held);
    CHECK(client_read(world.loop, client, "two", &in));
    for (int i = 0; i < ROUNDS_MAX && soc_server_streams(world.server) > 0; i++)
        soc_loop_poll(world.loop, 5);
    CHECK_INT(soc_server_streams(world.server), 0);
    close(client);
    soc_buf_fini(&in);
    close_world(&world);
}

static void a_tunnel_is_the_bare_connection(void)
{
    struct server_world world;
    struct soc_buf in = {0};
    open_world(&world, (struct soc_server_options){0});
    int client = connect_client(world.server);
    client_send(client,
                "GET /tunnel HTTP/1.1\r\n" HOST "Connection: Upgrade\r\nUpgrade: thing\r\n\r\n");
    CHECK(client_read(world.loop, client, "\r\n\r\n", &in));
    CHECK(strstr(soc_buf_text(&in), "HTTP/1.1 101") != NULL);
    CHECK(world.tunnel != NULL);
    client_send(world.tunnel_socket, "bare");
    CHECK(client_read(world.loop, client, "bare", &in));
    soc_server_tunnel_close(world.tunnel);
    CHECK(client_read(world.loop, client, NULL, &in));
    close(client);
    soc_buf_fini(&in);
    close_world(&world);
}

static void slow_clients_are_cut_off(void)
{
    struct server_world world;
    struct soc_buf in = {0};
    open_world(&world, (struct soc_server_options){.head_ms = 1, .body_ms = 1, .idle_ms = 1});
    int silent = connect_client(world.server);
    CHECK(client_read(world.loop, silent, NULL, &in));
    int half = connect_client(world.server);
    client_send(half, "POST /x HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhe");
    CHECK(client_read(world.loop, half, NULL, &in));
    int idle = connect_client(world.server);
    client_send(idle, "GET /x HTTP/1.1\r\n" HOST "\r\n");
    CHECK(client_read(world.loop, idle, NULL, &in));
    close(silent);
    close(half);
    close(idle);
    soc_buf_fini(&in);
    close_world(&world);
}

static void the_oldest_stranger_makes_way_and_trusted_ones_stay(void)
{
    struct server_world world;
    struct soc_buf in = {0};
    open_world(&world, (struct soc_server_options){.connections_max = 2});
    int trusted = connect_client(world.server);
    client_send(trusted, "GET /trust HTTP/1.1\r\n" HOST "\r\n");
    CHECK(client_read(world.loop, trusted, "GET  ", &in));
    int stranger = connect_client(world.server);
    client_send(stranger, "GET /x?stranger HTTP/1.1\r\n" HOST "\r\n");
    CHECK(client_read(world.loop, stranger, "GET stranger", &in));
    int newcomer = connect_client(world.server);
    client_send(newcomer, "GET /trust?newcomer HTTP/1.1\r\n" HOST "\r\n");
    CHECK(client_read(world.loop, newcomer, "GET newcomer", &in));
    CHECK(client_read(world.loop, stranger, NULL, &in));
    expect(&world, "GET /x HTTP/1.1\r\n" HOST "\r\n", "{\"error\":\"too_many_connections\"");
    client_send(trusted, "GET /x?still HTTP/1.1\r\n" HOST "\r\n");
    CHECK(client_read(world.loop, trusted, "GET still", &in));
    close(trusted);
    close(stranger);
    close(newcomer);
    soc_buf_fini(&in);
    close_world(&world);
}

static void a_server_that_stops_still_answers_what_it_has(void)
{
    struct server_world world;
    struct soc_buf in = {0};
    open_world(&world, (struct soc_server_options){0});
    int client = connect_client(world.server);
    client_send(client, "GET /later HTTP/1.1\r\n" HOST "\r\n");
    for (int i = 0; i < ROUNDS_MAX && world.held == NULL; i++)
        soc_loop_poll(world.loop, 5);
    soc_server_stop(world.server);
    soc_server_respond(world.held, 200, NULL, SOC_SLICE("done"));
    CHECK(client_read(world.loop, client, "done", &in));
    client_send(client, "GET /x HTTP/1.1\r\n" HOST "\r\n");
    CHECK(client_read(world.loop, client, "HTTP/1.1 503", &in));
    close(client);
    soc_buf_fini(&in);
    close_world(&world);
}

static void a_server_closes_with_requests_and_streams_open(void)
{
    struct server_world world;
    struct soc_buf in = {0};
    open_world(&world, (struct soc_server_options){0});
    int stream = connect_client(world.server);
    client_send(stream, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    CHECK(client_read(world.loop, stream, "\r\n\r\n", &in));
    int later = connect_client(world.server);
    client_send(later, "GET /later HTTP/1.1\r\n" HOST "\r\n");
    for (int i = 0; i < ROUNDS_MAX && world.bodies < 2; i++)
        soc_loop_poll(world.loop, 5);
    int half = connect_client(world.server);
    client_send(half, "GET /x HT");
    soc_loop_poll(world.loop, 5);
    soc_buf_fini(&in);
    close_world(&world);
    close(stream);
    close(later);
    close(half);
}

static void a_port_that_is_taken_is_named(void)
{
    struct server_world world;
    struct soc_server *second;
    struct soc_detail detail = {{0}};
    open_world(&world, (struct soc_server_options){0});
    struct soc_server_options options = {
        .loop = world.loop,
        .events = {on_head, on_body, on_gone, &world},
        .port = soc_server_port(world.server),
    };
    CHECK_INT(soc_server_open(&second, &options, &detail), SOC_EEXISTS);
    CHECK(strstr(detail.text, "cannot listen on 127.0.0.1 port") != NULL);
    options.address = "nowhere";
    CHECK_INT(soc_server_open(&second, &options, &detail), SOC_EINVAL);
    options.address = "203.0.113.1"; /* nobody's: of examples in documents */
    CHECK_INT(soc_server_open(&second, &options, &detail), SOC_EINVAL);
    options.address = NULL;
    options.port = 0;
    options.tls_cert = options.tls_key = "not PEM";
    CHECK_INT(soc_server_open(&second, &options, &detail), SOC_EACCESS);
    close_world(&world);
}

int main(void)
{
    RUN(a_request_is_answered_with_its_parts);
    RUN(pipelined_requests_are_answered_in_order);
    RUN(ambiguous_framing_is_refused);
    RUN(large_heads_and_bodies_are_refused);
    RUN(a_request_refused_by_its_head_is_not_read_further);
    RUN(an_answer_may_come_later);
    RUN(a_client_that_leaves_before_the_answer_is_noticed);
    RUN(a_stream_grows_until_it_is_ended);
    RUN(a_tunnel_is_the_bare_connection);
    RUN(slow_clients_are_cut_off);
    RUN(the_oldest_stranger_makes_way_and_trusted_ones_stay);
    RUN(a_server_that_stops_still_answers_what_it_has);
    RUN(a_server_closes_with_requests_and_streams_open);
    RUN(a_port_that_is_taken_is_named);
    return check_done();
}

/* The exporter against a collector on the same loop that takes, refuses, hangs or floods. */
#include "bridge/otlp/otlp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/version.h"
#include "check.h"
#include "env/clock.h"

#define ROUNDS_MAX 4000 /* of the loop, at most 5 ms each, before a test gives up */
#define OK         "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
#define SECRET     "canary-5e1f0c1d9a"

/* An exporter and its collector. */
struct desk {
    struct soc_loop *loop;
    struct soc_otlp *otlp;
    struct soc_otlp_settings settings;
    struct soc_buf log;
    struct soc_buf request; /* the last one, whole */
    int listener;
    int peer; /* -1: none */
    char url[64];
};

static void write_log(struct soc_slice line, void *user)
{
    struct desk *desk = user;
    soc_buf_put_slice(&desk->log, line);
}

static void open_desk(struct desk *desk, int64_t spans_max, int64_t batch_spans)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    *desk = (struct desk){.loop = soc_loop_new(), .peer = -1};
    desk->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CHECK_INT(bind(desk->listener, (struct sockaddr *)(void *)&address, sizeof(address)), 0);
    CHECK_INT(listen(desk->listener, 8), 0);
    CHECK_INT(getsockname(desk->listener, (struct sockaddr *)(void *)&address, &length), 0);
    snprintf(desk->url, sizeof(desk->url), "http://127.0.0.1:%d/v1/traces",
             ntohs(address.sin_port));
    desk->settings = (struct soc_otlp_settings){
        .url = desk->url,
        .headers = {{(char *)"x-key", (char *)SECRET}},
        .header_count = 1,
        .timeout_ms = 60000,
        .delay_ms = 1,
        .spans_max = spans_max,
        .batch_spans = batch_spans,
    };
    struct soc_otlp_options options = {
        .loop = desk->loop,
        .settings = &desk->settings,
        .app_name = "app",
        .log = {.level = SOC_LOG_INFO, .write = write_log, .user = desk},
    };
    desk->otlp = soc_otlp_open(&options);
}

/* Closes the exporter, which may take `close_ms`. */
static void close_otlp(struct desk *desk, int64_t close_ms)
{
    desk->settings.close_ms = close_ms;
    soc_otlp_close(desk->otlp);
}

static void close_desk(struct desk *desk)
{
    CHECK(strstr(soc_buf_text(&desk->log), SECRET) == NULL);
    CHECK(strstr(soc_buf_text(&desk->log), "127.0.0.1") == NULL);
    if (desk->peer >= 0)
        close(desk->peer);
    if (desk->listener >= 0)
        close(desk->listener);
    soc_loop_free(desk->loop);
    soc_buf_fini(&desk->log);
    soc_buf_fini(&desk->request);
}

/* Returns the body of the request if it is complete, otherwise NULL. */
static const char *body_of(struct desk *desk)
{
    const char *text = soc_buf_text(&desk->request);
    const char *end = strstr(text, "\r\n\r\n");
    const char *length = strcasestr(text, "content-length: ");
    if (end == NULL || length == NULL)
        return NULL;
    size_t wanted = (size_t)strtoull(length + 16, NULL, 10);
    return desk->request.length >= (size_t)(end + 4 - text) + wanted ? end + 4 : NULL;
}

/* Waits for the next request and lends its body. */
static const char *await_request(struct desk *desk)
{
    char bytes[65536];
    desk->request.length = 0;
    for (int i = 0; i < ROUNDS_MAX; i++) {
        soc_loop_poll(desk->loop, 5);
        if (desk->peer < 0)
            desk->peer = accept4(desk->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        ssize_t got = desk->peer < 0 ? -1 : recv(desk->peer, bytes, sizeof(bytes), 0);
        if (got > 0)
            soc_buf_put(&desk->request, bytes, (size_t)got);
        if (got == 0) { /* the exporter uses a new connection */
            close(desk->peer);
            desk->peer = -1;
        }
        if (got > 0 && body_of(desk) != NULL)
            return body_of(desk);
    }
    CHECK(false && "the exporter sent a request");
    return "";
}

static void answer(struct desk *desk, const char *text)
{
    CHECK_INT(send(desk->peer, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Lets the loop run until the exporter has `queued` spans. */
static void await_queued(struct desk *desk, uint64_t queued)
{
    for (int i = 0; i < ROUNDS_MAX && soc_otlp_count(desk->otlp).queued != queued; i++)
        soc_loop_poll(desk->loop, 5);
    CHECK_INT(soc_otlp_count(desk->otlp).queued, queued);
}

static void add(struct desk *desk, int count)
{
    for (int i = 0; i < count; i++)
        soc_otlp_add(desk->otlp, SOC_SLICE("{\"name\":\"s\"}"));
}

static void spans_leave_together_with_the_resource_and_the_headers(void)
{
    struct desk desk;
    open_desk(&desk, 100, 2);
    add(&desk, 2);
    const char *body = await_request(&desk);
    CHECK_TEXT(body, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
                     "\"value\":{\"stringValue\":\"app\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":"
                     "\"society\",\"version\":\"" SOC_VERSION "\"},\"spans\":[{\"name\":\"s\"},"
                     "{\"name\":\"s\"}]}]}]}");
    CHECK(strncmp(desk.request.data, "POST /v1/traces HTTP/1.1\r\n", 26) == 0);
    CHECK(strcasestr(soc_buf_text(&desk.request), "\r\nx-key: " SECRET "\r\n") != NULL);
    CHECK(strcasestr(soc_buf_text(&desk.request), "\r\ncontent-type: application/json\r\n") !=
          NULL);
    answer(&desk, OK);
    await_queued(&desk, 0);
    CHECK_INT(soc_otlp_count(desk.otlp).sent, 2);
    close_otlp(&desk, 0);
    CHECK_INT(desk.log.length, 0);
    close_desk(&desk);
}

static void a_batch_is_sent_again_when_the_collector_asks_for_it(void)
{
    static const char *const answers[] = {
        "HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 429 Slow\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 502 Bad\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 504 Late\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n",
        OK,
    };
    struct desk desk;
    struct soc_buf first = {0};
    open_desk(&desk, 100, 2);
    add(&desk, 2);
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        const char *body = await_request(&desk);
        if (i == 0)
            soc_buf_put_text(&first, body);
        CHECK_TEXT(body, soc_buf_text(&first));
        answer(&desk, answers[i]);
    }
    await_queued(&desk, 0);
    CHECK_INT(soc_otlp_count(desk.otlp).sent, 2);
    CHECK_INT(soc_otlp_count(desk.otlp).dropped, 0);
    close_otlp(&desk, 0);
    CHECK(strstr(soc_buf_text(&desk.log), "status 503") != NULL);
    CHECK(strstr(soc_buf_text(&desk.log), "status 429") == NULL); /* once */
    soc_buf_fini(&first);
    close_desk(&desk);
}

static void a_batch_that_is_refused_is_dropped_and_counted(void)
{
    struct desk desk;
    open_desk(&desk, 100, 1);
    add(&desk, 1);
    await_request(&desk);
    answer(&desk, "HTTP/1.1 400 No\r\nContent-Length: 17\r\n\r\n" SECRET);
    await_queued(&desk, 0);
    CHECK_INT(soc_otlp_count(desk.otlp).dropped, 1);
    add(&desk, 1);
    await_request(&desk);
    answer(&desk, OK);
    await_queued(&desk, 0);
    CHECK_INT(soc_otlp_count(desk.otlp).sent, 1);
    close_otlp(&desk, 0);
    CHECK(strstr(soc_buf_text(&desk.log), "1 spans were sent, 1 were dropped") != NULL);
    close_desk(&desk);
}

static void redirects_are_not_followed(void)
{
    struct desk desk;
    open_desk(&desk, 100, 1);
    add(&desk, 1);
    await_request(&desk);
    answer(&desk, "HTTP/1.1 307 Go\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n");
    await_queued(&desk, 0);
    CHECK_INT(soc_otlp_count(desk.otlp).dropped, 1);
    close_otlp(&desk, 0);
    close_desk(&desk);
}

static void a_collector_that_hangs_fills_the_queue_and_no_more(void)
{
    struct desk desk;
    open_desk(&desk, 10, 4);
    add(&desk, 4);
    await_request(&desk); /* never answered */
    add(&desk, 1000);
    CHECK_INT(soc_otlp_count(desk.otlp).queued, 14);
    CHECK_INT(soc_otlp_count(desk.otlp).dropped, 990);
    int64_t start_us = soc_clock_monotonic_us();
    close_otlp(&desk, 50);
    CHECK(soc_clock_monotonic_us() - start_us >= 50000);
    const char *line = strstr(soc_buf_text(&desk.log), "spans are dropped");
    CHECK(line != NULL && strstr(line + 1, "spans are dropped") == NULL);
    CHECK(strstr(soc_buf_text(&desk.log), "0 spans were sent, 1004 were dropped") != NULL);
    close_desk(&desk);
}

static void an_endless_answer_is_cut_off(void)
{
    struct desk desk;
    open_desk(&desk, 100, 1);
    add(&desk, 1);
    await_request(&desk);
    answer(&desk, "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n");
    char bytes[4096];
    memset(bytes, 'x', sizeof(bytes));
    uint64_t given = 0;
    for (int i = 0; i < ROUNDS_MAX && soc_otlp_count(desk.otlp).queued > 0; i++) {
        ssize_t sent = send(desk.peer, bytes, sizeof(bytes), MSG_NOSIGNAL);
        given += sent > 0 ? (uint64_t)sent : 0;
        soc_loop_poll(desk.loop, sent > 0 ? 0 : 5);
    }
    CHECK(given < 50000000);
    CHECK_INT(soc_otlp_count(desk.otlp).sent, 1);
    close_otlp(&desk, 0);
    close_desk(&desk);
}

static void a_collector_that_is_down_costs_its_spans_only(void)
{
    struct desk desk;
    open_desk(&desk, 100, 1);
    close(desk.listener);
    desk.listener = -1;
    add(&desk, 3);
    close_otlp(&desk, 20000);
    CHECK(strstr(soc_buf_text(&desk.log), "cannot be reached") != NULL);
    CHECK(strstr(soc_buf_text(&desk.log), "0 spans were sent, 3 were dropped") != NULL);
    close_desk(&desk);
}

int main(void)
{
    RUN(spans_leave_together_with_the_resource_and_the_headers);
    RUN(a_batch_is_sent_again_when_the_collector_asks_for_it);
    RUN(a_batch_that_is_refused_is_dropped_and_counted);
    RUN(redirects_are_not_followed);
    RUN(a_collector_that_hangs_fills_the_queue_and_no_more);
    RUN(an_endless_answer_is_cut_off);
    RUN(a_collector_that_is_down_costs_its_spans_only);
    return check_done();
}

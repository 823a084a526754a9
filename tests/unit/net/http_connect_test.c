#include <arpa/inet.h>
#include <unistd.h>

#include "base/buf.h"
#include "check.h"
#include "net/http.h"

#define CALLERS 4

static void take_head(void *user, int status, const struct soc_http_header *headers, int count)
{
    (void)user;
    (void)status;
    (void)headers;
    (void)count;
}

static void take_body(void *user, struct soc_slice bytes)
{
    (void)user;
    (void)bytes;
}

static void take_end(void *user, enum soc_http_end end, const char *detail)
{
    (void)detail;
    *(enum soc_http_end *)user = end;
}

/* Returns the end of a request to that URL that may take 50 ms to connect. */
static enum soc_http_end end_of(const char *url, bool is_public_only)
{
    enum soc_http_end end = SOC_HTTP_END_COUNT;
    struct soc_loop *loop = soc_loop_new();
    struct soc_http *http = soc_http_open(loop, NULL);
    struct soc_http_request request = {
        .url = soc_slice_text(url), .connect_ms = 50, .is_public_only = is_public_only};
    struct soc_http_events events = {take_head, take_body, take_end, &end};
    soc_http_start(http, &request, &events);
    while (soc_http_count(http) > 0)
        soc_loop_poll(loop, 100);
    soc_http_close(http);
    soc_loop_free(loop);
    return end;
}

/* A listener with a full queue neither accepts nor refuses. */
static void an_attempt_to_connect_times_out(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof(address);
    struct soc_buf url = {0};
    int callers[CALLERS];
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 0) == 0);
    getsockname(listener, (struct sockaddr *)&address, &length);
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(callers[i], (struct sockaddr *)&address, length);
    }
    soc_buf_printf(&url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
    CHECK_INT(end_of(soc_buf_text(&url), false), SOC_HTTP_CONNECT_TIMEOUT);
    soc_buf_fini(&url);
    for (int i = 0; i < CALLERS; i++)
        close(callers[i]);
    close(listener);
}

/* The kernel accepts for a listener that never does. Nothing arrives there. */
static void nothing_is_sent_to_a_private_address_that_is_not_wanted(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof(address);
    struct soc_buf url = {0};
    char byte;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 4) == 0);
    getsockname(listener, (struct sockaddr *)&address, &length);
    soc_buf_printf(&url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
    CHECK_INT(end_of(soc_buf_text(&url), true), SOC_HTTP_PRIVATE);
    int caller = accept(listener, NULL, NULL);
    CHECK(caller >= 0 && read(caller, &byte, 1) == 0);
    close(caller);
    soc_buf_fini(&url);
    close(listener);
}

int main(void)
{
    RUN(nothing_is_sent_to_a_private_address_that_is_not_wanted);
    RUN(an_attempt_to_connect_times_out);
    return check_done();
}

#include "net/http.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <curl/curl.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/version.h"
#include "env/clock.h"
#include "loop/alarm.h"
#include "loop/descriptor.h"
#include "net/reach.h"
#include "net/scrub.h"

/* Of a body, handed out at a time. */
#define SLICE_BYTES 16384

/* Read from a connection at a time. Compressed, that can become 1,000 times as much, which
 * is unpacked in one step. */
#define READ_BYTES 2048

struct soc_http {
    struct soc_loop *loop; /* lent */
    CURLM *multi;
    struct soc_alarm *alarm;         /* when curl must be called at the latest */
    struct soc_alarm *pump;          /* continues with waiting bodies */
    struct soc_http_transfer *first; /* all transfers */
    int64_t until_us;                /* in this step, bodies are handed out until then */
    size_t count;
    char *ca_file;
    bool is_inside; /* inside a callback of curl, which then takes no calls */
};

struct soc_http_transfer {
    struct soc_http *http;
    struct soc_http_transfer *next;
    struct soc_http_transfer *previous;
    CURL *easy;
    struct curl_slist *headers;
    struct soc_http_events events;
    struct soc_alarm *alarm; /* first byte, then idle */
    struct soc_scrub scrub;
    struct soc_buf sent;    /* the request body; curl reads it in place */
    struct soc_buf head;    /* header lines of the response so far */
    struct soc_buf cleaned; /* a scrubbed piece of the body, for one call */
    struct soc_buf waiting; /* of the body: not handed out yet */
    size_t handed_out;      /* bytes of `waiting` */
    char error[CURL_ERROR_SIZE];
    int64_t idle_ms;
    size_t body_bytes;
    size_t body_bytes_max;
    enum soc_http_end end; /* why we ended it; DONE: we did not */
    CURLcode code;         /* of curl, once it is done */
    const char *why;       /* more about `end`; NULL: nothing */
    bool has_head;         /* reported */
    bool has_encoding;     /* the head so far says that the body is compressed */
    bool is_paused;        /* nothing is read */
    bool is_done;          /* curl is done with it */
    bool is_cancelled;
    bool is_finishing; /* its last callbacks are running */
};

static const char *const end_names[] = {
#define X(tag, name, text) [SOC_HTTP_##tag] = (name),
    SOC_HTTP_END_MAP(X)
#undef X
};

static const char *const end_texts[] = {
#define X(tag, name, text) [SOC_HTTP_##tag] = (text),
    SOC_HTTP_END_MAP(X)
#undef X
};

bool soc_http_is_token(struct soc_slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        bool is_common = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
        if (!is_common && (c == '\0' || strchr("!#$%&'*+.^_`|~0123456789", c) == NULL))
            return false;
    }
    return text.length > 0;
}

bool soc_http_is_line(struct soc_slice text)
{
    for (size_t i = 0; i < text.length; i++)
        if (((unsigned char)text.data[i] < ' ' && text.data[i] != '\t') || text.data[i] == 0x7F)
            return false;
    return true;
}

const char *soc_http_end_name(enum soc_http_end end)
{
    return end_names[end];
}

const char *soc_http_end_text(enum soc_http_end end)
{
    return end_texts[end];
}

static void free_headers(struct curl_slist *headers)
{
    for (struct curl_slist *item = headers; item != NULL; item = item->next)
        explicit_bzero(item->data, strlen(item->data));
    curl_slist_free_all(headers);
}

static void free_transfer(struct soc_http_transfer *transfer)
{
    struct soc_http *http = transfer->http;
    if (transfer->previous == NULL)
        http->first = transfer->next;
    else
        transfer->previous->next = transfer->next;
    if (transfer->next != NULL)
        transfer->next->previous = transfer->previous;
    http->count--;
    curl_multi_remove_handle(http->multi, transfer->easy);
    curl_easy_cleanup(transfer->easy);
    free_headers(transfer->headers);
    soc_alarm_close(transfer->alarm);
    soc_scrub_fini(&transfer->scrub);
    soc_buf_fini(&transfer->sent);
    soc_buf_fini(&transfer->head);
    soc_buf_fini(&transfer->cleaned);
    soc_buf_fini(&transfer->waiting);
    free(transfer);
}

/* Parses the next line of `*rest` as a header with its name in lower case; false if it is
 * not one. */
static bool read_header(char **rest, struct soc_http_header *header)
{
    char *line = *rest;
    char *end = line + strcspn(line, "\r\n");
    *rest = end + strspn(end, "\r\n");
    char *colon = memchr(line, ':', (size_t)(end - line));
    if (colon == NULL)
        return false;
    for (char *c = line; c < colon; c++)
        *c = (char)tolower((unsigned char)*c);
    char *value = colon + 1;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    header->name = soc_slice(line, (size_t)(colon - line));
    header->value = soc_slice(value, (size_t)(end - value));
    return true;
}

static void tell_head(struct soc_http_transfer *transfer)
{
    struct soc_http_header headers[SOC_HTTP_HEADERS_MAX];
    struct soc_buf text = {0};
    long status = 0;
    int count = 0;
    if (transfer->has_head || transfer->is_cancelled)
        return;
    transfer->has_head = true;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    soc_scrub_put(&transfer->scrub, soc_buf_slice(&transfer->head), &text);
    soc_scrub_end(&transfer->scrub, &text);
    soc_buf_text(&text);
    char *rest = text.data;
    while (rest != NULL && *rest != '\0' && count < SOC_HTTP_HEADERS_MAX)
        count += read_header(&rest, &headers[count]);
    transfer->events.head(transfer->events.user, (int)status, headers, count);
    soc_buf_fini(&text);
}

/* Notes the encoding of the body; false if it is a second one. */
static bool note_encoding(struct soc_http_transfer *transfer, const char *line, size_t length)
{
    static const char name[] = "content-encoding:";
    size_t start = sizeof(name) - 1;
    if (length < start || strncasecmp(line, name, start) != 0)
        return true;
    bool is_second = transfer->has_encoding || memchr(line, ',', length) != NULL;
    transfer->has_encoding = true;
    return !is_second;
}

/* One header line. Each response starts a new head: one of status 100 may come first. */
static size_t take_head(char *data, size_t size, size_t count, void *user)
{
    struct soc_http_transfer *transfer = user;
    size_t length = size * count;
    if (length >= 5 && memcmp(data, "HTTP/", 5) == 0)
        transfer->head.length = transfer->has_encoding = 0;
    if (!note_encoding(transfer, data, length)) {
        transfer->end = SOC_HTTP_NOT_HTTP;
        transfer->why = "its body is compressed more than once";
        return 0;
    }
    if (transfer->head.length + length > SOC_HTTP_HEAD_BYTES_MAX) {
        transfer->end = SOC_HTTP_TOO_LARGE;
        return 0;
    }
    soc_alarm_set(transfer->alarm, transfer->idle_ms);
    for (size_t i = 0; i < length; i++) /* a NUL would end the text */
        soc_buf_put_byte(&transfer->head, data[i] == '\0' ? ' ' : data[i]);
    return length;
}

/* Hands out a piece of the body. */
static void hand_out(struct soc_http_transfer *transfer, struct soc_slice bytes)
{
    transfer->cleaned.length = 0;
    soc_scrub_put(&transfer->scrub, bytes, &transfer->cleaned);
    if (transfer->cleaned.length > 0 && !transfer->is_cancelled)
        transfer->events.body(transfer->events.user, soc_buf_slice(&transfer->cleaned));
}

static bool has_waiting(const struct soc_http_transfer *transfer)
{
    return transfer->waiting.length > transfer->handed_out;
}

/* Leaves bytes for a later step, and the connection unread until then. */
static void put_off(struct soc_http_transfer *transfer, const char *data, size_t length)
{
    soc_buf_put(&transfer->waiting, data, length);
    if (transfer->is_paused)
        return;
    transfer->is_paused = true;
    curl_easy_pause(transfer->easy, CURLPAUSE_RECV);
    soc_alarm_set(transfer->alarm, SOC_TICK_IDLE);
    soc_alarm_set(transfer->http->pump, 1);
}

static size_t take_body(char *data, size_t size, size_t count, void *user)
{
    struct soc_http_transfer *transfer = user;
    size_t length = size * count;
    tell_head(transfer);
    transfer->body_bytes += length;
    if (transfer->body_bytes > transfer->body_bytes_max) {
        transfer->end = SOC_HTTP_TOO_LARGE;
        return 0;
    }
    if (has_waiting(transfer) || soc_clock_monotonic_us() >= transfer->http->until_us) {
        put_off(transfer, data, length);
        return length;
    }
    soc_alarm_set(transfer->alarm, transfer->idle_ms);
    hand_out(transfer, soc_slice(data, length));
    return transfer->is_cancelled ? 0 : length;
}

static bool is_connected(CURL *easy)
{
    curl_off_t since = 0;
    curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &since);
    return since != 0;
}

static enum soc_http_end end_of(const struct soc_http_transfer *transfer, CURLcode code)
{
    if (transfer->end != SOC_HTTP_DONE)
        return transfer->end;
    switch (code) {
    case CURLE_OK:
        return SOC_HTTP_DONE;
    case CURLE_URL_MALFORMAT:
        return SOC_HTTP_BAD_URL;
    case CURLE_UNSUPPORTED_PROTOCOL: /* of the URL, or the server did not speak HTTP */
        return is_connected(transfer->easy) ? SOC_HTTP_NOT_HTTP : SOC_HTTP_BAD_URL;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
        return SOC_HTTP_CONNECT_FAILED;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
        return SOC_HTTP_TLS_FAILED;
    case CURLE_OPERATION_TIMEDOUT:
        return is_connected(transfer->easy) ? SOC_HTTP_TOTAL_TIMEOUT : SOC_HTTP_CONNECT_TIMEOUT;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2_STREAM:
        return SOC_HTTP_CUT;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
        return SOC_HTTP_NOT_HTTP;
    default:
        return SOC_HTTP_FAILED;
    }
}

static void finish(struct soc_http_transfer *transfer, enum soc_http_end end)
{
    struct soc_http_events events = transfer->events;
    struct soc_buf rest = {0};
    struct soc_buf detail = {0};
    transfer->is_finishing = true;
    if (end == SOC_HTTP_DONE)
        tell_head(transfer);
    soc_scrub_end(&transfer->scrub, &rest);
    if (rest.length > 0 && !transfer->is_cancelled)
        events.body(events.user, soc_buf_slice(&rest));
    if (transfer->why != NULL)
        soc_buf_put_text(&detail, transfer->why);
    if (end != SOC_HTTP_DONE && transfer->end == SOC_HTTP_DONE) { /* otherwise curl blames itself */
        soc_scrub_put(&transfer->scrub, soc_slice_text(transfer->error), &detail);
        soc_scrub_end(&transfer->scrub, &detail);
    }
    bool is_cancelled = transfer->is_cancelled;
    free_transfer(transfer);
    if (!is_cancelled)
        events.end(events.user, end, soc_buf_text(&detail));
    soc_buf_fini(&rest);
    soc_buf_fini(&detail);
}

/* Finds a transfer that is over and was handed out; NULL: none. */
static struct soc_http_transfer *find_done(const struct soc_http *http)
{
    struct soc_http_transfer *transfer = http->first;
    while (transfer != NULL &&
           (!transfer->is_done || transfer->is_cancelled || has_waiting(transfer)))
        transfer = transfer->next;
    return transfer;
}

/* Reports the transfers that are over, and releases those cancelled meanwhile. */
static void reap(struct soc_http *http)
{
    struct soc_http_transfer *transfer;
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(http->multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result;
        transfer = NULL;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        assert(transfer != NULL && transfer->http == http);
        transfer->is_done = true;
        transfer->code = code;
        if (transfer->end != SOC_HTTP_DONE) /* nobody wants the rest */
            transfer->waiting.length = transfer->handed_out = 0;
    }
    while ((transfer = find_done(http)) != NULL)
        finish(transfer, end_of(transfer, transfer->code));
    transfer = http->first;
    while (transfer != NULL) {
        struct soc_http_transfer *next = transfer->next;
        if (transfer->is_cancelled)
            free_transfer(transfer);
        transfer = next;
    }
}

static void act(struct soc_http *http, curl_socket_t socket, int events)
{
    int running;
    assert(!http->is_inside);
    http->is_inside = true;
    http->until_us = soc_clock_monotonic_us() + SOC_HTTP_STEP_US;
    curl_multi_socket_action(http->multi, socket, events, &running);
    http->is_inside = false;
    reap(http);
}

static void on_ready(void *user, int socket, bool can_read, bool can_write)
{
    act(user, socket, (can_read ? CURL_CSELECT_IN : 0) | (can_write ? CURL_CSELECT_OUT : 0));
}

static void on_time(void *user)
{
    act(user, CURL_SOCKET_TIMEOUT, 0);
}

/* Hands out what waits, a piece of each transfer at a time. */
static void pump_waiting(struct soc_http *http)
{
    bool has_more = true;
    while (has_more && soc_clock_monotonic_us() < http->until_us) {
        has_more = false;
        for (struct soc_http_transfer *transfer = http->first; transfer != NULL;
             transfer = transfer->next) {
            if (transfer->is_cancelled || !has_waiting(transfer))
                continue;
            size_t left = transfer->waiting.length - transfer->handed_out;
            size_t length = left < SLICE_BYTES ? left : SLICE_BYTES;
            struct soc_slice piece =
                soc_slice(transfer->waiting.data + transfer->handed_out, length);
            transfer->handed_out += length;
            hand_out(transfer, piece);
            has_more |= has_waiting(transfer);
        }
    }
    if (has_more)
        soc_alarm_set(http->pump, 1);
}

/* Continues with waiting bodies, then reads on where everything was handed out. */
static void on_pump(void *user)
{
    struct soc_http *http = user;
    bool is_resumed = false;
    assert(!http->is_inside);
    http->is_inside = true;
    http->until_us = soc_clock_monotonic_us() + SOC_HTTP_STEP_US;
    pump_waiting(http);
    for (struct soc_http_transfer *transfer = http->first; transfer != NULL;
         transfer = transfer->next) {
        if (!transfer->is_paused || transfer->is_cancelled || has_waiting(transfer))
            continue;
        transfer->waiting.length = transfer->handed_out = 0;
        transfer->is_paused = false;
        if (transfer->is_done)
            continue;
        is_resumed = true;
        soc_alarm_set(transfer->alarm, transfer->idle_ms);
        curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
    }
    http->is_inside = false;
    if (is_resumed)
        on_time(http); /* curl reads on, and what is over is reported */
    else
        reap(http);
}

static int want_time(CURLM *multi, long wait_ms, void *user)
{
    struct soc_http *http = user;
    (void)multi;
    soc_alarm_set(http->alarm, wait_ms);
    return 0;
}

static int want_socket(CURL *easy, curl_socket_t socket, int what, void *user, void *assigned)
{
    struct soc_http *http = user;
    struct soc_descriptor *descriptor = assigned;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (descriptor != NULL)
            soc_descriptor_close(descriptor);
        curl_multi_assign(http->multi, socket, NULL);
        return 0;
    }
    if (descriptor == NULL) {
        descriptor = soc_descriptor_open(http->loop, "http", socket, on_ready, http);
        curl_multi_assign(http->multi, socket, descriptor);
    }
    soc_descriptor_set(descriptor, what & CURL_POLL_IN, what & CURL_POLL_OUT);
    return 0;
}

struct soc_http *soc_http_open(struct soc_loop *loop, const struct soc_http_options *options)
{
    struct soc_http *http = soc_alloc_zero(sizeof(*http));
    int connections = options == NULL ? 0 : options->connections_max;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    http->loop = loop;
    http->multi = curl_multi_init();
    assert(http->multi != NULL);
    http->alarm = soc_alarm_open(loop, "http", on_time, http);
    http->pump = soc_alarm_open(loop, "http bodies", on_pump, http);
    if (options != NULL && options->ca_file != NULL)
        http->ca_file = soc_copy_text(options->ca_file, strlen(options->ca_file));
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, want_time);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
    curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS,
                      (long)(connections == 0 ? SOC_HTTP_CONNECTIONS_MAX : connections));
    return http;
}

void soc_http_close(struct soc_http *http)
{
    if (http == NULL)
        return;
    assert(!http->is_inside);
    while (http->first != NULL)
        free_transfer(http->first);
    curl_multi_cleanup(http->multi);
    soc_alarm_close(http->alarm);
    soc_alarm_close(http->pump);
    curl_global_cleanup();
    free(http->ca_file);
    free(http);
}

/* Timeout of the first or the next byte. */
static void on_silence(void *user)
{
    struct soc_http_transfer *transfer = user;
    finish(transfer,
           transfer->head.length == 0 ? SOC_HTTP_FIRST_BYTE_TIMEOUT : SOC_HTTP_IDLE_TIMEOUT);
}

static void add_header(struct soc_http_transfer *transfer, struct soc_slice name,
                       struct soc_slice value, struct soc_slice secret)
{
    struct soc_buf line = {0};
    soc_buf_put_slice(&line, name);
    soc_buf_put_text(
        &line, value.length + secret.length == 0 ? ";" : ": "); /* curl's form of an empty header */
    soc_buf_put_slice(&line, value);
    soc_buf_put_slice(&line, secret);
    transfer->headers = curl_slist_append(transfer->headers, soc_buf_text(&line));
    assert(transfer->headers != NULL);
    explicit_bzero(line.data, line.length);
    soc_buf_fini(&line);
}

static void set_headers(struct soc_http_transfer *transfer, const struct soc_http_request *request)
{
    for (int i = 0; i < request->header_count; i++)
        add_header(transfer, request->headers[i].name, request->headers[i].value,
                   (struct soc_slice){0});
    if (request->secret_name.data != NULL)
        add_header(transfer, request->secret_name, request->secret_prefix, request->secret);
    /* Waiting for permission to send costs a round trip and gains nothing here. */
    transfer->headers = curl_slist_append(transfer->headers, "Expect:");
    curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->headers);
}

static void set_text(CURL *easy, CURLoption option, struct soc_slice text)
{
    char *copy = soc_copy_text(text.data, text.length);
    curl_easy_setopt(easy, option, copy); /* curl keeps a copy */
    free(copy);
}

/* The connection is there, new or kept from before, and nothing was sent. */
static int check_address(void *user, char *remote, char *local, int remote_port, int local_port)
{
    struct soc_http_transfer *transfer = user;
    (void)local, (void)remote_port, (void)local_port;
    if (!soc_reach_is_private(remote))
        return CURL_PREREQFUNC_OK;
    transfer->end = SOC_HTTP_PRIVATE;
    return CURL_PREREQFUNC_ABORT;
}

static void set_request(struct soc_http_transfer *transfer, const struct soc_http_request *request)
{
    CURL *easy = transfer->easy;
    set_text(easy, CURLOPT_URL, request->url);
    if (request->body.data != NULL) {
        soc_buf_put_slice(&transfer->sent, request->body);
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.length);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, soc_buf_text(&transfer->sent));
    }
    if (soc_slice_equal(request->method, SOC_SLICE("HEAD")))
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else if (request->method.data != NULL)
        set_text(easy, CURLOPT_CUSTOMREQUEST, request->method);
    set_headers(transfer, request);
    if (!request->is_public_only)
        return;
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, check_address);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer);
}

static long ms_or(int64_t asked_ms, int64_t default_ms)
{
    return (long)(asked_ms > 0 ? asked_ms : default_ms);
}

static void set_bounds(struct soc_http_transfer *transfer, const struct soc_http_request *request)
{
    CURL *easy = transfer->easy;
    transfer->idle_ms = ms_or(request->idle_ms, SOC_HTTP_IDLE_MS);
    transfer->body_bytes_max =
        request->body_bytes_max > 0 ? request->body_bytes_max : SOC_HTTP_BODY_BYTES_MAX;
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     ms_or(request->connect_ms, SOC_HTTP_CONNECT_MS));
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, ms_or(request->total_ms, SOC_HTTP_TOTAL_MS));
    soc_alarm_set(transfer->alarm, ms_or(request->first_byte_ms, SOC_HTTP_FIRST_BYTE_MS));
}

static void set_options(struct soc_http_transfer *transfer)
{
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)READ_BYTES);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "society/" SOC_VERSION);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_head);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    if (transfer->http->ca_file != NULL)
        curl_easy_setopt(easy, CURLOPT_CAINFO, transfer->http->ca_file);
}

struct soc_http_transfer *soc_http_start(struct soc_http *http,
                                         const struct soc_http_request *request,
                                         const struct soc_http_events *events)
{
    assert(!http->is_inside && request->url.length > 0 && events->end != NULL);
    struct soc_http_transfer *transfer = soc_alloc_zero(sizeof(*transfer));
    transfer->http = http;
    transfer->events = *events;
    transfer->next = http->first;
    if (http->first != NULL)
        http->first->previous = transfer;
    http->first = transfer;
    http->count++;
    transfer->easy = curl_easy_init();
    assert(transfer->easy != NULL);
    transfer->alarm = soc_alarm_open(http->loop, "http", on_silence, transfer);
    if (request->secret.length >= SOC_SECRET_BYTES_MIN)
        soc_scrub_init(&transfer->scrub, request->secret);
    set_options(transfer);
    set_request(transfer, request);
    set_bounds(transfer, request);
    curl_multi_add_handle(http->multi, transfer->easy);
    return transfer;
}

void soc_http_cancel(struct soc_http_transfer *transfer)
{
    transfer->is_cancelled = true;
    if (!transfer->http->is_inside && !transfer->is_finishing)
        free_transfer(transfer);
}

size_t soc_http_count(const struct soc_http *http)
{
    return http->count;
}

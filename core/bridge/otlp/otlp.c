#include "bridge/otlp/otlp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/version.h"
#include "env/clock.h"
#include "loop/alarm.h"
#include "net/http.h"

#define POLL_MS 10

struct queued {
    struct queued *next;
    size_t length;
    char text[];
};

/* What the alarm is set to. */
enum alarm { ALARM_NONE, ALARM_LATER, ALARM_NOW };

struct soc_otlp {
    struct soc_loop *loop;
    const struct soc_otlp_settings *settings;
    struct soc_log log;
    struct soc_clock clock; /* of log lines: the host may be gone */
    struct soc_http *http;
    struct soc_alarm *alarm;
    struct soc_buf head; /* of every batch, up to its spans */
    struct queued *first;
    struct queued *last;
    uint64_t count; /* in the queue */
    size_t bytes;
    enum alarm when; /* it rings next */
    /* The batch at hand; `batch_count` 0: none. */
    struct soc_buf batch;
    uint64_t batch_count;
    int tries;
    struct soc_http_transfer *transfer; /* NULL: not under way */
    int status;                         /* of the response, 0: none */
    int64_t retry_after_ms;             /* -1: not said */
    struct soc_otlp_counts counts;
    bool is_closing;
    bool has_logged_drop;
    bool has_logged_failure; /* since the last success */
};

static void log_line(struct soc_otlp *otlp, const char *text)
{
    soc_log_line(&otlp->log, SOC_LOG_WARN, soc_clock_now(&otlp->clock), "telemetry",
                 SOC_SLICE("system"), soc_slice_text(text));
}

static void drop(struct soc_otlp *otlp, uint64_t count, const char *why)
{
    struct soc_buf text = {0};
    otlp->counts.dropped += count;
    if (otlp->has_logged_drop)
        return;
    otlp->has_logged_drop = true;
    soc_buf_printf(&text, "spans are dropped: %s; the society is not affected", why);
    log_line(otlp, soc_buf_text(&text));
    soc_buf_fini(&text);
}

static void put_attribute(struct soc_buf *out, const char *name, const char *value)
{
    soc_buf_put_text(out, out->data[out->length - 1] == '[' ? "{" : ",{");
    soc_json_put_text_member(out, "key", soc_slice_text(name));
    soc_buf_put_text(out, ",\"value\":{");
    soc_json_put_text_member(out, "stringValue", soc_slice_text(value));
    soc_buf_put_text(out, "}}");
}

static void make_head(struct soc_otlp *otlp, const char *app_name)
{
    const struct soc_otlp_settings *settings = otlp->settings;
    bool has_name = false;
    soc_buf_put_text(&otlp->head, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
    for (int i = 0; i < settings->attribute_count; i++) {
        has_name = has_name || strcmp(settings->attributes[i].name, "service.name") == 0;
        put_attribute(&otlp->head, settings->attributes[i].name, settings->attributes[i].value);
    }
    if (!has_name)
        put_attribute(&otlp->head, "service.name", app_name);
    soc_buf_put_text(&otlp->head, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"society\","
                                  "\"version\":\"" SOC_VERSION "\"},\"spans\":[");
}

static void take_head(void *user, int status, const struct soc_http_header *headers, int count)
{
    struct soc_otlp *otlp = user;
    otlp->status = status;
    for (int i = 0; i < count; i++) {
        int64_t seconds;
        if (soc_slice_equal(headers[i].name, SOC_SLICE("retry-after")) &&
            soc_json_check(headers[i].value, NULL) == SOC_OK &&
            soc_json_integer(headers[i].value, &seconds) && seconds >= 0)
            otlp->retry_after_ms = seconds >= SOC_OTLP_RETRY_AFTER_MS_MAX / 1000
                                       ? SOC_OTLP_RETRY_AFTER_MS_MAX
                                       : seconds * 1000;
    }
}

static void take_body(void *user, struct soc_slice bytes)
{
    (void)user, (void)bytes;
}

/* Moves spans from the queue into the batch at hand. */
static void fill(struct soc_otlp *otlp)
{
    assert(otlp->batch_count == 0);
    otlp->batch.length = 0;
    otlp->tries = 0;
    soc_buf_put_slice(&otlp->batch, soc_buf_slice(&otlp->head));
    while (otlp->first != NULL && otlp->batch_count < (uint64_t)otlp->settings->batch_spans &&
           otlp->batch.length < SOC_OTLP_BATCH_BYTES) {
        struct queued *span = otlp->first;
        if (otlp->batch_count++ > 0)
            soc_buf_put_byte(&otlp->batch, ',');
        soc_buf_put(&otlp->batch, span->text, span->length);
        otlp->first = span->next;
        otlp->count--;
        otlp->bytes -= span->length;
        free(span);
    }
    if (otlp->first == NULL)
        otlp->last = NULL;
    soc_buf_put_text(&otlp->batch, "]}]}]}");
}

static void set_alarm(struct soc_otlp *otlp, enum alarm when, int64_t wait_ms)
{
    otlp->when = when;
    soc_alarm_set(otlp->alarm, wait_ms);
}

/* Schedules whatever comes next, unless a batch is under way or pauses. A full batch leaves
 * at the next turn of the loop, however many spans come until then. */
static void schedule(struct soc_otlp *otlp)
{
    bool is_full = otlp->count >= (uint64_t)otlp->settings->batch_spans ||
                   otlp->bytes >= SOC_OTLP_BATCH_BYTES || otlp->is_closing;
    if (otlp->batch_count > 0 || otlp->count == 0)
        return;
    if (is_full && otlp->when != ALARM_NOW)
        set_alarm(otlp, ALARM_NOW, 0);
    else if (otlp->when == ALARM_NONE)
        set_alarm(otlp, ALARM_LATER, otlp->settings->delay_ms);
}

static void end_batch(struct soc_otlp *otlp)
{
    otlp->batch_count = 0;
    soc_buf_fini(&otlp->batch);
    otlp->batch = (struct soc_buf){0};
    schedule(otlp);
}

/* Logs the first failure after a success, without anything that the collector said. */
static void log_failure(struct soc_otlp *otlp, enum soc_http_end end)
{
    struct soc_buf text = {0};
    if (otlp->has_logged_failure)
        return;
    otlp->has_logged_failure = true;
    if (otlp->status != 0)
        soc_buf_printf(&text, "the collector answered with status %d", otlp->status);
    else
        soc_buf_printf(&text, "the collector cannot be reached: %s", soc_http_end_text(end));
    soc_buf_put_text(&text, "; the society is not affected");
    log_line(otlp, soc_buf_text(&text));
    soc_buf_fini(&text);
}

static int64_t pause_ms(const struct soc_otlp *otlp)
{
    if (otlp->retry_after_ms >= 0)
        return otlp->retry_after_ms;
    int64_t pause = SOC_OTLP_RETRY_MS;
    for (int i = 1; i < otlp->tries && pause < SOC_OTLP_RETRY_MS_MAX; i++)
        pause *= 2;
    return pause < SOC_OTLP_RETRY_MS_MAX ? pause : SOC_OTLP_RETRY_MS_MAX;
}

/* Statuses that the specification of OTLP calls retryable; and no status at all. */
static bool may_retry(const struct soc_otlp *otlp, enum soc_http_end end)
{
    int status = otlp->status;
    if (status == 0)
        return end != SOC_HTTP_BAD_URL && end != SOC_HTTP_TLS_FAILED && end != SOC_HTTP_NOT_HTTP;
    return status == 429 || status == 502 || status == 503 || status == 504;
}

static void take_end(void *user, enum soc_http_end end, const char *detail)
{
    struct soc_otlp *otlp = user;
    (void)detail;
    otlp->transfer = NULL;
    if (otlp->status >= 200 && otlp->status < 300) { /* its body, however it ends, says no more */
        otlp->counts.sent += otlp->batch_count;
        otlp->has_logged_failure = false;
        end_batch(otlp);
        return;
    }
    log_failure(otlp, end);
    bool is_last = otlp->is_closing &&
                   (otlp->retry_after_ms < 0 || otlp->retry_after_ms > otlp->settings->close_ms);
    if (is_last || !may_retry(otlp, end) || otlp->tries >= SOC_OTLP_TRIES_MAX) {
        drop(otlp, otlp->batch_count, "the collector did not take them");
        end_batch(otlp);
        return;
    }
    set_alarm(otlp, ALARM_LATER, pause_ms(otlp));
}

/* Sends the batch at hand. */
static void start(struct soc_otlp *otlp)
{
    const struct soc_otlp_settings *settings = otlp->settings;
    struct soc_http_header headers[SOC_OTLP_HEADERS_MAX + 1];
    struct soc_http_events events = {take_head, take_body, take_end, otlp};
    int count = 0;
    assert(otlp->transfer == NULL && otlp->batch_count > 0);
    headers[count++] =
        (struct soc_http_header){SOC_SLICE("Content-Type"), SOC_SLICE("application/json")};
    for (int i = 0; i < settings->header_count; i++)
        headers[count++] = (struct soc_http_header){soc_slice_text(settings->headers[i].name),
                                                    soc_slice_text(settings->headers[i].value)};
    struct soc_http_request request = {
        .method = SOC_SLICE("POST"),
        .url = soc_slice_text(settings->url),
        .headers = headers,
        .header_count = count,
        .body = soc_buf_slice(&otlp->batch),
        .connect_ms = settings->timeout_ms,
        .first_byte_ms = settings->timeout_ms,
        .idle_ms = settings->timeout_ms,
        .total_ms = settings->timeout_ms,
        .body_bytes_max = SOC_OTLP_ANSWER_BYTES_MAX,
    };
    otlp->status = 0;
    otlp->retry_after_ms = -1;
    otlp->tries++;
    otlp->transfer = soc_http_start(otlp->http, &request, &events);
}

static void ring(void *user)
{
    struct soc_otlp *otlp = user;
    otlp->when = ALARM_NONE;
    assert(otlp->transfer == NULL); /* it is not set while one is under way */
    if (otlp->batch_count == 0 && otlp->count > 0)
        fill(otlp);
    if (otlp->batch_count > 0)
        start(otlp);
}

struct soc_otlp *soc_otlp_open(const struct soc_otlp_options *options)
{
    assert(options->settings->url != NULL);
    struct soc_otlp *otlp = soc_alloc_zero(sizeof(*otlp));
    struct soc_http_options http = {.ca_file = options->settings->ca_file, .connections_max = 1};
    otlp->loop = options->loop;
    otlp->settings = options->settings;
    otlp->log = options->log;
    soc_clock_init(&otlp->clock, false);
    otlp->http = soc_http_open(options->loop, &http);
    otlp->alarm = soc_alarm_open(options->loop, "telemetry", ring, otlp);
    make_head(otlp, options->app_name);
    return otlp;
}

void soc_otlp_add(void *user, struct soc_slice span)
{
    struct soc_otlp *otlp = user;
    if (otlp->count >= (uint64_t)otlp->settings->spans_max ||
        otlp->bytes + span.length > SOC_OTLP_BYTES_MAX) {
        drop(otlp, 1, "the queue is full because the collector does not keep up");
        return;
    }
    struct queued *queued = soc_alloc(sizeof(*queued) + span.length);
    queued->next = NULL;
    queued->length = span.length;
    memcpy(queued->text, span.data, span.length);
    if (otlp->last == NULL)
        otlp->first = queued;
    else
        otlp->last->next = queued;
    otlp->last = queued;
    otlp->count++;
    otlp->bytes += span.length;
    schedule(otlp);
}

struct soc_otlp_counts soc_otlp_count(const struct soc_otlp *otlp)
{
    struct soc_otlp_counts counts = otlp->counts;
    counts.queued = otlp->count + otlp->batch_count;
    return counts;
}

/* Sends everything at once, without pauses of our own. */
static void flush(struct soc_otlp *otlp)
{
    int64_t end_us = soc_clock_monotonic_us() + otlp->settings->close_ms * 1000;
    otlp->is_closing = true;
    if (otlp->batch_count > 0 && otlp->transfer == NULL)
        set_alarm(otlp, ALARM_NOW, 0); /* instead of its pause */
    schedule(otlp);
    while (soc_otlp_count(otlp).queued > 0 && soc_clock_monotonic_us() < end_us)
        soc_loop_poll(otlp->loop, POLL_MS);
}

void soc_otlp_close(struct soc_otlp *otlp)
{
    if (otlp == NULL)
        return;
    flush(otlp);
    uint64_t left = soc_otlp_count(otlp).queued;
    if (left > 0)
        drop(otlp, left, "the society ended before the collector took them");
    if (otlp->counts.dropped > 0) {
        struct soc_buf text = {0};
        soc_buf_printf(&text, "%llu spans were sent, %llu were dropped",
                       (unsigned long long)otlp->counts.sent,
                       (unsigned long long)otlp->counts.dropped);
        log_line(otlp, soc_buf_text(&text));
        soc_buf_fini(&text);
    }
    soc_http_close(otlp->http);
    soc_alarm_close(otlp->alarm);
    while (otlp->first != NULL) {
        struct queued *next = otlp->first->next;
        free(otlp->first);
        otlp->first = next;
    }
    soc_buf_fini(&otlp->head);
    soc_buf_fini(&otlp->batch);
    free(otlp);
}

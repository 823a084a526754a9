#include "script/calls/visit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/refusal.h"
#include "net/http.h"
#include "script/calls/exchange.h"
#include "script/calls/secrets.h"

#define GRACE_MS 1000

/* The driver of an HTTP call: the response so far. */
struct soc_visit {
    struct soc_script *script;
    struct soc_outcall *call;
    struct soc_exchange *exchange; /* NULL: not begun, or over */
    struct soc_visit *next;        /* in the queue */
    bool is_waiting;
    int status;
    struct soc_buf headers;
    /* The answer so far, JSON that ends inside the body: as a text, and as bytes. */
    struct soc_buf text;
    struct soc_buf text_rest; /* a character whose end has not come */
    struct soc_buf bytes;
    struct soc_buf bytes_rest; /* less than three */
    bool is_binary;            /* the body is not UTF-8: `text` is empty */
    bool is_too_large;
};

struct soc_visits {
    struct soc_visit *first; /* queue of those waiting for a slot */
    struct soc_visit *last;
    uint32_t count;     /* open now */
    uint32_t count_max; /* open at once */
};

void soc_visit_open(struct soc_script *script)
{
    assert(script->visits == NULL);
    script->visits = soc_alloc_zero(sizeof(*script->visits));
    script->visits->count_max = SOC_HTTP_CONCURRENCY;
}

void soc_visit_fini(struct soc_script *script)
{
    assert(script->visits->first == NULL && script->visits->count == 0);
    free(script->visits);
    script->visits = NULL;
}

static void take_head(void *user, int status, struct soc_slice headers)
{
    struct soc_visit *visit = user;
    visit->status = status;
    soc_buf_put_slice(&visit->headers, headers);
}

/* Appends bytes of any kind as base64, three at a time; returns how many that were. */
static size_t put_base64(struct soc_buf *out, struct soc_slice bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *from = (const unsigned char *)bytes.data;
    size_t triples = bytes.length / 3;
    char *to = soc_buf_reserve(out, triples * 4);
    for (size_t i = 0; i < triples; i++, from += 3, to += 4) {
        uint32_t word = (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2];
        to[0] = digits[word >> 18];
        to[1] = digits[word >> 12 & 63];
        to[2] = digits[word >> 6 & 63];
        to[3] = digits[word & 63];
    }
    out->length += triples * 4;
    return triples * 3;
}

/* Appends the last one or two bytes. */
static void end_base64(struct soc_buf *out, struct soc_slice rest)
{
    char three[3] = {0};
    if (rest.length == 0)
        return;
    memcpy(three, rest.data, rest.length);
    put_base64(out, soc_slice(three, 3));
    memset(out->data + out->length - (3 - rest.length), '=', 3 - rest.length);
}

/* Returns how many bytes at the end may be the beginning of a character. */
static size_t unended_bytes(struct soc_slice text)
{
    for (size_t back = 1; back <= 3 && back <= text.length; back++) {
        unsigned char byte = (unsigned char)text.data[text.length - back];
        if (byte >= 0xc0)
            return back < (byte >= 0xf0 ? 4u : byte >= 0xe0 ? 3u : 2u) ? back : 0;
        if (byte < 0x80)
            return 0;
    }
    return 0;
}

/* Appends text inside a string of JSON that is not closed yet; false if it is not UTF-8. */
static bool put_inside(struct soc_buf *out, struct soc_slice text)
{
    char before = out->data[--out->length]; /* where the opening quote goes */
    size_t at = out->length;
    bool is_text = soc_json_put_checked_string(out, text) < 0;
    out->data[at] = before;
    out->length = is_text ? out->length - 1 : at + 1;
    return is_text;
}

static void cut_front(struct soc_buf *buf, size_t length)
{
    assert(length <= buf->length);
    if (length == 0) /* the buffer may have no memory yet */
        return;
    memmove(buf->data, buf->data + length, buf->length - length);
    buf->length -= length;
}

/* What comes is written down as JSON at once, piece by piece: a large body is no long step at
 * its end. Until it is known which, it is both a text and, as base64, bytes. */
static void take_piece(struct soc_visit *visit, struct soc_slice bytes, bool is_last)
{
    struct soc_buf *text = &visit->text;
    struct soc_buf *rest = &visit->text_rest;
    soc_buf_put_slice(&visit->bytes_rest, bytes);
    size_t done = put_base64(&visit->bytes, soc_buf_slice(&visit->bytes_rest));
    cut_front(&visit->bytes_rest, done);
    if (visit->is_binary)
        return;
    soc_buf_put_slice(rest, bytes);
    size_t whole = rest->length - (is_last ? 0 : unended_bytes(soc_buf_slice(rest)));
    visit->is_binary = !put_inside(text, soc_slice(rest->data, whole));
    cut_front(rest, whole);
    visit->is_too_large = text->length > SOC_HTTP_ANSWER_BYTES_MAX;
    if (visit->is_binary || visit->is_too_large)
        soc_buf_fini(text);
}

static void take_body(void *user, struct soc_slice bytes)
{
    struct soc_visit *visit = user;
    if (!visit->is_too_large && bytes.length > 0)
        take_piece(visit, bytes, false);
}

/* Completes the answer and moves it to `answer`. A body that is not text comes as base64,
 * under another name. */
static void end_answer(struct soc_visit *visit, struct soc_buf *answer)
{
    if (!visit->is_binary)
        take_piece(visit, SOC_SLICE(""), true);
    if (visit->is_binary)
        end_base64(&visit->bytes, soc_buf_slice(&visit->bytes_rest));
    struct soc_buf *out = visit->is_binary ? &visit->bytes : &visit->text;
    soc_buf_put_byte(out, '"');
    soc_json_put_name(out, "headers");
    soc_buf_put_slice(out, soc_buf_slice(&visit->headers));
    soc_json_put_name(out, "status");
    soc_json_put_integer(out, visit->status);
    soc_buf_put_text(out, "}]");
    *answer = *out;
    *out = (struct soc_buf){0};
}

static void take_end(void *user, const char *error, const char *message)
{
    struct soc_visit *visit = user;
    struct soc_buf answer = {0};
    visit->exchange = NULL;
    if (error != NULL)
        soc_refuse_named(&answer, error, message);
    else if (!visit->is_too_large)
        end_answer(visit, &answer);
    soc_secrets_scrub(visit->script, &answer);
    if ((error == NULL && visit->is_too_large) || answer.length > SOC_HTTP_ANSWER_BYTES_MAX)
        soc_refuse_named(&answer, soc_http_end_name(SOC_HTTP_TOO_LARGE),
                         "the answer, written as JSON, is larger than 24 MB");
    soc_calls_answer(visit->script->host, visit->call, soc_buf_slice(&answer));
    soc_buf_fini(&answer);
}

static bool is_true(struct soc_slice request, const char *name)
{
    return soc_slice_equal(soc_json_member(request, name), SOC_SLICE("true"));
}

/* Reads a number of the request; `otherwise` if absent. */
static int64_t number_of(struct soc_slice request, const char *name, int64_t otherwise)
{
    int64_t number = otherwise;
    struct soc_slice value = soc_json_member(request, name);
    if (value.data != NULL)
        soc_json_integer(value, &number);
    return number;
}

/* Returns a member of the request's secret as a text; empty if absent. */
static const char *secret_part(struct soc_slice request, const char *name, struct soc_buf *out)
{
    struct soc_slice secret = soc_json_member(request, "secret");
    if (secret.data != NULL)
        soc_json_string(soc_json_member(secret, name), out);
    return soc_buf_text(out);
}

static void start_visit(struct soc_visit *visit)
{
    struct soc_script *script = visit->script;
    struct soc_outcall *call = visit->call;
    struct soc_buf parts[3] = {{0}};
    /* The wait ends before, with a better error. */
    int64_t bound_ms = call->activation->wait.timeout_ms + GRACE_MS;
    struct soc_exchange_events events = {take_head, take_body, take_end, visit};
    struct soc_exchange_request request = {
        .json = call->request,
        .use = SOC_KEYS_HTTP,
        .connect_ms = number_of(call->request, "connect_ms", 0),
        .first_byte_ms = number_of(call->request, "first_byte_ms", bound_ms),
        .idle_ms = number_of(call->request, "idle_ms", bound_ms),
        .total_ms = bound_ms,
        .body_bytes_max = (size_t)number_of(call->request, "answer_bytes_max", 0),
    };
    if (is_true(call->request, "idempotent"))
        request.id = soc_slice_text(call->id);
    if (soc_json_member(call->request, "secret").data != NULL) {
        request.secret_env = secret_part(call->request, "env", &parts[0]);
        request.secret_header = secret_part(call->request, "header", &parts[1]);
        request.secret_prefix = secret_part(call->request, "prefix", &parts[2]);
    }
    visit->exchange = soc_exchange_start(script, call, &request, &events);
    for (int i = 0; i < 3; i++)
        soc_buf_fini(&parts[i]);
}

void soc_visit_begin(struct soc_script *script, struct soc_outcall *call)
{
    struct soc_visits *visits = script->visits;
    struct soc_visit *visit = soc_alloc_zero(sizeof(*visit));
    visit->script = script;
    visit->call = call;
    call->driver = visit;
    soc_buf_put_text(&visit->text, "[{\"body\":\"");
    soc_buf_put_text(&visit->bytes, "[{\"body_base64\":\"");
    if (visits->count < visits->count_max) {
        visits->count++;
        start_visit(visit);
        return;
    }
    visit->is_waiting = true;
    if (visits->last == NULL)
        visits->first = visit;
    else
        visits->last->next = visit;
    visits->last = visit;
}

static void unlink_visit(struct soc_visits *visits, struct soc_visit *visit)
{
    struct soc_visit *previous = NULL;
    struct soc_visit *at = visits->first;
    for (; at != visit; at = at->next)
        previous = at;
    if (previous == NULL)
        visits->first = visit->next;
    else
        previous->next = visit->next;
    if (visits->last == visit)
        visits->last = previous;
    visit->is_waiting = false;
    visit->next = NULL;
}

/* Gives free slots to the queue. They start from timers, because the caller may be in
 * the middle of something, or the host may be closing. */
static void give_places(struct soc_script *script)
{
    struct soc_visits *visits = script->visits;
    struct soc_host *host = script->host;
    while (visits->first != NULL && visits->count < visits->count_max) {
        struct soc_visit *next = visits->first;
        unlink_visit(visits, next);
        visits->count++;
        soc_calls_wake(host, next->call, soc_clock_now(soc_host_clock(host)));
    }
}

void soc_visit_end(struct soc_visit *visit)
{
    struct soc_script *script = visit->script;
    if (visit->exchange != NULL)
        soc_exchange_cancel(visit->exchange);
    if (visit->is_waiting)
        unlink_visit(script->visits, visit);
    else
        script->visits->count--;
    soc_buf_fini(&visit->headers);
    soc_buf_fini(&visit->text);
    soc_buf_fini(&visit->text_rest);
    soc_buf_fini(&visit->bytes);
    soc_buf_fini(&visit->bytes_rest);
    free(visit);
    give_places(script);
}

void soc_visit_set_concurrency(struct soc_script *script, uint32_t count)
{
    script->visits->count_max = count;
    give_places(script);
}

void soc_visit_due(struct soc_visit *visit)
{
    if (visit->exchange == NULL)
        start_visit(visit);
    else
        soc_exchange_due(visit->exchange);
}

#include "bridge/http/streams.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/clock.h"
#include "kernel/tap.h"
#include "loop/alarm.h"
#include "net/url.h"
#include "net/websocket.h"
#include "parts/models/calls.h"

#define PULSE_MS        1000
#define COMMENT_US      15000000 /* between two comments or pings */
#define SEND_US         50       /* of sending to one client, about */
#define REST_US_MAX     50000    /* between two sends to one client */
#define PARAM_BYTES_MAX 1024

struct soc_stream {
    struct soc_streams *streams;
    struct soc_stream *next;
    struct soc_stream *previous;
    struct soc_server_request *request; /* of events */
    const struct soc_visitor *visitor;
    struct soc_websocket *websocket; /* NULL: events */
    struct soc_listener *listener;   /* NULL: it has left the tap */
    char *agent;                     /* the only one it wants to hear of; NULL: any */
    bool is_summary;
    bool is_mute;   /* it does not want the words of models */
    bool is_plain;  /* events without filters: what it gets, others get as well */
    bool is_full;   /* the tap waits for room */
    bool is_unsent; /* something was appended since the last flush */
    int64_t sent_us;
    bool is_ending; /* it has said goodbye */
};

struct soc_streams {
    struct soc_loop *loop;
    struct soc_host *host;
    struct soc_entry *entry;
    struct soc_alarm *pulse; /* set while there are streams */
    struct soc_alarm *rest;  /* until what was appended is sent */
    bool is_resting;         /* it is set */
    int count;
    struct soc_stream *first;
    struct soc_buf out;
    struct soc_buf shared; /* the last lines as event streams without filters get them */
    uint64_t shared_first; /* which lines these are */
    uint64_t shared_last;
    int64_t comment_us; /* when the last comments and pings were sent */
    bool is_stopped;
};

/* ---- what a client wants ---- */

const struct soc_param soc_stream_params[] = {
    {.name = "after",
     .kind = SOC_PARAM_INTEGER,
     .most = INT64_MAX,
     .summary = "begins after this line; else now. The header Last-Event-ID counts more"},
    {.name = "events", .most = PARAM_BYTES_MAX, .summary = "names with commas, `*` for any text"},
    {.name = "agent", .most = PARAM_BYTES_MAX, .summary = "lines that concern this agent"},
    {.name = "task", .most = PARAM_BYTES_MAX, .summary = "lines that belong to this task"},
    {.name = "correlation_id", .most = PARAM_BYTES_MAX, .summary = "lines of this chain"},
    {.name = "summary",
     .kind = SOC_PARAM_FLAG,
     .summary = "counts by the second instead of message.*"},
    {.name = NULL},
};

static bool read_number(struct soc_slice text, uint64_t *number)
{
    *number = 0;
    if (text.length == 0 || text.length > 18)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *number = *number * 10 + (uint64_t)(text.data[i] - '0');
    }
    return true;
}

static bool read_flag(struct soc_slice text, bool *flag)
{
    *flag = text.length == 0 || soc_slice_equal(text, SOC_SLICE("1")) ||
            soc_slice_equal(text, SOC_SLICE("true"));
    return *flag || soc_slice_equal(text, SOC_SLICE("0")) ||
           soc_slice_equal(text, SOC_SLICE("false"));
}

/* Reads one parameter; lends its name if its value is wrong or its second one, or `query`. */
static const char *read_param(struct soc_stream_wish *wish, const struct soc_url_walk *walk)
{
    static const char *const names[] = {"events", "agent", "task", "correlation_id"};
    struct soc_slice *const places[] = {&wish->events, &wish->agent, &wish->task,
                                        &wish->correlation_id};
    size_t first = wish->texts.length;
    if (walk->value.length > PARAM_BYTES_MAX || !soc_url_decode(walk->value, true, &wish->texts))
        return "query";
    struct soc_slice value = soc_slice(wish->texts.data + first, wish->texts.length - first);
    for (int i = 0; i < 4; i++) {
        if (!soc_slice_equal(walk->name, soc_slice_text(names[i])))
            continue;
        wish->is_twice = places[i]->data != NULL;
        *places[i] = value;
        return wish->is_twice ? names[i] : NULL;
    }
    if (soc_slice_equal(walk->name, SOC_SLICE("after"))) {
        wish->is_twice = wish->has_after;
        if (wish->is_twice)
            return "after";
        wish->has_after = read_number(value, &wish->after);
        return wish->has_after ? NULL : "after";
    }
    if (soc_slice_equal(walk->name, SOC_SLICE("summary"))) {
        wish->is_twice = wish->has_summary;
        wish->has_summary = true;
        return !wish->is_twice && read_flag(value, &wish->is_summary) ? NULL : "summary";
    }
    return "query";
}

const char *soc_stream_wish_read(struct soc_stream_wish *wish,
                                 const struct soc_server_request *request)
{
    struct soc_slice query = soc_server_query(request);
    struct soc_slice last = soc_server_header(request, "Last-Event-ID");
    struct soc_url_walk walk;
    const char *fault = NULL;
    *wish = (struct soc_stream_wish){0};
    soc_buf_reserve(&wish->texts, query.length + 1); /* so that the texts never move */
    soc_url_walk(&walk, query);
    while (fault == NULL && soc_url_next(&walk))
        fault = read_param(wish, &walk);
    if (fault == NULL && last.length > 0) {
        wish->has_after = read_number(last, &wish->after);
        fault = wish->has_after ? NULL : "Last-Event-ID";
    }
    return fault;
}

const char *soc_stream_wish_sentence(const struct soc_stream_wish *wish, const char *fault)
{
    if (wish->is_twice)
        return "it is given twice";
    if (strcmp(fault, "query") == 0)
        return "a stream takes after, events, agent, task, correlation_id and summary, none of "
               "them long, and UTF-8 in percent-encoding";
    if (strcmp(fault, "summary") == 0)
        return "summary must be 0 or 1";
    return "it must be the number of a line of the activity log";
}

void soc_stream_wish_fini(struct soc_stream_wish *wish)
{
    soc_buf_fini(&wish->texts);
}

/* ---- what is sent ---- */

static size_t held(const struct soc_stream *stream)
{
    return stream->websocket != NULL ? soc_websocket_held(stream->websocket)
                                     : soc_server_stream_held(stream->request);
}

/* Appends an event in the form of its kind; `line` 0: without an id. Data is JSON, which has
 * no line breaks. */
static void put_event(const struct soc_stream *stream, uint64_t line, const char *name,
                      struct soc_slice data, struct soc_buf *out)
{
    if (stream->websocket == NULL) {
        if (line > 0)
            soc_buf_printf(out, "id: %" PRIu64 "\n", line);
        soc_buf_printf(out, "event: %s\ndata: ", name);
        soc_buf_put_slice(out, data);
        soc_buf_put_text(out, "\n\n");
        return;
    }
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "type", soc_slice_text(name));
    if (line > 0) {
        soc_json_put_name(out, "id");
        soc_json_put_integer(out, (int64_t)line);
    }
    soc_json_put_name(out, "data");
    soc_buf_put_slice(out, data);
    soc_buf_put_byte(out, '}');
}

static void send_event(struct soc_stream *stream, uint64_t line, const char *name,
                       struct soc_slice data)
{
    struct soc_buf *out = &stream->streams->out;
    out->length = 0;
    put_event(stream, line, name, data, out);
    if (stream->websocket != NULL)
        soc_websocket_put(stream->websocket, soc_buf_slice(out));
    else
        soc_server_stream_put(stream->request, soc_buf_slice(out));
}

/* Lends lines in the form of events. Plain streams share it: they mostly get the same lines
 * one after the other, and a line is the same for all. */
static struct soc_slice format(struct soc_stream *stream, const struct soc_tap_line *lines,
                               size_t count)
{
    struct soc_streams *streams = stream->streams;
    struct soc_buf *out = stream->is_plain ? &streams->shared : &streams->out;
    if (stream->is_plain && streams->shared_first == lines[0].line &&
        streams->shared_last == lines[count - 1].line)
        return soc_buf_slice(out);
    out->length = 0;
    for (size_t i = 0; i < count; i++)
        put_event(stream, lines[i].line, lines[i].name, lines[i].data, out);
    if (stream->is_plain) {
        streams->shared_first = lines[0].line;
        streams->shared_last = lines[count - 1].line;
    }
    return soc_buf_slice(out);
}

/* How long a client rests between two sends: sending costs more than what is sent, so with
 * many clients each gets more at a time. A few get everything at once. */
static int64_t rest_us(const struct soc_streams *streams)
{
    int64_t all_us = (int64_t)streams->count * SEND_US;
    return all_us < REST_US_MAX ? all_us : REST_US_MAX;
}

static void flush(struct soc_stream *stream, int64_t now_us)
{
    stream->is_unsent = false;
    stream->sent_us = now_us;
    soc_server_stream_flush(stream->request);
}

static void flush_all(void *user)
{
    struct soc_streams *streams = user;
    int64_t now_us = soc_clock_monotonic_us();
    streams->is_resting = false;
    for (struct soc_stream *each = streams->first; each != NULL; each = each->next)
        if (each->is_unsent)
            flush(each, now_us);
}

/* Sends bytes, now or with what else comes within a moment. */
static void send_bytes(struct soc_stream *stream, struct soc_slice bytes)
{
    struct soc_streams *streams = stream->streams;
    int64_t now_us = soc_clock_monotonic_us();
    soc_server_stream_append(stream->request, bytes);
    if (now_us - stream->sent_us >= rest_us(streams)) {
        flush(stream, now_us);
        return;
    }
    stream->is_unsent = true;
    if (!streams->is_resting)
        soc_alarm_set(streams->rest, rest_us(streams) / 1000 + 1);
    streams->is_resting = true;
}

/* Sends lines: those of an event stream in one piece. */
static bool take(void *user, const struct soc_tap_line *lines, size_t count)
{
    struct soc_stream *stream = user;
    if (stream->is_ending)
        return false;
    for (size_t i = 0; stream->websocket != NULL && i < count; i++)
        send_event(stream, lines[i].line, lines[i].name, lines[i].data);
    if (stream->websocket == NULL && count > 0)
        send_bytes(stream, format(stream, lines, count));
    stream->is_full = held(stream) >= SOC_STREAM_BYTES_MAX;
    return !stream->is_full;
}

static void leave_tap(struct soc_stream *stream)
{
    struct soc_listener *listener = stream->listener;
    stream->listener = NULL;
    if (listener != NULL)
        soc_tap_leave(listener);
}

static void say_goodbye(struct soc_stream *stream, enum soc_websocket_code code)
{
    if (stream->is_ending)
        return;
    stream->is_ending = true;
    if (stream->websocket != NULL)
        soc_websocket_close(stream->websocket, code);
    else
        soc_server_stream_end(stream->request);
}

/* What comes next was removed: the client has to begin anew, from `first` or now. */
static void tell_gone(void *user, uint64_t first)
{
    struct soc_stream *stream = user;
    struct soc_buf data = {0};
    soc_buf_printf(&data, "{\"error\":\"gone\",\"first\":%" PRIu64 "}", first);
    send_event(stream, 0, "gone", soc_buf_slice(&data));
    soc_buf_fini(&data);
    say_goodbye(stream, SOC_WEBSOCKET_GOING_AWAY);
}

static void drained(void *user)
{
    struct soc_stream *stream = user;
    if (!stream->is_full || stream->listener == NULL)
        return;
    stream->is_full = false;
    soc_tap_more(stream->listener);
}

/* Shows a client that all is well, and finds out whether it is still there. */
static void touch(struct soc_stream *stream, int64_t now_us)
{
    if (stream->websocket != NULL)
        soc_websocket_ping(stream->websocket, now_us);
    else if (held(stream) == 0)
        soc_server_stream_put(stream->request, SOC_SLICE(":\n\n"));
}

/* Once a second: who is no longer welcome leaves, summaries are completed, and now and then
 * everybody is touched. */
static void pulse(void *user)
{
    struct soc_streams *streams = user;
    int64_t now_us = soc_clock_monotonic_us();
    bool is_comment_due = now_us - streams->comment_us >= COMMENT_US;
    if (is_comment_due)
        streams->comment_us = now_us;
    for (struct soc_stream *each = streams->first; each != NULL; each = each->next) {
        if (each->is_ending)
            continue;
        if (!soc_entry_holds(streams->entry, each->visitor)) {
            leave_tap(each);
            say_goodbye(each, SOC_WEBSOCKET_REFUSED);
            continue;
        }
        if (is_comment_due)
            touch(each, now_us);
        if (each->is_summary && each->listener != NULL && !each->is_full)
            soc_tap_more(each->listener);
    }
    if (streams->first != NULL)
        soc_alarm_set(streams->pulse, PULSE_MS);
}

/* Tells whether a stream wants what the model of an agent says, and has room for so many
 * bytes. Words that find no room are lost to it: nothing could repeat them. */
static bool wants_words(const struct soc_stream *stream, struct soc_slice agent, size_t length)
{
    if (stream->is_ending || stream->is_mute || held(stream) + length > SOC_STREAM_BYTES_MAX)
        return false;
    return stream->agent == NULL || soc_slice_equal(soc_slice_text(stream->agent), agent);
}

/* A model speaks: its words go to those who want to hear them and have room. */
static void hear(void *user, const struct soc_outcall *call, struct soc_slice text)
{
    struct soc_streams *streams = user;
    struct soc_buf data = {0};
    if (streams->first == NULL)
        return;
    soc_buf_put_byte(&data, '{');
    soc_json_put_text_member(&data, "agent", soc_calls_agent(call));
    soc_json_put_name(&data, "call");
    soc_json_put_integer(&data, (int64_t)call->number);
    soc_json_put_text_member(&data, "text", text);
    soc_buf_put_byte(&data, '}');
    for (struct soc_stream *each = streams->first; each != NULL; each = each->next) {
        if (wants_words(each, soc_calls_agent(call), data.length))
            send_event(each, 0, "model.delta", soc_buf_slice(&data));
    }
    soc_buf_fini(&data);
}

static char *copy(struct soc_slice text)
{
    return text.data == NULL ? NULL : soc_copy_text(text.data, text.length);
}

static struct soc_stream *new_stream(struct soc_streams *streams,
                                     struct soc_server_request *request,
                                     const struct soc_stream_wish *wish,
                                     const struct soc_visitor *visitor)
{
    struct soc_stream *stream = soc_alloc_zero(sizeof(*stream));
    stream->streams = streams;
    stream->request = request;
    stream->visitor = visitor;
    stream->agent = copy(wish->agent);
    stream->is_summary = wish->is_summary;
    /* Words belong to no task or chain, and summaries are for those who want little. */
    stream->is_mute =
        wish->task.data != NULL || wish->correlation_id.data != NULL ||
        (wish->events.data == NULL ? wish->is_summary : !soc_tap_fits(wish->events, "model.delta"));
    stream->is_plain = wish->events.data == NULL && wish->agent.data == NULL &&
                       wish->task.data == NULL && wish->correlation_id.data == NULL &&
                       !wish->is_summary;
    return stream;
}

static void free_stream(struct soc_stream *stream)
{
    free(stream->agent);
    free(stream);
}

/* Enters the stream and lets it hear. */
static void begin(struct soc_stream *stream, const struct soc_stream_wish *wish)
{
    struct soc_streams *streams = stream->streams;
    const struct soc_tap_options options = {
        .is_from_now = !wish->has_after,
        .after = wish->after,
        .events = wish->events,
        .agent = wish->agent,
        .task = wish->task,
        .correlation_id = wish->correlation_id,
        .is_summary = wish->is_summary,
        .take = take,
        .gone = tell_gone,
        .user = stream,
    };
    if (streams->first == NULL) {
        soc_calls_watch(streams->host, hear, streams);
        streams->comment_us = soc_clock_monotonic_us();
        soc_alarm_set(streams->pulse, PULSE_MS);
    }
    streams->count++;
    stream->next = streams->first;
    if (stream->next != NULL)
        stream->next->previous = stream;
    streams->first = stream;
    stream->listener = soc_tap_listen(streams->host, &options);
}

struct soc_streams *soc_streams_new(struct soc_loop *loop, struct soc_host *host,
                                    struct soc_entry *entry)
{
    struct soc_streams *streams = soc_alloc_zero(sizeof(*streams));
    streams->loop = loop;
    streams->host = host;
    streams->entry = entry;
    streams->pulse = soc_alarm_open(loop, "streams", pulse, streams);
    streams->rest = soc_alarm_open(loop, "streams", flush_all, streams);
    return streams;
}

struct soc_stream *soc_streams_add_events(struct soc_streams *streams,
                                          struct soc_server_request *request,
                                          const struct soc_stream_wish *wish,
                                          const struct soc_visitor *visitor)
{
    static const struct soc_server_header headers[] = {{"Content-Type", "text/event-stream"},
                                                       {"Cache-Control", "no-store"},
                                                       {"X-Content-Type-Options", "nosniff"},
                                                       {"X-Accel-Buffering", "no"},
                                                       {NULL, NULL}};
    struct soc_stream *stream = new_stream(streams, request, wish, visitor);
    if (!soc_server_stream(request, 200, headers, drained, stream)) {
        free_stream(stream);
        return NULL;
    }
    soc_server_stream_put(request, SOC_SLICE(":\n\n")); /* so that the head leaves at once */
    begin(stream, wish);
    return stream;
}

struct soc_stream *soc_streams_add_websocket(struct soc_streams *streams,
                                             struct soc_server_request *request,
                                             const struct soc_stream_wish *wish,
                                             const struct soc_visitor *visitor, int *status)
{
    struct soc_stream *stream = new_stream(streams, request, wish, visitor);
    stream->websocket = soc_websocket_open(request, streams->loop, drained, stream, status);
    if (stream->websocket == NULL) {
        free_stream(stream);
        return NULL;
    }
    begin(stream, wish);
    return stream;
}

void soc_stream_end(struct soc_stream *stream)
{
    struct soc_streams *streams = stream->streams;
    leave_tap(stream);
    streams->count--;
    if (stream->previous != NULL)
        stream->previous->next = stream->next;
    else
        streams->first = stream->next;
    if (stream->next != NULL)
        stream->next->previous = stream->previous;
    soc_websocket_free(stream->websocket);
    free_stream(stream);
    if (streams->first == NULL && !streams->is_stopped)
        soc_calls_unwatch(streams->host, hear, streams);
    if (streams->first == NULL)
        soc_alarm_set(streams->pulse, -1);
}

void soc_streams_stop(struct soc_streams *streams)
{
    if (streams == NULL || streams->is_stopped)
        return;
    if (streams->first != NULL)
        soc_calls_unwatch(streams->host, hear, streams);
    streams->is_stopped = true;
    for (struct soc_stream *each = streams->first; each != NULL; each = each->next) {
        leave_tap(each);
        say_goodbye(each, SOC_WEBSOCKET_GOING_AWAY);
    }
}

void soc_streams_cut(struct soc_streams *streams)
{
    for (struct soc_stream *each = streams->first; each != NULL; each = each->next)
        if (each->websocket != NULL)
            soc_websocket_cut(each->websocket);
}

void soc_streams_free(struct soc_streams *streams)
{
    if (streams == NULL)
        return;
    assert(streams->first == NULL);
    soc_alarm_close(streams->pulse);
    soc_alarm_close(streams->rest);
    soc_buf_fini(&streams->out);
    soc_buf_fini(&streams->shared);
    free(streams);
}

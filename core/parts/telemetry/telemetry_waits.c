/* The spans of waits: model calls, HTTP requests, and requests to other agents. */
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "env/ids.h"
#include "kernel/turns/wait.h"
#include "model/agent.h"
#include "parts/models/calls.h"
#include "parts/telemetry/genai.h"
#include "parts/telemetry/span.h"
#include "parts/telemetry/telemetry.h"
#include "parts/telemetry/telemetry_state.h"

#define ABANDONED "{\"error\":\"cancelled\"}"

/* A wait whose span is being written. */
struct ending {
    struct soc_host *host;
    const struct soc_activation *activation;
    const struct soc_outcall *call; /* NULL: the wait is for an agent */
    struct soc_slice answer;        /* absent: abandoned */
    struct soc_span span;
    struct soc_buf *out;
};

/* Lends the error object of the answer; absent: it has none. */
static struct soc_slice error_of(const struct ending *ending)
{
    if (ending->answer.data == NULL)
        return SOC_SLICE(ABANDONED);
    return ending->answer.data[0] == '{' ? ending->answer : (struct soc_slice){0};
}

/* Lends the first result of the answer; absent: none. */
static struct soc_slice result_of(const struct ending *ending)
{
    struct soc_json_walk walk;
    if (ending->answer.length == 0 || ending->answer.data[0] != '[')
        return (struct soc_slice){0};
    soc_json_walk(&walk, ending->answer);
    return soc_json_next(&walk) ? walk.value : (struct soc_slice){0};
}

static void put_number(struct soc_buf *out, const char *name, struct soc_slice value)
{
    int64_t number;
    if (value.data != NULL && soc_json_integer(value, &number))
        soc_span_put_integer(out, name, number);
}

/* Lends the text of a member, unescaped into `room`; absent: it is not a text. */
static struct soc_slice text_of(struct soc_slice object, const char *name, struct soc_buf *room)
{
    struct soc_slice value = soc_json_member(object, name);
    room->length = 0;
    return value.data == NULL ? value : soc_json_text(value, SOC_KEY_BYTES_MAX, room);
}

static void put_input(const struct ending *ending)
{
    struct soc_buf list = {0};
    struct soc_buf text = {0};
    soc_calls_put_messages(ending->host, ending->call, &list);
    soc_genai_put_messages(&text, soc_buf_slice(&list), SOC_SPAN_TEXT_BYTES_MAX);
    soc_span_put_text(ending->out, "gen_ai.input.messages", soc_buf_slice(&text));
    text.length = 0;
    if (soc_json_string(soc_json_member(ending->call->request, "system"), &text))
        soc_span_put_text(ending->out, "gen_ai.system_instructions", soc_buf_slice(&text));
    soc_buf_fini(&text);
    soc_buf_fini(&list);
}

static void put_output(const struct ending *ending, struct soc_slice message)
{
    struct soc_buf text = {0};
    struct soc_buf list = {0};
    soc_buf_put_byte(&list, '[');
    soc_buf_put_slice(&list, message);
    soc_buf_put_byte(&list, ']');
    soc_genai_put_messages(&text, soc_buf_slice(&list), SOC_SPAN_TEXT_BYTES_MAX);
    soc_span_put_text(ending->out, "gen_ai.output.messages", soc_buf_slice(&text));
    soc_buf_fini(&text);
    soc_buf_fini(&list);
}

static void put_chat(struct ending *ending)
{
    const struct soc_scope *scope = soc_telemetry_scope(ending->host, ending->activation->agent);
    struct soc_slice message = result_of(ending);
    struct soc_slice request = ending->call->request;
    struct soc_buf room[3] = {{0}};
    struct soc_slice provider = text_of(request, "provider", &room[0]);
    struct soc_slice asked = text_of(request, "model", &room[1]);
    struct soc_slice model = text_of(message, "model", &room[2]);
    if (provider.data == NULL)
        provider = soc_slice_text(scope->provider);
    if (asked.data == NULL)
        asked = scope->model != NULL ? soc_slice_text(scope->model) : model;
    ending->span.verb = "chat";
    ending->span.object = asked;
    soc_span_begin(ending->out, &ending->span);
    soc_span_put_text(ending->out, "gen_ai.operation.name", SOC_SLICE("chat"));
    soc_span_put_text(ending->out, "gen_ai.provider.name", provider);
    soc_span_put_text(ending->out, "gen_ai.request.model", asked);
    soc_span_put_text(ending->out, "gen_ai.response.model", model);
    put_number(ending->out, "gen_ai.request.max_tokens", soc_json_member(request, "max_tokens"));
    struct soc_slice usage = soc_json_member(message, "usage");
    put_number(ending->out, "gen_ai.usage.input_tokens", soc_json_member(usage, "input_tokens"));
    put_number(ending->out, "gen_ai.usage.output_tokens", soc_json_member(usage, "output_tokens"));
    soc_span_put_list(ending->out, "gen_ai.response.finish_reasons",
                      text_of(message, "finish_reason", &room[0]));
    soc_span_put_text(ending->out, "society.call.id", soc_slice_text(ending->call->id));
    if (soc_telemetry_state(ending->host)->has_content) {
        put_input(ending);
        if (message.data != NULL)
            put_output(ending, message);
    }
    for (int i = 0; i < 3; i++)
        soc_buf_fini(&room[i]);
}

/* Lends the host of a URL, without user and port. */
static struct soc_slice host_of(struct soc_slice url)
{
    const char *end = url.data + url.length;
    const char *at = url.data;
    while (at + 2 < end && memcmp(at, "://", 3) != 0)
        at++;
    if (at + 2 >= end)
        return (struct soc_slice){0};
    const char *first = at + 3;
    const char *last = first;
    while (last < end && *last != '/' && *last != '?' && *last != '#')
        last++;
    for (const char *c = first; c < last; c++)
        if (*c == '@')
            first = c + 1;
    at = first;
    while (at < last && (*at != ':' || *first == '['))
        at++;
    return soc_slice(first, (size_t)(at - first));
}

/* The URL is left out: its path and query may hold anything. */
static void put_http(struct ending *ending)
{
    struct soc_buf room = {0};
    struct soc_buf url = {0};
    struct soc_slice method = text_of(ending->call->request, "method", &room);
    if (method.data == NULL)
        method = SOC_SLICE("GET");
    ending->span.verb = "http";
    ending->span.object = method;
    soc_span_begin(ending->out, &ending->span);
    soc_span_put_text(ending->out, "http.request.method", method);
    if (soc_json_string(soc_json_member(ending->call->request, "url"), &url))
        soc_span_put_text(ending->out, "server.address", host_of(soc_buf_slice(&url)));
    put_number(ending->out, "http.response.status_code",
               soc_json_member(result_of(ending), "status"));
    soc_span_put_text(ending->out, "society.call.id", soc_slice_text(ending->call->id));
    soc_buf_fini(&url);
    soc_buf_fini(&room);
}

static void put_run_lua(struct ending *ending)
{
    ending->span.verb = "run_lua";
    soc_span_begin(ending->out, &ending->span);
    soc_span_put_text(ending->out, "society.call.id", soc_slice_text(ending->call->id));
}

static void put_request(struct ending *ending)
{
    const struct soc_wait *wait = &ending->activation->wait;
    char id[SOC_MESSAGE_ID_BYTES];
    ending->span.verb = "request";
    ending->span.object = wait->on != NULL ? soc_slice_text(wait->on->role->id)
                                           : soc_slice_text(soc_wait_name(ending->activation));
    soc_span_begin(ending->out, &ending->span);
    soc_span_put_text(ending->out, "society.wait",
                      soc_slice_text(soc_wait_name(ending->activation)));
    if (wait->on != NULL)
        soc_span_put_text(ending->out, "society.request.to", soc_agent_id(wait->on));
    if (wait->kind != SOC_WAIT_REPLY && wait->kind != SOC_WAIT_TASK)
        return;
    soc_message_id_format(id, wait->request_ms, wait->request_key);
    soc_span_put_text(ending->out, "society.message.id", soc_slice(id, sizeof(id)));
}

static bool is_request(enum soc_wait_kind kind)
{
    return kind == SOC_WAIT_REPLY || kind == SOC_WAIT_HUMAN || kind == SOC_WAIT_TASK ||
           kind == SOC_WAIT_BARRIER;
}

void soc_telemetry_put_wait(struct soc_host *host, const struct soc_activation *activation,
                            struct soc_slice answer)
{
    struct soc_trace_place place = soc_telemetry_place(host, activation);
    struct ending ending = {
        .host = host,
        .activation = activation,
        .call = soc_calls_of(host, activation),
        .answer = answer,
        .out = soc_telemetry_out(host, &place),
    };
    if (ending.out == NULL || (ending.call == NULL && !is_request(activation->wait.kind)))
        return;
    int64_t now_ms = soc_host_now(host);
    ending.span = (struct soc_span){
        .trace_id = {place.own.trace_id[0], place.own.trace_id[1]},
        .span_id = soc_telemetry_effect_id(host, place.own.span_id, activation->effects_count - 1),
        .parent_id = activation->wait.span != 0 ? activation->wait.span : place.own.span_id,
        .kind = SOC_SPAN_CLIENT,
        .start_ms = activation->wait.since_ms < now_ms ? activation->wait.since_ms : now_ms,
        .end_ms = now_ms,
        .behind_ms = soc_calendar_behind(&host->clock.calendar),
    };
    if (ending.call == NULL)
        put_request(&ending);
    else if (soc_slice_equal(ending.call->kind, SOC_SLICE("chat")))
        put_chat(&ending);
    else if (soc_slice_equal(ending.call->kind, SOC_SLICE("lua")))
        put_run_lua(&ending);
    else
        put_http(&ending);
    soc_telemetry_end(host, ending.out, error_of(&ending));
    soc_telemetry_emit(host);
}

void soc_telemetry_note_model(struct soc_host *host, const struct soc_activation *activation,
                              struct soc_slice provider, struct soc_slice model)
{
    if (soc_telemetry_state(host) == NULL)
        return;
    struct soc_scope *scope = soc_telemetry_scope(host, activation->agent);
    soc_text_set(&scope->provider, provider);
    soc_text_set(&scope->model, model);
}

#include "parts/telemetry/telemetry.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "kernel/mail/envelope.h"
#include "kernel/registry.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/egress.h"
#include "parts/telemetry/span.h"
#include "parts/telemetry/telemetry_state.h"

#define KEY_RECORD "telemetry_key" /* of the record `meta` */

/* What a hash stands for: it is part of what is hashed. */
enum tag { TAG_TRACE = 1, TAG_ACTIVATION, TAG_EFFECT, TAG_TOOL };

/* Numbers that are hashed. */
struct words {
    uint64_t tag;
    uint64_t time_ms;
    uint64_t key;
    uint64_t index;
};

static void hash(const struct soc_telemetry *state, struct words words, struct soc_slice text,
                 uint64_t out[2])
{
    struct soc_buf bytes = {0};
    soc_buf_put(&bytes, &words, sizeof(words));
    soc_buf_put_slice(&bytes, text);
    soc_siphash(bytes.data, bytes.length, state->key, out);
    soc_buf_fini(&bytes);
    out[1] += (out[0] | out[1]) == 0; /* ids are not 0 */
}

static uint64_t hash_id(const struct soc_telemetry *state, struct words words,
                        struct soc_slice text)
{
    uint64_t out[2];
    hash(state, words, text, out);
    return out[0] == 0 ? 1 : out[0];
}

uint64_t soc_telemetry_effect_id(const struct soc_host *host, uint64_t outer, uint64_t index)
{
    struct words words = {.tag = TAG_EFFECT, .key = outer, .index = index};
    return hash_id(soc_telemetry_state(host), words, (struct soc_slice){0});
}

uint64_t soc_telemetry_tool_id(const struct soc_host *host, uint64_t outer, uint64_t index,
                               struct soc_slice id)
{
    struct words words = {.tag = TAG_TOOL, .key = outer, .index = index};
    return hash_id(soc_telemetry_state(host), words, id);
}

/* `main` is the activation of no message: time and key are 0. A redelivered message is another
 * activation than the one that failed. */
struct soc_trace_place soc_telemetry_place(const struct soc_host *host,
                                           const struct soc_activation *activation)
{
    const struct soc_telemetry *state = soc_telemetry_state(host);
    const struct soc_message *message = activation->message;
    struct soc_trace_place place = {0};
    struct soc_traceparent parent;
    struct words words = {.tag = TAG_TRACE};
    bool has_parent = false;
    if (message != NULL) {
        words.time_ms = (uint64_t)message->time_ms;
        words.key = message->key;
        has_parent =
            soc_traceparent_parse(soc_message_text(message, SOC_TEXT_TRACEPARENT), &parent);
    }
    if (has_parent) {
        memcpy(place.own.trace_id, parent.trace_id, sizeof(parent.trace_id));
        place.parent_id = parent.span_id;
    } else {
        hash(state, words, (struct soc_slice){0}, place.own.trace_id);
    }
    words.tag = TAG_ACTIVATION;
    words.index = message == NULL ? 0 : message->attempt;
    place.own.span_id = hash_id(state, words, soc_agent_id(activation->agent));
    place.own.is_sampled =
        soc_traceparent_is_taken(&state->sampler, place.own.trace_id, has_parent ? &parent : NULL);
    return place;
}

static uint64_t number_of(const struct soc_agent *agent)
{
    return (uint64_t)(uintptr_t)agent;
}

struct soc_scope *soc_telemetry_scope(struct soc_host *host, const struct soc_agent *agent)
{
    struct soc_telemetry *state = soc_telemetry_state(host);
    struct soc_scope *scope = soc_map_find_number(&state->scopes, number_of(agent));
    if (scope == NULL) {
        scope = soc_alloc_zero(sizeof(*scope));
        scope->start_ms = soc_host_now(host);
        soc_map_put_number(&state->scopes, number_of(agent), scope);
    }
    return scope;
}

static void free_scope(struct soc_scope *scope)
{
    while (scope != NULL && scope->tools != NULL) {
        struct soc_tool *next = scope->tools->next;
        soc_telemetry_free_tool(scope->tools);
        scope->tools = next;
    }
    if (scope == NULL)
        return;
    free(scope->provider);
    free(scope->model);
    free(scope);
}

static void drop_scope(struct soc_host *host, const struct soc_agent *agent)
{
    free_scope(soc_map_take_number(&soc_telemetry_state(host)->scopes, number_of(agent)));
}

struct soc_buf *soc_telemetry_out(const struct soc_host *host, const struct soc_trace_place *place)
{
    struct soc_telemetry *state = soc_telemetry_state(host);
    return state->cb != NULL && place->own.is_sampled ? &state->open : NULL;
}

void soc_telemetry_emit(const struct soc_host *host)
{
    soc_buf_put_byte(&soc_telemetry_state(host)->open, '\0');
}

void soc_telemetry_end(const struct soc_host *host, struct soc_buf *out, struct soc_slice error)
{
    struct soc_buf code = {0};
    struct soc_buf message = {0};
    if (error.data == NULL) {
        soc_span_end(out, error, error);
        return;
    }
    if (!soc_json_string(soc_json_member(error, "error"), &code) || code.length == 0 ||
        code.length > SOC_KEY_BYTES_MAX) {
        code.length = 0;
        soc_buf_put_text(&code, "_OTHER"); /* the word of the conventions */
    }
    if (soc_telemetry_state(host)->has_content)
        soc_json_string(soc_json_member(error, "message"), &message);
    soc_span_end(out, soc_buf_slice(&code),
                 message.length == 0 ? (struct soc_slice){0} : soc_buf_slice(&message));
    soc_buf_fini(&code);
    soc_buf_fini(&message);
}

static void put_message(const struct soc_host *host, struct soc_buf *out,
                        const struct soc_message *message)
{
    char id[SOC_MESSAGE_ID_BYTES];
    char chain[SOC_MESSAGE_ID_BYTES];
    soc_span_put_text(out, "gen_ai.conversation.id", soc_envelope_chain(message, chain));
    soc_envelope_id(id, message);
    soc_span_put_text(out, "society.message.id", soc_slice(id, sizeof(id)));
    soc_span_put_text(out, "society.message.type", soc_symbol_slice(message->type));
    soc_span_put_text(out, "society.message.from", soc_sender_id(message->from));
    soc_span_put_text(out, "society.task.id", soc_message_text(message, SOC_TEXT_TASK_ID));
    soc_span_put_integer(out, "society.message.attempt", message->attempt);
    if (soc_telemetry_state(host)->has_content)
        soc_span_put_text(out, "society.message.payload", soc_message_payload(message));
}

/* Writes the span of an activation that ends with `error`, absent: none. */
static void put_activation(struct soc_host *host, const struct soc_activation *activation,
                           struct soc_slice error)
{
    struct soc_trace_place place = soc_telemetry_place(host, activation);
    struct soc_buf *out = soc_telemetry_out(host, &place);
    const struct soc_agent *agent = activation->agent;
    if (out == NULL)
        return;
    int64_t start_ms = soc_telemetry_scope(host, agent)->start_ms;
    int64_t now_ms = soc_host_now(host);
    struct soc_slice name =
        activation->message == NULL ? SOC_SLICE("main") : soc_slice_text(agent->role->id);
    struct soc_span span = {
        .trace_id = {place.own.trace_id[0], place.own.trace_id[1]},
        .span_id = place.own.span_id,
        .parent_id = place.parent_id,
        .verb = "invoke_agent",
        .object = name,
        .kind = SOC_SPAN_INTERNAL,
        .start_ms = start_ms < now_ms ? start_ms : now_ms,
        .end_ms = now_ms,
        .behind_ms = soc_calendar_behind(&host->clock.calendar),
    };
    soc_span_begin(out, &span);
    soc_span_put_text(out, "gen_ai.operation.name", SOC_SLICE("invoke_agent"));
    soc_span_put_text(out, "gen_ai.agent.name", name);
    soc_span_put_text(out, "gen_ai.agent.id", soc_agent_id(agent));
    if (activation->message != NULL)
        put_message(host, out, activation->message);
    soc_telemetry_end(host, out, error);
    soc_telemetry_emit(host);
}

static void handled(struct soc_host *host, struct soc_activation *activation,
                    enum soc_outcome outcome, struct soc_slice reason)
{
    static const char *const ends[] = {
        [SOC_OUTCOME_EXPIRED] = "{\"error\":\"expired\"}",
        [SOC_OUTCOME_DEAD] = "{\"error\":\"dead\"}",
        [SOC_OUTCOME_DROPPED] = "{\"error\":\"dropped\"}",
        [SOC_OUTCOME_CANCELLED] = "{\"error\":\"cancelled\"}",
    };
    struct soc_slice error = {0};
    if (outcome != SOC_OUTCOME_PROCESSED)
        error = reason.data != NULL ? reason : soc_slice_text(ends[outcome]);
    soc_telemetry_close_tools(host, activation, error);
    put_activation(host, activation, error);
    drop_scope(host, activation->agent);
}

static void wait_ended(struct soc_host *host, const struct soc_activation *activation,
                       struct soc_slice answer)
{
    soc_telemetry_put_wait(host, activation, answer);
    soc_telemetry_scope(host, activation->agent)->wait_ms = activation->wait.since_ms;
}

static void deliver(struct soc_host *host, struct soc_message *message)
{
    const struct soc_activation *activation = message->to == NULL ? NULL : message->to->activation;
    if (activation != NULL && activation->message == message)
        soc_telemetry_scope(host, message->to);
}

/* The reply to a request is caused by it: the span of the request is the parent of what the
 * receiver does. */
static uint64_t sender_span(const struct soc_host *host, const struct soc_activation *activation,
                            uint64_t outer)
{
    uint32_t count = activation->effects_count;
    if (count > 0 && activation->effects[count - 1].kind == SOC_EFFECT_REQUEST &&
        !soc_activation_is_answered(activation, count - 1))
        return soc_telemetry_effect_id(host, outer, count - 1);
    return activation->span != 0 ? activation->span : outer;
}

/* A traceparent that the sender set itself stays; that of the message it handles, which it
 * would inherit, becomes the running span. */
static void name_draft(struct soc_host *host, struct soc_message_draft *draft,
                       char own_id[SOC_MESSAGE_ID_BYTES])
{
    struct soc_telemetry *state = soc_telemetry_state(host);
    const struct soc_activation *activation = host->turn.activation;
    struct soc_slice *text = &draft->texts[SOC_TEXT_TRACEPARENT];
    (void)own_id;
    if (activation == NULL)
        return;
    if (text->data != NULL &&
        (activation->message == NULL ||
         !soc_slice_equal(*text, soc_message_text(activation->message, SOC_TEXT_TRACEPARENT))))
        return;
    struct soc_trace_place place = soc_telemetry_place(host, activation);
    place.own.span_id = sender_span(host, activation, place.own.span_id);
    soc_traceparent_format(state->text, &place.own);
    *text = soc_slice(state->text, sizeof(state->text));
}

/* The oldest batch of spans is durable. */
static void release(void *user)
{
    struct soc_telemetry *state = user;
    struct soc_span_batch *batch = state->first;
    assert(batch != NULL);
    state->first = batch->next;
    if (state->first == NULL)
        state->last = NULL;
    for (size_t at = 0; at < batch->spans.length;) {
        struct soc_slice span = soc_slice_text(batch->spans.data + at);
        if (state->cb != NULL)
            state->cb(state->user, span);
        at += span.length + 1;
    }
    soc_buf_fini(&batch->spans);
    free(batch);
}

static void settle(struct soc_host *host)
{
    struct soc_telemetry *state = soc_telemetry_state(host);
    if (state->open.length == 0)
        return;
    struct soc_span_batch *batch = soc_alloc_zero(sizeof(*batch));
    batch->spans = state->open;
    state->open = (struct soc_buf){0};
    if (state->last == NULL)
        state->first = batch;
    else
        state->last->next = batch;
    state->last = batch;
    soc_egress_call(host, release, state);
}

static void *open_telemetry(struct soc_host *host)
{
    (void)host;
    return soc_alloc_zero(sizeof(struct soc_telemetry));
}

/* The key is made with the first start that has telemetry, and kept. */
static void started(struct soc_host *host)
{
    struct soc_telemetry *state = soc_telemetry_state(host);
    uint64_t salt[2] = {SOC_PART_TELEMETRY, 0};
    char text[33];
    if (!host->main.is_done)
        soc_telemetry_scope(host, host->registry.user);
    if (state->has_key)
        return;
    soc_siphash(&host->options.seed, sizeof(host->options.seed), salt, state->key);
    state->has_key = true;
    snprintf(text, sizeof(text), "%016llx%016llx", (unsigned long long)state->key[0],
             (unsigned long long)state->key[1]);
    soc_batch_put_meta(host, KEY_RECORD, soc_slice_text(text));
}

static int restore(struct soc_host *host, const struct soc_record *record)
{
    struct soc_telemetry *state = soc_telemetry_state(host);
    if (record->type == SOC_RECORD_META &&
        soc_slice_equal(record->meta.name, SOC_SLICE(KEY_RECORD))) {
        char text[33] = {0};
        unsigned long long high = 0;
        unsigned long long low = 0;
        struct soc_slice value = soc_slice_cut(record->meta.value, sizeof(text) - 1);
        memcpy(text, value.data, value.length);
        state->has_key = sscanf(text, "%16llx%16llx", &high, &low) == 2;
        state->key[0] = high;
        state->key[1] = low;
    } else if (record->type == SOC_RECORD_ACTIVATION) {
        struct soc_agent *agent = soc_registry_need(host, record->activation.agent);
        soc_telemetry_scope(host, agent)->start_ms = (int64_t)record->activation.time_ms;
    } else if (record->type == SOC_RECORD_ACTIVATION_END) {
        drop_scope(host, soc_registry_need(host, record->activation_end.agent));
    }
    return SOC_OK;
}

/* A `main` that raised stays an activation for the next start: its span is told now, and again
 * under the same id if that start gets further. */
static void stop(struct soc_host *host)
{
    const struct soc_activation *activation =
        host->registry.user == NULL ? NULL : host->registry.user->activation;
    if (activation == NULL || !host->main.has_failed || host->disk.is_failed)
        return;
    soc_telemetry_close_tools(host, activation, soc_buf_slice(&host->main.error));
    put_activation(host, activation, soc_buf_slice(&host->main.error));
    settle(host);
}

static void free_telemetry(struct soc_host *host)
{
    struct soc_telemetry *state = soc_telemetry_state(host);
    size_t cursor = 0;
    struct soc_scope *scope;
    while ((scope = soc_map_each(&state->scopes, &cursor)) != NULL)
        free_scope(scope);
    soc_map_fini(&state->scopes);
    while (state->first != NULL) {
        struct soc_span_batch *next = state->first->next;
        soc_buf_fini(&state->first->spans);
        free(state->first);
        state->first = next;
    }
    soc_buf_fini(&state->open);
    free(state);
}

void soc_telemetry_listen(struct soc_host *host, const struct soc_trace_sampler *sampler,
                          soc_telemetry_cb *cb, void *user)
{
    struct soc_telemetry *state = soc_telemetry_state(host);
    if (state == NULL)
        return;
    state->sampler = *sampler;
    state->cb = cb;
    state->user = user;
}

void soc_telemetry_set_content(struct soc_host *host, bool has_content)
{
    struct soc_telemetry *state = soc_telemetry_state(host);
    if (state != NULL)
        state->has_content = has_content;
}

const struct soc_part soc_telemetry_part = {
    .name = "telemetry",
    .number = SOC_PART_TELEMETRY,
    .open = open_telemetry,
    .started = started,
    .settle = settle,
    .stop = stop,
    .free = free_telemetry,
    .restore = restore,
    .name_draft = name_draft,
    .deliver = deliver,
    .wait_ended = wait_ended,
    .handled = handled,
};

#include "parts/models/calls.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/gate.h"
#include "kernel/refusal.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "kernel/turns/egress.h"
#include "kernel/turns/waiting.h"
#include "parts/models/memory.h"
#include "parts/models/models_state.h"

/* The id is used by remote servers, so random digits keep it distinct from those of
 * other societies. */
static void make_id(struct soc_host *host, char id[SOC_CALL_ID_BYTES])
{
    char message[SOC_MESSAGE_ID_BYTES];
    soc_message_id_format(message, soc_host_now(host), host->next_key++);
    snprintf(id, SOC_CALL_ID_BYTES, "call_%.*s_%08x", SOC_MESSAGE_ID_BYTES - 4, message + 4,
             (unsigned)(soc_rng_next(&host->rng) >> 32));
}

void soc_calls_ask(struct soc_host *host, const struct soc_call_draft *draft)
{
    char id[SOC_CALL_ID_BYTES];
    struct soc_buf text = {0};
    make_id(host, id);
    soc_buf_put_byte(&text, '{');
    soc_json_put_text_member(&text, "id", soc_slice_text(id));
    soc_json_put_text_member(&text, "kind", draft->kind);
    soc_json_put_name(&text, "may_repeat");
    soc_buf_put_text(&text, draft->may_repeat ? "true" : "false");
    soc_json_put_name(&text, "request");
    soc_buf_put_slice(&text, draft->request);
    soc_buf_put_byte(&text, '}');
    soc_buf_text(&text);
    struct soc_wait wait = {
        .kind = SOC_WAIT_CALL,
        .timeout_ms = draft->timeout_ms,
        .deadline_ms = soc_host_now(host) + draft->timeout_ms,
        .call = text.data,
        .is_interruptible = draft->is_interruptible,
    };
    soc_gate_wait(host, &wait);
}

void soc_calls_open(struct soc_host *host, struct soc_activation *activation)
{
    struct soc_wait *wait = &activation->wait;
    struct soc_outcall *call = soc_alloc_zero(sizeof(*call));
    struct soc_slice text = soc_slice_text(wait->call);
    struct soc_slice id = soc_json_plain_string(soc_json_member(text, "id"));
    assert(wait->call != NULL);
    call->text = wait->call;
    call->activation = activation;
    call->number = ++soc_models_state(host)->next_call;
    snprintf(call->id, sizeof(call->id), "%.*s", (int)id.length, id.data);
    call->kind = soc_json_plain_string(soc_json_member(text, "kind"));
    call->request = soc_json_member(text, "request");
    call->may_repeat = soc_slice_equal(soc_json_member(text, "may_repeat"), SOC_SLICE("true"));
    call->timer.kind = soc_part_timer(SOC_PART_MODELS);
    call->is_repeated = host->journal == NULL;
    if (call->is_repeated)
        wait->deadline_ms = soc_host_now(host) + wait->timeout_ms;
    wait->call = NULL;
    wait->request_key = call->number;
    soc_map_put_number(&soc_models_state(host)->calls, call->number, call);
}

static void free_call(struct soc_host *host, struct soc_outcall *call)
{
    soc_heap_remove(&host->timers, &call->timer);
    if (call->is_begun)
        host->hooks.call_end(host->hooks.user, call);
    free(call->text);
    free(call);
}

void soc_calls_close(struct soc_host *host, struct soc_activation *activation)
{
    struct soc_outcall *call =
        soc_map_take_number(&soc_models_state(host)->calls, activation->wait.request_key);
    if (call != NULL)
        free_call(host, call);
}

void soc_calls_answer(struct soc_host *host, struct soc_outcall *call, struct soc_slice answer)
{
    assert(call->activation->wait.kind == SOC_WAIT_CALL);
    assert(call->activation->wait.request_key == call->number);
    soc_waiting_answer(host, call->activation, answer);
}

void soc_calls_wake(struct soc_host *host, struct soc_outcall *call, int64_t at_ms)
{
    soc_heap_remove(&host->timers, &call->timer);
    soc_heap_add(&host->timers, &call->timer, at_ms);
}

static void begin(struct soc_host *host, struct soc_outcall *call)
{
    assert(!call->is_begun);
    struct soc_buf detail = {0};
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "kind", call->kind);
    soc_json_put_text_member(&detail, "call_id", soc_slice_text(call->id));
    soc_buf_put_byte(&detail, '}');
    soc_trace(host, call->is_repeated ? "call_again" : "call", call->activation->agent,
              soc_buf_slice(&detail), "%.*s %s", (int)call->kind.length, call->kind.data, call->id);
    soc_buf_fini(&detail);
    if (host->hooks.call == NULL) {
        struct soc_buf error = {0};
        soc_refuse_named(&error, "no_network", "this host cannot make calls");
        soc_calls_answer(host, call, soc_buf_slice(&error));
        soc_buf_fini(&error);
        return;
    }
    if (host->options.witness != NULL)
        host->options.witness->called(host->options.witness->user,
                                      soc_agent_id(call->activation->agent),
                                      soc_slice_text(call->id));
    call->is_begun = true;
    host->hooks.call(host->hooks.user, call);
}

/* Calls leave in the order they were queued; a call may be gone by then. */
static void depart(void *user)
{
    struct soc_host *host = user;
    struct soc_buf *queue = &soc_models_state(host)->leaving;
    uint64_t number;
    assert(queue->length >= sizeof(number));
    memcpy(&number, queue->data, sizeof(number));
    queue->length -= sizeof(number);
    memmove(queue->data, queue->data + sizeof(number), queue->length);
    struct soc_outcall *call = soc_map_find_number(&soc_models_state(host)->calls, number);
    if (call != NULL && !call->is_begun)
        begin(host, call);
}

void soc_calls_send(struct soc_host *host, struct soc_activation *activation)
{
    uint64_t number = activation->wait.request_key;
    soc_buf_put(&soc_models_state(host)->leaving, &number, sizeof(number));
    soc_egress_call(host, depart, host);
}

void soc_calls_timer(struct soc_host *host, struct soc_outcall *call)
{
    if (call->is_begun)
        host->hooks.call_due(host->hooks.user, call);
    else
        begin(host, call);
}

static void answer_in_doubt(struct soc_host *host, struct soc_outcall *call)
{
    struct soc_buf error = {0};
    soc_refusal_begin(&error, SOC_EINDOUBT, NULL);
    soc_json_put_text_member(&error, "call", soc_slice_text(call->id));
    soc_refusal_end(&error, SOC_EINDOUBT);
    soc_trace_event(host, SOC_LOG_WARN, "in_doubt", call->activation->agent, soc_buf_slice(&error));
    soc_calls_answer(host, call, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

/* Repeated calls start with the first tick, when the scripts are loaded. */
void soc_calls_resume(struct soc_host *host)
{
    size_t cursor = 0;
    struct soc_outcall *call;
    while ((call = soc_map_each(&soc_models_state(host)->calls, &cursor)) != NULL) {
        if (call->may_repeat)
            soc_calls_wake(host, call, soc_host_now(host));
        else
            answer_in_doubt(host, call);
    }
}

void soc_calls_look(const struct soc_host *host, struct soc_buf *out)
{
    size_t cursor = 0;
    const struct soc_outcall *call;
    soc_buf_put_byte(out, '[');
    for (bool is_first = true;
         (call = soc_map_each(&soc_models_state(host)->calls, &cursor)) != NULL; is_first = false) {
        soc_buf_put_text(out, is_first ? "{" : ",{");
        soc_json_put_text_member(out, "agent", soc_agent_id(call->activation->agent));
        soc_json_put_text_member(out, "id", soc_slice_text(call->id));
        soc_json_put_text_member(out, "kind", call->kind);
        soc_json_put_name(out, "repeated");
        soc_buf_put_text(out, call->is_repeated ? "true" : "false");
        soc_json_put_name(out, "since_ms");
        soc_json_put_integer(out, soc_clock_date_of(&host->clock, call->activation->wait.since_ms));
        soc_buf_put_byte(out, '}');
    }
    soc_buf_put_byte(out, ']');
}

const struct soc_outcall *soc_calls_of(const struct soc_host *host,
                                       const struct soc_activation *activation)
{
    return activation->wait.kind == SOC_WAIT_CALL
               ? soc_map_find_number(&soc_models_state(host)->calls, activation->wait.request_key)
               : NULL;
}

void soc_calls_put_messages(const struct soc_host *host, const struct soc_outcall *call,
                            struct soc_buf *out)
{
    struct soc_slice ranges = soc_json_member(call->request, "history");
    struct soc_slice messages = soc_json_member(call->request, "messages");
    struct soc_json_walk walk;
    if (ranges.data == NULL) {
        soc_buf_put_slice(out, messages.data == NULL ? SOC_SLICE("[]") : messages);
        return;
    }
    soc_buf_put_byte(out, '[');
    soc_json_walk(&walk, ranges);
    while (soc_json_next(&walk)) {
        int64_t ends[2] = {0};
        struct soc_json_walk pair;
        soc_json_walk(&pair, walk.value);
        for (int i = 0; i < 2 && soc_json_next(&pair); i++)
            soc_json_integer(pair.value, &ends[i]);
        if (out->data[out->length - 1] != '[')
            soc_buf_put_byte(out, ',');
        soc_memory_put(host, call->activation->agent, (uint64_t)ends[0], (uint64_t)ends[1], out);
    }
    soc_buf_put_byte(out, ']');
}

uint64_t soc_calls_open_count(const struct soc_host *host, struct soc_slice kind)
{
    size_t cursor = 0;
    uint64_t count = 0;
    const struct soc_outcall *call;
    while ((call = soc_map_each(&soc_models_state(host)->calls, &cursor)) != NULL)
        count += soc_slice_equal(call->kind, kind);
    return count;
}

void soc_calls_watch(struct soc_host *host, soc_calls_said_cb *cb, void *user)
{
    struct soc_models_state *models = soc_models_state(host);
    int free = 0;
    while (free < SOC_MODELS_WATCHERS_MAX && models->watchers[free].cb != NULL)
        free++;
    assert(free < SOC_MODELS_WATCHERS_MAX && cb != NULL);
    models->watchers[free].cb = cb;
    models->watchers[free].user = user;
}

void soc_calls_unwatch(struct soc_host *host, soc_calls_said_cb *cb, void *user)
{
    struct soc_models_state *models = soc_models_state(host);
    for (int i = 0; i < SOC_MODELS_WATCHERS_MAX; i++)
        if (models->watchers[i].cb == cb && models->watchers[i].user == user)
            models->watchers[i].cb = NULL;
}

struct soc_slice soc_calls_agent(const struct soc_outcall *call)
{
    return soc_agent_id(call->activation->agent);
}

bool soc_calls_is_watched(const struct soc_host *host)
{
    const struct soc_models_state *models = soc_models_state(host);
    for (int i = 0; i < SOC_MODELS_WATCHERS_MAX; i++)
        if (models->watchers[i].cb != NULL)
            return true;
    return false;
}

void soc_calls_say(struct soc_host *host, const struct soc_outcall *call, struct soc_slice text)
{
    const struct soc_models_state *models = soc_models_state(host);
    for (int i = 0; text.length > 0 && i < SOC_MODELS_WATCHERS_MAX; i++)
        if (models->watchers[i].cb != NULL)
            models->watchers[i].cb(models->watchers[i].user, call, text);
}

bool soc_calls_is_open(const struct soc_host *host, uint64_t number)
{
    return soc_map_find_number(&soc_models_state(host)->calls, number) != NULL;
}

void soc_calls_stop(struct soc_host *host)
{
    size_t cursor = 0;
    struct soc_outcall *call;
    while ((call = soc_map_each(&soc_models_state(host)->calls, &cursor)) != NULL) {
        call->is_left = true;
        free_call(host, call);
    }
    soc_map_fini(&soc_models_state(host)->calls);
    soc_models_state(host)->calls = (struct soc_map){0};
}

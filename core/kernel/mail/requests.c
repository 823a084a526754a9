#include "kernel/mail/requests.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/transit.h"
#include "kernel/refusal.h"
#include "kernel/state.h"
#include "kernel/status.h"
#include "kernel/trace.h"
#include "kernel/turns/egress.h"
#include "kernel/turns/wait.h"
#include "kernel/turns/waiting.h"

static struct soc_request *add_request(struct soc_host *host, uint64_t key, int64_t time_ms,
                                       struct soc_agent *from, struct soc_agent *to)
{
    struct soc_request *request = soc_alloc_zero(sizeof(*request));
    request->key = key;
    request->time_ms = time_ms;
    request->from = from;
    request->to = to;
    soc_map_put_number(&host->requests, key, request);
    return request;
}

void soc_request_open(struct soc_host *host, struct soc_activation *activation)
{
    struct soc_wait *wait = &activation->wait;
    assert(wait->kind == SOC_WAIT_REPLY);
    struct soc_request *request =
        add_request(host, wait->request_key, wait->request_ms, activation->agent, wait->on);
    request->activation = activation;
    request->correlation_id = wait->correlation_id;
    wait->correlation_id = NULL;
}

void soc_request_open_door(struct soc_host *host, const struct soc_message *message,
                           int64_t timeout_ms, soc_reply_cb *cb, void *user)
{
    assert(host->turn.is_open && timeout_ms > 0 && cb != NULL);
    assert(message->from != NULL && message->to != NULL);
    struct soc_request *request =
        add_request(host, message->key, message->time_ms, message->from, message->to);
    soc_text_set(&request->correlation_id, soc_message_text(message, SOC_TEXT_CORRELATION_ID));
    soc_text_set(&request->external_id, soc_message_text(message, SOC_TEXT_EXTERNAL_ID));
    request->timeout_ms = timeout_ms;
    request->cb = cb;
    request->user = user;
    request->timer.kind = SOC_TIMER_REQUEST;
    soc_heap_add(&host->timers, &request->timer, soc_host_now(host) + timeout_ms);
}

void soc_request_open_for(struct soc_host *host, const struct soc_request *draft)
{
    assert(draft->owner != NULL && draft->owner_ops != NULL);
    struct soc_request *request =
        add_request(host, draft->key, draft->time_ms, draft->from, draft->to);
    request->owner = draft->owner;
    request->owner_ops = draft->owner_ops;
}

struct soc_request *soc_request_find(const struct soc_host *host, uint64_t key)
{
    return soc_map_find_number(&host->requests, key);
}

struct soc_request *soc_request_find_id(const struct soc_host *host, struct soc_slice id)
{
    uint64_t key;
    struct soc_request *request = NULL;
    if (soc_message_id_parse(id, &key))
        request = soc_request_find(host, key);
    return request != NULL && soc_message_id_is(id, request->time_ms, key) ? request : NULL;
}

struct soc_slice soc_request_chain(const struct soc_host *host, uint64_t key,
                                   char id[SOC_MESSAGE_ID_BYTES])
{
    const struct soc_request *request = soc_request_find(host, key);
    if (request == NULL)
        return (struct soc_slice){0};
    if (request->correlation_id != NULL)
        return soc_slice_text(request->correlation_id);
    soc_message_id_format(id, request->time_ms, request->key);
    return soc_slice(id, SOC_MESSAGE_ID_BYTES);
}

bool soc_request_is_answered(const struct soc_host *host, uint64_t key)
{
    const struct soc_message *message = host->turn.is_open ? host->turn.sent.first : NULL;
    for (; message != NULL; message = message->next)
        if (message->flags & SOC_MESSAGE_IS_REPLY && message->reply_to == key)
            return true;
    return soc_request_find(host, key) == NULL || soc_transit_answers(host, key);
}

struct soc_request *soc_request_find_text(struct soc_host *host, const struct soc_agent *to,
                                          struct soc_slice correlation_id)
{
    size_t cursor = 0;
    struct soc_request *request = soc_request_find_id(host, correlation_id);
    struct soc_request *answered = NULL;
    if (request != NULL && request->to == to)
        return request;
    while ((request = soc_map_each(&host->requests, &cursor)) != NULL) {
        if (request->to != to || request->correlation_id == NULL ||
            !soc_slice_equal(correlation_id, soc_slice_text(request->correlation_id)))
            continue;
        if (!soc_request_is_answered(host, request->key))
            return request;
        answered = answered == NULL ? request : answered;
    }
    return answered;
}

void soc_request_free(struct soc_request *request)
{
    if (request == NULL)
        return;
    free(request->correlation_id);
    free(request->external_id);
    free(request);
}

/* Reads the query_id of a payload; returns false if it has none. */
static bool read_query_id(struct soc_slice payload, struct soc_buf *id)
{
    return payload.length > 0 && payload.data[0] == '{' &&
           soc_json_string(soc_json_member(payload, "query_id"), id);
}

static bool is_query(const struct soc_request *request, const struct soc_agent *from,
                     const struct soc_agent *to)
{
    return request != NULL && request->from == from && request->to == to;
}

struct soc_request *soc_request_find_query(struct soc_host *host, const struct soc_agent *from,
                                           const struct soc_agent *to, struct soc_slice payload)
{
    struct soc_buf id = {0};
    struct soc_request *found = NULL;
    struct soc_request *request;
    size_t cursor = 0;
    if (host->requests.count == 0 || !read_query_id(payload, &id)) {
        soc_buf_fini(&id);
        return NULL;
    }
    request = soc_request_find_id(host, soc_buf_slice(&id));
    found = is_query(request, from, to) ? request : NULL;
    while (found == NULL && (request = soc_map_each(&host->requests, &cursor)) != NULL)
        if (is_query(request, from, to) && request->external_id != NULL &&
            soc_slice_equal(soc_buf_slice(&id), soc_slice_text(request->external_id)))
            found = request;
    soc_buf_fini(&id);
    return found;
}

bool soc_request_is_named(const struct soc_message *message, struct soc_slice payload)
{
    struct soc_buf id = {0};
    struct soc_slice external_id = soc_message_text(message, SOC_TEXT_EXTERNAL_ID);
    bool is_named = false;
    if (read_query_id(payload, &id))
        is_named = soc_envelope_is_id(soc_buf_slice(&id), message) ||
                   (external_id.data != NULL && soc_slice_equal(soc_buf_slice(&id), external_id));
    soc_buf_fini(&id);
    return is_named;
}

void soc_request_close(struct soc_host *host, uint64_t key)
{
    struct soc_request *request = soc_map_take_number(&host->requests, key);
    if (request == NULL)
        return;
    soc_heap_remove(&host->timers, &request->timer);
    if (!request->is_answered && request->owner == NULL)
        SOC_PARTS_TELL(host, request_lapsed, host, request);
    soc_request_free(request);
    SOC_PARTS_TELL(host, request_closed, host, key);
}

/* The answer to a door, sent when the batch with its cause is durable. */
struct door_answer {
    soc_reply_cb *cb;
    void *user;
    size_t length;
    char text[];
};

static void call_door(void *user)
{
    struct door_answer *answer = user;
    answer->cb(answer->user, soc_slice(answer->text, answer->length));
    free(answer);
}

void soc_request_answer(struct soc_host *host, struct soc_request *request, struct soc_slice answer)
{
    struct soc_activation *activation = request->activation;
    if (request->owner != NULL) { /* the router passes replies to the owner: this is an error */
        request->owner_ops->failed(host, request);
        return;
    }
    if (activation != NULL) {
        assert(activation->wait.request_key == request->key);
        soc_waiting_answer(host, activation, answer);
        return;
    }
    struct door_answer *queued = soc_alloc(sizeof(*queued) + answer.length);
    queued->cb = request->cb;
    queued->user = request->user;
    queued->length = answer.length;
    memcpy(queued->text, answer.data, answer.length);
    soc_request_close(host, request->key);
    soc_egress_call(host, call_door, queued);
}

/* Without the traceback: what the other agent is made of helps nobody who waits for it. */
static void put_reason(struct soc_buf *refusal, struct soc_slice reason)
{
    if (reason.length == 0 || reason.data[0] != '{')
        return;
    soc_json_put_name(refusal, "reason");
    soc_json_put_changed(refusal, reason, "traceback", (struct soc_slice){0});
}

void soc_request_fail(struct soc_host *host, uint64_t key, const char *error, const char *message,
                      struct soc_slice reason)
{
    struct soc_request *request = soc_request_find(host, key);
    if (request == NULL)
        return;
    struct soc_buf refusal = {0};
    soc_refuse_named(&refusal, error, message);
    refusal.length--; /* the brace */
    put_reason(&refusal, reason);
    soc_json_put_text_member(&refusal, "to", soc_agent_id(request->to));
    soc_buf_put_byte(&refusal, '}');
    soc_request_answer(host, request, soc_buf_slice(&refusal));
    soc_buf_fini(&refusal);
}

/* Tells whether a person has the request before them: handled, but not without a reply. */
static bool is_with_person(const struct soc_host *host, uint64_t key)
{
    for (size_t i = 0; host->parts.calls.is_with_person[i] != NULL; i++)
        if (host->parts.calls.is_with_person[i](host, key))
            return true;
    return false;
}

void soc_request_warn(struct soc_host *host, const struct soc_request *request, struct soc_slice id)
{
    struct soc_buf detail = {0};
    if (request->to->is_external || is_with_person(host, request->key))
        return;
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "from", soc_sender_id(request->from));
    soc_json_put_text_member(&detail, "message_id", id);
    soc_json_put_text_member(
        &detail, "message",
        SOC_SLICE("handled a request without a reply so far; the sender still waits"));
    soc_buf_put_byte(&detail, '}');
    soc_trace_event_of(host, SOC_LOG_WARN, "no_reply", request->to,
                       soc_slice_text(request->correlation_id), soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

void soc_request_note_finished(struct soc_host *host, uint64_t key)
{
    char id[SOC_MESSAGE_ID_BYTES];
    struct soc_request *request = soc_request_find(host, key);
    if (request == NULL)
        return;
    request->is_finished = true;
    soc_message_id_format(id, request->time_ms, key);
    if (request->owner == NULL && !soc_request_is_answered(host, key))
        soc_request_warn(host, request, soc_slice(id, sizeof(id)));
}

void soc_request_lose_answer(struct soc_host *host, uint64_t key)
{
    const struct soc_request *request = soc_request_find(host, key);
    if (request == NULL || soc_transit_replies(host, key))
        return;
    if (request->to->is_ended || request->to->hold & SOC_HOLD_FAILED || request->is_dead)
        soc_request_fail(host, key, "receiver_failed",
                         "the receiver's answer was lost and it cannot give another one",
                         (struct soc_slice){0});
}

/* Appends how the receiver stands, for the error `timeout`. */
static void put_receiver(const struct soc_host *host, const struct soc_request *request,
                         struct soc_buf *out)
{
    const char *status =
        is_with_person(host, request->key)
            ? "blocked"
            : soc_status_of_receiver(host, request->to, request->key, request->is_finished);
    soc_json_put_text_member(out, "receiver", soc_slice_text(status));
}

void soc_request_timeout(struct soc_host *host, struct soc_request *request)
{
    assert(request->cb != NULL); /* only doors have this timer */
    struct soc_buf refusal = {0};
    soc_refusal_begin(&refusal, SOC_ETIMEOUT, soc_refusal_of_silence(request->to));
    soc_json_put_text_member(&refusal, "to", soc_agent_id(request->to));
    put_receiver(host, request, &refusal);
    soc_json_put_name(&refusal, "timeout_ms");
    soc_json_put_integer(&refusal, request->timeout_ms);
    soc_refusal_end(&refusal, SOC_ETIMEOUT);
    soc_request_answer(host, request, soc_buf_slice(&refusal));
    soc_buf_fini(&refusal);
}

static void end_wait(struct soc_host *host, struct soc_activation *activation)
{
    soc_request_close(host, activation->wait.request_key);
}

static struct soc_agent *target(const struct soc_host *host,
                                const struct soc_activation *activation, size_t index)
{
    struct soc_agent *asked = activation->wait.on;
    if (index > 0)
        return NULL;
    for (size_t i = 0; host->parts.calls.answerer[i] != NULL; i++)
        if (host->parts.calls.answerer[i](host, activation->wait.request_key, &asked))
            break;
    return asked;
}

static uint64_t question(const struct soc_host *host, const struct soc_activation *activation,
                         size_t index)
{
    (void)host;
    (void)index;
    return activation->wait.request_key;
}

static struct soc_slice chain(const struct soc_host *host, const struct soc_activation *activation,
                              char id[SOC_MESSAGE_ID_BYTES])
{
    const struct soc_request *request = soc_request_find(host, activation->wait.request_key);
    if (request != NULL && request->correlation_id != NULL)
        return soc_slice_text(request->correlation_id);
    if (activation->message != NULL || request == NULL)
        return soc_envelope_chain(activation->message, id);
    return soc_request_chain(host, activation->wait.request_key, id);
}

static void put_timeout(const struct soc_host *host, const struct soc_activation *activation,
                        struct soc_buf *out)
{
    const struct soc_request *request = soc_request_find(host, activation->wait.request_key);
    if (request != NULL)
        put_receiver(host, request, out);
}

const struct soc_wait_ops soc_request_wait_ops = {
    .kind = SOC_WAIT_REPLY,
    .begin = soc_request_open,
    .end = end_wait,
    .target = target,
    .question = question,
    .chain = chain,
    .put_timeout = put_timeout,
};

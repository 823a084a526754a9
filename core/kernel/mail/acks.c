#include "kernel/mail/acks.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/mail/transit.h"
#include "kernel/refusal.h"
#include "kernel/state.h"
#include "kernel/status.h"
#include "kernel/turns/waiting.h"

/* One wait: of an activation, or of a caller outside of turns. */
struct waiter {
    uint64_t key;
    int64_t time_ms; /* when the message was sent; part of its id */
    const struct soc_agent *to;
    enum soc_ack ack;                  /* the awaited one */
    struct soc_activation *activation; /* NULL: a caller */
    soc_reply_cb *cb;
    void *user;
};

int soc_acks_check(const struct soc_agent *to, enum soc_ack ack, struct soc_buf *error)
{
    if (to == NULL || ack != SOC_ACK_PROCESSED || !(to->hold & SOC_HOLD_FAILED))
        return SOC_OK;
    return soc_refuse(error, SOC_ERECEIVER, NULL, "to", soc_agent_id(to));
}

static struct waiter *add(struct soc_host *host, const struct waiter *draft)
{
    assert(draft->ack != SOC_ACK_NONE && draft->to != NULL);
    assert(soc_map_find_number(&host->acks, draft->key) == NULL); /* one sender per message */
    struct waiter *waiter = soc_alloc(sizeof(*waiter));
    *waiter = *draft;
    soc_map_put_number(&host->acks, draft->key, waiter);
    return waiter;
}

void soc_acks_open(struct soc_host *host, const struct soc_message *message, enum soc_ack ack,
                   soc_reply_cb *cb, void *user)
{
    assert(host->turn.is_open && cb != NULL);
    add(host, &(struct waiter){.key = message->key,
                               .time_ms = message->time_ms,
                               .to = message->to,
                               .ack = ack,
                               .cb = cb,
                               .user = user});
}

bool soc_acks_awaits(const struct soc_host *host, uint64_t key)
{
    return host->acks.count > 0 && soc_map_find_number(&host->acks, key) != NULL;
}

/* Answers the waiter and frees it. */
static void answer(struct soc_host *host, struct waiter *waiter, struct soc_slice json)
{
    if (waiter->activation != NULL) {
        soc_waiting_answer(host, waiter->activation, json); /* which ends the wait: see below */
        return;
    }
    soc_map_take_number(&host->acks, waiter->key);
    waiter->cb(waiter->user, json);
    free(waiter);
}

static void put_id(const struct waiter *waiter, struct soc_buf *out)
{
    char id[SOC_MESSAGE_ID_BYTES];
    soc_message_id_format(id, waiter->time_ms, waiter->key);
    soc_json_put_text_member(out, "messageId", soc_slice(id, sizeof(id)));
}

static void succeed(struct soc_host *host, struct waiter *waiter, enum soc_ack ack)
{
    struct soc_buf json = {0};
    soc_buf_put_text(&json, "[{");
    soc_json_put_text_member(&json, "ack", soc_slice_text(soc_ack_name(ack)));
    put_id(waiter, &json);
    soc_buf_put_text(&json, "}]");
    answer(host, waiter, soc_buf_slice(&json));
    soc_buf_fini(&json);
}

void soc_acks_note(struct soc_host *host, const struct soc_message *message, enum soc_ack ack)
{
    if (host->acks.count > 0)
        soc_acks_note_key(host, message->key, ack);
}

void soc_acks_note_key(struct soc_host *host, uint64_t key, enum soc_ack ack)
{
    struct waiter *waiter = soc_map_find_number(&host->acks, key);
    if (waiter != NULL && waiter->ack <= ack)
        succeed(host, waiter, ack);
}

/* `reason`: JSON or absent. */
static void fail(struct soc_host *host, struct waiter *waiter, int code, const char *sentence,
                 struct soc_slice reason)
{
    struct soc_buf error = {0};
    soc_refusal_begin(&error, code, sentence);
    soc_json_put_text_member(&error, "to", soc_agent_id(waiter->to));
    put_id(waiter, &error);
    if (reason.data != NULL) {
        soc_json_put_name(&error, "reason");
        soc_buf_put_slice(&error, reason);
    }
    soc_refusal_end(&error, code);
    answer(host, waiter, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

void soc_acks_fail(struct soc_host *host, const struct soc_message *message,
                   enum soc_outcome outcome, struct soc_slice reason)
{
    if (host->acks.count > 0)
        soc_acks_fail_key(host, message->key, outcome, reason);
}

void soc_acks_fail_key(struct soc_host *host, uint64_t key, enum soc_outcome outcome,
                       struct soc_slice reason)
{
    struct waiter *waiter = soc_map_find_number(&host->acks, key);
    if (waiter == NULL)
        return;
    switch (outcome) {
    case SOC_OUTCOME_EXPIRED:
        fail(host, waiter, SOC_EEXPIRED, NULL, (struct soc_slice){0});
        break;
    case SOC_OUTCOME_CANCELLED:
        fail(host, waiter, SOC_ECANCELLED, "the message was cancelled before it was processed",
             reason);
        break;
    case SOC_OUTCOME_DROPPED:
        fail(host, waiter, SOC_EDROPPED, NULL, reason);
        break;
    default:
        fail(host, waiter, SOC_ERECEIVER, "the message could not be handled; see its dead letter",
             reason);
        break;
    }
}

const struct soc_agent *soc_acks_receiver(const struct soc_host *host, uint64_t key)
{
    const struct waiter *waiter = soc_map_find_number(&host->acks, key);
    return waiter == NULL ? NULL : waiter->to;
}

bool soc_acks_refuse_key(struct soc_host *host, uint64_t key, struct soc_slice error)
{
    struct waiter *waiter = soc_map_find_number(&host->acks, key);
    if (waiter != NULL)
        answer(host, waiter, error);
    return waiter != NULL;
}

void soc_acks_fail_all(struct soc_host *host, const struct soc_agent *agent)
{
    size_t cursor = 0;
    struct waiter *waiter;
    while (host->acks.count > 0 && (waiter = soc_map_each(&host->acks, &cursor)) != NULL)
        if (waiter->to == agent && waiter->ack == SOC_ACK_PROCESSED)
            fail(host, waiter, SOC_ERECEIVER, NULL, (struct soc_slice){0});
}

/* Appends how the receiver stands, for the error `timeout`. */
static void put_receiver(const struct soc_host *host, const struct soc_agent *to, uint64_t key,
                         struct soc_buf *out)
{
    soc_json_put_text_member(out, "receiver",
                             soc_slice_text(soc_status_of_receiver(host, to, key, false)));
}

void soc_acks_time_out(struct soc_host *host, uint64_t key, int64_t timeout_ms)
{
    struct waiter *waiter = soc_map_find_number(&host->acks, key);
    struct soc_buf error = {0};
    if (waiter == NULL)
        return;
    soc_refusal_begin(&error, SOC_ETIMEOUT, NULL);
    soc_json_put_text_member(&error, "to", soc_agent_id(waiter->to));
    put_receiver(host, waiter->to, waiter->key, &error);
    soc_json_put_name(&error, "timeout_ms");
    soc_json_put_integer(&error, timeout_ms);
    soc_refusal_end(&error, SOC_ETIMEOUT);
    answer(host, waiter, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

void soc_acks_catch_up(struct soc_host *host, const struct soc_activation *activation,
                       const struct soc_message *message)
{
    const struct soc_wait *wait = &activation->wait;
    assert(wait->kind == SOC_WAIT_ACK);
    if (wait->ack != SOC_ACK_RECEIVED || wait->on->is_external)
        return;
    if (message == NULL || soc_transit_has(message) ||
        (wait->deadline_ms != 0 && soc_message_due_ms(message) > wait->deadline_ms))
        return;
    soc_acks_note(host, message, SOC_ACK_RECEIVED);
}

void soc_acks_fini(struct soc_host *host)
{
    size_t cursor = 0;
    struct waiter *waiter;
    while ((waiter = soc_map_each(&host->acks, &cursor)) != NULL)
        free(waiter);
    soc_map_fini(&host->acks);
}

static void begin_wait(struct soc_host *host, struct soc_activation *activation)
{
    const struct soc_wait *wait = &activation->wait;
    add(host, &(struct waiter){.key = wait->request_key,
                               .time_ms = wait->request_ms,
                               .to = wait->on,
                               .ack = (enum soc_ack)wait->ack,
                               .activation = activation});
}

static void end_wait(struct soc_host *host, struct soc_activation *activation)
{
    free(soc_map_take_number(&host->acks, activation->wait.request_key));
}

/* A message on its way to a mailbox waits for its time alone. */
static struct soc_agent *target(const struct soc_host *host,
                                const struct soc_activation *activation, size_t index)
{
    const struct soc_wait *wait = &activation->wait;
    (void)host;
    bool is_delayed =
        wait->ack == SOC_ACK_RECEIVED && (!wait->on->is_external || wait->on->is_remote);
    return index > 0 || is_delayed ? NULL : wait->on;
}

static void put(const struct soc_host *host, const struct soc_activation *activation,
                struct soc_buf *out)
{
    (void)host;
    soc_json_put_text_member(out, "ack",
                             soc_slice_text(soc_ack_name((enum soc_ack)activation->wait.ack)));
    soc_json_put_text_member(out, "to", soc_agent_id(activation->wait.on));
}

static void put_timeout(const struct soc_host *host, const struct soc_activation *activation,
                        struct soc_buf *out)
{
    put_receiver(host, activation->wait.on, activation->wait.request_key, out);
}

const struct soc_wait_ops soc_acks_wait_ops = {
    .kind = SOC_WAIT_ACK,
    .begin = begin_wait,
    .end = end_wait,
    .target = target,
    .put = put,
    .put_timeout = put_timeout,
};

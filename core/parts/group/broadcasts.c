#include "parts/group/broadcasts.h"

#include <assert.h>

#include "base/json.h"
#include "base/limits.h"
#include "env/ids.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/mail.h"
#include "kernel/mail/router.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/ready.h"
#include "kernel/turns/waiting.h"
#include "parts/group/group_state.h"
#include "parts/supervision/guard.h"

static struct soc_broadcast *find(const struct soc_host *host, uint64_t key)
{
    return soc_map_find_number(&soc_group_state(host)->broadcasts, key);
}

void soc_broadcasts_set_heads(struct soc_host *host, struct soc_slice ids)
{
    assert(soc_json_kind(ids) == SOC_JSON_ARRAY);
    soc_text_set(&soc_group_state(host)->broadcasters, ids);
}

static bool is_named(const struct soc_host *host, const struct soc_agent *agent)
{
    struct soc_json_walk walk;
    const char *ids = soc_group_state(host)->broadcasters;
    if (ids == NULL)
        return false;
    soc_json_walk(&walk, soc_slice_text(ids));
    while (soc_json_next(&walk))
        if (soc_slice_equal(soc_json_plain_string(walk.value), soc_agent_id(agent)))
            return true;
    return false;
}

/* Tells whether the agent may write to all by default, without a policy. */
static bool is_head(struct soc_host *host, const struct soc_agent *agent)
{
    return agent == host->registry.user || agent == host->registry.root ||
           agent == soc_registry_receiver(host, SOC_SLICE("orchestrator")) || is_named(host, agent);
}

int soc_broadcasts_may_send(struct soc_host *host, struct soc_agent *from, struct soc_buf *error)
{
    struct soc_buf said = {0};
    bool is_allowed = from == NULL || from->is_remote; /* its own host has asked */
    if (!is_allowed)
        is_allowed =
            host->hooks.may_broadcast == NULL
                ? is_head(host, from)
                : host->hooks.may_broadcast(host->hooks.user, from, is_head(host, from), &said);
    if (!is_allowed && error != NULL) {
        soc_refusal_begin_said(error, SOC_EFORBIDDEN,
                               "this agent may not write to all; ask root or the orchestrator",
                               SOC_SLICE("All"), soc_buf_slice(&said));
        soc_refusal_end(error, SOC_EFORBIDDEN);
    }
    soc_buf_fini(&said);
    return is_allowed ? SOC_OK : SOC_EFORBIDDEN;
}

static int refuse(struct soc_buf *error, const char *sentence)
{
    return soc_refuse(error, SOC_EINVAL, sentence, "to", SOC_SLICE("All"));
}

int soc_broadcasts_check(struct soc_host *host, struct soc_agent *from, const struct soc_send *send,
                         struct soc_buf *error)
{
    if (send->wants_reply)
        return refuse(error, "a request has one receiver; use agent:checkpoint for several");
    if (send->deliver_at_ms > soc_host_now(host))
        return refuse(error, "a message to all cannot be delayed");
    return soc_broadcasts_may_send(host, from, error);
}

static void record_end(struct soc_host *host, uint64_t key, enum soc_outcome outcome,
                       struct soc_slice agent)
{
    struct soc_record record = {.type = SOC_RECORD_BROADCAST_END};
    record.broadcast_end = (struct soc_record_broadcast_end){
        .key = key,
        .time_ms = (uint64_t)soc_host_now(host),
        .outcome = outcome,
        .agent = agent,
    };
    soc_batch_put(host, &record);
}

/* Appends the error about the full mailbox of `agent`. */
static int put_full(const struct soc_host *host, const struct soc_agent *agent, struct soc_buf *out)
{
    soc_refusal_begin(out, SOC_EMAILBOX, NULL);
    soc_json_put_text_member(out, "agentId", soc_agent_id(agent));
    soc_json_put_name(out, "limit");
    soc_json_put_integer(out, soc_guard_limit(host, SOC_GUARD_MAILBOX));
    return soc_refusal_end(out, SOC_EMAILBOX);
}

int soc_broadcasts_open(struct soc_host *host, struct soc_message *message, struct soc_buf *error)
{
    struct soc_broadcast *broadcast = soc_broadcast_new(message);
    assert(message->to == NULL && find(host, message->key) == NULL);
    const struct soc_agent *full = NULL;
    size_t cursor = 0;
    struct soc_agent *agent;
    while ((agent = soc_map_each(&host->registry.agents, &cursor)) != NULL) {
        if (!soc_broadcast_is_for(broadcast, agent))
            continue;
        bool is_full =
            !agent->is_ending && message->from != NULL && soc_guard_meets_full(host, agent);
        if (is_full)
            full = agent;
        if (agent->is_ending || is_full) {
            soc_broadcast_settle(broadcast, agent);
            record_end(host, message->key, SOC_OUTCOME_PENDING, soc_agent_id(agent));
        } else {
            broadcast->left++;
        }
    }
    /* Last: the guard above counts the broadcasts in the map against each mailbox. */
    soc_map_put_number(&soc_group_state(host)->broadcasts, message->key, broadcast);
    return broadcast->left == 0 && full != NULL ? put_full(host, full, error) : SOC_OK;
}

/* A skipped agent that is not terminating has a full mailbox. */
static void put_left_out(const struct soc_host *host, const struct soc_broadcast *broadcast,
                         struct soc_buf *out)
{
    struct soc_buf error = {0};
    size_t cursor = 0;
    const struct soc_agent *agent;
    bool is_first = true;
    while ((agent = soc_map_each(&broadcast->settled, &cursor)) != NULL) {
        if (agent->is_ending)
            continue;
        if (is_first)
            soc_json_put_name(out, "partialErrors");
        soc_buf_put_byte(out, is_first ? '[' : ',');
        is_first = false;
        put_full(host, agent, &error);
        soc_buf_put_slice(out, soc_buf_slice(&error));
    }
    if (!is_first)
        soc_buf_put_byte(out, ']');
    soc_buf_fini(&error);
}

void soc_broadcasts_put_receipt(struct soc_host *host, const struct soc_message *message,
                                struct soc_buf *out)
{
    char id[SOC_MESSAGE_ID_BYTES];
    const struct soc_broadcast *broadcast = find(host, message->key);
    soc_envelope_id(id, message);
    assert(broadcast != NULL);
    soc_buf_put_text(out, "[{");
    soc_json_put_name(out, "count");
    soc_json_put_integer(out, (int64_t)broadcast->left);
    soc_json_put_text_member(out, "messageId", soc_slice(id, sizeof(id)));
    put_left_out(host, broadcast, out);
    soc_buf_put_text(out, "}]");
}

/* Finishes the message: every reader is done. */
static void end_broadcast(struct soc_host *host, struct soc_broadcast *broadcast)
{
    assert(broadcast->left == 0);
    struct soc_message *message = broadcast->message;
    struct soc_record record = {.type = SOC_RECORD_MESSAGE_END};
    record.message_end = (struct soc_record_message_end){
        .key = message->key,
        .time_ms = (uint64_t)soc_host_now(host),
        .outcome = SOC_OUTCOME_PROCESSED,
    };
    record_end(host, message->key, SOC_OUTCOME_PROCESSED, (struct soc_slice){0});
    soc_batch_put(host, &record);
    soc_heap_remove(&host->timers, &message->timer);
    soc_map_take_number(&soc_group_state(host)->broadcasts, message->key);
    soc_broadcast_free(broadcast);
    soc_mail_free(host, message);
}

static bool is_receiving(const struct soc_agent *agent)
{
    const struct soc_activation *activation = agent->activation;
    return activation != NULL && activation->state == SOC_ACTIVATION_WAITING &&
           activation->wait.kind == SOC_WAIT_RECEIVE;
}

void soc_broadcasts_accept(struct soc_host *host, struct soc_message *message)
{
    struct soc_broadcast *broadcast = find(host, message->key);
    size_t cursor = 0;
    struct soc_agent *agent;
    assert(broadcast != NULL);
    soc_trace_message(host, "broadcast", message);
    host->totals.sent += broadcast->left;
    host->news_key = message->key;
    if (broadcast->left == 0) {
        end_broadcast(host, broadcast);
        return;
    }
    soc_mail_watch(host, message);
    while ((agent = soc_map_each(&host->registry.agents, &cursor)) != NULL) {
        if (!soc_broadcast_is_for(broadcast, agent))
            continue;
        if (is_receiving(agent))
            soc_broadcasts_collect(host, agent);
        else
            soc_ready_add(host, agent);
    }
}

void soc_broadcasts_take_back(struct soc_host *host, struct soc_message *message)
{
    soc_broadcast_free(soc_map_take_number(&soc_group_state(host)->broadcasts, message->key));
}

void soc_broadcasts_collect(struct soc_host *host, struct soc_agent *agent)
{
    size_t cursor = 0;
    struct soc_broadcast *broadcast;
    uint64_t seen = agent->news;
    while ((broadcast = soc_map_each(&soc_group_state(host)->broadcasts, &cursor)) != NULL) {
        uint64_t key = broadcast->message->key;
        if (key > host->news_key) /* sent by the current turn */
            break;
        bool is_for_it = soc_broadcast_is_for(broadcast, agent);
        if (key > seen)
            agent->news = seen = key;
        if (!is_for_it)
            continue;
        struct soc_message_draft draft = soc_broadcast_draft(broadcast, agent);
        struct soc_message *copy = soc_message_new(&draft);
        if (soc_router_hand_out(host, copy) || soc_waiting_offer(host, agent, copy))
            continue;
        soc_mail_queue(host, copy, true);
        soc_ready_add(host, agent);
    }
    agent->news = host->news_key;
}

bool soc_broadcasts_is_for(const struct soc_host *host, const struct soc_message *message,
                           const struct soc_agent *agent)
{
    const struct soc_broadcast *broadcast =
        message->flags & SOC_MESSAGE_IS_BROADCAST ? find(host, message->key) : NULL;
    return broadcast != NULL && soc_broadcast_is_for(broadcast, agent);
}

uint64_t soc_broadcasts_unread(const struct soc_host *host, const struct soc_agent *agent)
{
    size_t cursor = 0;
    uint64_t count = 0;
    const struct soc_broadcast *broadcast;
    while (soc_host_has_news(host, agent) &&
           (broadcast = soc_map_each(&soc_group_state(host)->broadcasts, &cursor)) != NULL)
        count += soc_broadcast_is_for(broadcast, agent);
    return count;
}

/* Turns the copy into a dead letter: a message of its own, which can be sent again. */
static void bury(struct soc_host *host, const struct soc_broadcast *broadcast,
                 const struct soc_message *copy, enum soc_outcome outcome, struct soc_slice reason)
{
    char id[SOC_MESSAGE_ID_BYTES];
    struct soc_message_draft draft = soc_broadcast_draft(broadcast, copy->to);
    draft.key = host->next_key++;
    draft.flags &= (uint8_t)~SOC_MESSAGE_IS_BROADCAST;
    draft.flags |= SOC_MESSAGE_IS_LETTER; /* it was never sent as such */
    if (draft.texts[SOC_TEXT_CORRELATION_ID].data == NULL) {
        soc_envelope_id(id, copy);
        draft.texts[SOC_TEXT_CORRELATION_ID] = soc_slice(id, sizeof(id));
    }
    struct soc_message *letter = soc_message_new(&draft);
    struct soc_record record;
    soc_envelope_record(&record, letter);
    soc_batch_put(host, &record);
    record = (struct soc_record){.type = SOC_RECORD_MESSAGE_END};
    record.message_end = (struct soc_record_message_end){
        .key = letter->key,
        .time_ms = (uint64_t)soc_host_now(host),
        .outcome = outcome,
        .reason = reason,
    };
    soc_batch_put(host, &record);
    soc_trace_dead(host, letter, reason);
    soc_mail_free(host, letter);
}

void soc_broadcasts_finish(struct soc_host *host, struct soc_message *copy,
                           enum soc_outcome outcome, struct soc_slice reason)
{
    struct soc_broadcast *broadcast = find(host, copy->key);
    assert(broadcast != NULL && !host->turn.is_open);
    soc_heap_remove(&host->timers, &copy->timer);
    host->totals.outcome[outcome]++;
    record_end(host, copy->key, outcome, soc_agent_id(copy->to));
    if (outcome == SOC_OUTCOME_DEAD || outcome == SOC_OUTCOME_EXPIRED)
        bury(host, broadcast, copy, outcome, reason);
    soc_mail_free(host, copy);
    if (soc_broadcast_done(broadcast))
        end_broadcast(host, broadcast);
}

void soc_broadcasts_expire(struct soc_host *host, struct soc_message *message)
{
    const struct soc_broadcast *broadcast = find(host, message->key);
    size_t cursor = 0;
    struct soc_agent *agent;
    assert(broadcast != NULL);
    soc_heap_remove(&host->timers, &message->timer);
    while ((agent = soc_map_each(&host->registry.agents, &cursor)) != NULL)
        if (soc_broadcast_is_for(broadcast, agent))
            soc_broadcasts_collect(host, agent);
}

void soc_broadcasts_restore(struct soc_host *host, struct soc_message *message)
{
    soc_map_put_number(&soc_group_state(host)->broadcasts, message->key,
                       soc_broadcast_new(message)); /* soc_broadcasts_count_left counts later */
}

void soc_broadcasts_restore_end(struct soc_host *host, uint64_t key, struct soc_agent *agent)
{
    struct soc_broadcast *broadcast = find(host, key);
    if (broadcast != NULL)
        soc_broadcast_settle(broadcast, agent);
}

bool soc_broadcasts_forget(struct soc_host *host, uint64_t key)
{
    struct soc_broadcast *broadcast = soc_map_take_number(&soc_group_state(host)->broadcasts, key);
    if (broadcast == NULL)
        return false;
    soc_message_free(broadcast->message);
    soc_broadcast_free(broadcast);
    return true;
}

void soc_broadcasts_count_left(struct soc_host *host)
{
    size_t cursor = 0;
    struct soc_broadcast *broadcast;
    while ((broadcast = soc_map_each(&soc_group_state(host)->broadcasts, &cursor)) != NULL) {
        size_t each = 0;
        struct soc_agent *agent;
        while ((agent = soc_map_each(&host->registry.agents, &each)) != NULL)
            broadcast->left += soc_broadcast_is_for(broadcast, agent);
        host->news_key = broadcast->message->key;
    }
}

struct soc_message *soc_broadcasts_hold(struct soc_host *host, uint64_t key,
                                        struct soc_agent *agent)
{
    struct soc_broadcast *broadcast = find(host, key);
    if (broadcast == NULL || !soc_broadcast_is_for(broadcast, agent))
        return NULL;
    struct soc_message_draft draft = soc_broadcast_draft(broadcast, agent);
    soc_broadcast_settle(broadcast, agent);
    return soc_message_new(&draft);
}

void soc_broadcasts_resume(struct soc_host *host)
{
    size_t cursor = 0;
    struct soc_broadcast *broadcast;
    while ((broadcast = soc_map_each(&soc_group_state(host)->broadcasts, &cursor)) != NULL) {
        size_t each = 0;
        struct soc_agent *agent;
        soc_mail_watch(host, broadcast->message);
        while ((agent = soc_map_each(&host->registry.agents, &each)) != NULL)
            if (soc_broadcast_is_for(broadcast, agent))
                soc_ready_add(host, agent);
    }
}

void soc_broadcasts_free(struct soc_host *host)
{
    size_t cursor = 0;
    struct soc_broadcast *broadcast;
    while ((broadcast = soc_map_each(&soc_group_state(host)->broadcasts, &cursor)) != NULL) {
        soc_heap_remove(&host->timers, &broadcast->message->timer);
        soc_mail_free(host, broadcast->message);
        soc_broadcast_free(broadcast);
    }
    soc_map_fini(&soc_group_state(host)->broadcasts);
}

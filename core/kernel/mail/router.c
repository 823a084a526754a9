#include "kernel/mail/router.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "env/ids.h"
#include "kernel/mail/acks.h"
#include "kernel/mail/adopt.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/mail.h"
#include "kernel/mail/passage.h"
#include "kernel/mail/requests.h"
#include "kernel/mail/transit.h"
#include "kernel/operations/awaiting.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/ready.h"
#include "kernel/turns/turn.h"
#include "kernel/turns/waiting.h"

/* As soc_registry_receiver, but tries the contact that `from` wrote to last first: it is
 * likely in the cache, unlike the table of all agents. */
static struct soc_agent *find_receiver(struct soc_host *host, const struct soc_agent *from,
                                       struct soc_slice id)
{
    if (from != NULL && from->contacts.recent < from->contacts.count) {
        struct soc_agent *peer = from->contacts.items[from->contacts.recent].peer;
        if (!peer->is_ended && soc_slice_equal(id, soc_agent_id(peer)))
            return peer;
    }
    return soc_registry_receiver(host, id);
}

int soc_router_may_send(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                        struct soc_buf *error)
{
    int rc = SOC_OK;
    if (to->is_ended || to->is_ending)
        return soc_refuse(error, SOC_ESTOPPED, NULL, "agentId", soc_agent_id(to));
    if (from == NULL || from == to)
        return SOC_OK;
    for (size_t i = 0; rc == SOC_OK && host->parts.calls.may_send[i] != NULL; i++)
        rc = host->parts.calls.may_send[i](host, from, to, error);
    return rc;
}

/* A message inherits trace, hops and chain from the message being handled; an answer
 * belongs to the chain of what it answers. */
static void inherit(const struct soc_host *host, const struct soc_send *send,
                    struct soc_message_draft *draft, char chain_id[SOC_MESSAGE_ID_BYTES])
{
    const struct soc_message *cause = host->turn.cause;
    struct soc_slice *chain = &draft->texts[SOC_TEXT_CORRELATION_ID];
    struct soc_slice *trace = &draft->texts[SOC_TEXT_TRACEPARENT];
    if (cause != NULL && trace->data == NULL)
        *trace = soc_message_text(cause, SOC_TEXT_TRACEPARENT);
    if (cause != NULL) {
        bool is_idle = draft->to != host->registry.user && draft->deliver_at_ms == 0;
        draft->cause = cause->key;
        draft->hops = cause->hops + (draft->from != draft->to);
        draft->idle_hops = is_idle ? cause->idle_hops + 1 : 0; /* a turn with progress resets it */
    }
    if (chain->data == NULL && send->answers != NULL)
        *chain = soc_envelope_chain(send->answers, chain_id);
    else if (chain->data == NULL && send->answers_key != 0)
        *chain = soc_request_chain(host, send->answers_key, chain_id);
    if (chain->data == NULL)
        *chain = soc_envelope_chain(cause, chain_id);
}

/* Returns the task: of the envelope, the payload, or the message being handled. */
static struct soc_slice determine_task(const struct soc_host *host, const struct soc_send *send,
                                       const struct soc_adopted *adopted)
{
    if (send->texts[SOC_TEXT_TASK_ID].data != NULL)
        return send->texts[SOC_TEXT_TASK_ID];
    if (adopted->task_id.data != NULL || host->turn.cause == NULL)
        return adopted->task_id;
    return soc_message_text(host->turn.cause, SOC_TEXT_TASK_ID);
}

static int check_limits(const struct soc_send *send, struct soc_buf *error)
{
    if (send->texts[SOC_TEXT_TASK_ID].data != NULL &&
        !soc_id_is_valid(send->texts[SOC_TEXT_TASK_ID]))
        return soc_refuse(error, SOC_EBADID, NULL, "task_id", send->texts[SOC_TEXT_TASK_ID]);
    if (send->payload.length > SOC_PAYLOAD_BYTES_MAX)
        return soc_refuse(error, SOC_ETOOLARGE, "the payload exceeds the limit of 16 MB", NULL,
                          (struct soc_slice){0});
    return SOC_OK;
}

static int check_send(struct soc_host *host, const struct soc_agent *from,
                      const struct soc_send *send, struct soc_agent **to, struct soc_buf *error)
{
    *to = find_receiver(host, from, send->to);
    if (*to == NULL)
        return soc_refuse(error,
                          soc_registry_is_astray(host, send->to) ? SOC_ENOHOST : SOC_ENOAGENT, NULL,
                          "agentId", send->to);
    soc_agent_prefetch(*to);
    if (send->wants_reply && (*to)->hold & SOC_HOLD_FAILED)
        return soc_refuse(error, SOC_ERECEIVER, NULL, "to", soc_agent_id(*to));
    return check_limits(send, error);
}

/* An ending agent still gets the answers to its open requests, but no other message. */
bool soc_router_is_awaited(const struct soc_host *host, const struct soc_send *send)
{
    uint64_t key = send->answers != NULL ? send->answers->key : send->answers_key;
    bool is_awaited = key != 0 && soc_request_find(host, key) != NULL;
    for (size_t i = 0; key != 0 && !is_awaited && host->parts.calls.awaits[i] != NULL; i++)
        is_awaited = host->parts.calls.awaits[i](host, key);
    return is_awaited;
}

/* Answers, reports and messages of the host need no permission. */
static int check_permission(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                            const struct soc_send *send, struct soc_buf *error)
{
    bool is_free =
        send->answers != NULL || send->answers_key != 0 || send->is_formal || send->is_report;
    bool is_there = !to->is_ended && (!to->is_ending || soc_router_is_awaited(host, send));
    return is_free && is_there ? SOC_OK : soc_router_may_send(host, from, to, error);
}

/* Asks the validators, unless the host sends. A type is interned, which is permanent, only
 * when the message is valid. */
static int validate(struct soc_host *host, struct soc_passage *p, struct soc_buf *error)
{
    struct soc_candidate candidate = {.from = p->from, .payload = p->send.payload};
    int rc = soc_adopt_type(p->send.type, &p->adopted, &candidate.type, error);
    candidate.task_id = p->task_id = determine_task(host, &p->send, &p->adopted);
    if (rc == SOC_OK && p->from != NULL && !p->send.is_formal)
        rc = host->hooks.check_message(host->hooks.user, &candidate, &p->requires_ack, error);
    if (rc < 0)
        return rc;
    p->has_warning = rc > 0;
    if (p->send.has_requires_ack)
        p->requires_ack = p->send.requires_ack;
    p->type = soc_slice_equal(candidate.type, SOC_SLICE("general"))
                  ? host->types.general
                  : soc_intern(&host->types.table, candidate.type);
    return SOC_OK;
}

/* Logs that an invalid message is sent anyway. `warning` holds the error object it would
 * have been refused with; it is emptied. */
static void warn(struct soc_host *host, const struct soc_message *message, struct soc_buf *warning)
{
    char id[SOC_MESSAGE_ID_BYTES];
    soc_envelope_id(id, message);
    warning->length--;
    soc_json_put_text_member(warning, "message_id", soc_slice(id, sizeof(id)));
    soc_buf_put_byte(warning, '}');
    soc_trace_event(host, SOC_LOG_WARN, "message_warning", message->from, soc_buf_slice(warning));
    warning->length = 0;
}

/* Logs that an agent's message does not fit its type: whoever ignores the error would see no
 * trace of it. The same refusal in a row is logged once for each activation. Only the log has
 * it: the turn may raise over it, and be rolled back. */
static void log_refusal(struct soc_host *host, const struct soc_buf *error)
{
    struct soc_activation *activation = host->turn.activation;
    struct soc_slice detail = soc_buf_slice(error);
    if (activation == NULL || host->log.level > SOC_LOG_INFO)
        return;
    uint64_t hash = soc_hash(detail.data, detail.length, 1);
    if (activation->refusal == hash)
        return;
    activation->refusal = hash;
    soc_log_event(&host->log, SOC_LOG_INFO, soc_host_now(host), "refused",
                  soc_agent_id(activation->agent), detail);
}

/* Lets the parts complete a validated message, then checks permissions and the parts'
 * other objections. */
static int complete(struct soc_host *host, struct soc_passage *p, struct soc_buf *error)
{
    const struct soc_part_calls *calls = &host->parts.calls;
    int rc = SOC_OK;
    bool is_special = p->to == NULL || p->type->is_marked || p->is_formal_reply;
    for (size_t i = 0; is_special && rc == SOC_OK && calls->complete[i] != NULL; i++)
        rc = calls->complete[i](host, p, error);
    if (rc == SOC_OK && p->to != NULL)
        rc = check_permission(host, p->from, p->to, &p->send, error);
    for (size_t i = 0; rc == SOC_OK && calls->check[i] != NULL; i++)
        rc = calls->check[i](host, p, error);
    return rc;
}

static struct soc_message *make_message(struct soc_host *host, const struct soc_passage *p)
{
    const struct soc_send *send = &p->send;
    const struct soc_adopted *adopted = &p->adopted;
    int64_t now_ms = soc_host_now(host);
    bool is_later = send->deliver_at_ms > now_ms;
    char chain_id[SOC_MESSAGE_ID_BYTES];
    char own_id[SOC_MESSAGE_ID_BYTES];
    assert(p->type != NULL); /* validated */
    struct soc_message_draft draft = {
        .key = host->next_key++,
        .time_ms = now_ms,
        .from = p->from,
        .to = p->to,
        .type = p->type,
        .expires_ms = send->ttl_ms == 0 ? 0 : now_ms + send->ttl_ms,
        .deliver_at_ms = is_later ? send->deliver_at_ms : 0,
        .sent_date_ms = soc_clock_date_of(&host->clock, now_ms),
        .deliver_date_ms = is_later ? soc_clock_date_of(&host->clock, send->deliver_at_ms) : 0,
        .deadline_ms = send->deadline_ms != 0 ? send->deadline_ms : adopted->deadline_ms,
        .priority = (uint8_t)(send->has_priority      ? send->priority
                              : adopted->has_priority ? adopted->priority
                                                      : SOC_PRIORITY_NORMAL),
        .flags = (uint8_t)((p->requires_ack ? SOC_MESSAGE_REQUIRES_ACK : 0) |
                           (send->wants_reply ? SOC_MESSAGE_WANTS_REPLY : 0) |
                           (send->is_formal ? SOC_MESSAGE_IS_FORMAL : 0) |
                           (send->is_intake ? SOC_MESSAGE_IS_INTAKE : 0) |
                           (send->is_dated && is_later ? SOC_MESSAGE_IS_DATED : 0) |
                           (p->to == NULL ? SOC_MESSAGE_IS_BROADCAST : 0)),
        .attempt = 1,
        .hops = send->hops,
        .payload = send->payload,
    };
    for (int i = 0; i < SOC_TEXT_COUNT; i++)
        draft.texts[i] = send->texts[i];
    draft.texts[SOC_TEXT_TASK_ID] = p->task_id;
    inherit(host, send, &draft, chain_id);
    SOC_PARTS_TELL(host, name_draft, host, &draft, own_id);
    if (send->answers != NULL) {
        draft.texts[SOC_TEXT_FOREIGN_REPLY] = soc_message_text(send->answers, SOC_TEXT_FOREIGN_ID);
        draft.reply_to = send->answers->key;
        draft.reply_to_ms = send->answers->time_ms;
        if (send->answers->flags & SOC_MESSAGE_WANTS_REPLY)
            draft.flags |= SOC_MESSAGE_IS_REPLY;
        if (send->answers->flags & SOC_MESSAGE_IS_FORMAL)
            draft.flags |= SOC_MESSAGE_IS_FORMAL; /* answers a question of the host */
    } else if (send->answers_key != 0) {
        draft.reply_to = send->answers_key;
        draft.reply_to_ms = send->answers_ms;
        if (send->is_late || soc_request_find(host, send->answers_key) != NULL)
            draft.flags |= SOC_MESSAGE_IS_REPLY;
    }
    struct soc_message *message = soc_message_new(&draft);
    message->is_changed = p->payload.length + p->completed.length > 0;
    return message;
}

/* Creates the message of an approved passage inside the turn; an error of a part removes it
 * again. */
static int dispatch(struct soc_host *host, const struct soc_passage *p, struct soc_message **out,
                    struct soc_buf *error)
{
    const struct soc_part_calls *calls = &host->parts.calls;
    struct soc_turn_mark mark = soc_turn_mark(host);
    uint64_t key = host->next_key;
    struct soc_record record;
    struct soc_message *message = make_message(host, p);
    soc_envelope_record(&record, message);
    soc_batch_put(host, &record);
    soc_message_list_push(&host->turn.sent, message);
    if (p->to != NULL && p->to == host->registry.user && host->turn.activation != NULL)
        host->turn.activation->has_progress = true;
    if (p->has_warning)
        warn(host, message, error);
    int rc = SOC_OK;
    bool is_special = p->to == NULL || p->type->is_marked || p->has_key || p->is_query_answer;
    for (size_t i = 0; is_special && rc == SOC_OK && calls->sent[i] != NULL; i++)
        rc = calls->sent[i](host, p, message, error);
    if (rc < 0) {
        soc_turn_rollback_to(host, mark);
        host->next_key = key;
        return rc;
    }
    *out = message;
    return SOC_OK;
}

/* Finds the receiver, NULL for a broadcast, and checks what needs no validator. */
static int address(struct soc_host *host, struct soc_passage *p, struct soc_buf *error)
{
    p->send.is_everywhere = soc_slice_equal(p->send.to, SOC_SLICE("All@*"));
    if (p->send.is_everywhere)
        p->send.to = SOC_SLICE("All");
    if (!soc_slice_equal(p->send.to, SOC_SLICE("All")))
        return check_send(host, p->from, &p->send, &p->to, error);
    if (p->send.type.data == NULL && p->adopted.type.data == NULL)
        p->send.type = SOC_SLICE("broadcast");
    return check_limits(&p->send, error);
}

int soc_router_send(struct soc_host *host, struct soc_agent *from, const struct soc_send *send,
                    struct soc_message **out, struct soc_buf *error)
{
    assert(host->turn.is_open && send->payload.length > 0);
    bool has_key = send->texts[SOC_TEXT_EXTERNAL_ID].data != NULL ||
                   send->texts[SOC_TEXT_DEDUPE_KEY].data != NULL;
    for (size_t i = 0; has_key && host->parts.calls.find_duplicate[i] != NULL; i++)
        if (host->parts.calls.find_duplicate[i](host, from, send, error))
            return 1;
    struct soc_passage p = {.from = from, .send = *send, .has_key = has_key};
    if (!send->is_bare)
        soc_adopt(&p.adopted, send->payload);
    int rc = address(host, &p, error);
    if (send->answers != NULL || send->answers_key != 0)
        SOC_PARTS_TELL(host, prepare, host, &p);
    if (rc == SOC_OK)
        rc = validate(host, &p, error);
    if (rc == SOC_EBADMESSAGE)
        log_refusal(host, error);
    if (rc == SOC_OK)
        rc = complete(host, &p, error);
    if (rc == SOC_OK)
        rc = dispatch(host, &p, out, error);
    if (rc == SOC_OK && p.to != NULL)
        soc_agent_prefetch_contacts(p.to);
    soc_buf_fini(&p.payload);
    soc_buf_fini(&p.completed);
    return rc;
}

/* A reply goes to its waiter, bypassing the mailbox. A late one is logged and dropped. */
static void accept_reply(struct soc_host *host, struct soc_message *message)
{
    struct soc_request *request = soc_request_find(host, message->reply_to);
    bool is_late = request == NULL || request->to != message->from;
    for (size_t i = 0; is_late && host->parts.calls.late[i] != NULL; i++)
        if (host->parts.calls.late[i](host, message))
            return;
    if (is_late) {
        soc_trace_message(host, "late_reply", message);
        soc_router_finish(host, message, SOC_OUTCOME_DROPPED,
                          SOC_SLICE("{\"error\":\"late_reply\"}"));
        return;
    }
    struct soc_buf answer = {0};
    request->is_answered = true;
    if (request->activation != NULL && message->idle_hops == 0)
        request->activation->has_progress = true;
    if (request->owner != NULL) {
        request->owner_ops->replied(host, request, message);
        soc_router_finish(host, message, SOC_OUTCOME_PROCESSED, (struct soc_slice){0});
        return;
    }
    bool has_answer = false;
    for (size_t i = 0; !has_answer && host->parts.calls.put_answer[i] != NULL; i++)
        has_answer = host->parts.calls.put_answer[i](host, request, message, &answer);
    if (!has_answer) {
        soc_buf_put_byte(&answer, '[');
        soc_envelope_put_script_json(&answer, message);
        soc_buf_put_byte(&answer, ']');
    }
    soc_request_answer(host, request, soc_buf_slice(&answer));
    soc_buf_fini(&answer);
    soc_router_finish(host, message, SOC_OUTCOME_PROCESSED, (struct soc_slice){0});
}

static void deliver_when_due(struct soc_host *host, struct soc_message *message)
{
    if (message->deliver_at_ms <= soc_host_now(host))
        soc_router_deliver(host, message);
    else
        soc_transit_add(host, message);
}

void soc_router_accept(struct soc_host *host, struct soc_message *message)
{
    assert(!host->turn.is_open && !message->is_queued);
    assert(message->outcome == SOC_OUTCOME_PENDING);
    if (!(message->flags & SOC_MESSAGE_IS_BROADCAST)) {
        if (soc_message_text(message, SOC_TEXT_FOREIGN_ID).data != NULL)
            host->totals.taken++;
        else
            host->totals.sent++;
        soc_trace_message(host, "message", message);
    }
    if (message->reply_to != 0)
        soc_awaiting_note_reply(host, message->reply_to);
    for (size_t i = 0; host->parts.calls.accept[i] != NULL; i++)
        if (host->parts.calls.accept[i](host, message))
            return;
    deliver_when_due(host, message);
}

bool soc_router_hand_out(struct soc_host *host, struct soc_message *message)
{
    if (!message->to->is_external)
        return false;
    for (size_t i = 0; host->parts.calls.hand_out[i] != NULL; i++)
        if (host->parts.calls.hand_out[i](host, message))
            return true; /* it may be gone by now */
    return false;
}

void soc_router_hand_over(struct soc_host *host, struct soc_message *message)
{
    struct soc_agent *to = message->to;
    assert(to != NULL && !to->is_ended);
    if (soc_router_hand_out(host, message) || soc_waiting_offer(host, to, message))
        return;
    soc_mail_queue(host, message, false);
    soc_ready_add(host, to);
}

/* Ends a message in no queue whose time to live is over. */
static void expire(struct soc_host *host, struct soc_message *message)
{
    soc_trace_message(host, "expired", message);
    soc_router_finish(host, message, SOC_OUTCOME_EXPIRED, SOC_SLICE("{\"error\":\"expired\"}"));
}

void soc_router_deliver(struct soc_host *host, struct soc_message *message)
{
    struct soc_agent *to = message->to;
    if (message->expires_ms != 0 && message->expires_ms <= soc_host_now(host)) {
        expire(host, message);
        return;
    }
    if (to != NULL && to->is_remote) {
        soc_router_hand_over(host, message);
        return;
    }
    if (message->flags & SOC_MESSAGE_IS_REPLY) {
        accept_reply(host, message);
        return;
    }
    if (to != NULL && !to->is_external && !to->is_ended)
        soc_acks_note(host, message, SOC_ACK_RECEIVED);
    bool is_special = message->type->is_marked ||
                      message->flags & (SOC_MESSAGE_IS_INTAKE | SOC_MESSAGE_IS_FORMAL);
    for (size_t i = 0; is_special && host->parts.calls.arrive[i] != NULL; i++)
        if (host->parts.calls.arrive[i](host, message))
            return;
    assert(to != NULL); /* a part has accepted broadcasts */
    if (to->is_ended) {
        soc_router_finish(host, message, SOC_OUTCOME_DEAD,
                          SOC_SLICE("{\"error\":\"agent_stopped\"}"));
        return;
    }
    soc_router_hand_over(host, message);
}

void soc_router_timer(struct soc_host *host, struct soc_message *message)
{
    for (size_t i = 0; host->parts.calls.expire[i] != NULL; i++)
        if (host->parts.calls.expire[i](host, message))
            return;
    if (message->is_queued) {
        soc_mailbox_remove(&message->to->mailbox, message);
        expire(host, message);
    } else {
        soc_transit_remove(host, message);
        soc_router_deliver(host, message);
    }
}

/* Notifies the parts of its end; returns true if one of them keeps it. */
static bool tell_parts(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                       struct soc_slice reason)
{
    bool is_kept = false;
    for (size_t i = 0; host->parts.calls.finish[i] != NULL; i++)
        is_kept |= host->parts.calls.finish[i](host, message, outcome, reason);
    return is_kept;
}

/* Tells those who wait for the message how it ended. */
static void tell_waiters(struct soc_host *host, const struct soc_message *message,
                         enum soc_outcome outcome, struct soc_slice reason)
{
    if (outcome == SOC_OUTCOME_HANDED_OVER) {
        soc_acks_note(host, message, SOC_ACK_RECEIVED);
        return;
    }
    if (outcome == SOC_OUTCOME_PROCESSED)
        soc_acks_note(host, message, SOC_ACK_PROCESSED);
    else
        soc_acks_fail(host, message, outcome, reason);
    if (outcome != SOC_OUTCOME_PROCESSED && message->flags & SOC_MESSAGE_IS_REPLY)
        soc_request_lose_answer(host, message->reply_to);
    if (outcome != SOC_OUTCOME_PROCESSED && message->flags & SOC_MESSAGE_WANTS_REPLY &&
        !soc_transit_replies(host, message->key))
        soc_request_fail(host, message->key, "receiver_failed",
                         "the request could not be handled; see its dead letter", reason);
    if (outcome == SOC_OUTCOME_PROCESSED && message->flags & SOC_MESSAGE_WANTS_REPLY)
        soc_request_note_finished(host, message->key);
}

void soc_router_finish(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                       struct soc_slice reason)
{
    bool is_done = outcome == SOC_OUTCOME_PROCESSED || outcome == SOC_OUTCOME_HANDED_OVER;
    assert(!message->is_queued && outcome != SOC_OUTCOME_PENDING);
    bool is_special = message->is_outside || message->flags & SOC_MESSAGE_IS_BROADCAST;
    for (size_t i = 0; is_special && host->parts.calls.finishing[i] != NULL; i++)
        if (host->parts.calls.finishing[i](host, message, outcome, reason))
            return;
    soc_heap_remove(&host->timers, &message->timer);
    host->totals.outcome[outcome]++;
    struct soc_record record = {.type = SOC_RECORD_MESSAGE_END};
    record.message_end = (struct soc_record_message_end){
        .key = message->key,
        .time_ms = (uint64_t)soc_host_now(host),
        .outcome = outcome,
        .reason = reason,
    };
    soc_batch_put(host, &record);
    bool is_kept = tell_parts(host, message, outcome, reason);
    if (!is_done)
        SOC_PARTS_TELL(host, failed, host, message, outcome);
    tell_waiters(host, message, outcome, reason);
    if (outcome == SOC_OUTCOME_DEAD || outcome == SOC_OUTCOME_EXPIRED) {
        struct soc_request *request = soc_request_find(host, message->key);
        assert(!is_kept);
        if (request != NULL)
            request->is_dead = true;
        soc_trace_dead(host, message, reason);
    }
    if (!is_kept)
        soc_mail_free(host, message);
}

void soc_router_set_again(const struct soc_host *host, struct soc_message *message,
                          const struct soc_record_message_again *r)
{
    message->outcome = SOC_OUTCOME_PENDING;
    message->attempt = (uint16_t)r->attempt;
    message->expires_ms = 0; /* redelivery means that it must be handled */
    message->deliver_at_ms = (int64_t)r->deliver_at_ms;
    message->deliver_date_ms = soc_clock_date_of(&host->clock, message->deliver_at_ms);
    message->flags &= (uint8_t)~SOC_MESSAGE_IS_DATED;
}

void soc_router_again(struct soc_host *host, struct soc_message *message, int64_t deliver_at_ms)
{
    assert(!message->is_queued && !soc_heap_has(&message->timer));
    struct soc_request *request = soc_request_find(host, message->key);
    if (request != NULL)
        request->is_dead = false;
    host->totals.outcome[message->outcome]--;
    struct soc_record record = {.type = SOC_RECORD_MESSAGE_AGAIN};
    record.message_again = (struct soc_record_message_again){
        .key = message->key,
        .time_ms = (uint64_t)soc_host_now(host),
        .attempt = (uint64_t)message->attempt + 1,
        .deliver_at_ms = (uint64_t)deliver_at_ms,
    };
    soc_batch_put(host, &record);
    soc_router_set_again(host, message, &record.message_again);
    SOC_PARTS_TELL(host, again, host, message);
    deliver_when_due(host, message);
}

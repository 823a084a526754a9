#include "host/router.h"

#include <assert.h>
#include <string.h>

#include "base/limits.h"
#include "env/ids.h"
#include "host/acquaintance.h"
#include "host/deadlock.h"
#include "host/ending.h"
#include "host/envelope.h"
#include "host/human.h"
#include "host/introductions.h"
#include "host/refusal.h"
#include "host/schedule.h"
#include "host/state.h"
#include "host/tasks.h"
#include "host/trace.h"
#include "host/turn.h"
#include "host/wait.h"

struct soc_agent *soc_router_find(struct soc_host *host, struct soc_slice id)
{
    if (soc_slice_equal(id, SOC_SLICE("orchestrator")))
        id = host->orchestrator == NULL ? SOC_SLICE("root") : soc_slice_text(host->orchestrator);
    return soc_map_find(&host->agents, id);
}

/* As soc_router_find, but looks first at the contact that `from` wrote to last: it is
 * at hand, and the table of all agents is not. */
static struct soc_agent *find_receiver(struct soc_host *host, const struct soc_agent *from,
                                       struct soc_slice id)
{
    if (from != NULL && from->contacts.recent < from->contacts.count) {
        struct soc_agent *peer = from->contacts.items[from->contacts.recent].peer;
        if (!peer->is_ended && soc_slice_equal(id, soc_agent_id(peer)))
            return peer;
    }
    return soc_router_find(host, id);
}

static int refuse_stranger(struct soc_buf *error, const struct soc_agent *to,
                           const struct soc_buf *said)
{
    soc_refusal_begin(error, SOC_ENOCONTACT, NULL);
    soc_json_put_text_member(error, "to", soc_agent_id(to));
    if (said->length > 0) {
        soc_buf_put_byte(error, ',');
        soc_buf_put_slice(error, soc_buf_slice(said));
    } else {
        soc_json_put_text_member(
            error, "hint",
            SOC_SLICE(
                "write to a contact: a parent, a child, a collaborator or whoever wrote first"));
    }
    return soc_refusal_end(error, SOC_ENOCONTACT);
}

int soc_router_may_send(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                        struct soc_buf *error)
{
    if (to->is_ended || to->is_ending)
        return soc_refuse(error, SOC_ESTOPPED, NULL, "agentId", soc_agent_id(to));
    if (from == NULL || from == to)
        return SOC_OK;
    struct soc_contact *contact = soc_contacts_find(&from->contacts, to);
    if (contact != NULL)
        from->contacts.recent = (uint32_t)(contact - from->contacts.items);
    if (contact != NULL && contact->verdict_generation == host->policy_generation &&
        contact->is_allowed)
        return SOC_OK;
    struct soc_buf said = {0};
    bool is_allowed = host->hooks.may_send(host->hooks.user, from, to, contact, &said);
    if (contact != NULL) {
        contact->verdict_generation = host->policy_generation;
        contact->is_allowed = is_allowed;
    }
    int rc = is_allowed ? SOC_OK : refuse_stranger(error, to, &said);
    soc_buf_fini(&said);
    return rc;
}

/* What the message being handled hands on to what is sent because of it. */
static void inherit(const struct soc_host *host, struct soc_message_draft *draft,
                    char chain_id[SOC_MESSAGE_ID_BYTES])
{
    const struct soc_message *cause = host->turn.cause;
    if (cause == NULL)
        return;
    draft->hops = (uint16_t)(cause->hops == UINT16_MAX ? UINT16_MAX : cause->hops + 1);
    if (draft->texts[SOC_TEXT_CORRELATION_ID].data != NULL)
        return;
    draft->texts[SOC_TEXT_CORRELATION_ID] = soc_message_text(cause, SOC_TEXT_CORRELATION_ID);
    if (draft->texts[SOC_TEXT_CORRELATION_ID].data == NULL) {
        soc_envelope_id(chain_id, cause);
        draft->texts[SOC_TEXT_CORRELATION_ID] = soc_slice(chain_id, SOC_MESSAGE_ID_BYTES);
    }
}

/* What a payload says that belongs to the envelope; the envelope wins. */
struct adopted {
    struct soc_slice type;
    bool has_bad_type; /* it is no name, or said twice and differently */
    struct soc_slice task_id;
    int64_t deadline_ms;
    enum soc_priority priority;
    bool has_priority;
};

static void adopt_member(struct adopted *adopted, struct soc_slice name, struct soc_slice value)
{
    struct soc_slice text = soc_json_plain_string(value);
    bool is_type = soc_slice_equal(name, SOC_SLICE("message_type")) ||
                   soc_slice_equal(name, SOC_SLICE("messageType"));
    if (is_type && soc_json_kind(value) != SOC_JSON_NULL) {
        adopted->has_bad_type |= text.data == NULL || (adopted->type.data != NULL &&
                                                       !soc_slice_equal(adopted->type, text));
        adopted->type = text;
    }
    if (is_type || text.data == NULL)
        return;
    if (soc_slice_equal(name, SOC_SLICE("task_id")) && soc_id_is_valid(text))
        adopted->task_id = text;
    else if (soc_slice_equal(name, SOC_SLICE("priority")))
        adopted->has_priority = soc_priority_parse(text, &adopted->priority);
    else if (soc_slice_equal(name, SOC_SLICE("deadline")))
        soc_time_parse(text, &adopted->deadline_ms);
}

static void adopt(struct adopted *adopted, struct soc_slice payload)
{
    struct soc_json_walk walk;
    *adopted = (struct adopted){0};
    if (payload.data[0] != '{')
        return;
    soc_json_walk(&walk, payload);
    while (soc_json_next(&walk))
        if (walk.name.length > 0 && strchr("mtpd", walk.name.data[0]) != NULL)
            adopt_member(adopted, walk.name, walk.value);
}

static int refuse_type(struct soc_buf *error, const char *why, struct soc_slice type)
{
    struct soc_buf details = {0};
    soc_json_put_string(&details, soc_slice_text(why));
    int rc = soc_refuse_message(error, why, type, SOC_SLICE(""), soc_buf_slice(&details));
    soc_buf_fini(&details);
    return rc;
}

/* The type: the envelope's, the payload's, or general. They must not differ. */
static int settle_type(const struct soc_send *send, const struct adopted *adopted,
                       struct soc_slice *type, struct soc_buf *error)
{
    *type = send->type.data != NULL ? send->type : adopted->type;
    if (adopted->has_bad_type)
        return refuse_type(error, "the payload's message_type must be one name; say it once",
                           *type);
    if (type->data == NULL)
        *type = SOC_SLICE("general");
    if (adopted->type.data != NULL && !soc_slice_equal(*type, adopted->type))
        return refuse_type(error, "type and the payload's message_type differ; say it once",
                           adopted->type);
    if (type->length > SOC_TYPE_BYTES_MAX || !soc_id_is_valid(*type))
        return refuse_type(
            error, "a type is 1 to 64 of A-Z a-z 0-9 _ . -; leave it out for general", *type);
    return SOC_OK;
}

/* The task: the envelope's, the payload's, or that of the message being handled. */
static struct soc_slice settle_task(const struct soc_host *host, const struct soc_send *send,
                                    const struct adopted *adopted)
{
    if (send->texts[SOC_TEXT_TASK_ID].data != NULL)
        return send->texts[SOC_TEXT_TASK_ID];
    if (adopted->task_id.data != NULL || host->turn.cause == NULL)
        return adopted->task_id;
    return soc_message_text(host->turn.cause, SOC_TEXT_TASK_ID);
}

static int check_send(struct soc_host *host, const struct soc_agent *from,
                      const struct soc_send *send, struct soc_agent **to, struct soc_buf *error)
{
    *to = find_receiver(host, from, send->to);
    if (*to == NULL)
        return soc_refuse(error, SOC_ENOAGENT, NULL, "agentId", send->to);
    soc_agent_prefetch(*to);
    if (send->texts[SOC_TEXT_TASK_ID].data != NULL &&
        !soc_id_is_valid(send->texts[SOC_TEXT_TASK_ID]))
        return soc_refuse(error, SOC_EBADID, NULL, "task_id", send->texts[SOC_TEXT_TASK_ID]);
    if (send->payload.length > SOC_PAYLOAD_BYTES_MAX)
        return soc_refuse(error, SOC_ETOOLARGE, "the payload is over its limit of 16 MB", NULL,
                          (struct soc_slice){0});
    return SOC_OK;
}

/* An agent that ends waits for answers to what it has asked, and for nothing else. */
static bool is_awaited(struct soc_host *host, const struct soc_send *send)
{
    uint64_t key = send->answers != NULL ? send->answers->key : send->answers_key;
    return key != 0 &&
           (soc_request_find(host, key) != NULL || soc_introductions_is_question(host, key));
}

/* Answers and the host's own words need nobody's leave. */
static int check_leave(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                       const struct soc_send *send, struct soc_buf *error)
{
    bool is_free = send->answers != NULL || send->answers_key != 0 || send->is_formal;
    bool is_there = !to->is_ended && (!to->is_ending || is_awaited(host, send));
    return is_free && is_there ? SOC_OK : soc_router_may_send(host, from, to, error);
}

/* A message under way from a sender to the turn's list. */
struct passage {
    struct soc_agent *from;
    struct soc_agent *to;
    const struct soc_symbol *type;
    struct soc_slice task_id;
    bool requires_ack;
    bool has_warning; /* it does not fit its type; why is in the buffer for errors */
    struct adopted adopted;
    struct soc_send send;   /* as the sender gave it, completed */
    struct soc_buf payload; /* what the host made of it, if anything */
    struct soc_buf spare;
};

/* Asks the validators, unless the host speaks. A type becomes a symbol, which is
 * kept for ever, only when nobody objects to it. */
static int validate(struct soc_host *host, struct passage *p, struct soc_buf *error)
{
    struct soc_candidate candidate = {.from = p->from, .payload = p->send.payload};
    int rc = settle_type(&p->send, &p->adopted, &candidate.type, error);
    candidate.task_id = p->task_id = settle_task(host, &p->send, &p->adopted);
    if (rc == SOC_OK && p->from != NULL && !p->send.is_formal)
        rc = host->hooks.check_message(host->hooks.user, &candidate, &p->requires_ack, error);
    if (rc < 0)
        return rc;
    p->has_warning = rc > 0;
    if (p->send.has_requires_ack)
        p->requires_ack = p->send.requires_ack;
    p->type = soc_slice_equal(candidate.type, SOC_SLICE("general"))
                  ? host->type_general
                  : soc_intern(&host->types, candidate.type);
    return SOC_OK;
}

/* Says of a message that is sent though it does not fit its type. `warning` is the
 * refusal it would have met. */
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

/* A `response` that names an open request of its receiver is the reply to it. */
static void join_response(struct soc_host *host, struct passage *p)
{
    if (p->type != host->type_response || p->from == NULL || p->send.answers != NULL ||
        p->send.answers_key != 0)
        return;
    const struct soc_request *request =
        soc_request_find_query(host, p->to, p->from, p->send.payload);
    if (request == NULL)
        return;
    p->send.answers_key = request->key;
    p->send.answers_ms = request->time_ms;
}

/* What the host adds: to an introduction whom it names, to a first message who
 * writes, to a response what it answers. */
static int complete(struct soc_host *host, struct passage *p, struct soc_buf *error)
{
    join_response(host, p);
    int rc = soc_introductions_prepare(host, p->from, p->to, p->type, &p->send, &p->payload, error);
    if (rc == SOC_OK)
        rc = check_leave(host, p->from, p->to, &p->send, error);
    if (rc < 0 || !soc_acquaint_is_first(host, p->from, p->to, &p->send))
        return rc;
    rc = soc_acquaint_introduce_self(p->from, p->to, p->send.payload, &p->spare, error);
    if (rc == SOC_OK)
        p->send.payload = soc_buf_slice(&p->spare);
    return rc;
}

/* The task's id that the sender gave, in the envelope or the payload. */
static struct soc_slice given_task(const struct passage *p)
{
    struct soc_slice id = p->send.texts[SOC_TEXT_TASK_ID];
    return id.data != NULL ? id : p->adopted.task_id;
}

static struct soc_message *make_message(struct soc_host *host, const struct passage *p)
{
    const struct soc_send *send = &p->send;
    const struct adopted *adopted = &p->adopted;
    int64_t now_ms = soc_host_now(host);
    char chain_id[SOC_MESSAGE_ID_BYTES];
    char own_id[SOC_MESSAGE_ID_BYTES];
    struct soc_message_draft draft = {
        .key = host->next_key++,
        .time_ms = now_ms,
        .from = p->from,
        .to = p->to,
        .type = p->type,
        .expires_ms = send->ttl_ms == 0 ? 0 : now_ms + send->ttl_ms,
        .deliver_at_ms = send->deliver_at_ms > now_ms ? send->deliver_at_ms : 0,
        .deadline_ms = send->deadline_ms != 0 ? send->deadline_ms : adopted->deadline_ms,
        .priority = (uint8_t)(send->has_priority      ? send->priority
                              : adopted->has_priority ? adopted->priority
                                                      : SOC_PRIORITY_NORMAL),
        .flags = (uint8_t)((p->requires_ack ? SOC_MESSAGE_REQUIRES_ACK : 0) |
                           (send->wants_reply ? SOC_MESSAGE_WANTS_REPLY : 0) |
                           (send->is_formal ? SOC_MESSAGE_IS_FORMAL : 0) |
                           (send->is_intake ? SOC_MESSAGE_IS_INTAKE : 0)),
        .attempt = 1,
        .payload = send->payload,
    };
    for (int i = 0; i < SOC_TEXT_COUNT; i++)
        draft.texts[i] = send->texts[i];
    draft.texts[SOC_TEXT_TASK_ID] = p->task_id;
    inherit(host, &draft, chain_id);
    soc_tasks_name(host, &draft, own_id);
    if (send->answers != NULL) {
        draft.reply_to = send->answers->key;
        draft.reply_to_ms = send->answers->time_ms;
        if (send->answers->flags & SOC_MESSAGE_WANTS_REPLY)
            draft.flags |= SOC_MESSAGE_IS_REPLY;
        if (send->answers->flags & SOC_MESSAGE_IS_FORMAL)
            draft.flags |= SOC_MESSAGE_IS_FORMAL; /* an answer to the host's own question */
    } else if (send->answers_key != 0) {
        draft.reply_to = send->answers_key;
        draft.reply_to_ms = send->answers_ms;
        if (soc_request_find(host, send->answers_key) != NULL)
            draft.flags |= SOC_MESSAGE_IS_REPLY;
    }
    struct soc_message *message = soc_message_new(&draft);
    message->is_changed = p->payload.length + p->spare.length > 0;
    return message;
}

int soc_router_send(struct soc_host *host, struct soc_agent *from, const struct soc_send *send,
                    struct soc_message **out, struct soc_buf *error)
{
    assert(host->turn.is_open);
    struct passage p = {.from = from, .send = *send};
    adopt(&p.adopted, send->is_bare ? SOC_SLICE("null") : send->payload);
    int rc = check_send(host, from, send, &p.to, error);
    if (rc == SOC_OK)
        rc = validate(host, &p, error);
    if (rc == SOC_OK)
        rc = complete(host, &p, error);
    if (rc == SOC_OK)
        rc = soc_tasks_check(host, p.to, p.type, p.send.payload, given_task(&p), error);
    if (rc == SOC_OK) {
        struct soc_record record;
        *out = make_message(host, &p);
        soc_envelope_record(&record, *out);
        soc_batch_put(host, &record);
        soc_message_list_push(&host->turn.sent, *out);
        soc_agent_prefetch_contacts(p.to);
        if (p.has_warning)
            warn(host, *out, error);
        soc_tasks_open(host, *out);
    }
    soc_buf_fini(&p.payload);
    soc_buf_fini(&p.spare);
    return rc;
}

/* Tells whether a script waits in request_introduction. */
static bool wants_contact(const struct soc_request *request)
{
    const struct soc_activation *activation = request->activation;
    return activation != NULL && activation->effects_count > 0 &&
           activation->effects[activation->effects_count - 1].kind ==
               SOC_EFFECT_REQUEST_INTRODUCTION;
}

/* A reply goes to its waiter past the mailbox; one that comes too late is
 * logged and dropped. */
static void accept_reply(struct soc_host *host, struct soc_message *message)
{
    struct soc_request *request = soc_request_find(host, message->reply_to);
    if (request == NULL || request->to != message->from) {
        soc_trace_message(host, "late_reply", message);
        soc_router_finish(host, message, SOC_OUTCOME_DROPPED,
                          SOC_SLICE("{\"error\":\"late_reply\"}"));
        return;
    }
    struct soc_buf answer = {0};
    if (wants_contact(request)) {
        soc_introductions_put_answer(host, message, &answer);
    } else {
        soc_buf_put_byte(&answer, '[');
        soc_envelope_put_json(&answer, message);
        soc_buf_put_byte(&answer, ']');
    }
    soc_request_answer(host, request, soc_buf_slice(&answer));
    soc_buf_fini(&answer);
    soc_router_finish(host, message, SOC_OUTCOME_PROCESSED, (struct soc_slice){0});
}

static void deliver_when_due(struct soc_host *host, struct soc_message *message)
{
    if (message->deliver_at_ms <= soc_host_now(host)) {
        soc_router_deliver(host, message);
        return;
    }
    host->delayed++;
    message->to->delayed++;
    message->timer.kind = SOC_TIMER_MESSAGE;
    soc_heap_add(&host->timers, &message->timer, message->deliver_at_ms);
}

void soc_router_accept(struct soc_host *host, struct soc_message *message)
{
    host->totals.sent++;
    soc_trace_message(host, "message", message);
    if (soc_introductions_accept(host, message))
        return;
    soc_acquaint_by_message(host, message);
    if (!soc_tasks_accept(host, message))
        deliver_when_due(host, message);
}

void soc_router_watch(struct soc_host *host, struct soc_message *message)
{
    if (message->expires_ms == 0)
        return;
    message->timer.kind = SOC_TIMER_MESSAGE;
    soc_heap_add(&host->timers, &message->timer, message->expires_ms);
}

void soc_router_hand_over(struct soc_host *host, struct soc_message *message)
{
    struct soc_agent *to = message->to;
    if (soc_wait_offer(host, to, message))
        return;
    soc_mailbox_push(&to->mailbox, message);
    soc_router_watch(host, message);
    soc_schedule_ready(host, to);
}

void soc_router_deliver(struct soc_host *host, struct soc_message *message)
{
    struct soc_agent *to = message->to;
    if (message->flags & SOC_MESSAGE_IS_REPLY) {
        accept_reply(host, message);
        return;
    }
    if (to->is_ended) {
        soc_router_finish(host, message, SOC_OUTCOME_DEAD,
                          SOC_SLICE("{\"error\":\"agent_stopped\"}"));
        return;
    }
    if (message->expires_ms != 0 && message->expires_ms <= soc_host_now(host)) {
        soc_router_finish(host, message, SOC_OUTCOME_EXPIRED, SOC_SLICE("{\"error\":\"expired\"}"));
        return;
    }
    if (message->flags & SOC_MESSAGE_IS_INTAKE)
        soc_human_take_in(host, message);
    else if (message->type != host->type_introduction_request ||
             !soc_introductions_receive(host, message))
        soc_router_hand_over(host, message);
}

void soc_router_timer(struct soc_host *host, struct soc_message *message)
{
    struct soc_agent *to = message->to;
    if (message->is_queued) {
        soc_mailbox_remove(&to->mailbox, message);
        soc_trace_message(host, "expired", message);
        soc_router_finish(host, message, SOC_OUTCOME_EXPIRED, SOC_SLICE("{\"error\":\"expired\"}"));
    } else {
        host->delayed--;
        to->delayed--;
        soc_deadlock_note(host, to); /* who counted on it may be in a ring now */
        soc_router_deliver(host, message);
    }
    soc_ending_check(host, to);
}

void soc_router_free(struct soc_host *host, struct soc_message *message)
{
    if (message != NULL && message->script_mark != 0)
        host->hooks.forget(host->hooks.user, message);
    soc_message_free(message);
}

void soc_router_finish(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                       struct soc_slice reason)
{
    assert(!message->is_queued);
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
    bool is_kept = soc_tasks_ended(host, message, outcome, reason);
    if (outcome != SOC_OUTCOME_PROCESSED && message->flags & SOC_MESSAGE_WANTS_REPLY)
        soc_request_fail(host, message->key, "receiver_failed",
                         "the request could not be handled; see its dead letter");
    if (outcome != SOC_OUTCOME_PROCESSED)
        soc_introductions_close(host, message->key);
    if (outcome == SOC_OUTCOME_DEAD || outcome == SOC_OUTCOME_EXPIRED) {
        soc_trace_message(host, "dead_letter", message);
        message->outcome = (uint8_t)outcome;
        soc_map_put_number(&host->dead, message->key, message);
    } else if (!is_kept) {
        soc_router_free(host, message);
    }
}

void soc_router_again(struct soc_host *host, struct soc_message *message, int64_t deliver_at_ms)
{
    host->totals.outcome[message->outcome]--;
    message->outcome = SOC_OUTCOME_PENDING;
    message->attempt++;
    message->expires_ms = 0; /* whoever sends it again wants it handled */
    message->deliver_at_ms = deliver_at_ms;
    struct soc_record record = {.type = SOC_RECORD_MESSAGE_AGAIN};
    record.message_again = (struct soc_record_message_again){
        .key = message->key,
        .time_ms = (uint64_t)soc_host_now(host),
        .attempt = message->attempt,
        .deliver_at_ms = (uint64_t)deliver_at_ms,
    };
    soc_batch_put(host, &record);
    soc_tasks_reopen(host, message);
    deliver_when_due(host, message);
}

static struct soc_message *take_dead(struct soc_host *host, uint64_t key, struct soc_buf *error)
{
    struct soc_message *message = soc_map_take_number(&host->dead, key);
    if (message == NULL)
        soc_refuse(error, SOC_ENOMESSAGE, "no dead letter has that id", NULL,
                   (struct soc_slice){0});
    return message;
}

int soc_router_redeliver(struct soc_host *host, uint64_t key, struct soc_buf *error)
{
    struct soc_message *message = take_dead(host, key, error);
    if (message == NULL)
        return SOC_ENOMESSAGE;
    soc_router_again(host, message, soc_host_now(host));
    return SOC_OK;
}

int soc_router_drop(struct soc_host *host, uint64_t key, struct soc_buf *error)
{
    struct soc_message *message = take_dead(host, key, error);
    if (message == NULL)
        return SOC_ENOMESSAGE;
    host->totals.outcome[message->outcome]--;
    soc_router_finish(host, message, SOC_OUTCOME_DROPPED, SOC_SLICE("{\"error\":\"dropped\"}"));
    return SOC_OK;
}

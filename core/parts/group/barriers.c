#include "parts/group/barriers.h"

#include <assert.h>

#include "base/json.h"
#include "env/ids.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/requests.h"
#include "kernel/mail/router.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/turn.h"
#include "kernel/turns/waiting.h"
#include "parts/group/broadcasts.h"
#include "parts/group/group_state.h"
#include "parts/supervision/guard.h"

static struct soc_barrier *find(const struct soc_host *host, uint64_t key)
{
    return soc_map_find_number(&soc_group_state(host)->barriers, key);
}

size_t soc_barriers_count(const struct soc_host *host)
{
    return soc_group_state(host)->barriers.count;
}

void soc_barriers_put_id(struct soc_buf *out, int64_t time_ms, uint64_t key)
{
    char id[SOC_MESSAGE_ID_BYTES];
    soc_checkpoint_id_format(id, time_ms, key);
    soc_json_put_text_member(out, "checkpoint_id", soc_slice(id, sizeof(id)));
}

static void put_answer(struct soc_buf *out, const struct soc_barrier *barrier)
{
    char id[SOC_MESSAGE_ID_BYTES];
    soc_checkpoint_id_format(id, barrier->time_ms, barrier->key);
    out->length = 0;
    soc_buf_put_byte(out, '[');
    soc_barrier_put_json(out, barrier, soc_slice(id, sizeof(id)));
    soc_buf_put_byte(out, ']');
}

/* Opens the checkpoint of the record; lends it. Live code and recovery both use this. */
static struct soc_barrier *
add_barrier(struct soc_host *host, const struct soc_record_barrier *record, struct soc_agent *owner)
{
    struct soc_barrier *barrier =
        soc_barrier_new(record->key, (int64_t)record->time_ms, (int64_t)record->deadline_ms, owner);
    soc_map_put_number(&soc_group_state(host)->barriers, barrier->key, barrier);
    return barrier;
}

/* Puts the seat into the state of the record. Live code and recovery both use this. */
static void apply_seat(struct soc_barrier *barrier, const struct soc_record_seat *record,
                       struct soc_agent *agent)
{
    assert(record->key == barrier->key);
    struct soc_seat *seat = soc_barrier_add(barrier, agent);
    seat->question = record->question;
    seat->asked_ms = (int64_t)record->asked_ms;
    if (record->state == SOC_SEAT_ANSWERED)
        soc_barrier_answer(barrier, seat, record->payload);
    else if (record->state == SOC_SEAT_MISSING)
        soc_barrier_miss(barrier, seat);
}

/* Changes a seat, in memory and in the journal. */
static void put_seat(struct soc_host *host, struct soc_barrier *barrier, struct soc_agent *agent,
                     struct soc_record_seat seat)
{
    struct soc_record record = {.type = SOC_RECORD_SEAT, .seat = seat};
    record.seat.key = barrier->key;
    record.seat.agent = soc_agent_id(agent);
    soc_batch_put(host, &record);
    apply_seat(barrier, &record.seat, agent);
}

/* Records the start or end of a checkpoint in the activity log. */
static void trace(struct soc_host *host, const char *event, const struct soc_barrier *barrier)
{
    struct soc_buf detail = {0};
    uint32_t answered = 0;
    for (uint32_t i = 0; i < barrier->count; i++)
        answered += barrier->seats[i].state == SOC_SEAT_ANSWERED;
    soc_buf_printf(&detail, "{\"answered\":%u,\"asked\":%u", answered, barrier->count);
    soc_barriers_put_id(&detail, barrier->time_ms, barrier->key);
    soc_buf_put_byte(&detail, '}');
    soc_trace_event(host, SOC_LOG_INFO, event, barrier->owner, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

/* Appends the payload of the question: the asker's, plus the checkpoint's id. */
static void put_question(struct soc_buf *out, const struct soc_barrier *barrier,
                         struct soc_slice payload)
{
    char id[SOC_MESSAGE_ID_BYTES + 2];
    id[0] = id[sizeof(id) - 1] = '"';
    soc_checkpoint_id_format(id + 1, barrier->time_ms, barrier->key);
    soc_json_put_changed(out, payload.data == NULL ? SOC_SLICE("{}") : payload, "checkpoint_id",
                         soc_slice(id, sizeof(id)));
}

/* Gives the agent a seat and asks it, unless it already has one. An agent that
 * terminated, failed or has a full mailbox counts as missing. */
static int ask(struct soc_host *host, struct soc_barrier *barrier, struct soc_agent *agent,
               struct soc_slice payload, struct soc_buf *error)
{
    struct soc_message *message;
    assert(agent != barrier->owner);
    struct soc_send send = {
        .to = soc_agent_id(agent),
        .type = SOC_SLICE("checkpoint_request"),
        .payload = payload,
        .requires_ack = true,
        .has_requires_ack = true,
        .wants_reply = true,
        .is_formal = true,
        .is_bare = true,
    };
    struct soc_record_seat seat = {.state = SOC_SEAT_MISSING};
    if (soc_barrier_find(barrier, agent) != NULL)
        return SOC_OK;
    if (!agent->is_ended && !agent->is_ending && !(agent->hold & SOC_HOLD_FAILED) &&
        !soc_guard_meets_full(host, agent)) {
        int rc = soc_router_send(host, barrier->owner, &send, &message, error);
        if (rc < 0)
            return rc;
        seat.state = SOC_SEAT_ASKED;
        seat.question = message->key;
        seat.asked_ms = (uint64_t)message->time_ms;
    }
    put_seat(host, barrier, agent, seat);
    return SOC_OK;
}

static int refuse_self(struct soc_buf *error, const struct soc_agent *agent)
{
    soc_refusal_begin(error, SOC_EDEADLOCK, "an agent cannot wait for itself");
    soc_json_put_name(error, "cycle");
    soc_buf_put_byte(error, '[');
    soc_json_put_string(error, soc_agent_id(agent));
    soc_buf_put_byte(error, ']');
    return soc_refusal_end(error, SOC_EDEADLOCK);
}

static int ask_named(struct soc_host *host, struct soc_barrier *barrier,
                     const struct soc_checkpoint *checkpoint, struct soc_slice payload,
                     struct soc_buf *error)
{
    struct soc_agent *owner = barrier->owner;
    bool may_ask_all = soc_broadcasts_may_send(host, owner, NULL) == SOC_OK;
    int rc = SOC_OK;
    for (size_t i = 0; rc == SOC_OK && i < checkpoint->agents_count; i++) {
        struct soc_agent *agent = soc_registry_receiver(host, checkpoint->agents[i]);
        if (agent == NULL)
            return soc_refuse(error, SOC_ENOAGENT, NULL, "agentId", checkpoint->agents[i]);
        if (agent == owner)
            return refuse_self(error, owner);
        if (!may_ask_all && !agent->is_ended && !agent->is_ending)
            rc = soc_router_may_send(host, owner, agent, error);
        if (rc == SOC_OK)
            rc = ask(host, barrier, agent, payload, error);
    }
    return rc;
}

static int ask_all(struct soc_host *host, struct soc_barrier *barrier, struct soc_slice payload,
                   struct soc_buf *error)
{
    size_t cursor = 0;
    struct soc_agent *agent;
    int rc = soc_broadcasts_may_send(host, barrier->owner, error);
    while (rc == SOC_OK && (agent = soc_map_each(&host->registry.agents, &cursor)) != NULL)
        if (agent != barrier->owner && agent != host->registry.user && !agent->is_ended &&
            !agent->is_ending)
            rc = ask(host, barrier, agent, payload, error);
    return rc;
}

static void take_back(struct soc_host *host, struct soc_undo *undo)
{
    soc_barrier_free(soc_map_take_number(&soc_group_state(host)->barriers, undo->number));
}

int soc_barriers_open(struct soc_host *host, const struct soc_checkpoint *checkpoint,
                      struct soc_wait *wait, struct soc_buf *answer)
{
    struct soc_turn_mark mark = soc_turn_mark(host);
    assert(host->turn.is_open && host->turn.agent != NULL);
    struct soc_buf payload = {0};
    int64_t now_ms = soc_host_now(host);
    int64_t timeout_ms = checkpoint->timeout_ms;
    struct soc_record record = {.type = SOC_RECORD_BARRIER};
    record.barrier = (struct soc_record_barrier){
        .key = host->next_key++,
        .time_ms = (uint64_t)now_ms,
        .deadline_ms = (uint64_t)(now_ms + (timeout_ms > 0 ? timeout_ms : 1)),
        .owner = soc_agent_id(host->turn.agent),
    };
    soc_batch_put(host, &record);
    struct soc_barrier *barrier = add_barrier(host, &record.barrier, host->turn.agent);
    static const struct soc_undo_ops ops = {.roll_back = take_back};
    soc_turn_note(host, (struct soc_undo){.ops = &ops, .number = barrier->key});
    put_question(&payload, barrier, checkpoint->payload);
    int rc = checkpoint->is_for_all
                 ? ask_all(host, barrier, soc_buf_slice(&payload), answer)
                 : ask_named(host, barrier, checkpoint, soc_buf_slice(&payload), answer);
    soc_buf_fini(&payload);
    if (rc == SOC_OK && barrier->open > 0) {
        trace(host, "checkpoint", barrier);
        *wait = (struct soc_wait){
            .kind = SOC_WAIT_BARRIER,
            .request_key = barrier->key,
            .request_ms = now_ms,
            .timeout_ms = timeout_ms,
            .deadline_ms = barrier->deadline_ms,
        };
        return 1;
    }
    if (rc == SOC_OK)
        put_answer(answer, barrier);
    uint64_t key = barrier->key;
    soc_turn_rollback_to(host, mark); /* nobody was asked, or not everyone could be */
    if (rc < 0)
        host->next_key = key;
    return rc;
}

/* Ends the wait with the answers collected. */
static void finish(struct soc_host *host, struct soc_barrier *barrier)
{
    struct soc_buf answer = {0};
    struct soc_activation *activation = barrier->owner->activation;
    assert(activation != NULL && activation->wait.request_key == barrier->key);
    trace(host, "checkpoint_end", barrier);
    put_answer(&answer, barrier);
    soc_waiting_answer(host, activation, soc_buf_slice(&answer));
    soc_buf_fini(&answer);
}

/* Settles a seat whose question is closed. */
static void settle(struct soc_host *host, struct soc_barrier *barrier, const struct soc_seat *seat,
                   enum soc_seat_state state, struct soc_slice payload)
{
    if (seat->state != SOC_SEAT_ASKED)
        return;
    put_seat(host, barrier, seat->agent,
             (struct soc_record_seat){
                 .question = seat->question,
                 .asked_ms = (uint64_t)seat->asked_ms,
                 .state = state,
                 .payload = payload,
             });
    if (soc_barrier_is_over(barrier, INT64_MIN))
        finish(host, barrier);
}

static void take_reply(struct soc_host *host, struct soc_request *request,
                       const struct soc_message *message)
{
    struct soc_barrier *barrier = request->owner;
    struct soc_seat *seat = soc_barrier_find(barrier, request->to);
    struct soc_slice payload = soc_message_payload(message);
    assert(seat != NULL);
    struct soc_buf bare = {0};
    soc_request_close(host, request->key);
    if (soc_json_kind(payload) == SOC_JSON_OBJECT)
        soc_json_put_changed(&bare, payload, "checkpoint_id", (struct soc_slice){0});
    settle(host, barrier, seat, SOC_SEAT_ANSWERED,
           bare.length > 0 ? soc_buf_slice(&bare) : payload);
    soc_buf_fini(&bare);
}

static void take_failure(struct soc_host *host, struct soc_request *request)
{
    struct soc_barrier *barrier = request->owner;
    struct soc_seat *seat = soc_barrier_find(barrier, request->to);
    assert(seat != NULL);
    soc_request_close(host, request->key);
    settle(host, barrier, seat, SOC_SEAT_MISSING, (struct soc_slice){0});
}

static const struct soc_request_ops question_ops = {.replied = take_reply, .failed = take_failure};

void soc_barriers_begin(struct soc_host *host, struct soc_activation *activation)
{
    struct soc_barrier *barrier = find(host, activation->wait.request_key);
    for (uint32_t i = 0; barrier != NULL && i < barrier->count; i++) {
        struct soc_seat *seat = &barrier->seats[i];
        struct soc_request question = {
            .key = seat->question,
            .time_ms = seat->asked_ms,
            .from = barrier->owner,
            .to = seat->agent,
            .owner = barrier,
            .owner_ops = &question_ops,
        };
        if (seat->state == SOC_SEAT_ASKED)
            soc_request_open_for(host, &question);
    }
}

void soc_barriers_timeout(struct soc_host *host, struct soc_activation *activation)
{
    struct soc_barrier *barrier = find(host, activation->wait.request_key);
    assert(barrier != NULL && soc_barrier_is_over(barrier, soc_host_now(host)));
    finish(host, barrier);
}

void soc_barriers_put_members(const struct soc_host *host, uint64_t key, struct soc_buf *out)
{
    const struct soc_barrier *barrier = find(host, key);
    if (barrier != NULL)
        soc_barrier_put_members(out, barrier);
}

void soc_barriers_close(struct soc_host *host, struct soc_activation *activation)
{
    uint64_t key = activation->wait.request_key;
    struct soc_barrier *barrier = soc_map_take_number(&soc_group_state(host)->barriers, key);
    if (barrier == NULL)
        return;
    struct soc_record record = {.type = SOC_RECORD_BARRIER_END, .barrier_end = {.key = key}};
    soc_batch_put(host, &record);
    for (uint32_t i = 0; i < barrier->count; i++)
        if (barrier->seats[i].state == SOC_SEAT_ASKED)
            soc_request_close(host, barrier->seats[i].question);
    soc_barrier_free(barrier);
}

/* Lends the id, as JSON, of the checkpoint whose question `send` answers, or absent. */
static struct soc_slice answered_id(struct soc_host *host, const struct soc_send *send,
                                    char id[SOC_MESSAGE_ID_BYTES + 2])
{
    const struct soc_message *question = send->answers;
    if (question != NULL && question->type == soc_group_state(host)->checkpoint_request &&
        question->flags & SOC_MESSAGE_WANTS_REPLY)
        return soc_json_member(soc_message_payload(question), "checkpoint_id");
    const struct soc_request *request =
        send->answers_key == 0 ? NULL : soc_request_find(host, send->answers_key);
    if (request == NULL || request->owner_ops != &question_ops)
        return (struct soc_slice){0};
    id[0] = id[SOC_MESSAGE_ID_BYTES + 1] = '"';
    const struct soc_barrier *barrier = request->owner;
    soc_checkpoint_id_format(id + 1, barrier->time_ms, barrier->key);
    return soc_slice(id, SOC_MESSAGE_ID_BYTES + 2);
}

bool soc_barriers_name_reply(struct soc_host *host, struct soc_send *send, bool has_type,
                             struct soc_buf *payload)
{
    char text[SOC_MESSAGE_ID_BYTES + 2];
    struct soc_slice id = answered_id(host, send, text);
    if (id.data == NULL || soc_json_kind(send->payload) != SOC_JSON_OBJECT)
        return id.data != NULL;
    if (!has_type)
        send->type = SOC_SLICE("checkpoint_response");
    if (soc_json_member(send->payload, "checkpoint_id").data == NULL) {
        soc_json_put_changed(payload, send->payload, "checkpoint_id", id);
        send->payload = soc_buf_slice(payload);
    }
    return true;
}

/* Lends the open checkpoint named by a payload, or NULL; `*is_named`: it names one. */
static struct soc_barrier *find_named(const struct soc_host *host, struct soc_slice payload,
                                      bool *is_named)
{
    uint64_t key;
    struct soc_slice id = soc_json_kind(payload) != SOC_JSON_OBJECT
                              ? (struct soc_slice){0}
                              : soc_json_plain_string(soc_json_member(payload, "checkpoint_id"));
    *is_named = id.data != NULL && soc_checkpoint_id_parse(id, &key);
    struct soc_barrier *barrier = *is_named ? find(host, key) : NULL;
    return barrier != NULL && soc_checkpoint_id_is(id, barrier->time_ms, key) ? barrier : NULL;
}

struct soc_agent *soc_barriers_asker(const struct soc_host *host, struct soc_slice payload)
{
    bool is_named;
    const struct soc_barrier *barrier = find_named(host, payload, &is_named);
    return barrier == NULL ? NULL : barrier->owner;
}

void soc_barriers_join(struct soc_host *host, const struct soc_agent *from,
                       const struct soc_agent *to, struct soc_send *send)
{
    bool is_named;
    const struct soc_barrier *barrier = find_named(host, send->payload, &is_named);
    if (from == NULL || !is_named)
        return;
    const struct soc_seat *seat =
        barrier == NULL || barrier->owner != to ? NULL : soc_barrier_find(barrier, from);
    if (seat != NULL && seat->state == SOC_SEAT_ASKED) {
        send->answers_key = seat->question;
        send->answers_ms = seat->asked_ms;
    }
    send->is_formal = true;
}

bool soc_barriers_is_late(const struct soc_host *host, const struct soc_message *message)
{
    return message->type == soc_group_state(host)->checkpoint_response &&
           message->flags & SOC_MESSAGE_IS_FORMAL && message->reply_to == 0;
}

void soc_barriers_drop_late(struct soc_host *host, struct soc_message *message)
{
    struct soc_buf detail = {0};
    struct soc_slice payload = soc_message_payload(message);
    struct soc_slice id = (struct soc_slice){0};
    if (soc_json_kind(payload) == SOC_JSON_OBJECT)
        id = soc_json_plain_string(soc_json_member(payload, "checkpoint_id"));
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "checkpoint_id", id);
    soc_json_put_text_member(&detail, "to", soc_agent_id(message->to));
    soc_buf_put_byte(&detail, '}');
    soc_trace_event(host, SOC_LOG_WARN, "late_checkpoint", message->from, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
    soc_router_finish(host, message, SOC_OUTCOME_DROPPED,
                      SOC_SLICE("{\"error\":\"late_checkpoint\"}"));
}

const struct soc_seat *soc_barriers_open_seat(const struct soc_host *host, uint64_t key,
                                              size_t index)
{
    struct soc_barrier *barrier = find(host, key);
    return barrier == NULL ? NULL : soc_barrier_open_seat(barrier, (uint32_t)index);
}

void soc_barriers_restore(struct soc_host *host, const struct soc_record_barrier *record,
                          struct soc_agent *owner)
{
    add_barrier(host, record, owner);
}

void soc_barriers_restore_seat(struct soc_host *host, const struct soc_record_seat *record,
                               struct soc_agent *agent)
{
    struct soc_barrier *barrier = find(host, record->key);
    if (barrier != NULL)
        apply_seat(barrier, record, agent);
}

void soc_barriers_forget(struct soc_host *host, uint64_t key)
{
    soc_barrier_free(soc_map_take_number(&soc_group_state(host)->barriers, key));
}

void soc_barriers_free(struct soc_host *host)
{
    size_t cursor = 0;
    struct soc_barrier *barrier;
    while ((barrier = soc_map_each(&soc_group_state(host)->barriers, &cursor)) != NULL)
        soc_barrier_free(barrier);
    soc_map_fini(&soc_group_state(host)->barriers);
}

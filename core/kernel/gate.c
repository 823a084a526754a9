#include "kernel/gate.h"

#include <assert.h>

#include "base/json.h"
#include "base/limits.h"
#include "env/ids.h"
#include "kernel/mail/asked.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/mail.h"
#include "kernel/mail/requests.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/commit.h"
#include "kernel/turns/deadlock.h"
#include "kernel/turns/egress.h"
#include "kernel/turns/turn.h"

struct soc_activation *soc_gate_activation(struct soc_host *host)
{
    return host->turn.is_open ? host->turn.activation : NULL;
}

void soc_gate_put_place(struct soc_host *host, struct soc_buf *error)
{
    const struct soc_activation *activation = soc_gate_activation(host);
    char id[SOC_MESSAGE_ID_BYTES];
    assert(activation != NULL);
    soc_json_put_text_member(error, "agent", soc_agent_id(activation->agent));
    if (activation->message == NULL) /* main */
        return;
    soc_envelope_id(id, activation->message);
    soc_json_put_text_member(error, "message_id", soc_slice(id, sizeof(id)));
}

/* Only a hash of the recorded arguments is available, unless history is kept. */
static int refuse_mismatch(struct soc_host *host, struct soc_buf *error, uint32_t index,
                           enum soc_effect_kind kind, bool is_other)
{
    const struct soc_activation *activation = soc_gate_activation(host);
    enum soc_effect_kind was = activation->effects[index].kind;
    struct soc_buf text = {0};
    soc_buf_printf(&text, "effect %u of the script was %s, ", index + 1, soc_effect_name(was));
    if (was != kind)
        soc_buf_printf(&text, "and now it is %s", soc_effect_name(kind));
    else
        soc_buf_put_text(&text, is_other ? "and now its arguments differ"
                                         : "and now it begins again while it is still waiting");
    soc_refusal_begin(error, SOC_ENONDET, soc_buf_text(&text));
    soc_buf_fini(&text);
    soc_json_put_name(error, "index");
    soc_json_put_integer(error, index);
    soc_json_put_text_member(error, "recorded", soc_slice_text(soc_effect_name(was)));
    soc_json_put_text_member(error, "now", soc_slice_text(soc_effect_name(kind)));
    soc_gate_put_place(host, error);
    soc_refusal_put_shown(error, "recorded_arguments", soc_activation_noted(activation, index));
    return soc_refusal_end(error, SOC_ENONDET);
}

/* Refuses an effect that cannot be recorded now as the one at `index`. */
static int check_begin(const struct soc_host *host, const struct soc_activation *activation,
                       uint32_t index, struct soc_buf *error)
{
    /* A metamethod of an argument, or a handler that runs while the turn ends, may try.
     * The record could not tell the answers apart. */
    if (activation->wait.kind != SOC_WAIT_NONE ||
        (index > 0 && !soc_activation_is_answered(activation, index - 1)))
        return soc_refuse(error, SOC_EREFUSED, "an effect cannot begin inside another one", NULL,
                          (struct soc_slice){0});
    if (index >= host->options.effects_max)
        return soc_refuse(error, SOC_ETOOLONG, NULL, NULL, (struct soc_slice){0});
    return SOC_OK;
}

/* Asks the parts whether one of them answers the effect. */
static int ask_parts(struct soc_host *host, struct soc_activation *activation,
                     enum soc_effect_kind kind, struct soc_effect_hash hash,
                     struct soc_slice *answer, struct soc_buf *error)
{
    int rc = SOC_PART_EFFECT_LIVE;
    if (!host->parts.watches_effects)
        return rc;
    for (size_t i = 0; rc == SOC_PART_EFFECT_LIVE && host->parts.calls.begin_effect[i] != NULL; i++)
        rc = host->parts.calls.begin_effect[i](host, activation, kind, hash, answer, error);
    return rc;
}

static int add_effect(struct soc_host *host, struct soc_activation *activation,
                      enum soc_effect_kind kind, uint64_t hash)
{
    uint32_t index = soc_activation_add(activation, kind, hash);
    activation->cursor = index + 1;
    if (host->parts.watches_effects)
        for (size_t i = 0; host->parts.calls.arguments[i] != NULL; i++)
            soc_activation_note(activation, index, host->parts.calls.arguments[i](host));
    return SOC_GATE_LIVE;
}

int soc_gate_begin_timed(struct soc_host *host, enum soc_effect_kind kind,
                         struct soc_effect_hash hash, struct soc_slice *answer,
                         struct soc_buf *error)
{
    struct soc_activation *activation = soc_gate_activation(host);
    assert(activation != NULL && !soc_effect_is_aside(kind));
    uint32_t index = soc_activation_next(activation);
    int rc = check_begin(host, activation, index, error);
    if (rc < 0)
        return rc;
    hash.now &= INT64_MAX; /* stored as an SQL integer */
    hash.older &= INT64_MAX;
    rc = ask_parts(host, activation, kind, hash, answer, error);
    if (rc != SOC_PART_EFFECT_LIVE)
        return rc;
    if (index >= activation->effects_count)
        return add_effect(host, activation, kind, hash.now);
    activation->cursor = index + 1;
    const struct soc_effect *effect = &activation->effects[index];
    if (!soc_effect_fits(effect, kind, hash))
        return refuse_mismatch(host, error, index, kind, true);
    *answer = soc_activation_answer_of(activation, index);
    if (answer->data == NULL) /* still waiting: the script has changed */
        return refuse_mismatch(host, error, index, kind, false);
    return SOC_GATE_RECORDED;
}

int soc_gate_begin(struct soc_host *host, enum soc_effect_kind kind, uint64_t hash,
                   struct soc_slice *answer, struct soc_buf *error)
{
    return soc_gate_begin_timed(host, kind, (struct soc_effect_hash){hash, hash}, answer, error);
}

int soc_gate_begin_aside(struct soc_host *host, enum soc_effect_kind kind, uint64_t hash,
                         struct soc_slice *answer, struct soc_buf *error)
{
    struct soc_activation *activation = soc_gate_activation(host);
    assert(activation != NULL);
    int rc = check_begin(host, activation, activation->cursor, error);
    if (rc < 0)
        return rc;
    hash &= INT64_MAX;
    *answer = (struct soc_slice){0};
    rc = ask_parts(host, activation, kind, (struct soc_effect_hash){hash, hash}, answer, error);
    if (rc != SOC_PART_EFFECT_LIVE)
        return rc;
    if (soc_activation_pass_aside(activation, kind, hash, answer) == SOC_ASIDE_NEW)
        return add_effect(host, activation, kind, hash);
    return SOC_GATE_RECORDED;
}

void soc_gate_answer(struct soc_host *host, struct soc_slice answer)
{
    struct soc_activation *activation = soc_gate_activation(host);
    assert(activation != NULL && activation->effects_count > 0);
    soc_activation_answer(activation, activation->effects_count - 1, answer);
}

void soc_gate_answer_sent(struct soc_host *host, const struct soc_message *message)
{
    struct soc_activation *activation = soc_gate_activation(host);
    assert(activation != NULL && activation->effects_count > 0);
    soc_activation_answer_sent(activation, activation->effects_count - 1, message->key,
                               message->time_ms);
}

void soc_gate_wait(struct soc_host *host, const struct soc_wait *wait)
{
    struct soc_activation *activation = soc_gate_activation(host);
    assert(activation->wait.kind == SOC_WAIT_NONE && wait->kind != SOC_WAIT_NONE);
    activation->wait = *wait;
    activation->wait.span = activation->span;
}

bool soc_gate_inject_failure(struct soc_host *host)
{
    const struct soc_injector *injector = host->options.injector;
    struct soc_activation *activation = soc_gate_activation(host);
    activation->is_injected = injector != NULL && activation->message != NULL &&
                              activation->retries == 0 &&
                              injector->raises(injector->user, host, activation);
    return activation->is_injected;
}

const char *soc_gate_inject_model_fault(struct soc_host *host)
{
    const struct soc_injector *injector = host->options.injector;
    return injector == NULL ? NULL : injector->model_fault(injector->user, host);
}

void soc_gate_set_state(struct soc_host *host, struct soc_slice json)
{
    struct soc_agent *agent = host->turn.agent;
    assert(soc_gate_activation(host) != NULL);
    if (agent->state == NULL && soc_slice_equal(json, SOC_SLICE("{}")))
        return; /* read, not written */
    if (soc_slice_equal(json, soc_slice(agent->state, agent->state_length)))
        return;
    struct soc_record record = {
        .type = SOC_RECORD_STATE,
        .state = {.agent = soc_agent_id(agent), .state = json},
    };
    soc_batch_put(host, &record);
    if (host->parts.watches_effects)
        SOC_PARTS_TELL(host, state_changed, host, agent);
    soc_agent_set_state(agent, json);
    host->turn.activation->has_progress = true;
}

static void put_back(struct soc_host *host, struct soc_undo *undo)
{
    struct soc_message *message = undo->data;
    soc_message_list_remove(&host->turn.activation->taken, message);
    soc_mail_queue(host, message, true);
}

struct soc_message *soc_gate_take(struct soc_host *host, struct soc_mail_filter filter)
{
    struct soc_agent *agent = host->turn.agent;
    assert(soc_gate_activation(host) != NULL);
    soc_host_look_for_news(host, agent);
    struct soc_message *message = soc_mailbox_find(&agent->mailbox, filter);
    if (message == NULL)
        return NULL;
    soc_mailbox_remove(&agent->mailbox, message);
    soc_heap_remove(&host->timers, &message->timer);
    soc_message_list_push(&host->turn.activation->taken, message);
    static const struct soc_undo_ops ops = {.roll_back = put_back, .is_talk = true};
    soc_turn_note(host, (struct soc_undo){.ops = &ops, .agent = agent, .data = message});
    struct soc_record record = {
        .type = SOC_RECORD_TAKE,
        .take = {.key = message->key, .agent = soc_agent_id(agent)},
    };
    soc_batch_put(host, &record);
    SOC_PARTS_TELL(host, taken, host, message);
    return message;
}

bool soc_gate_is_coming(struct soc_host *host, struct soc_mail_filter filter)
{
    return soc_deadlock_is_coming(host, host->turn.agent, filter);
}

const struct soc_message *soc_gate_find_key(struct soc_host *host, uint64_t key)
{
    const struct soc_activation *activation = soc_gate_activation(host);
    if (activation->message != NULL && activation->message->key == key)
        return activation->message;
    const struct soc_message *message = activation->taken.first;
    while (message != NULL && message->key != key)
        message = message->next;
    return message;
}

/* Messages that a request caused carry its correlation id, and its id if it has none. Only
 * what asks can be meant by it: the report that a request led to is not that request. */
static bool asks_under(const struct soc_message *message, struct soc_slice text)
{
    struct soc_slice own = soc_message_text(message, SOC_TEXT_CORRELATION_ID);
    return message->flags & SOC_MESSAGE_WANTS_REPLY && own.data != NULL &&
           soc_slice_equal(own, text);
}

/* Lends the message of that id that this activation holds, or NULL. */
static const struct soc_message *find_id(struct soc_host *host, struct soc_slice id)
{
    const struct soc_activation *activation = soc_gate_activation(host);
    if (activation->message != NULL && soc_envelope_is_id(id, activation->message))
        return activation->message;
    const struct soc_message *message = activation->taken.first;
    while (message != NULL && !soc_envelope_is_id(id, message))
        message = message->next;
    return message;
}

const struct soc_message *soc_gate_find_id(struct soc_host *host, struct soc_slice id)
{
    uint64_t key;
    return soc_message_id_parse(id, &key) ? find_id(host, id) : NULL;
}

/* Lends the message of that id, else the request with that correlation id, that this
 * activation holds, or NULL. */
static const struct soc_message *find_message(struct soc_host *host, struct soc_slice id)
{
    const struct soc_activation *activation = soc_gate_activation(host);
    const struct soc_message *message = soc_gate_find_id(host, id);
    if (message != NULL)
        return message;
    if (activation->message != NULL && asks_under(activation->message, id))
        return activation->message;
    message = activation->taken.first;
    while (message != NULL && !asks_under(message, id))
        message = message->next;
    return message;
}

/* Lends the next open request with the same correlation id, if the message the id refers
 * to first is answered already; NULL: none. */
static struct soc_request *find_next_open(struct soc_host *host, const struct soc_message *message,
                                          struct soc_slice id)
{
    if (message == NULL || !(message->flags & SOC_MESSAGE_WANTS_REPLY) ||
        soc_envelope_is_id(id, message) || !soc_request_is_answered(host, message->key))
        return NULL;
    struct soc_request *request = soc_request_find_text(host, host->turn.agent, id);
    return request == NULL || soc_request_is_answered(host, request->key) ? NULL : request;
}

int soc_gate_address_reply(struct soc_host *host, struct soc_slice id, struct soc_send *send,
                           struct soc_buf *error)
{
    struct soc_request *request = NULL;
    const struct soc_message *message = NULL;
    /* Messages that follow from a request carry its id as their correlation id, so the id
     * refers to the request itself first. */
    if (soc_gate_find_id(host, id) == NULL)
        request = soc_request_find_id(host, id);
    if (request == NULL || request->to != host->turn.agent)
        message = find_message(host, id);
    struct soc_request *next = find_next_open(host, message, id);
    if (next != NULL) {
        request = next;
        message = NULL;
    }
    if (message != NULL) {
        if (message->from == NULL)
            return soc_refuse(error, SOC_EREFUSED, "messages from the host cannot be replied to",
                              NULL, (struct soc_slice){0});
        send->answers = message;
        send->to = soc_agent_id(message->from);
        return SOC_OK;
    }
    if (request == NULL || request->to != host->turn.agent)
        request = soc_request_find_text(host, host->turn.agent, id);
    struct soc_asked asked;
    if (request == NULL && soc_asked_find(host, host->turn.agent, id, &asked)) {
        soc_asked_address(&asked, send);
        return SOC_OK;
    }
    if (request == NULL)
        return soc_refuse(error, SOC_ENOMESSAGE,
                          "this agent has no such message and no such open request; to write to "
                          "somebody who no longer waits, use send_message",
                          "id", id);
    send->answers_key = request->key;
    send->answers_ms = request->time_ms;
    send->to = soc_agent_id(request->from);
    return SOC_OK;
}

const struct soc_symbol *soc_gate_type(struct soc_host *host, struct soc_slice type)
{
    return soc_intern(&host->types.table, type);
}

void soc_gate_print(struct soc_host *host, struct soc_slice text)
{
    soc_egress_print(host, SOC_SLICE("stdout"), soc_agent_id(host->turn.agent), text);
    host->turn.activation->has_progress = true;
}

void soc_gate_progress(struct soc_host *host)
{
    host->turn.activation->has_progress = true;
}

void soc_gate_log(struct soc_host *host, enum soc_log_level level, struct soc_slice text,
                  struct soc_slice fields)
{
    struct soc_buf detail = {0};
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "text", text);
    if (fields.data != NULL) {
        soc_json_put_name(&detail, "fields");
        soc_buf_put_slice(&detail, fields);
    }
    soc_buf_put_byte(&detail, '}');
    soc_trace_event(host, level, "log", host->turn.agent, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

void soc_gate_milestone(struct soc_host *host, struct soc_slice text)
{
    struct soc_buf detail = {0};
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "text", text);
    soc_buf_put_byte(&detail, '}');
    soc_trace_event(host, SOC_LOG_INFO, "milestone", host->turn.agent, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

void soc_gate_set_effects_max(struct soc_host *host, uint32_t effects_max)
{
    host->options.effects_max = effects_max;
}

uint32_t soc_gate_effects_max(const struct soc_host *host)
{
    return host->options.effects_max;
}

uint64_t soc_gate_random(struct soc_host *host)
{
    return soc_rng_next(&host->rng);
}

void soc_gate_when_durable(struct soc_host *host, void (*call)(void *user), void *user)
{
    soc_egress_call(host, call, user);
}

void soc_gate_begin_as(struct soc_host *host, struct soc_agent *from)
{
    soc_turn_begin(host, from, NULL);
}

void soc_gate_end_as(struct soc_host *host, bool is_kept)
{
    if (is_kept)
        soc_commit_turn(host);
    else
        soc_turn_rollback(host);
}

void soc_gate_put_receipt(struct soc_host *host, const struct soc_message *message,
                          struct soc_buf *out)
{
    for (size_t i = 0; host->parts.calls.put_receipt[i] != NULL; i++)
        if (host->parts.calls.put_receipt[i](host, message, out))
            return;
    soc_envelope_put_receipt(out, message->key, message->time_ms);
}

int soc_gate_refuse_duplicate(struct soc_buf *receipt)
{
    struct soc_json_walk walk;
    struct soc_buf id = {0};
    soc_json_walk(&walk, soc_buf_slice(receipt));
    soc_json_next(&walk);
    soc_json_string(soc_json_member(walk.value, "messageId"), &id);
    soc_refuse_named(receipt, "duplicate", "already sent under the same key");
    receipt->length--;
    soc_json_put_text_member(receipt, "messageId", soc_buf_slice(&id));
    soc_buf_put_byte(receipt, '}');
    soc_buf_fini(&id);
    return SOC_EEXISTS;
}

/* Ends the turn of a send that made no message. A duplicate (`rc` > 0) leaves its event. */
static void end_refused(struct soc_host *host, int rc)
{
    if (rc > 0)
        soc_commit_turn(host);
    else
        soc_turn_rollback(host);
}

int soc_gate_send_as(struct soc_host *host, struct soc_agent *from, const struct soc_send *send,
                     struct soc_buf *answer)
{
    struct soc_message *message;
    soc_turn_begin(host, from, NULL);
    int rc = soc_router_send(host, from, send, &message, answer);
    if (rc != SOC_OK) { /* refused, or a duplicate with its receipt in `answer` */
        end_refused(host, rc);
        return rc < 0 ? rc : SOC_OK;
    }
    answer->length = 0;
    soc_gate_put_receipt(host, message, answer);
    soc_commit_turn(host);
    return SOC_OK;
}

int soc_gate_request_as(struct soc_host *host, struct soc_agent *from, struct soc_send *send,
                        int64_t timeout_ms, void (*cb)(void *user, struct soc_slice answer),
                        void *user, struct soc_buf *error)
{
    struct soc_message *message;
    send->wants_reply = true;
    soc_turn_begin(host, from, NULL);
    int rc = soc_router_send(host, from, send, &message, error);
    if (rc != SOC_OK) {
        end_refused(host, rc);
        return rc < 0 ? rc : soc_gate_refuse_duplicate(error);
    }
    soc_request_open_door(host, message, soc_registry_reply_timeout(message->to, timeout_ms), cb,
                          user);
    soc_commit_turn(host);
    return SOC_OK;
}

#include "kernel/wait.h"

#include <assert.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/agents.h"
#include "kernel/deadlock.h"
#include "kernel/envelope.h"
#include "kernel/refusal.h"
#include "kernel/schedule.h"
#include "kernel/state.h"
#include "kernel/status.h"
#include "kernel/trace.h"
#include "kernel/transit.h"
#include "kernel/turn.h"
#include "parts/contacts/introductions.h"
#include "parts/group/barriers.h"
#include "parts/human/human.h"
#include "parts/models/calls.h"
#include "parts/tasks/tasks.h"

#define INTERRUPTED                                                                                \
    "{\"error\":\"interrupted\",\"message\":\"a message came while the answer was waited for\"}"

static const char *const wait_names[] = {"none",  "reply", "receive",    "sleep", "look",
                                         "human", "task",  "checkpoint", "call"};

void soc_wait_begin(struct soc_host *host, struct soc_activation *activation)
{
    const struct soc_wait *wait = &activation->wait;
    activation->state = SOC_ACTIVATION_WAITING;
    host->waiting++;
    if (wait->kind == SOC_WAIT_RECEIVE && wait->on != NULL)
        wait->on->awaited++;
    if (wait->kind == SOC_WAIT_REPLY)
        soc_request_open(host, activation);
    if (wait->kind == SOC_WAIT_BARRIER)
        soc_barriers_begin(host, activation);
    if (wait->kind == SOC_WAIT_CALL)
        soc_calls_open(host, activation);
    if (activation->effects[activation->effects_count - 1].kind == SOC_EFFECT_HTTP)
        activation->has_progress = true; /* the world beyond hears of it; talk to a model is talk */
    if (wait->deadline_ms != 0) {
        activation->timer.kind = SOC_TIMER_ACTIVATION;
        soc_heap_add(&host->timers, &activation->timer, wait->deadline_ms);
    }
}

void soc_wait_cancel(struct soc_host *host, struct soc_activation *activation)
{
    soc_heap_remove(&host->timers, &activation->timer);
    if (activation->state == SOC_ACTIVATION_READY)
        return;
    soc_status_tell_end(host, activation);
    host->waiting--;
    activation->state = SOC_ACTIVATION_READY;
    if (activation->wait.kind == SOC_WAIT_RECEIVE && activation->wait.on != NULL)
        activation->wait.on->awaited--;
    if (activation->wait.kind == SOC_WAIT_REPLY)
        soc_request_close(host, activation->wait.request_key);
    if (activation->wait.kind == SOC_WAIT_BARRIER)
        soc_barriers_close(host, activation->wait.request_key);
    if (activation->wait.kind == SOC_WAIT_CALL)
        soc_calls_close(host, activation);
    activation->wait = (struct soc_wait){0};
}

void soc_wait_answer(struct soc_host *host, struct soc_activation *activation,
                     struct soc_slice answer)
{
    assert(activation->state == SOC_ACTIVATION_WAITING && activation->effects_count > 0);
    soc_wait_cancel(host, activation);
    uint32_t index = activation->effects_count - 1;
    struct soc_record record = {.type = SOC_RECORD_ANSWER};
    record.answer = (struct soc_record_answer){
        .index = index,
        .agent = soc_agent_id(activation->agent),
        .answer = answer,
    };
    soc_batch_put(host, &record);
    soc_activation_answer(activation, index, answer);
    soc_activation_keep(activation);
    soc_schedule_ready(host, activation->agent);
}

bool soc_wait_offer(struct soc_host *host, struct soc_agent *agent, struct soc_message *message)
{
    struct soc_activation *activation = agent->activation;
    if (activation == NULL || activation->state != SOC_ACTIVATION_WAITING)
        return false;
    if (activation->wait.is_interruptible) {
        soc_wait_answer(host, activation, SOC_SLICE(INTERRUPTED));
        return false;
    }
    if (activation->wait.kind != SOC_WAIT_RECEIVE)
        return false;
    struct soc_mail_filter filter = {activation->wait.on, activation->wait.type};
    if (!soc_mail_fits(message, filter))
        return false;
    struct soc_record record = {
        .type = SOC_RECORD_TAKE,
        .take = {.key = message->key, .agent = soc_agent_id(agent)},
    };
    soc_batch_put(host, &record);
    soc_message_list_push(&activation->taken, message);
    soc_tasks_begin(host, message);
    struct soc_buf answer = {0};
    soc_buf_put_byte(&answer, '[');
    soc_envelope_put_script_json(&answer, message);
    soc_buf_put_byte(&answer, ']');
    soc_wait_answer(host, activation, soc_buf_slice(&answer));
    soc_buf_fini(&answer);
    return true;
}

/* Lends the activation of `agent` if it waits to receive from one agent, or NULL. */
static struct soc_activation *receiver_from_one(const struct soc_agent *agent)
{
    struct soc_activation *activation = agent->activation;
    bool is_such = activation != NULL && activation->state == SOC_ACTIVATION_WAITING &&
                   activation->wait.kind == SOC_WAIT_RECEIVE && activation->wait.on != NULL;
    return is_such ? activation : NULL;
}

void soc_wait_check(struct soc_host *host, struct soc_agent *agent)
{
    struct soc_activation *activation = receiver_from_one(agent);
    if (activation == NULL)
        return;
    const struct soc_wait *wait = &activation->wait;
    bool is_ended = wait->on->is_ended;
    if (!is_ended && !(wait->on->hold & SOC_HOLD_FAILED))
        return;
    if (soc_transit_brings(host, agent, (struct soc_mail_filter){wait->on, wait->type}))
        return;
    struct soc_buf error = {0};
    soc_refuse(&error, is_ended ? SOC_ESTOPPED : SOC_ERECEIVER,
               is_ended ? NULL : "the agent has failed and sends nothing until it is resumed",
               "agentId", soc_agent_id(wait->on));
    soc_wait_answer(host, activation, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

void soc_wait_note_end(struct soc_host *host, const struct soc_agent *agent)
{
    size_t cursor = 0;
    struct soc_agent *other;
    while (agent->awaited > 0 && (other = soc_map_each(&host->agents, &cursor)) != NULL) {
        const struct soc_activation *activation = receiver_from_one(other);
        if (activation != NULL && activation->wait.on == agent)
            soc_deadlock_note(host, other);
    }
}

static void answer_timeout(struct soc_host *host, struct soc_activation *activation)
{
    const struct soc_wait *wait = &activation->wait;
    struct soc_buf error = {0};
    soc_refusal_begin(&error, SOC_ETIMEOUT, NULL);
    if (wait->kind == SOC_WAIT_HUMAN)
        soc_human_put_id(&error, "item_id", wait->request_ms, wait->request_key);
    else if (wait->on != NULL)
        soc_json_put_text_member(&error, "to", soc_agent_id(wait->on));
    soc_json_put_name(&error, "timeout_ms");
    soc_json_put_integer(&error, wait->timeout_ms);
    soc_refusal_end(&error, SOC_ETIMEOUT);
    soc_trace(host, "timeout", activation->agent, "%s after %lld ms", wait_names[wait->kind],
              (long long)wait->timeout_ms);
    soc_wait_answer(host, activation, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

void soc_wait_timer(struct soc_host *host, struct soc_activation *activation)
{
    activation->has_progress = true; /* time has passed */
    if (activation->state == SOC_ACTIVATION_BACKOFF) {
        host->waiting--;
        activation->state = SOC_ACTIVATION_READY;
        soc_schedule_ready(host, activation->agent);
    } else if (activation->wait.kind == SOC_WAIT_SLEEP) {
        soc_wait_answer(host, activation, SOC_SLICE("[]"));
    } else if (activation->wait.kind == SOC_WAIT_BARRIER) {
        soc_barriers_timeout(host, activation);
    } else {
        answer_timeout(host, activation);
    }
}

struct soc_agent *soc_wait_target(const struct soc_host *host, const struct soc_agent *agent,
                                  size_t index)
{
    const struct soc_activation *activation = agent->activation;
    if (activation == NULL || activation->state != SOC_ACTIVATION_WAITING)
        return NULL;
    const struct soc_wait *wait = &activation->wait;
    if (wait->kind == SOC_WAIT_BARRIER) {
        const struct soc_seat *seat = soc_barriers_open_seat(host, wait->request_key, index);
        return seat == NULL ? NULL : seat->agent;
    }
    if (index > 0)
        return NULL;
    if (wait->kind == SOC_WAIT_REPLY)
        return soc_introductions_target(host, wait->request_key, wait->on);
    return wait->on;
}

struct soc_slice soc_wait_chain(const struct soc_host *host,
                                const struct soc_activation *activation,
                                char id[SOC_MESSAGE_ID_BYTES])
{
    const struct soc_wait *wait = &activation->wait;
    const struct soc_request *request =
        wait->kind == SOC_WAIT_REPLY ? soc_request_find(host, wait->request_key) : NULL;
    if (request != NULL && request->correlation_id != NULL)
        return soc_slice_text(request->correlation_id);
    if (activation->message != NULL)
        return soc_envelope_chain(activation->message, id);
    if (request == NULL)
        return (struct soc_slice){0};
    return soc_request_chain(host, wait->request_key, id);
}

const char *soc_wait_name(const struct soc_activation *activation)
{
    return activation->state == SOC_ACTIVATION_BACKOFF ? "retry"
                                                       : wait_names[activation->wait.kind];
}

void soc_wait_put_json(struct soc_buf *out, const struct soc_wait *wait)
{
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "for", soc_slice_text(wait_names[wait->kind]));
    if (wait->on != NULL)
        soc_json_put_text_member(out, "from", soc_agent_id(wait->on));
    soc_json_put_text_member(out, "type", soc_symbol_slice(wait->type));
    soc_json_put_text_member(out, "correlation_id", soc_slice_text(wait->correlation_id));
    soc_json_put_name(out, "request");
    soc_json_put_integer(out, (int64_t)wait->request_key);
    soc_json_put_name(out, "request_ms");
    soc_json_put_integer(out, wait->request_ms);
    soc_json_put_name(out, "deadline_ms");
    soc_json_put_integer(out, wait->deadline_ms);
    soc_json_put_name(out, "timeout_ms");
    soc_json_put_integer(out, wait->timeout_ms);
    soc_json_put_name(out, "since_ms");
    soc_json_put_integer(out, wait->since_ms);
    soc_json_put_name(out, "number");
    soc_json_put_integer(out, (int64_t)wait->number);
    if (wait->call != NULL) {
        soc_json_put_name(out, "is_interruptible");
        soc_buf_put_text(out, wait->is_interruptible ? "true" : "false");
        soc_json_put_name(out, "call");
        soc_buf_put_text(out, wait->call);
    }
    soc_buf_put_byte(out, '}');
}

/* Reads one member; `*known` counts those that must be there. */
static void read_member(struct soc_host *host, const struct soc_json_walk *member,
                        struct soc_wait *wait, int *known)
{
    struct soc_slice name = member->name;
    struct soc_slice text = soc_json_plain_string(member->value);
    int64_t number = 0;
    bool is_number = soc_json_integer(member->value, &number);
    if (soc_slice_equal(name, SOC_SLICE("for"))) {
        for (int i = SOC_WAIT_REPLY; i <= SOC_WAIT_CALL; i++)
            if (soc_slice_equal(text, soc_slice_text(wait_names[i])))
                wait->kind = (enum soc_wait_kind)i;
    } else if (soc_slice_equal(name, SOC_SLICE("from"))) {
        wait->on = soc_agents_need(host, text);
    } else if (soc_slice_equal(name, SOC_SLICE("type"))) {
        wait->type = soc_intern(&host->types, text);
    } else if (soc_slice_equal(name, SOC_SLICE("correlation_id"))) {
        struct soc_buf correlation = {0};
        soc_json_string(member->value, &correlation);
        soc_buf_text(&correlation);
        wait->correlation_id = correlation.data;
    } else if (soc_slice_equal(name, SOC_SLICE("call"))) {
        wait->call = soc_copy_text(member->value.data, member->value.length);
    } else if (soc_slice_equal(name, SOC_SLICE("is_interruptible"))) {
        wait->is_interruptible = soc_slice_equal(member->value, SOC_SLICE("true"));
    } else if (soc_slice_equal(name, SOC_SLICE("since_ms"))) {
        wait->since_ms = number;
    } else if (soc_slice_equal(name, SOC_SLICE("number"))) {
        wait->number = (uint64_t)number;
    } else if (soc_slice_equal(name, SOC_SLICE("request"))) {
        wait->request_key = (uint64_t)number;
        *known += is_number;
    } else if (soc_slice_equal(name, SOC_SLICE("request_ms"))) {
        wait->request_ms = number;
        *known += is_number;
    } else if (soc_slice_equal(name, SOC_SLICE("deadline_ms"))) {
        wait->deadline_ms = number;
        *known += is_number;
    } else if (soc_slice_equal(name, SOC_SLICE("timeout_ms"))) {
        wait->timeout_ms = number;
        *known += is_number;
    }
}

bool soc_wait_parse(struct soc_host *host, struct soc_slice json, struct soc_wait *wait)
{
    struct soc_json_walk walk;
    int known = 0;
    *wait = (struct soc_wait){0};
    soc_json_walk(&walk, json);
    while (soc_json_next(&walk))
        read_member(host, &walk, wait, &known);
    if (wait->number >= host->next_wait)
        host->next_wait = wait->number + 1;
    return known == 4 && wait->kind != SOC_WAIT_NONE &&
           (wait->kind == SOC_WAIT_CALL) == (wait->call != NULL);
}

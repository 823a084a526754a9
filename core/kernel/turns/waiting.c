#include "kernel/turns/waiting.h"

#include <assert.h>

#include "base/json.h"
#include "base/limits.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/transit.h"
#include "kernel/refusal.h"
#include "kernel/state.h"
#include "kernel/status.h"
#include "kernel/trace.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/ready.h"
#include "kernel/turns/wait.h"

#define INTERRUPTED "{\"error\":\"interrupted\",\"message\":\"a message arrived during the wait\"}"

void soc_waiting_begin(struct soc_host *host, struct soc_activation *activation)
{
    const struct soc_wait *wait = &activation->wait;
    const struct soc_wait_ops *ops = soc_wait_ops_of(host, activation);
    assert(wait->kind != SOC_WAIT_NONE && activation->effects_count > 0);
    assert(activation->state == SOC_ACTIVATION_READY);
    activation->state = SOC_ACTIVATION_WAITING;
    host->waits.count++;
    if (wait->kind == SOC_WAIT_RECEIVE && wait->on != NULL)
        wait->on->awaited++;
    if (ops != NULL && ops->begin != NULL)
        ops->begin(host, activation);
    if (activation->effects[activation->effects_count - 1].kind == SOC_EFFECT_HTTP)
        activation->has_progress = true; /* visible outside; model calls excluded */
    if (wait->deadline_ms != 0) {
        activation->timer.kind = SOC_TIMER_ACTIVATION;
        soc_heap_add(&host->timers, &activation->timer, wait->deadline_ms);
    }
}

void soc_waiting_cancel(struct soc_host *host, struct soc_activation *activation)
{
    const struct soc_wait_ops *ops = soc_wait_ops_of(host, activation);
    soc_heap_remove(&host->timers, &activation->timer);
    if (activation->state == SOC_ACTIVATION_READY)
        return;
    soc_status_log_unblocked(host, activation);
    assert(host->waits.count > 0);
    host->waits.count--;
    activation->is_stalled = false;
    activation->state = SOC_ACTIVATION_READY;
    if (activation->wait.kind == SOC_WAIT_RECEIVE && activation->wait.on != NULL) {
        assert(activation->wait.on->awaited > 0);
        activation->wait.on->awaited--;
    }
    if (ops != NULL && ops->end != NULL)
        ops->end(host, activation);
    activation->wait = (struct soc_wait){0};
}

void soc_waiting_answer(struct soc_host *host, struct soc_activation *activation,
                        struct soc_slice answer)
{
    assert(activation->state == SOC_ACTIVATION_WAITING && activation->effects_count > 0);
    SOC_PARTS_TELL(host, wait_ended, host, activation, answer);
    if (activation->message == NULL) /* main, which may fail now (main.h) */
        host->main.asked =
            activation->wait.kind == SOC_WAIT_REPLY || activation->wait.kind == SOC_WAIT_ACK
                ? activation->wait.request_key
                : 0;
    soc_waiting_cancel(host, activation);
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
    soc_ready_add(host, activation->agent);
}

bool soc_waiting_offer(struct soc_host *host, struct soc_agent *agent, struct soc_message *message)
{
    struct soc_activation *activation = agent->activation;
    assert(message->to == agent && !message->is_queued);
    if (activation == NULL || activation->state != SOC_ACTIVATION_WAITING)
        return false;
    if (activation->wait.is_interruptible) {
        soc_waiting_answer(host, activation, SOC_SLICE(INTERRUPTED));
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
    SOC_PARTS_TELL(host, deliver, host, message);
    struct soc_buf answer = {0};
    soc_buf_put_byte(&answer, '[');
    soc_envelope_put_script_json(&answer, message);
    soc_buf_put_byte(&answer, ']');
    soc_waiting_answer(host, activation, soc_buf_slice(&answer));
    soc_buf_fini(&answer);
    return true;
}

/* Lends the activation of `agent` if it waits to receive from one specific agent, or NULL. */
static struct soc_activation *receiver_from_one(const struct soc_agent *agent)
{
    struct soc_activation *activation = agent->activation;
    bool is_such = activation != NULL && activation->state == SOC_ACTIVATION_WAITING &&
                   activation->wait.kind == SOC_WAIT_RECEIVE && activation->wait.on != NULL;
    return is_such ? activation : NULL;
}

void soc_waiting_check(struct soc_host *host, struct soc_agent *agent)
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
               is_ended ? NULL : "the agent has failed and sends no messages until it is resumed",
               "agentId", soc_agent_id(wait->on));
    soc_waiting_answer(host, activation, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

void soc_waiting_note_end(struct soc_host *host, const struct soc_agent *agent)
{
    size_t cursor = 0;
    struct soc_agent *other;
    while (agent->awaited > 0 && (other = soc_map_each(&host->registry.agents, &cursor)) != NULL) {
        const struct soc_activation *activation = receiver_from_one(other);
        if (activation != NULL && activation->wait.on == agent)
            soc_wait_note(host, other);
    }
}

static void answer_timeout(struct soc_host *host, struct soc_activation *activation)
{
    const struct soc_wait *wait = &activation->wait;
    const struct soc_wait_ops *ops = soc_wait_ops_of(host, activation);
    struct soc_buf error = {0};
    soc_refusal_begin(&error, SOC_ETIMEOUT,
                      wait->on == NULL ? NULL : soc_refusal_of_silence(wait->on));
    if (ops != NULL && ops->put != NULL)
        ops->put(host, activation, &error);
    else if (wait->on != NULL)
        soc_json_put_text_member(&error, "to", soc_agent_id(wait->on));
    if (ops != NULL && ops->put_timeout != NULL)
        ops->put_timeout(host, activation, &error);
    soc_json_put_name(&error, "timeout_ms");
    soc_json_put_integer(&error, wait->timeout_ms);
    soc_refusal_end(&error, SOC_ETIMEOUT);
    struct soc_buf detail = {0};
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "kind", soc_slice_text(soc_wait_name(activation)));
    soc_json_put_name(&detail, "timeout_ms");
    soc_json_put_integer(&detail, wait->timeout_ms);
    soc_buf_put_byte(&detail, '}');
    soc_trace(host, "timeout", activation->agent, soc_buf_slice(&detail), "%s after %lld ms",
              soc_wait_name(activation), (long long)wait->timeout_ms);
    soc_buf_fini(&detail);
    soc_waiting_answer(host, activation, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

void soc_waiting_stall(struct soc_host *host, struct soc_activation *activation)
{
    assert(activation->state == SOC_ACTIVATION_READY);
    activation->state = SOC_ACTIVATION_BACKOFF;
    activation->is_stalled = true;
    host->waits.count++;
    activation->timer.kind = SOC_TIMER_ACTIVATION;
    soc_heap_add(&host->timers, &activation->timer, soc_host_now(host) + SOC_STALL_MS);
}

void soc_waiting_unstall(struct soc_host *host, struct soc_activation *activation)
{
    if (!activation->is_stalled)
        return;
    assert(activation->state == SOC_ACTIVATION_BACKOFF && host->waits.count > 0);
    soc_heap_remove(&host->timers, &activation->timer);
    host->waits.count--;
    activation->is_stalled = false;
    activation->state = SOC_ACTIVATION_READY;
    soc_ready_add(host, activation->agent);
}

void soc_waiting_timer(struct soc_host *host, struct soc_activation *activation)
{
    const struct soc_wait_ops *ops = soc_wait_ops_of(host, activation);
    assert(activation->state != SOC_ACTIVATION_READY);
    if (activation->is_stalled) {
        soc_waiting_unstall(host, activation);
        return;
    }
    activation->has_progress = true; /* time has passed */
    if (activation->state == SOC_ACTIVATION_BACKOFF) {
        assert(host->waits.count > 0);
        host->waits.count--;
        activation->state = SOC_ACTIVATION_READY;
        soc_ready_add(host, activation->agent);
    } else if (activation->wait.kind == SOC_WAIT_SLEEP) {
        soc_waiting_answer(host, activation, SOC_SLICE("[]"));
    } else if (ops != NULL && ops->timeout != NULL) {
        ops->timeout(host, activation);
    } else {
        answer_timeout(host, activation);
    }
}

#include "kernel/schedule.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "kernel/deadlock.h"
#include "kernel/egress.h"
#include "kernel/ending.h"
#include "kernel/envelope.h"
#include "kernel/look.h"
#include "kernel/router.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "kernel/turn.h"
#include "kernel/wait.h"
#include "parts/group/news.h"
#include "parts/history/history.h"
#include "parts/models/calls.h"
#include "parts/models/memory.h"
#include "parts/supervision/hold.h"
#include "parts/tasks/tasks.h"

static void grow_ready(struct soc_host *host)
{
    size_t capacity = host->ready_capacity == 0 ? 64 : host->ready_capacity * 2;
    struct soc_agent **ready = soc_alloc(capacity * sizeof(struct soc_agent *));
    for (size_t i = 0; i < host->ready_count; i++)
        ready[i] = host->ready[(host->ready_head + i) & (host->ready_capacity - 1)];
    free(host->ready);
    host->ready = ready;
    host->ready_head = 0;
    host->ready_capacity = capacity;
}

void soc_schedule_ready(struct soc_host *host, struct soc_agent *agent)
{
    if (agent->is_ready)
        return;
    if (host->ready_count == host->ready_capacity)
        grow_ready(host);
    agent->is_ready = true;
    host->ready[(host->ready_head + host->ready_count++) & (host->ready_capacity - 1)] = agent;
}

static struct soc_agent *next_ready(struct soc_host *host)
{
    size_t mask = host->ready_capacity - 1;
    size_t head = host->ready_head & mask;
    if (host->options.loop == NULL && host->ready_count > 1) {
        size_t pick = (head + soc_rng_below(&host->order, host->ready_count)) & mask;
        struct soc_agent *picked = host->ready[pick];
        host->ready[pick] = host->ready[head];
        host->ready[head] = picked;
    }
    struct soc_agent *agent = host->ready[head];
    host->ready_head = (head + 1) & mask;
    host->ready_count--;
    agent->is_ready = false;
    return agent;
}

/* Fetches the agent that will probably run next: for each that runs one becomes
 * ready. A wrong guess costs nothing, so it may look ahead at what chance will say. */
static void guess_next(struct soc_host *host)
{
    size_t ahead = 0;
    host->guess = NULL;
    if (host->options.loop == NULL) {
        struct soc_rng order = host->order;
        ahead = soc_rng_below(&order, host->ready_count + 1);
    }
    if (ahead >= host->ready_count)
        return;
    host->guess = host->ready[(host->ready_head + ahead) & (host->ready_capacity - 1)];
    soc_agent_prefetch(host->guess);
}

struct soc_activation *soc_schedule_new_activation(struct soc_host *host, struct soc_agent *agent)
{
    assert(agent->activation == NULL);
    struct soc_activation *activation =
        host->pool_count > 0 ? host->pool[--host->pool_count] : soc_activation_new();
    activation->agent = agent;
    agent->activation = activation;
    return activation;
}

void soc_schedule_release(struct soc_host *host, struct soc_activation *activation)
{
    if (activation->script != NULL)
        host->hooks.drop(host->hooks.user, activation);
    activation->agent->activation = NULL;
    if (host->memories_large > 0)
        soc_memory_trim(host, activation->agent);
    soc_activation_reset(activation);
    if (host->pool_count < (int)(sizeof(host->pool) / sizeof(host->pool[0])))
        host->pool[host->pool_count++] = activation;
    else
        soc_activation_free(activation);
}

/* Ends an activation: its messages with `outcome`, its record, itself. */
static void end_activation(struct soc_host *host, struct soc_activation *activation,
                           enum soc_outcome outcome, struct soc_slice reason)
{
    struct soc_agent *agent = activation->agent;
    if (activation->is_stored) {
        struct soc_record record = {
            .type = SOC_RECORD_ACTIVATION_END,
            .activation_end = {.agent = soc_agent_id(agent)},
        };
        soc_batch_put(host, &record);
    }
    struct soc_message *message = activation->message;
    activation->message = NULL;
    struct soc_message_list taken = activation->taken;
    activation->taken = (struct soc_message_list){0};
    soc_schedule_release(host, activation);
    if (message != NULL)
        soc_router_finish(host, message, outcome, reason);
    while ((message = soc_message_list_pop(&taken)) != NULL)
        soc_router_finish(host, message, outcome, reason);
}

static void end_main(struct soc_host *host)
{
    struct soc_record record = {
        .type = SOC_RECORD_META,
        .meta = {.name = SOC_SLICE("main"), .value = SOC_SLICE("done")},
    };
    soc_batch_put(host, &record);
    host->main_is_done = true;
}

static void finish_turn(struct soc_host *host, struct soc_activation *activation)
{
    bool is_main = activation->message == NULL;
    struct soc_agent *agent = activation->agent;
    if (host->guess != NULL)
        soc_mailbox_prefetch(&host->guess->mailbox);
    activation->is_ending = true;
    soc_history_put_run(host, activation, "done", (struct soc_slice){0});
    soc_turn_commit(host);
    end_activation(host, activation, SOC_OUTCOME_PROCESSED, (struct soc_slice){0});
    soc_ending_check(host, agent);
    if (is_main)
        end_main(host);
}

/* Gives effects that were answered by a message the text of that answer. */
static void write_receipts(struct soc_activation *activation)
{
    struct soc_buf answer = {0};
    for (uint32_t i = activation->effects_kept; i < activation->effects_count; i++) {
        const struct soc_effect *effect = &activation->effects[i];
        if (effect->sent_key == 0)
            continue;
        answer.length = 0;
        soc_envelope_put_receipt(&answer, effect->sent_key, effect->sent_ms);
        soc_activation_answer(activation, i, soc_buf_slice(&answer));
    }
    soc_buf_fini(&answer);
}

static void store_effects(struct soc_host *host, const struct soc_activation *activation)
{
    struct soc_buf wait = {0};
    for (uint32_t i = activation->effects_kept; i < activation->effects_count; i++) {
        const struct soc_effect *effect = &activation->effects[i];
        struct soc_record record = {.type = SOC_RECORD_EFFECT};
        record.effect = (struct soc_record_effect){
            .index = i,
            .hash = effect->hash,
            .agent = soc_agent_id(activation->agent),
            .kind = soc_slice_text(soc_effect_name(effect->kind)),
            .answer = soc_activation_answer_of(activation, i),
            .arguments = soc_activation_noted(activation, i),
        };
        if (effect->answer_length == 0) {
            wait.length = 0;
            soc_wait_put_json(&wait, &activation->wait);
            record.effect.wait = soc_buf_slice(&wait);
        }
        soc_batch_put(host, &record);
    }
    soc_buf_fini(&wait);
}

/* The wait must stand before the turn commits: what the turn itself sent may
 * already end it. */
static void suspend_turn(struct soc_host *host, struct soc_activation *activation)
{
    struct soc_agent *agent = activation->agent;
    if (!activation->is_stored) {
        struct soc_record record = {.type = SOC_RECORD_ACTIVATION};
        record.activation = (struct soc_record_activation){
            .key = activation->message == NULL ? 0 : activation->message->key,
            .time_ms = (uint64_t)soc_host_now(host),
            .agent = soc_agent_id(activation->agent),
        };
        soc_batch_put(host, &record);
        activation->is_stored = true;
    }
    write_receipts(activation);
    activation->wait.since_ms = soc_host_now(host);
    activation->wait.number = host->next_wait++;
    store_effects(host, activation);
    soc_activation_keep(activation);
    activation->retries = 0;
    soc_wait_begin(host, activation);
    soc_deadlock_note(host, activation->agent);
    soc_turn_commit(host);
    /* What the turn did may have ended its own activation. */
    if (agent->activation == activation && activation->wait.kind == SOC_WAIT_LOOK)
        soc_look_sent(host, activation);
    if (agent->activation == activation && activation->wait.kind == SOC_WAIT_CALL)
        soc_calls_send(host, activation);
    soc_ending_check(host, agent);
}

static void fail_turn(struct soc_host *host, struct soc_activation *activation, bool is_final,
                      struct soc_slice error)
{
    struct soc_agent *agent = activation->agent;
    soc_history_put_run(host, activation, is_final ? "broken" : "raised", error);
    soc_turn_rollback(host);
    if (activation->script != NULL)
        host->hooks.drop(host->hooks.user, activation);
    soc_look_forget(activation);
    soc_activation_rewind(activation);
    soc_trace_event(host, SOC_LOG_ERROR, "turn_failed", agent, error);
    activation->retries++;
    if (activation->message == NULL) {
        host->main_has_failed = true;
        host->main_error.length = 0;
        soc_buf_put_slice(&host->main_error, error);
        return;
    }
    int64_t delay_ms =
        is_final ? -1 : host->hooks.retry_after(host->hooks.user, agent, activation->retries);
    bool has_failed = soc_hold_note_failure(host, agent);
    if (delay_ms < 0) {
        if (has_failed)
            soc_hold_fail(host, agent, error);
        end_activation(host, activation, SOC_OUTCOME_DEAD, error);
        soc_ending_check(host, agent);
        return;
    }
    if (has_failed) { /* it stays ready: whoever resumes it has the turn tried anew */
        soc_hold_fail(host, agent, error);
        return;
    }
    activation->state = SOC_ACTIVATION_BACKOFF;
    host->waiting++;
    activation->timer.kind = SOC_TIMER_ACTIVATION;
    soc_heap_add(&host->timers, &activation->timer, soc_host_now(host) + delay_ms);
}

static void run_turn(struct soc_host *host, struct soc_activation *activation)
{
    host->totals.turns++;
    host->error.length = 0;
    soc_turn_begin(host, activation->agent, activation);
    switch (host->hooks.run(host->hooks.user, activation, &host->error)) {
    case SOC_TURN_DONE:
        finish_turn(host, activation);
        break;
    case SOC_TURN_WAITS:
        suspend_turn(host, activation);
        break;
    case SOC_TURN_RAISED:
        fail_turn(host, activation, false, soc_buf_slice(&host->error));
        break;
    case SOC_TURN_BROKEN:
        fail_turn(host, activation, true, soc_buf_slice(&host->error));
        break;
    }
}

/* Mail for the person that `main` is not receiving is shown and thereby
 * processed. While `main` is about to run it may still want to receive it. */
static bool show_mail(struct soc_host *host)
{
    struct soc_agent *user = host->user;
    soc_news_look(host, user);
    bool did = soc_mailbox_count(&user->mailbox) > 0;
    struct soc_message *message;
    while ((message = soc_mailbox_pop(&user->mailbox)) != NULL) {
        soc_turn_begin(host, NULL, NULL);
        host->scratch.length = 0;
        soc_envelope_put_json(&host->scratch, message);
        soc_egress_print(host, SOC_SLICE("mail"), soc_sender_id(message->from),
                         soc_buf_slice(&host->scratch));
        soc_turn_commit(host);
        soc_router_finish(host, message, SOC_OUTCOME_PROCESSED, (struct soc_slice){0});
    }
    return did;
}

static void report_no_behaviour(struct soc_host *host, struct soc_agent *agent)
{
    if (agent->role->is_reported)
        return;
    agent->role->is_reported = true;
    struct soc_buf detail = {0};
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "roleId", soc_slice_text(agent->role->id));
    soc_json_put_text_member(
        &detail, "message",
        SOC_SLICE("the script does not say how this role behaves; its mail waits"));
    soc_buf_put_byte(&detail, '}');
    soc_trace_event(host, SOC_LOG_WARN, "unknown_role", agent, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

static bool has_mail(const struct soc_host *host, const struct soc_agent *agent)
{
    return soc_mailbox_count(&agent->mailbox) > 0 ||
           (soc_news_has(host, agent) && !agent->is_ended);
}

/* Begins the agent's next activation if it is free and has mail. */
static void begin_activation(struct soc_host *host, struct soc_agent *agent)
{
    if (agent == host->user || agent->is_ended || !has_mail(host, agent))
        return;
    if (!agent->role->is_runnable) {
        report_no_behaviour(host, agent);
        return;
    }
    soc_news_look(host, agent);
    struct soc_message *message = soc_mailbox_pop(&agent->mailbox);
    if (message == NULL)
        return; /* what was sent to all was not for it */
    soc_heap_remove(&host->timers, &message->timer);
    soc_schedule_new_activation(host, agent)->message = message;
    soc_tasks_begin(host, message);
    host->totals.activations++;
}

/* Runs the agent's turn if it has one to run. */
static bool run_agent(struct soc_host *host, struct soc_agent *agent)
{
    if (agent->hold != 0 || (agent == host->user && host->main_has_failed))
        return false;
    if (agent->activation == NULL)
        begin_activation(host, agent);
    if (agent->activation == NULL || agent->activation->state != SOC_ACTIVATION_READY)
        return false;
    if (agent != host->user && !agent->role->is_runnable) {
        report_no_behaviour(host, agent); /* its role is gone: it waits for its return */
        return false;
    }
    run_turn(host, agent->activation);
    return true;
}

void soc_schedule_abandon(struct soc_host *host, struct soc_activation *activation,
                          enum soc_outcome outcome, struct soc_slice reason)
{
    soc_history_put_run(host, activation, "waits", (struct soc_slice){0});
    soc_wait_cancel(host, activation);
    end_activation(host, activation, outcome, reason);
}

/* An agent whose role lives outside since this start has no script to go on with: what
 * it was at becomes a dead letter, which can be sent again, then to its door. */
static bool leave_inside(struct soc_host *host, struct soc_agent *agent)
{
    if (agent->activation == NULL)
        return false;
    soc_trace_event(host, SOC_LOG_WARN, "moved_outside", agent, SOC_SLICE("{}"));
    soc_schedule_abandon(host, agent->activation, SOC_OUTCOME_DEAD,
                         SOC_SLICE("{\"error\":\"moved_outside\"}"));
    soc_ending_check(host, agent);
    return true;
}

bool soc_schedule_run(struct soc_host *host)
{
    bool did = false;
    while (!did && host->ready_count > 0) {
        struct soc_agent *agent = next_ready(host);
        guess_next(host);
        if (agent->is_external) { /* it may have something to be handed out */
            did = leave_inside(host, agent);
            soc_news_look(host, agent);
            continue;
        }
        soc_agent_prefetch_contacts(agent);
        did = run_agent(host, agent);
        bool is_free = agent->activation == NULL;
        if (agent == host->user && (is_free || agent->activation->state != SOC_ACTIVATION_READY))
            did = show_mail(host) || did;
        else if (is_free && agent->role->is_runnable && agent->hold == 0 && has_mail(host, agent))
            soc_schedule_ready(host, agent);
    }
    return did;
}

void soc_schedule_main(struct soc_host *host)
{
    if (host->user->activation == NULL)
        soc_schedule_new_activation(host, host->user);
    if (host->user->activation->state == SOC_ACTIVATION_READY)
        soc_schedule_ready(host, host->user);
}

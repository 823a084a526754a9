#include "kernel/turns/schedule.h"

#include <assert.h>
#include <stdio.h>

#include "base/json.h"
#include "kernel/ending.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/router.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/commit.h"
#include "kernel/turns/egress.h"
#include "kernel/turns/halt.h"
#include "kernel/turns/handling.h"
#include "kernel/turns/main.h"
#include "kernel/turns/ready.h"
#include "kernel/turns/turn.h"
#include "kernel/turns/wait.h"
#include "kernel/turns/waiting.h"

static void finish_turn(struct soc_host *host, struct soc_activation *activation)
{
    bool is_main = activation->message == NULL;
    struct soc_agent *agent = activation->agent;
    assert(activation->wait.kind == SOC_WAIT_NONE);
    if (host->ready.guess != NULL)
        soc_mailbox_prefetch(&host->ready.guess->mailbox);
    activation->is_ending = true;
    if (host->parts.watches_effects)
        SOC_PARTS_TELL(host, run_ended, host, activation, "done", (struct soc_slice){0});
    soc_commit_turn(host);
    soc_handling_end(host, activation, SOC_OUTCOME_PROCESSED, (struct soc_slice){0});
    soc_ending_check(host, agent);
    if (is_main)
        soc_main_end(host);
}

/* Writes the receipts of effects that were answered by a sent message. */
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

/* The wait must begin before the turn commits: a message of the turn itself may already
 * end it. */
static void suspend_turn(struct soc_host *host, struct soc_activation *activation)
{
    struct soc_agent *agent = activation->agent;
    assert(activation->wait.kind != SOC_WAIT_NONE && activation->effects_count > 0);
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
    activation->wait.number = host->waits.next++;
    store_effects(host, activation);
    soc_activation_keep(activation);
    activation->retries = 0;
    soc_waiting_begin(host, activation);
    soc_wait_note(host, activation->agent);
    if (activation->message == NULL)
        soc_main_wait(host);
    soc_commit_turn(host);
    /* The commit may have ended this activation. */
    const struct soc_wait_ops *ops =
        agent->activation == activation ? soc_wait_ops_of(host, activation) : NULL;
    if (ops != NULL && ops->committed != NULL)
        ops->committed(host, activation);
    soc_ending_check(host, agent);
}

/* Returns true if the agent has failed for good, now that another turn has raised. */
static bool note_failure(struct soc_host *host, struct soc_agent *agent)
{
    bool has_failed = false;
    for (size_t i = 0; !has_failed && host->parts.calls.turn_failed[i] != NULL; i++)
        has_failed = host->parts.calls.turn_failed[i](host, agent, false);
    return has_failed;
}

/* Returns true if a retry could only see the same recorded error: the turn went on from one,
 * such as a time-out, and raised without asking for anything else. */
static bool is_retry_futile(const struct soc_activation *activation)
{
    if (activation->effects_kept == 0 || activation->is_injected)
        return false;
    for (uint32_t i = activation->effects_kept; i < activation->effects_count; i++)
        if (!soc_effect_is_aside((enum soc_effect_kind)activation->effects[i].kind))
            return false;
    struct soc_slice answer = soc_activation_answer_of(activation, activation->effects_kept - 1);
    return answer.length > 0 && answer.data[0] == '{';
}

/* Says that a turn of the activation raised, and how often it has been tried: in `told`, which
 * also becomes the reason of the dead letter. */
static void tell_failure(struct soc_host *host, struct soc_activation *activation,
                         struct soc_slice error, struct soc_buf *told)
{
    char tries[16];
    snprintf(tries, sizeof(tries), "%u", activation->retries + 1);
    soc_json_put_changed(told, error, "tries", soc_slice_text(tries));
    soc_trace_event_about(host, SOC_LOG_ERROR, "turn_failed", activation->agent,
                          activation->message, soc_buf_slice(told));
}

/* What becomes of a message whose turn raised: it is retried, now or later, or dead. */
static void retry_or_end(struct soc_host *host, struct soc_activation *activation, bool is_last,
                         struct soc_slice error)
{
    struct soc_agent *agent = activation->agent;
    int64_t delay_ms =
        is_last ? -1 : host->hooks.retry_after(host->hooks.user, agent, activation->retries);
    bool has_failed = note_failure(host, agent);
    if (has_failed)
        SOC_PARTS_TELL(host, agent_failed, host, agent, error);
    if (delay_ms < 0) {
        soc_handling_end(host, activation, SOC_OUTCOME_DEAD, error);
        soc_ending_check(host, agent);
        return;
    }
    if (has_failed) /* it stays ready: the turn is retried when the agent is resumed */
        return;
    activation->state = SOC_ACTIVATION_BACKOFF;
    host->waits.count++;
    activation->timer.kind = SOC_TIMER_ACTIVATION;
    soc_heap_add(&host->timers, &activation->timer, soc_host_now(host) + delay_ms);
}

static void trace_no_retry(struct soc_host *host, const struct soc_activation *activation)
{
    char id[SOC_MESSAGE_ID_BYTES];
    struct soc_buf detail = {0};
    soc_envelope_id(id, activation->message);
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "message_id", soc_slice(id, sizeof(id)));
    soc_json_put_text_member(&detail, "reason", SOC_SLICE("recorded_error"));
    soc_buf_put_byte(&detail, '}');
    soc_trace(host, "no_retry", activation->agent, soc_buf_slice(&detail),
              "it raised after a recorded error, which a retry would see as well");
    soc_buf_fini(&detail);
}

static void fail_turn(struct soc_host *host, struct soc_activation *activation, bool is_final,
                      struct soc_slice error)
{
    const struct soc_wait_ops *wait = soc_wait_ops_of(host, activation);
    struct soc_buf told = {0};
    bool is_futile = is_retry_futile(activation);
    activation->is_injected = false;
    if (host->parts.watches_effects)
        SOC_PARTS_TELL(host, run_ended, host, activation, is_final ? "broken" : "raised", error);
    soc_turn_rollback(host);
    if (activation->script != NULL)
        host->hooks.drop(host->hooks.user, activation);
    if (wait != NULL && wait->rolled_back != NULL)
        wait->rolled_back(activation);
    soc_activation_rewind(activation);
    tell_failure(host, activation, error, &told);
    activation->retries++;
    if (is_futile && !is_final && activation->message != NULL)
        trace_no_retry(host, activation);
    if (activation->message == NULL)
        soc_main_fail(host, activation, is_final, error);
    else
        retry_or_end(host, activation, is_final || is_futile, soc_buf_slice(&told));
    soc_buf_fini(&told);
}

/* The script runs in another process, which is busy. What the turn did so far is undone and
 * done again with the next run. The script has seen the keys of it, so nobody else gets
 * them. */
static void stall_turn(struct soc_host *host, struct soc_activation *activation)
{
    uint64_t next_key = host->next_key;
    assert(activation->wait.kind == SOC_WAIT_NONE);
    soc_turn_rollback(host);
    host->next_key = next_key;
    soc_activation_rewind(activation);
    soc_waiting_stall(host, activation);
}

void soc_schedule_park(struct soc_host *host, struct soc_agent *agent, struct soc_slice error)
{
    struct soc_activation *activation = agent->activation;
    assert(activation != NULL && !host->turn.is_open);
    struct soc_buf told = {0};
    tell_failure(host, activation, error, &told);
    if (activation->message == NULL) {
        soc_main_fail(host, activation, true, error);
    } else {
        note_failure(host, agent);
        soc_handling_abandon(host, activation, SOC_OUTCOME_DEAD, soc_buf_slice(&told));
        soc_ending_check(host, agent);
    }
    soc_buf_fini(&told);
}

/* The activation ended an earlier run, and would do so again. */
static void park_halted(struct soc_host *host, struct soc_activation *activation)
{
    struct soc_buf error = soc_halt_take(host);
    soc_schedule_park(host, activation->agent, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

static void run_turn(struct soc_host *host, struct soc_activation *activation)
{
    assert(activation->state == SOC_ACTIVATION_READY);
    if (host->halted.error.length > 0 && soc_halt_names(host, activation)) {
        park_halted(host, activation);
        return;
    }
    host->totals.turns++;
    struct soc_buf error = {0};
    soc_turn_begin(host, activation->agent, activation);
    switch (host->hooks.run(host->hooks.user, activation, &error)) {
    case SOC_TURN_DONE:
        finish_turn(host, activation);
        break;
    case SOC_TURN_WAITS:
        suspend_turn(host, activation);
        break;
    case SOC_TURN_RAISED:
        fail_turn(host, activation, false, soc_buf_slice(&error));
        break;
    case SOC_TURN_BROKEN:
        fail_turn(host, activation, true, soc_buf_slice(&error));
        break;
    case SOC_TURN_STALLED:
        stall_turn(host, activation);
        break;
    }
    assert(!host->turn.is_open); /* committed or rolled back */
    soc_buf_fini(&error);
}

/* Prints a message for the person, unless a part shows it. */
static void show(struct soc_host *host, const struct soc_message *message)
{
    struct soc_buf text = {0};
    for (size_t i = 0; host->parts.calls.show[i] != NULL; i++)
        if (host->parts.calls.show[i](host, message))
            return;
    soc_turn_begin(host, NULL, NULL);
    soc_envelope_put_json(&text, message);
    soc_egress_print(host, SOC_SLICE("mail"), soc_sender_id(message->from), soc_buf_slice(&text));
    soc_commit_turn(host);
    soc_buf_fini(&text);
}

/* Shows messages for the person, which processes them. Not while `main` is ready to run,
 * since it may want to receive them. */
static bool show_mail(struct soc_host *host)
{
    struct soc_agent *user = host->registry.user;
    soc_host_look_for_news(host, user);
    bool did = soc_mailbox_count(&user->mailbox) > 0;
    struct soc_message *message;
    while ((message = soc_mailbox_pop(&user->mailbox)) != NULL) {
        show(host, message);
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
    soc_json_put_text_member(&detail, "message",
                             SOC_SLICE("role has no behaviour; its messages stay queued"));
    soc_buf_put_byte(&detail, '}');
    soc_trace_event(host, SOC_LOG_WARN, "unknown_role", agent, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

static bool has_mail(const struct soc_host *host, const struct soc_agent *agent)
{
    return soc_mailbox_count(&agent->mailbox) > 0 ||
           (soc_host_has_news(host, agent) && !agent->is_ended);
}

/* Starts the agent's next activation if it has mail. */
static void begin_activation(struct soc_host *host, struct soc_agent *agent)
{
    if (agent == host->registry.user || agent->is_ended || !has_mail(host, agent))
        return;
    if (!agent->role->is_runnable) {
        report_no_behaviour(host, agent);
        return;
    }
    soc_host_look_for_news(host, agent);
    struct soc_message *message = soc_mailbox_pop(&agent->mailbox);
    if (message == NULL)
        return; /* the broadcasts were not for it */
    soc_heap_remove(&host->timers, &message->timer);
    soc_handling_new(host, agent)->message = message;
    SOC_PARTS_TELL(host, deliver, host, message);
    host->totals.activations++;
}

/* Runs the agent's turn if it has one to run. */
static bool run_agent(struct soc_host *host, struct soc_agent *agent)
{
    if (agent->hold != 0 || (agent == host->registry.user && host->main.has_failed))
        return false;
    if (agent->activation == NULL)
        begin_activation(host, agent);
    if (agent->activation == NULL || agent->activation->state != SOC_ACTIVATION_READY)
        return false;
    if (agent != host->registry.user && !agent->role->is_runnable) {
        report_no_behaviour(host, agent); /* its role is gone: wait until it is defined again */
        return false;
    }
    run_turn(host, agent->activation);
    return true;
}

/* An agent whose role has moved outside with this start has no script to resume. Its
 * message becomes a dead letter; redelivery sends it outside. */
static bool abandon_inside(struct soc_host *host, struct soc_agent *agent)
{
    if (agent->activation == NULL)
        return false;
    soc_trace_event(host, SOC_LOG_WARN, "moved_outside", agent, SOC_SLICE("{}"));
    soc_handling_abandon(host, agent->activation, SOC_OUTCOME_DEAD,
                         SOC_SLICE("{\"error\":\"moved_outside\"}"));
    soc_ending_check(host, agent);
    return true;
}

bool soc_schedule_run(struct soc_host *host)
{
    bool did = false;
    while (!did && host->ready.count > 0) {
        struct soc_agent *agent = soc_ready_take(host);
        soc_ready_guess(host);
        if (agent->is_external) { /* it may have messages to deliver outside */
            did = abandon_inside(host, agent);
            soc_host_look_for_news(host, agent);
            continue;
        }
        soc_agent_prefetch_contacts(agent);
        did = run_agent(host, agent);
        bool is_free = agent->activation == NULL;
        if (agent == host->registry.user &&
            (is_free || agent->activation->state != SOC_ACTIVATION_READY))
            did = show_mail(host) || did;
        else if (is_free && agent->role->is_runnable && agent->hold == 0 && has_mail(host, agent))
            soc_ready_add(host, agent);
    }
    return did;
}

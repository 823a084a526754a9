/* Outside, time: ladders, silence and decisions about unresponsive agents. */
#include <assert.h>
#include <stddef.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/ending.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/notice.h"
#include "kernel/mail/router.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/trace.h"
#include "kernel/turns/turn.h"
#include "parts/outside/outside_letters.h"
#include "parts/tasks/tasks_lookup.h"

/* Decisions about an unresponsive agent. */
enum resolution { RESTART, SKIP, ABORT };

static const char *const resolutions[] = {"restart", "skip", "abort"};

/* Asks for the next rung of the ladder and sets its timer. */
static void ask_rung(struct soc_letter *letter)
{
    struct soc_host *host = letter->outsider->host;
    uint32_t step = letter->ladder.step;
    struct soc_rung rung = host->hooks.rung == NULL
                               ? soc_ladder_default(step)
                               : host->hooks.rung(host->hooks.user, letter->message, step);
    int64_t due_ms = soc_ladder_set(&letter->ladder, rung);
    if (due_ms == 0)
        return;
    letter->timer.kind = SOC_OUTSIDE_LETTER;
    soc_heap_add(&soc_outside_of_host(host)->timers, &letter->timer, due_ms);
    soc_outside_of_host(host)->climbed++;
}

void soc_outside_stop(struct soc_letter *letter)
{
    struct soc_outside *outside = soc_outside_of_host(letter->outsider->host);
    if (soc_heap_has(&letter->timer)) {
        assert(outside->climbed > 0);
        soc_heap_remove(&outside->timers, &letter->timer);
        outside->climbed--;
    }
    soc_ladder_stop(&letter->ladder);
}

void soc_outside_climb(struct soc_letter *letter)
{
    const struct soc_outsider *outsider = letter->outsider;
    soc_outside_stop(letter);
    if (letter->is_given_up || !soc_pulse_is_awaited(&outsider->pulse) ||
        outsider->agent->hold != 0)
        return; /* it starts when that is over */
    soc_ladder_start(&letter->ladder, soc_host_now(outsider->host));
    ask_rung(letter);
}

void soc_outside_climb_all(struct soc_outsider *outsider)
{
    size_t cursor = 0;
    struct soc_letter *letter;
    while ((letter = soc_map_each(&outsider->letters, &cursor)) != NULL)
        if (letter->is_out && !letter->is_received && !soc_ladder_is_climbed(&letter->ladder))
            soc_outside_climb(letter);
}

/* Nothing is handed out to a held agent, so nothing can be resent, and it may be
 * silent. */
void soc_outside_note_hold(struct soc_host *host, struct soc_agent *agent)
{
    struct soc_outsider *outsider = soc_outside_need(host, agent);
    size_t cursor = 0;
    struct soc_letter *letter;
    while (agent->hold != 0 && (letter = soc_map_each(&outsider->letters, &cursor)) != NULL) {
        soc_outside_stop(letter);
        letter->ladder.step = 0; /* it restarts when the letter is next handed out */
    }
    outsider->is_redeemed = agent->hold == 0;
    if (outsider->is_redeemed) {
        soc_pulse_excuse(&outsider->pulse, soc_host_now(host));
        soc_outside_call(outsider);
    }
    soc_outside_watch(outsider);
}

void soc_outside_watch(struct soc_outsider *outsider)
{
    struct soc_outside *outside = soc_outside_of_host(outsider->host);
    int64_t due_ms = soc_pulse_due(&outsider->pulse, outside->heartbeat_ms);
    soc_heap_remove(&outside->timers, &outsider->timer);
    const struct soc_agent *agent = outsider->agent;
    if (due_ms == 0 || outsider->door == NULL || outsider->door->is_silent || agent->is_ended ||
        agent->hold != 0)
        return;
    outsider->timer.kind = SOC_OUTSIDE_SILENCE;
    soc_heap_add(&outside->timers, &outsider->timer, due_ms);
}

void soc_outside_set_heartbeat(struct soc_host *host, int64_t timeout_ms)
{
    size_t cursor = 0;
    struct soc_outsider *outsider;
    const struct soc_witness *witness = host->options.witness;
    soc_outside_of_host(host)->heartbeat_ms = timeout_ms;
    if (witness != NULL)
        witness->silenced(witness->user, timeout_ms);
    while ((outsider = soc_map_each(&soc_outside_of_host(host)->outsiders, &cursor)) != NULL)
        soc_outside_watch(outsider);
}

int64_t soc_outside_due(const struct soc_host *host)
{
    const struct soc_heap_item *item = soc_heap_peek(&soc_outside_of_host(host)->timers);
    return item == NULL ? 0 : item->due_ms;
}

/* Appends { agent, message_id?, … } without the closing brace. */
static void put_agent_members(struct soc_buf *out, const struct soc_outsider *outsider,
                              const struct soc_message *message)
{
    char id[SOC_MESSAGE_ID_BYTES];
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "agent", soc_agent_id(outsider->agent));
    if (message == NULL)
        return;
    soc_envelope_id(id, message);
    soc_json_put_text_member(out, "message_id", soc_slice(id, sizeof(id)));
    soc_json_put_name(out, "attempt");
    soc_json_put_integer(out, message->attempt);
}

static void trace(const struct soc_letter *letter, enum soc_log_level level, const char *event)
{
    struct soc_buf detail = {0};
    put_agent_members(&detail, letter->outsider, letter->message);
    soc_buf_put_byte(&detail, '}');
    soc_trace_event_about(letter->outsider->host, level, event, letter->outsider->agent,
                          letter->message, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

/* Lends the orchestrator, or NULL if it is gone or is the lost agent itself. */
static struct soc_agent *find_orchestrator(struct soc_host *host, const struct soc_agent *lost)
{
    struct soc_agent *agent = soc_registry_receiver(host, SOC_SLICE("orchestrator"));
    return agent == NULL || agent == lost || agent->is_ended || agent->is_ending
               ? host->registry.root
               : agent;
}

/* Alerts the orchestrator and the log, in the chain of the unacked message. */
static void alert(struct soc_outsider *outsider, const struct soc_message *message)
{
    struct soc_host *host = outsider->host;
    char chain[SOC_MESSAGE_ID_BYTES];
    struct soc_buf payload = {0};
    put_agent_members(&payload, outsider, message);
    soc_json_put_text_member(&payload, "alert_type", SOC_SLICE("unresponsive"));
    soc_json_put_name(&payload, "pending");
    soc_json_put_integer(&payload, (int64_t)outsider->letters.count);
    soc_json_put_text_member(&payload, "reason",
                             message == NULL ? SOC_SLICE("heartbeat") : SOC_SLICE("ack"));
    soc_buf_put_byte(&payload, '}');
    soc_trace_event_about(host, SOC_LOG_ERROR, "unresponsive", outsider->agent, message,
                          soc_buf_slice(&payload));
    struct soc_send send = {
        .to = soc_agent_id(find_orchestrator(host, outsider->agent)),
        .type = SOC_SLICE("alert"),
        .payload = soc_buf_slice(&payload),
    };
    if (message != NULL) {
        send.texts[SOC_TEXT_CORRELATION_ID] = soc_envelope_chain(message, chain);
        send.texts[SOC_TEXT_TASK_ID] = soc_message_text(message, SOC_TEXT_TASK_ID);
    }
    soc_notice_send(host, NULL, &send, "task_notice_failed");
    soc_buf_fini(&payload);
}

/* The agent is lost: alerts once. `unacked` is the letter it never acked, which is
 * given up; NULL: it was silent for too long. */
static void lose(struct soc_outsider *outsider, struct soc_letter *unacked)
{
    struct soc_host *host = outsider->host;
    size_t cursor = 0;
    struct soc_letter *letter;
    bool was_lost = outsider->pulse.is_lost;
    if (unacked != NULL)
        unacked->is_given_up = true;
    if (!(unacked == NULL ? soc_pulse_lose(&outsider->pulse) : soc_pulse_give_up(&outsider->pulse)))
        return;
    soc_heap_remove(&soc_outside_of_host(host)->timers, &outsider->timer);
    while ((letter = soc_map_each(&outsider->letters, &cursor)) != NULL)
        soc_outside_stop(letter);
    outsider->agent->is_unresponsive = true;
    if (!was_lost)
        soc_outside_tell(outsider, SOC_DOOR_UNRESPONSIVE, NULL);
    alert(outsider, unacked == NULL ? NULL : unacked->message);
}

/* Hands the letter out once more under the same id. */
static void resend(struct soc_letter *letter, bool is_warning)
{
    struct soc_host *host = letter->outsider->host;
    if (letter->message->attempt < UINT16_MAX)
        letter->message->attempt++;
    letter->is_out = false;
    soc_outside_queue(letter);
    letter->is_warning = is_warning;
    trace(letter, is_warning ? SOC_LOG_WARN : SOC_LOG_INFO, "resent");
    soc_outside_record(host, letter);
    letter->sequence = host->next_sequence;
    soc_outside_call(letter->outsider);
}

static void fire_letter(struct soc_letter *letter)
{
    struct soc_host *host = letter->outsider->host;
    soc_outside_of_host(host)->climbed--;
    enum soc_rung_action action = soc_ladder_climb(&letter->ladder, soc_host_now(host));
    assert(action != SOC_RUNG_END); /* the timer was set for a rung and its time */
    if (action == SOC_RUNG_UNRESPONSIVE) {
        lose(letter->outsider, letter);
        return;
    }
    if (action == SOC_RUNG_TIMEOUT)
        trace(letter, SOC_LOG_WARN, "ack_timeout");
    else
        resend(letter, action == SOC_RUNG_WARN);
    ask_rung(letter);
}

void soc_outside_fire(struct soc_host *host)
{
    struct soc_heap_item *item = soc_heap_peek(&soc_outside_of_host(host)->timers);
    assert(item != NULL);
    char *base = (char *)item;
    soc_heap_remove(&soc_outside_of_host(host)->timers, item);
    if (item->kind == SOC_OUTSIDE_LETTER)
        fire_letter((void *)(base - offsetof(struct soc_letter, timer)));
    else
        lose((void *)(base - offsetof(struct soc_outsider, timer)), NULL);
}

/* Only the orchestrator, root, the person and the agent's ancestors may decide. */
static bool may_resolve(struct soc_host *host, const struct soc_agent *who,
                        const struct soc_agent *agent)
{
    const struct soc_agent *above = agent->parent;
    while (above != NULL && above != who)
        above = above->parent;
    return above != NULL || who == host->registry.root || who == host->registry.user ||
           who == soc_registry_receiver(host, SOC_SLICE("orchestrator"));
}

static uint32_t count_unacked(const struct soc_outsider *outsider)
{
    size_t cursor = 0;
    uint32_t count = 0;
    const struct soc_letter *letter;
    while ((letter = soc_map_each(&outsider->letters, &cursor)) != NULL)
        count += !letter->is_received;
    return count;
}

static void restart(struct soc_outsider *outsider)
{
    size_t cursor = 0;
    struct soc_letter *letter;
    while ((letter = soc_map_each(&outsider->letters, &cursor)) != NULL)
        if (!letter->is_received) {
            letter->ladder.step = 0; /* from the first rung */
            letter->is_given_up = false;
            resend(letter, false);
        }
}

static void skip(struct soc_outsider *outsider)
{
    size_t cursor = 0;
    struct soc_letter *letter;
    while ((letter = soc_map_each(&outsider->letters, &cursor)) != NULL) {
        struct soc_message *message = letter->message;
        if (letter->is_received)
            continue;
        soc_mailbox_remove(&outsider->agent->mailbox, message);
        soc_router_finish(outsider->host, message, SOC_OUTCOME_DEAD,
                          SOC_SLICE("{\"error\":\"unresponsive\"}"));
        cursor = 0; /* finishing it may have changed the map */
    }
}

static void resolve(struct soc_host *host, struct soc_undo *undo)
{
    struct soc_outsider *outsider = soc_outside_need(host, undo->agent);
    struct soc_buf detail = {0};
    assert(undo->number <= ABORT);
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "action", soc_slice_text(resolutions[undo->number]));
    soc_json_put_text_member(&detail, "by", soc_sender_id(undo->peer));
    soc_buf_put_byte(&detail, '}');
    soc_trace_event(host, SOC_LOG_INFO, "resolved", undo->agent, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
    soc_pulse_retry(&outsider->pulse, soc_host_now(host));
    soc_outside_watch(outsider);
    if (undo->number == RESTART)
        restart(outsider);
    else if (undo->number == SKIP)
        skip(outsider);
    else
        soc_tasks_cancel_all(host, undo->agent, undo->peer, SOC_SLICE("\"unresponsive\""));
    soc_outside_climb_all(outsider);
    soc_ending_check(host, undo->agent);
}

int soc_outside_resolve(struct soc_host *host, struct soc_slice id, struct soc_slice action,
                        struct soc_buf *answer, struct soc_buf *error)
{
    struct soc_agent *agent = soc_map_find(&host->registry.agents, id);
    int which = RESTART;
    while (which <= ABORT && !soc_slice_equal(action, soc_slice_text(resolutions[which])))
        which++;
    if (which > ABORT)
        return soc_refuse(error, SOC_EINVAL, "action must be restart, skip or abort", "action",
                          action);
    if (agent == NULL)
        return soc_refuse(error, SOC_ENOAGENT, NULL, "agentId", id);
    if (agent->is_ended)
        return soc_refuse(error, SOC_ESTOPPED, NULL, "agentId", id);
    if (!may_resolve(host, host->turn.agent, agent))
        return soc_refuse(error, SOC_EFORBIDDEN,
                          "only the orchestrator and the agent's ancestors may decide", "agentId",
                          id);
    /* Not created here: an agent spawned in this turn may still be rolled back. */
    const struct soc_outsider *outsider = soc_map_find(&soc_outside_of_host(host)->outsiders, id);
    if (outsider == NULL || (!agent->is_unresponsive && count_unacked(outsider) == 0))
        return soc_refuse(error, SOC_EREFUSED, "the agent is not unresponsive and owes no ack",
                          "agentId", id);
    static const struct soc_undo_ops ops = {.finish = resolve};
    soc_turn_note(host, (struct soc_undo){.ops = &ops,
                                          .agent = agent,
                                          .peer = host->turn.agent,
                                          .number = (uint64_t)which});
    soc_buf_put_byte(answer, '{');
    soc_json_put_text_member(answer, "action", action);
    soc_json_put_text_member(answer, "agent", id);
    soc_json_put_name(answer, which == ABORT ? "tasks" : "messages");
    soc_json_put_integer(answer, which == ABORT ? soc_tasks_count_open(host, agent)
                                                : count_unacked(outsider));
    soc_buf_put_byte(answer, '}');
    return SOC_OK;
}

#include "parts/supervision/hold.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "kernel/mail/acks.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/requests.h"
#include "kernel/mail/transit.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/status.h"
#include "kernel/trace.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/commit.h"
#include "kernel/turns/ready.h"
#include "kernel/turns/turn.h"
#include "kernel/turns/waiting.h"
#include "parts/supervision/alert.h"
#include "parts/supervision/supervision_state.h"

/* When recent turns of an agent raised, latest first. */
struct failures {
    int64_t times_ms[SOC_FAILURES_KEPT];
    size_t count;
};

void soc_hold_store(struct soc_host *host, const struct soc_agent *agent)
{
    struct soc_record record = {.type = SOC_RECORD_STANDING};
    record.standing = (struct soc_record_standing){
        .time_ms = (uint64_t)soc_host_now(host),
        .hold = agent->hold,
        .guards = agent->guards,
        .id = soc_agent_id(agent),
    };
    soc_batch_put(host, &record);
}

void soc_hold_restore(struct soc_agent *agent, const struct soc_record_standing *record)
{
    agent->hold = (uint8_t)record->hold;
    agent->guards = (uint8_t)record->guards;
    if (record->births > 0)
        agent->births = (uint32_t)record->births;
}

void soc_hold_forget(struct soc_host *host, const struct soc_agent *agent)
{
    if (soc_supervision_state(host)->failures.count > 0)
        free(soc_map_take_number(&soc_supervision_state(host)->failures, (uintptr_t)agent));
}

static struct soc_slice status_with(const struct soc_host *host, const struct soc_agent *agent,
                                    uint8_t hold)
{
    enum soc_status status = hold & SOC_HOLD_FAILED ? SOC_STATUS_FAILED
                             : hold != 0            ? SOC_STATUS_PAUSED
                                                    : soc_status_of_work(host, agent);
    return soc_slice_text(soc_status_name(status));
}

/* An undo note packs the hold before and after the change; `old_number` has the guards. */
static uint8_t old_hold_of(const struct soc_undo *undo)
{
    return (uint8_t)(undo->number >> 8);
}

static uint8_t new_hold_of(const struct soc_undo *undo)
{
    return (uint8_t)undo->number;
}

static void take_back(struct soc_host *host, struct soc_undo *undo)
{
    (void)host;
    undo->agent->hold = old_hold_of(undo);
    undo->agent->guards = (uint8_t)undo->old_number;
    free(undo->old);
}

/* Records in the activity log that the agent was paused or resumed. */
static void trace_change(struct soc_host *host, const struct soc_undo *undo)
{
    const struct soc_agent *agent = undo->agent;
    char id[SOC_MESSAGE_ID_BYTES];
    struct soc_buf detail = {0};
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "by", soc_sender_id(undo->peer));
    soc_json_put_text_member(&detail, "from", status_with(host, agent, old_hold_of(undo)));
    soc_json_put_text_member(&detail, "reason", soc_slice_text(undo->old));
    soc_json_put_text_member(&detail, "to", status_with(host, agent, new_hold_of(undo)));
    soc_buf_put_byte(&detail, '}');
    soc_trace_event_of(host, SOC_LOG_INFO, new_hold_of(undo) == 0 ? "resumed" : "paused", agent,
                       soc_envelope_chain(host->turn.cause, id), soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

static void settle(struct soc_host *host, struct soc_undo *undo)
{
    struct soc_agent *agent = undo->agent;
    trace_change(host, undo);
    free(undo->old);
    SOC_PARTS_TELL(host, agent_held, host, agent);
    if (new_hold_of(undo) != 0)
        return;
    soc_hold_forget(host, agent);
    if (agent->activation != NULL)
        agent->activation->retries = 0;
    if (!agent->is_external)
        soc_ready_add(host, agent);
}

/* Changes the hold of an agent as part of the open turn. */
static void set_hold(struct soc_host *host, struct soc_agent *agent, uint8_t hold,
                     struct soc_slice reason)
{
    static const struct soc_undo_ops ops = {.roll_back = take_back, .commit = settle};
    assert(host->turn.is_open && agent != host->registry.user && !agent->is_ended);
    char *copy = NULL;
    soc_text_set(&copy, reason);
    soc_turn_note(host, (struct soc_undo){
                            .ops = &ops,
                            .agent = agent,
                            .peer = host->turn.agent,
                            .old = copy,
                            .number = (uint64_t)agent->hold << 8 | hold,
                            .old_number = agent->guards,
                        });
    agent->hold = hold;
    if (hold == 0)
        agent->guards = 0; /* someone looked after the agent: guards may report it again */
    soc_hold_store(host, agent);
}

/* Tells whether the agent may give orders to everyone. */
static bool is_head(struct soc_host *host, const struct soc_agent *agent)
{
    return agent == host->registry.user || agent == host->registry.root ||
           agent == soc_registry_receiver(host, SOC_SLICE("orchestrator"));
}

static bool is_above(const struct soc_agent *above, const struct soc_agent *agent)
{
    while ((agent = agent->parent) != NULL)
        if (agent == above)
            return true;
    return false;
}

static int check_order(struct soc_host *host, const struct soc_agent *by, struct soc_slice id,
                       struct soc_agent **agent, struct soc_buf *error)
{
    *agent = soc_map_find(&host->registry.agents, id);
    if (*agent == NULL)
        return soc_refuse(error, SOC_ENOAGENT, NULL, "agentId", id);
    if (*agent == host->registry.user)
        return soc_refuse(error, SOC_EFORBIDDEN, "the person cannot be paused", "agentId", id);
    if (*agent == by)
        return soc_refuse(error, SOC_EFORBIDDEN,
                          "an agent cannot pause itself; use sleep or receive", "agentId", id);
    if ((*agent)->is_ended)
        return soc_refuse(error, SOC_ESTOPPED, NULL, "agentId", id);
    if (!is_above(by, *agent) && !is_head(host, by))
        return soc_refuse(error, SOC_EFORBIDDEN,
                          "only the ancestors of an agent, root, user and the orchestrator may "
                          "pause and resume it",
                          "agentId", id);
    return SOC_OK;
}

/* Pauses or resumes one agent. False if nothing changes. */
static bool change(struct soc_host *host, struct soc_agent *agent,
                   const struct soc_hold_order *order)
{
    uint8_t hold = order->is_resume ? 0 : (uint8_t)(agent->hold | SOC_HOLD_PAUSED);
    bool is_same = hold == agent->hold && !(order->is_resume && agent->guards != 0);
    if (is_same || agent->is_ended || agent == host->registry.user)
        return false;
    set_hold(host, agent, hold, order->reason);
    return true;
}

/* The same for everyone but `by`, the caller. */
static size_t change_all(struct soc_host *host, const struct soc_agent *by,
                         const struct soc_hold_order *order)
{
    struct soc_agent *agent;
    size_t cursor = 0;
    size_t count = 0;
    while ((agent = soc_map_each(&host->registry.agents, &cursor)) != NULL)
        count += agent != by && change(host, agent, order);
    return count;
}

/* The same for `top` and its descendants. Children are younger than their parents, so
 * one walk in order of birth finds them all. */
static size_t change_below(struct soc_host *host, struct soc_agent *top, const struct soc_agent *by,
                           const struct soc_hold_order *order)
{
    struct soc_map parents = {0}; /* visited agents that have children, by address */
    struct soc_agent *agent;
    size_t cursor = 0;
    size_t count = 0;
    while ((agent = soc_map_each(&host->registry.agents, &cursor)) != NULL) {
        if (agent != top && (agent->parent == NULL ||
                             soc_map_find_number(&parents, (uintptr_t)agent->parent) == NULL))
            continue;
        if (agent->children > 0)
            soc_map_put_number(&parents, (uintptr_t)agent, agent);
        count += agent != by && change(host, agent, order);
    }
    soc_map_fini(&parents);
    return count;
}

static void put_answer(const struct soc_host *host, const struct soc_hold_order *order,
                       const struct soc_agent *agent, size_t count, struct soc_buf *answer)
{
    answer->length = 0;
    soc_buf_put_text(answer, "[{\"count\":");
    soc_json_put_integer(answer, (int64_t)count);
    soc_json_put_text_member(answer, "id", order->id);
    if (agent != NULL)
        soc_json_put_text_member(answer, "status",
                                 soc_slice_text(soc_status_name(soc_status_of(host, agent))));
    soc_buf_put_text(answer, "}]");
}

int soc_hold_order(struct soc_host *host, const struct soc_hold_order *order,
                   struct soc_buf *answer)
{
    struct soc_agent *by = host->turn.agent;
    assert(host->turn.is_open && by != NULL);
    struct soc_agent *agent = NULL;
    size_t count;
    if (soc_slice_equal(order->id, SOC_SLICE("All"))) {
        if (!is_head(host, by))
            return soc_refuse(answer, SOC_EFORBIDDEN,
                              "only root, user and the orchestrator may pause and resume "
                              "everyone; name an agent and use { subtree = true } instead",
                              "agentId", order->id);
        count = change_all(host, by, order);
    } else {
        int rc = check_order(host, by, order->id, &agent, answer);
        if (rc < 0)
            return rc;
        count = order->has_subtree ? change_below(host, agent, by, order)
                                   : (size_t)change(host, agent, order);
    }
    put_answer(host, order, agent, count, answer);
    return SOC_OK;
}

int soc_hold_order_now(struct soc_host *host, const struct soc_hold_order *order,
                       struct soc_buf *answer)
{
    soc_turn_begin(host, host->registry.user, NULL);
    int rc = soc_hold_order(host, order, answer);
    if (rc < 0)
        soc_turn_rollback(host);
    else
        soc_commit_turn(host);
    return rc;
}

static struct failures *need_failures(struct soc_host *host, const struct soc_agent *agent)
{
    struct failures *failures =
        soc_map_find_number(&soc_supervision_state(host)->failures, (uintptr_t)agent);
    if (failures == NULL) {
        failures = soc_alloc_zero(sizeof(*failures));
        soc_map_put_number(&soc_supervision_state(host)->failures, (uintptr_t)agent, failures);
    }
    return failures;
}

static void add_failure(struct failures *failures, int64_t now_ms)
{
    assert(failures->count <= SOC_FAILURES_KEPT);
    if (failures->count < SOC_FAILURES_KEPT)
        failures->count++;
    memmove(&failures->times_ms[1], &failures->times_ms[0],
            (failures->count - 1) * sizeof(failures->times_ms[0]));
    failures->times_ms[0] = now_ms;
}

/* Asks the supervision policy whether these failures are too many. */
static bool are_too_many(struct soc_host *host, struct soc_agent *agent,
                         const struct failures *failures)
{
    int64_t now_ms = soc_host_now(host);
    int64_t ages_ms[SOC_FAILURES_KEPT];
    for (size_t i = 0; i < failures->count; i++)
        ages_ms[i] = now_ms - failures->times_ms[i];
    if (host->hooks.is_failed == NULL)
        return failures->count > SOC_FAILURES_MAX && ages_ms[SOC_FAILURES_MAX] <= SOC_FAILURES_MS;
    return host->hooks.is_failed(host->hooks.user, agent, ages_ms, failures->count);
}

bool soc_hold_note_failure(struct soc_host *host, struct soc_agent *agent)
{
    struct failures *failures = need_failures(host, agent);
    add_failure(failures, soc_host_now(host));
    return are_too_many(host, agent, failures);
}

bool soc_hold_would_fail(struct soc_host *host, struct soc_agent *agent)
{
    const struct failures *so_far =
        soc_map_find_number(&soc_supervision_state(host)->failures, (uintptr_t)agent);
    struct failures failures = {0};
    if (so_far != NULL)
        failures = *so_far;
    add_failure(&failures, soc_host_now(host));
    return are_too_many(host, agent, &failures);
}

/* Fails all waits for the agent: for its answer, for the end of its task, or for mail
 * from it alone. */
static void tell_waiters(struct soc_host *host, const struct soc_agent *agent,
                         struct soc_slice reason)
{
    static const char sentence[] = "the agent has failed: its turns raised too often; it continues "
                                   "once it is resumed";
    size_t cursor = 0;
    struct soc_request *request;
    struct soc_agent *waiter;
    struct soc_buf error = {0};
    while ((request = soc_map_each(&host->requests, &cursor)) != NULL)
        if (request->to == agent && !soc_transit_replies(host, request->key))
            soc_request_fail(host, request->key, "receiver_failed", sentence, reason);
    soc_refuse_named(&error, "receiver_failed", sentence);
    cursor = 0;
    while ((waiter = soc_map_each(&host->registry.agents, &cursor)) != NULL)
        if (waiter->activation != NULL && waiter->activation->state == SOC_ACTIVATION_WAITING &&
            waiter->activation->wait.kind == SOC_WAIT_TASK && waiter->activation->wait.on == agent)
            soc_waiting_answer(host, waiter->activation, soc_buf_slice(&error));
    soc_buf_fini(&error);
    soc_acks_fail_all(host, agent);
    soc_waiting_note_end(host, agent);
}

void soc_hold_fail(struct soc_host *host, struct soc_agent *agent, struct soc_slice error)
{
    assert(!host->turn.is_open);
    char id[SOC_MESSAGE_ID_BYTES];
    const struct soc_activation *activation = agent->activation;
    struct soc_slice chain =
        soc_envelope_chain(activation == NULL ? NULL : activation->message, id);
    struct soc_buf members = {0};
    soc_json_put_name(&members, "error");
    soc_buf_put_slice(&members, error);
    soc_json_put_name(&members, "failures");
    soc_json_put_integer(&members, (int64_t)need_failures(host, agent)->count);
    agent->hold |= SOC_HOLD_FAILED;
    soc_hold_store(host, agent);
    soc_trace_event_of(host, SOC_LOG_ERROR, "failed", agent, chain, error);
    tell_waiters(host, agent, error);
    soc_alert_parent(host, agent, "failed", soc_buf_slice(&members), chain);
    soc_buf_fini(&members);
}

const struct soc_agent *soc_hold_keeps_work(struct soc_host *host)
{
    size_t cursor = 0;
    const struct soc_agent *agent;
    while ((agent = soc_map_each(&host->registry.agents, &cursor)) != NULL)
        if (agent->hold == SOC_HOLD_PAUSED && !agent->is_ended &&
            (agent->activation != NULL || soc_mailbox_count(&agent->mailbox) > 0 ||
             soc_host_has_news(host, agent)))
            return agent;
    return NULL;
}

void soc_hold_free(struct soc_host *host)
{
    size_t cursor = 0;
    struct failures *failures;
    while ((failures = soc_map_each(&soc_supervision_state(host)->failures, &cursor)) != NULL)
        free(failures);
    soc_map_fini(&soc_supervision_state(host)->failures);
}

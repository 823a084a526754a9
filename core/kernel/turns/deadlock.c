#include "kernel/turns/deadlock.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "kernel/mail/transit.h"
#include "kernel/refusal.h"
#include "kernel/state.h"
#include "kernel/status.h"
#include "kernel/trace.h"
#include "kernel/turns/wait.h"
#include "kernel/turns/waiting.h"
#include "model/waits.h"

bool soc_deadlock_is_coming(const struct soc_host *host, const struct soc_agent *to,
                            struct soc_mail_filter filter)
{
    const struct soc_message *message = host->turn.is_open ? host->turn.sent.first : NULL;
    for (; message != NULL; message = message->next)
        if (message->to == to && soc_mail_fits(message, filter))
            return true;
    return soc_transit_brings(host, to, filter);
}

/* Returns true if what `agent` waits for from target `index` is in transit. */
static bool is_coming(const struct soc_host *host, const struct soc_agent *agent, size_t index)
{
    const struct soc_activation *activation = agent->activation;
    const struct soc_wait *wait = &activation->wait;
    const struct soc_wait_ops *ops = soc_wait_ops_of(host, activation);
    if (wait->kind == SOC_WAIT_RECEIVE)
        return soc_transit_brings(host, agent, (struct soc_mail_filter){wait->on, wait->type});
    return ops != NULL && ops->question != NULL &&
           soc_transit_answers(host, ops->question(host, activation, index));
}

/* The person waits for nobody; ending the list there would hide the other targets of a
 * barrier. A target that waits for nobody is not checked, since that may walk all timers. */
struct soc_agent *soc_deadlock_target(const struct soc_host *host, const struct soc_agent *agent,
                                      size_t index)
{
    struct soc_agent *target =
        agent == host->registry.user ? NULL : soc_wait_target(host, agent, index);
    if (target == NULL || host->transit.count == 0 || soc_wait_target(host, target, 0) == NULL)
        return target;
    return is_coming(host, agent, index) ? host->registry.user : target;
}

static struct soc_agent *target_of(void *user, const struct soc_agent *agent, size_t index)
{
    return soc_deadlock_target(user, agent, index);
}

static void put_ids(struct soc_buf *out, const struct soc_waiter *cycle, size_t count, size_t first)
{
    soc_json_put_name(out, "cycle");
    soc_buf_put_byte(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            soc_buf_put_byte(out, ',');
        soc_json_put_string(out, soc_agent_id(cycle[(first + i) % count].agent));
    }
    soc_buf_put_byte(out, ']');
}

static void log_cycle(struct soc_host *host, const struct soc_waiter *cycle, size_t count,
                      size_t victim)
{
    struct soc_buf detail = {0};
    char id[SOC_MESSAGE_ID_BYTES];
    struct soc_agent *agent = cycle[victim].agent;
    soc_buf_put_byte(&detail, '{');
    put_ids(&detail, cycle, count, victim);
    soc_json_put_text_member(&detail, "victim", soc_agent_id(agent));
    soc_buf_put_byte(&detail, '}');
    soc_trace_event_of(host, SOC_LOG_WARN, "deadlock", agent,
                       soc_wait_chain(host, agent->activation, id), soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

void soc_deadlock_break(struct soc_host *host, const struct soc_waiter *cycle, size_t count,
                        size_t victim)
{
    assert(victim < count && cycle[victim].agent->activation != NULL);
    struct soc_activation *activation = cycle[victim].agent->activation;
    struct soc_buf error = {0};
    const struct soc_wait_ops *ops = soc_wait_ops_of(host, activation);
    log_cycle(host, cycle, count, victim);
    soc_refusal_begin(&error, SOC_EDEADLOCK,
                      "the agents in `cycle` wait for each other; this wait was ended to break the "
                      "deadlock: finish your current message so the others get their answers, "
                      "then ask again");
    put_ids(&error, cycle, count, victim);
    if (ops != NULL && ops->put_so_far != NULL)
        ops->put_so_far(host, activation, &error);
    soc_refusal_end(&error, SOC_EDEADLOCK);
    soc_waiting_answer(host, activation, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

/* Ends one wait of a cycle through `agent`; returns false if there is none. */
static bool break_cycle(struct soc_host *host, struct soc_agent *agent)
{
    struct soc_agent **agents;
    if (target_of(host, agent, 0) == NULL)
        return false;
    size_t count = soc_waits_find_cycle(agent, &agents, target_of, host);
    if (count == 0)
        return false;
    struct soc_waiter *cycle = soc_alloc(count * sizeof(*cycle));
    for (size_t i = 0; i < count; i++) {
        const struct soc_activation *activation = agents[i]->activation;
        cycle[i] = (struct soc_waiter){
            .agent = agents[i],
            .target = agents[(i + 1) % count],
            .kind = soc_wait_name(activation),
            .since_ms = activation->wait.since_ms,
            .number = activation->wait.number,
        };
    }
    size_t victim = host->hooks.victim(host->hooks.user, cycle, count);
    soc_deadlock_break(host, cycle, count, victim);
    free(cycle);
    free(agents);
    return true;
}

void soc_deadlock_settle(struct soc_host *host)
{
    struct soc_buf *changed = &host->waits.changed;
    struct soc_agent *agent;
    assert(!host->turn.is_open);
    for (size_t at = 0; at < changed->length; at += sizeof(agent)) {
        memcpy(&agent, changed->data + at, sizeof(agent));
        soc_waiting_check(host, agent);
        soc_status_log_blocked(host, agent);
        while (break_cycle(host, agent))
            continue;
        SOC_PARTS_TELL(host, wait_changed, host, agent);
    }
    changed->length = 0;
}

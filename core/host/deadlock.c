#include "host/deadlock.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "host/refusal.h"
#include "host/state.h"
#include "host/status.h"
#include "host/trace.h"
#include "host/wait.h"
#include "model/waits.h"

void soc_deadlock_note(struct soc_host *host, struct soc_agent *agent)
{
    soc_buf_put(&host->waits_changed, &agent, sizeof(agent));
}

/* Lends timer number `index` if it is a message's that is not due yet, else NULL. */
static const struct soc_message *delayed_at(const struct soc_host *host, size_t index)
{
    const struct soc_heap_item *item = host->timers.items[index];
    if (item->kind != SOC_TIMER_MESSAGE)
        return NULL;
    const void *base = (const char *)item - offsetof(struct soc_message, timer);
    const struct soc_message *message = base;
    bool is_lost = message->expires_ms != 0 && message->expires_ms <= message->deliver_at_ms;
    return message->is_queued || is_lost ? NULL : message;
}

bool soc_deadlock_is_coming(const struct soc_host *host, const struct soc_agent *to,
                            struct soc_mail_filter filter)
{
    const struct soc_message *message = host->turn.is_open ? host->turn.sent.first : NULL;
    for (; message != NULL; message = message->next)
        if (message->to == to && soc_mail_fits(message, filter))
            return true;
    for (size_t i = 0; host->delayed > 0 && i < host->timers.count; i++) {
        message = delayed_at(host, i);
        if (message != NULL && message->to == to && soc_mail_fits(message, filter))
            return true;
    }
    return false;
}

/* Tells whether an answer to the request is on its way, or the request itself to a
 * broker for whom the host may answer. */
static bool is_answer_coming(const struct soc_host *host, const struct soc_wait *wait)
{
    for (size_t i = 0; host->delayed > 0 && i < host->timers.count; i++) {
        const struct soc_message *message = delayed_at(host, i);
        if (message == NULL)
            continue;
        if (message->flags & SOC_MESSAGE_IS_REPLY && message->reply_to == wait->request_key)
            return true;
        if (message->key == wait->request_key && message->type == host->type_introduction_request)
            return true;
    }
    return false;
}

/* The edges of the graph. That something is on its way is looked for last: it takes a
 * walk through all timers. */
static struct soc_agent *target_of(void *user, const struct soc_agent *agent, size_t index)
{
    const struct soc_host *host = user;
    struct soc_agent *target = agent == host->user ? NULL : soc_wait_target(host, agent, index);
    if (target == NULL || host->delayed == 0 || soc_wait_target(host, target, 0) == NULL)
        return target;
    const struct soc_wait *wait = &agent->activation->wait;
    struct soc_mail_filter filter = {wait->on, wait->type};
    bool is_coming = false;
    if (wait->kind == SOC_WAIT_REPLY)
        is_coming = is_answer_coming(host, wait);
    else if (wait->kind == SOC_WAIT_RECEIVE)
        is_coming = soc_deadlock_is_coming(host, agent, filter);
    return is_coming ? NULL : target;
}

static void put_ids(struct soc_buf *out, const struct soc_waiter *ring, size_t count, size_t first)
{
    soc_json_put_name(out, "cycle");
    soc_buf_put_byte(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            soc_buf_put_byte(out, ',');
        soc_json_put_string(out, soc_agent_id(ring[(first + i) % count].agent));
    }
    soc_buf_put_byte(out, ']');
}

static void tell(struct soc_host *host, const struct soc_waiter *ring, size_t count, size_t victim)
{
    struct soc_buf detail = {0};
    char id[SOC_MESSAGE_ID_BYTES];
    struct soc_agent *agent = ring[victim].agent;
    soc_buf_put_byte(&detail, '{');
    put_ids(&detail, ring, count, victim);
    soc_json_put_text_member(&detail, "victim", soc_agent_id(agent));
    soc_buf_put_byte(&detail, '}');
    soc_trace_event_of(host, SOC_LOG_WARN, "deadlock", agent,
                       soc_wait_chain(host, agent->activation, id), soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

static void end_wait(struct soc_host *host, const struct soc_waiter *ring, size_t count,
                     size_t victim)
{
    struct soc_buf error = {0};
    tell(host, ring, count, victim);
    soc_refusal_begin(&error, SOC_EDEADLOCK,
                      "the agents of `cycle` wait for each other in a ring; this wait was ended: "
                      "finish what you handle, so that the others get your answer, then ask again");
    put_ids(&error, ring, count, victim);
    soc_refusal_end(&error, SOC_EDEADLOCK);
    soc_wait_answer(host, ring[victim].agent->activation, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

/* Ends one wait of one ring through `agent`; false if there is none. */
static bool break_ring(struct soc_host *host, struct soc_agent *agent)
{
    struct soc_agent **agents;
    if (target_of(host, agent, 0) == NULL)
        return false;
    size_t count = soc_waits_find_ring(agent, &agents, target_of, host);
    if (count == 0)
        return false;
    struct soc_waiter *ring = soc_alloc(count * sizeof(*ring));
    for (size_t i = 0; i < count; i++) {
        const struct soc_activation *activation = agents[i]->activation;
        ring[i] = (struct soc_waiter){
            .agent = agents[i],
            .target = agents[(i + 1) % count],
            .kind = soc_wait_name(activation),
            .since_ms = activation->wait.since_ms,
            .number = activation->wait.number,
        };
    }
    size_t victim = host->hooks.victim(host->hooks.user, ring, count);
    assert(victim < count);
    end_wait(host, ring, count, victim);
    free(ring);
    free(agents);
    return true;
}

void soc_deadlock_settle(struct soc_host *host)
{
    struct soc_buf *changed = &host->waits_changed;
    struct soc_agent *agent;
    for (size_t at = 0; at < changed->length; at += sizeof(agent)) {
        memcpy(&agent, changed->data + at, sizeof(agent));
        soc_status_tell(host, agent);
        while (break_ring(host, agent))
            continue;
    }
    changed->length = 0;
}

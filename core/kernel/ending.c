#include "kernel/ending.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "kernel/mail/requests.h"
#include "kernel/mail/router.h"
#include "kernel/mail/transit.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/handling.h"
#include "kernel/turns/turn.h"
#include "kernel/turns/waiting.h"

#define REASON SOC_SLICE("{\"error\":\"agent_stopped\"}")

/* Agents to end, in the order they were asked to. */
struct departures {
    struct departure {
        struct soc_agent *agent;
        bool is_forced;
    } * items;
    size_t count;
    size_t capacity;
};

static void put_departure(struct departures *list, struct soc_agent *agent, bool is_forced)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 8 : list->capacity * 2;
        list->items = soc_realloc(list->items, list->capacity * sizeof(*list->items));
    }
    list->items[list->count++] = (struct departure){agent, is_forced};
}

/* From now on nobody can write to it. An earlier reason stays unless there is a new one. */
static void set_ending(struct soc_host *host, struct soc_agent *agent, struct soc_slice reason)
{
    struct soc_record record = {.type = SOC_RECORD_AGENT_ENDING};
    record.agent_ending = (struct soc_record_agent_ending){
        .time_ms = (uint64_t)soc_host_now(host),
        .id = soc_agent_id(agent),
        .reason = reason.data != NULL ? reason : soc_slice_text(agent->end_reason),
    };
    soc_batch_put(host, &record);
    soc_registry_set_ending(agent, record.agent_ending.reason);
}

/* `by` is the agent that asked for it, possibly `agent` itself. */
static void trace_ending(struct soc_host *host, const struct soc_agent *agent,
                         const struct soc_agent *by, bool is_forced)
{
    struct soc_buf detail = {0};
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "by", soc_sender_id(by));
    soc_json_put_name(&detail, "is_forced");
    soc_buf_put_text(&detail, is_forced ? "true" : "false");
    soc_json_put_text_member(&detail, "reason", soc_slice_text(agent->end_reason));
    soc_buf_put_byte(&detail, '}');
    soc_trace_event(host, SOC_LOG_INFO, agent == by ? "stop" : "terminate", agent,
                    soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

/* Ends a `receive`: no message can arrive any more. */
static void refuse_receive(struct soc_host *host, struct soc_activation *activation)
{
    struct soc_buf error = {0};
    soc_refuse(&error, SOC_ESTOPPED, "this agent is ending and receives no more messages",
               "agentId", soc_agent_id(activation->agent));
    soc_waiting_answer(host, activation, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

/* Returns true if a part still works for it. */
static bool has_work(const struct soc_host *host, const struct soc_agent *agent)
{
    bool has = false;
    for (size_t i = 0; !has && host->parts.calls.has_work[i] != NULL; i++)
        has = host->parts.calls.has_work[i](host, agent);
    return has;
}

/* Returns true if it has nothing left to do. */
static bool is_drained(struct soc_host *host, struct soc_agent *agent)
{
    struct soc_activation *activation = agent->activation;
    soc_host_look_for_news(host, agent);
    if (activation == NULL)
        return soc_mailbox_count(&agent->mailbox) == 0 && agent->delayed == 0 &&
               !has_work(host, agent);
    if (activation->state == SOC_ACTIVATION_WAITING && activation->wait.kind == SOC_WAIT_RECEIVE &&
        agent->delayed == 0)
        refuse_receive(host, activation);
    return false;
}

/* Turns its remaining messages into dead letters and fails the requests put to it. */
static void discard_mail(struct soc_host *host, struct soc_agent *agent)
{
    struct soc_message *message;
    struct soc_message_list delayed = {0};
    /* First: dead letters close requests. */
    SOC_PARTS_TELL(host, agent_ending, host, agent, REASON);
    if (agent->activation != NULL)
        soc_handling_abandon(host, agent->activation, SOC_OUTCOME_DEAD, REASON);
    while ((message = soc_mailbox_pop(&agent->mailbox)) != NULL)
        soc_router_finish(host, message, SOC_OUTCOME_DEAD, REASON);
    soc_transit_take_all(host, agent, &delayed);
    while ((message = soc_message_list_pop(&delayed)) != NULL)
        soc_router_finish(host, message, SOC_OUTCOME_DEAD, REASON);
    size_t cursor = 0;
    struct soc_request *request;
    while ((request = soc_map_each(&host->requests, &cursor)) != NULL)
        if (request->to == agent && !soc_transit_replies(host, request->key))
            soc_request_fail(host, request->key, "receiver_failed",
                             "the agent ended without replying", REASON);
}

/* Lends the nearest ancestor that is not ending; root never ends. */
static struct soc_agent *find_heir(const struct soc_host *host, const struct soc_agent *agent)
{
    struct soc_agent *heir = agent->parent;
    while (heir != NULL && (heir->is_ended || heir->is_ending))
        heir = heir->parent;
    return heir == NULL ? host->registry.root : heir;
}

static void adopt(struct soc_host *host, struct soc_agent *child)
{
    struct soc_agent *former = child->parent;
    struct soc_agent *heir = find_heir(host, former);
    assert(heir != NULL && heir != child && former->children > 0);
    struct soc_record record = {.type = SOC_RECORD_AGENT_PARENT};
    record.agent_parent = (struct soc_record_agent_parent){
        .time_ms = (uint64_t)soc_host_now(host),
        .id = soc_agent_id(child),
        .parent = soc_agent_id(heir),
    };
    soc_batch_put(host, &record);
    soc_registry_set_parent(child, heir);
    SOC_PARTS_TELL(host, agent_adopted, host, child, former);
    struct soc_buf detail = {0};
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "from", soc_agent_id(former));
    soc_json_put_text_member(&detail, "by", soc_agent_id(heir));
    soc_buf_put_byte(&detail, '}');
    soc_trace_event(host, SOC_LOG_INFO, "adopted", child, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

static void end_or_adopt_child(struct soc_host *host, struct soc_agent *agent,
                               struct soc_agent *child, bool is_forced, struct departures *list)
{
    if (host->hooks.is_adopted(host->hooks.user, agent, child, is_forced)) {
        adopt(host, child);
        return;
    }
    if (!child->is_ending || is_forced) {
        set_ending(host, child,
                   child->is_ending ? (struct soc_slice){0} : soc_slice_text(agent->end_reason));
        trace_ending(host, child, agent, is_forced);
    }
    put_departure(list, child, is_forced);
}

/* A parent's contacts include its children, so they are found fast even in a large
 * society. All agents are searched only if one is missing there. */
static void end_or_adopt_children(struct soc_host *host, struct soc_agent *agent, bool is_forced,
                                  struct departures *list)
{
    struct departures children = {0};
    size_t cursor = 0;
    for (uint32_t i = 0; i < agent->contacts.count && children.count < agent->children; i++) {
        struct soc_agent *peer = agent->contacts.items[i].peer;
        if (peer->parent == agent && !peer->is_ended)
            put_departure(&children, peer, is_forced);
    }
    if (children.count < agent->children) {
        struct soc_agent *peer;
        children.count = 0;
        while ((peer = soc_map_each(&host->registry.agents, &cursor)) != NULL)
            if (peer->parent == agent && !peer->is_ended)
                put_departure(&children, peer, is_forced);
    }
    for (size_t i = 0; i < children.count; i++)
        end_or_adopt_child(host, agent, children.items[i].agent, is_forced, list);
    free(children.items);
}

static void end_agent(struct soc_host *host, struct soc_agent *agent, bool is_forced,
                      struct departures *list)
{
    assert(!agent->is_ended && agent->parent != NULL && agent->parent->children > 0);
    end_or_adopt_children(host, agent, is_forced, list);
    soc_host_look_for_news(host, agent);
    agent->is_ended = true; /* before its mail is discarded: nothing may be sent to it */
    discard_mail(host, agent);
    if (is_forced)
        SOC_PARTS_TELL(host, agent_forced, host, agent);
    SOC_PARTS_TELL(host, agent_ended, host, agent);
    soc_waiting_note_end(host, agent);
    struct soc_record record = {.type = SOC_RECORD_AGENT_END};
    record.agent_end = (struct soc_record_agent_end){
        .time_ms = (uint64_t)soc_host_now(host),
        .id = soc_agent_id(agent),
        .reason = soc_slice_text(agent->end_reason),
        .parent = soc_agent_id(agent->parent),
    };
    soc_batch_put(host, &record);
    struct soc_buf detail = {0};
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "reason", soc_slice_text(agent->end_reason));
    soc_buf_put_byte(&detail, '}');
    soc_trace(host, "stopped", agent, soc_buf_slice(&detail), "%s",
              agent->end_reason == NULL ? "" : agent->end_reason);
    soc_buf_fini(&detail);
    soc_registry_end(host, agent);
}

/* Ends `agent` if it is drained or forced, then the children that end with it. */
static void end_all(struct soc_host *host, struct soc_agent *agent, bool is_forced)
{
    struct departures list = {0};
    put_departure(&list, agent, is_forced);
    for (size_t i = 0; i < list.count; i++) {
        struct departure each = list.items[i];
        if (!each.agent->is_ended && (each.is_forced || is_drained(host, each.agent)))
            end_agent(host, each.agent, each.is_forced, &list);
    }
    free(list.items);
}

static void finish(struct soc_host *host, struct soc_undo *undo)
{
    free(undo->old);
    if (undo->agent->is_ended)
        return;
    trace_ending(host, undo->agent, undo->peer, undo->flag);
    end_all(host, undo->agent, undo->flag);
}

static void roll_back(struct soc_host *host, struct soc_undo *undo)
{
    (void)host;
    undo->agent->is_ending = undo->old_flag;
    free(undo->agent->end_reason);
    undo->agent->end_reason = undo->old;
}

/* Marks the agent inside the turn; it ends when the turn has committed. */
static void mark(struct soc_host *host, struct soc_agent *agent, bool is_forced,
                 struct soc_slice reason)
{
    static const struct soc_undo_ops ops = {.roll_back = roll_back, .finish = finish};
    char *old_reason = NULL;
    soc_text_set(&old_reason, soc_slice_text(agent->end_reason));
    soc_turn_note(host, (struct soc_undo){
                            .ops = &ops,
                            .agent = agent,
                            .peer = host->turn.agent,
                            .old = old_reason,
                            .old_flag = agent->is_ending,
                            .flag = is_forced,
                        });
    set_ending(host, agent, reason);
}

static bool is_permanent(const struct soc_host *host, const struct soc_agent *agent)
{
    return agent == host->registry.user || agent == host->registry.root;
}

static int terminate(struct soc_host *host, struct soc_slice id, bool *is_forced,
                     struct soc_slice reason, bool is_order, struct soc_buf *error)
{
    struct soc_agent *agent = soc_map_find(&host->registry.agents, id);
    if (agent == NULL)
        return soc_refuse(error, SOC_ENOAGENT,
                          soc_registry_find_known(host, id) == NULL
                              ? NULL
                              : "agents of other hosts are not in this list; terminate it on its "
                                "own host, or have its parent do so",
                          "agentId", id);
    if (is_permanent(host, agent))
        return soc_refuse(error, SOC_EFORBIDDEN, "user and root cannot be terminated", "agentId",
                          id);
    if (!is_order && agent->parent != host->turn.agent)
        return soc_refuse(error, SOC_EFORBIDDEN,
                          agent == host->turn.agent
                              ? "an agent cannot terminate itself; use agent:stop()"
                              : "only its parent may terminate an agent; ask the parent",
                          "agentId", id);
    if (agent->is_ended)
        return soc_refuse(error, SOC_ESTOPPED, NULL, "agentId", id);
    *is_forced |= (agent->hold & SOC_HOLD_FAILED) != 0;
    if (!agent->is_ending || *is_forced)
        mark(host, agent, *is_forced, reason);
    return SOC_OK;
}

int soc_ending_terminate(struct soc_host *host, struct soc_slice id, bool *is_forced,
                         struct soc_slice reason, struct soc_buf *error)
{
    return terminate(host, id, is_forced, reason, false, error);
}

int soc_ending_order(struct soc_host *host, struct soc_slice id, bool *is_forced,
                     struct soc_slice reason, struct soc_buf *error)
{
    assert(host->turn.is_open && host->turn.agent == host->registry.user);
    return terminate(host, id, is_forced, reason, true, error);
}

int soc_ending_stop(struct soc_host *host, struct soc_slice reason, struct soc_buf *error)
{
    struct soc_agent *agent = host->turn.agent;
    if (is_permanent(host, agent))
        return soc_refuse(error, SOC_EFORBIDDEN, "user and root cannot be terminated", "agentId",
                          soc_agent_id(agent));
    if (!agent->is_ending)
        mark(host, agent, false, reason);
    return SOC_OK;
}

void soc_ending_check(struct soc_host *host, struct soc_agent *agent)
{
    assert(!host->turn.is_open);
    if (agent->is_ending && !agent->is_ended)
        end_all(host, agent, false);
}

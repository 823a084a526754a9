#include "parts/supervision/guard.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/send.h"
#include "kernel/refusal.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "parts/supervision/alert.h"
#include "parts/supervision/hold.h"
#include "parts/supervision/supervision_state.h"

static const int codes[] = {
#define G(tag, setting, fallback, code) code,
    SOC_GUARD_MAP(G)
#undef G
};

/* An agent that reached a limit. By id, because its spawn may be rolled back with the
 * turn. */
struct meeting {
    enum soc_guard guard;
    char id[SOC_ADDRESS_BYTES_MAX + 1];
    char chain[SOC_KEY_BYTES_MAX + 1]; /* "": none */
};

static void report_mailbox_limit(const struct soc_host *host)
{
    const struct soc_witness *witness = host->options.witness;
    if (witness != NULL)
        witness->bounded(witness->user, soc_supervision_state(host)->guards[SOC_GUARD_MAILBOX]);
}

void soc_guard_init(struct soc_host *host)
{
    static const uint32_t defaults[] = {
#define G(tag, setting, fallback, code) fallback,
        SOC_GUARD_MAP(G)
#undef G
    };
    memcpy(soc_supervision_state(host)->guards, defaults, sizeof(defaults));
    report_mailbox_limit(host);
}

bool soc_guard_find(const char *setting, enum soc_guard *guard)
{
    static const char *const settings[] = {
#define G(tag, setting, fallback, code) setting,
        SOC_GUARD_MAP(G)
#undef G
    };
    for (int i = 0; i < SOC_GUARD_COUNT; i++) {
        if (strcmp(setting, settings[i]) != 0)
            continue;
        *guard = (enum soc_guard)i;
        return true;
    }
    return false;
}

uint32_t soc_guard_limit(const struct soc_host *host, enum soc_guard guard)
{
    assert(guard < SOC_GUARD_COUNT);
    return soc_supervision_state(host)->guards[guard];
}

void soc_guard_set(struct soc_host *host, enum soc_guard guard, uint32_t limit)
{
    assert(guard < SOC_GUARD_COUNT);
    soc_supervision_state(host)->guards[guard] = limit;
    report_mailbox_limit(host);
}

/* Notes an agent to be reported, unless it was reported before. */
static void note(struct soc_host *host, struct soc_agent *agent, enum soc_guard guard)
{
    char id[SOC_MESSAGE_ID_BYTES];
    if (agent == NULL || agent->guards & 1u << guard)
        return;
    agent->guards |= (uint8_t)(1u << guard);
    struct meeting meeting = {.guard = guard};
    struct soc_slice chain = soc_envelope_chain(host->turn.cause, id);
    assert(agent->id_length <= SOC_ADDRESS_BYTES_MAX && chain.length <= SOC_KEY_BYTES_MAX);
    memcpy(meeting.id, agent->id, agent->id_length);
    if (chain.data != NULL)
        memcpy(meeting.chain, chain.data, chain.length);
    soc_buf_put(&soc_supervision_state(host)->meetings, &meeting, sizeof(meeting));
}

/* Refuses to exceed the limit of the guard; `agent` is the agent concerned. */
static int refuse(struct soc_host *host, struct soc_agent *agent, enum soc_guard guard,
                  struct soc_buf *error)
{
    note(host, agent, guard);
    soc_refusal_begin(error, codes[guard], NULL);
    if (agent != NULL)
        soc_json_put_text_member(error, "agentId", soc_agent_id(agent));
    soc_json_put_name(error, "limit");
    soc_json_put_integer(error, soc_supervision_state(host)->guards[guard]);
    return soc_refusal_end(error, codes[guard]);
}

int soc_guard_spawn(struct soc_host *host, struct soc_buf *error)
{
    struct soc_agent *parent = host->turn.agent;
    assert(host->turn.is_open && parent != NULL);
    uint32_t depth = 1;
    if (host->registry.alive >= soc_supervision_state(host)->guards[SOC_GUARD_AGENTS])
        return refuse(host, parent, SOC_GUARD_AGENTS, error);
    if (parent->births >= soc_supervision_state(host)->guards[SOC_GUARD_CHILDREN])
        return refuse(host, parent, SOC_GUARD_CHILDREN, error);
    for (const struct soc_agent *above = parent->parent; above != NULL; above = above->parent)
        depth++;
    return depth > soc_supervision_state(host)->guards[SOC_GUARD_DEPTH]
               ? refuse(host, parent, SOC_GUARD_DEPTH, error)
               : SOC_OK;
}

/* Counts the broadcasts that `to` has not collected. */
static uint64_t count_unread(const struct soc_host *host, const struct soc_agent *to)
{
    uint64_t count = 0;
    for (size_t i = 0; host->parts.calls.unread[i] != NULL; i++)
        count += host->parts.calls.unread[i](host, to);
    return count;
}

/* Tells whether `to` will receive a broadcast sent in the current turn. */
static bool reaches(const struct soc_host *host, const struct soc_message *message,
                    const struct soc_agent *to)
{
    bool is = false;
    for (size_t i = 0; !is && host->parts.calls.reaches[i] != NULL; i++)
        is = host->parts.calls.reaches[i](host, message, to);
    return is;
}

/* A cheap upper bound: false means that the mailbox of `to` has room. */
static bool may_be_full(const struct soc_host *host, const struct soc_agent *to)
{
    uint64_t most = (uint64_t)soc_mailbox_count(&to->mailbox) + to->delayed + host->turn.sent.count;
    if (soc_host_has_news(host, to))
        most += count_unread(host, to);
    return most >= soc_supervision_state(host)->guards[SOC_GUARD_MAILBOX];
}

/* Counts what will be queued for `to` once the current turn commits, including
 * broadcasts it has not collected. */
static uint64_t count_queued(const struct soc_host *host, const struct soc_agent *to)
{
    uint64_t count = (uint64_t)soc_mailbox_count(&to->mailbox) + to->delayed;
    const struct soc_message *message = host->turn.sent.first;
    bool has_news = soc_host_has_news(host, to); /* this turn's broadcasts are included in these */
    if (has_news)
        count += count_unread(host, to);
    for (; message != NULL; message = message->next)
        count += message->to == to || (!has_news && reaches(host, message, to));
    return count;
}

bool soc_guard_is_near(const struct soc_host *host, const struct soc_agent *to)
{
    const struct soc_message *cause = host->turn.cause;
    if (cause != NULL &&
        (cause->hops >= soc_supervision_state(host)->guards[SOC_GUARD_HOPS] ||
         cause->idle_hops >= soc_supervision_state(host)->guards[SOC_GUARD_PROGRESS]))
        return true;
    return to != NULL && may_be_full(host, to);
}

bool soc_guard_meets_full(struct soc_host *host, struct soc_agent *to)
{
    if (!may_be_full(host, to) ||
        count_queued(host, to) < soc_supervision_state(host)->guards[SOC_GUARD_MAILBOX])
        return false;
    note(host, to, SOC_GUARD_MAILBOX);
    return true;
}

static bool makes_progress(const struct soc_host *host, const struct soc_agent *to,
                           const struct soc_send *send)
{
    const struct soc_activation *activation = host->turn.activation;
    return (activation != NULL && activation->has_progress) || to == host->registry.user ||
           send->deliver_at_ms > 0;
}

int soc_guard_send(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                   const struct soc_send *send, struct soc_buf *error)
{
    const struct soc_message *cause = host->turn.cause;
    if (from == NULL || send->is_formal)
        return SOC_OK;
    if (cause != NULL && cause->hops >= soc_supervision_state(host)->guards[SOC_GUARD_HOPS] &&
        to != from)
        return refuse(host, from, SOC_GUARD_HOPS, error);
    if (cause != NULL &&
        cause->idle_hops >= soc_supervision_state(host)->guards[SOC_GUARD_PROGRESS] &&
        !makes_progress(host, to, send))
        return refuse(host, from, SOC_GUARD_PROGRESS, error);
    /* What another host has numbered is taken; it sends less when it hears of the mailbox. */
    if (to != NULL && !from->is_remote &&
        count_queued(host, to) >= soc_supervision_state(host)->guards[SOC_GUARD_MAILBOX])
        return refuse(host, to, SOC_GUARD_MAILBOX, error);
    return SOC_OK;
}

static void report(struct soc_host *host, const struct meeting *meeting)
{
    struct soc_agent *agent = soc_map_find(&host->registry.agents, soc_slice_text(meeting->id));
    const char *code = soc_error_name(codes[meeting->guard]);
    struct soc_slice chain = soc_slice_text(meeting->chain[0] == '\0' ? NULL : meeting->chain);
    struct soc_buf members = {0};
    struct soc_buf detail = {0};
    if (agent == NULL || agent->is_ended)
        return;
    soc_json_put_name(&members, "limit");
    soc_json_put_integer(&members, soc_supervision_state(host)->guards[meeting->guard]);
    soc_json_put_text_member(&members, "message",
                             soc_slice_text(soc_error_text(codes[meeting->guard])));
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "error", soc_slice_text(code));
    soc_buf_put_byte(&detail, ',');
    soc_buf_put_slice(&detail, soc_buf_slice(&members));
    soc_buf_put_byte(&detail, '}');
    soc_hold_store(host, agent);
    soc_trace_event_of(host, SOC_LOG_WARN, "guard", agent, chain, soc_buf_slice(&detail));
    soc_alert_parent(host, agent, code, soc_buf_slice(&members), chain);
    soc_buf_fini(&members);
    soc_buf_fini(&detail);
}

void soc_guard_settle(struct soc_host *host)
{
    assert(!host->turn.is_open);
    struct soc_buf *meetings = &soc_supervision_state(host)->meetings;
    struct meeting meeting;
    for (size_t at = 0; at < meetings->length; at += sizeof(meeting)) {
        memcpy(&meeting, meetings->data + at, sizeof(meeting));
        report(host, &meeting);
    }
    meetings->length = 0;
}

/* Supervision: the part for pause, failure and runaway protection. */
#include <stdlib.h>

#include "base/mem.h"
#include "kernel/mail/passage.h"
#include "kernel/mail/router.h"
#include "kernel/registry.h"
#include "parts/supervision/guard.h"
#include "parts/supervision/hold.h"
#include "parts/supervision/hold_operations.h"
#include "parts/supervision/supervision_state.h"

static void *open_supervision(struct soc_host *host)
{
    struct soc_supervision_state *state = soc_alloc_zero(sizeof(*state));
    host->parts.states[SOC_PART_SUPERVISION] = state; /* soc_guard_init needs it */
    soc_guard_init(host);
    return state;
}

static void free_supervision(struct soc_host *host)
{
    struct soc_supervision_state *state = soc_supervision_state(host);
    soc_hold_free(host);
    soc_buf_fini(&state->meetings);
    free(state);
}

static void settle(struct soc_host *host)
{
    if (soc_supervision_state(host)->meetings.length > 0)
        soc_guard_settle(host);
}

static int restore(struct soc_host *host, const struct soc_record *record)
{
    if (record->type == SOC_RECORD_STANDING)
        soc_hold_restore(soc_registry_need(host, record->standing.id), &record->standing);
    return SOC_OK;
}

/* Guards never stop an awaited answer. */
static int check(struct soc_host *host, struct soc_passage *p, struct soc_buf *error)
{
    if (!soc_guard_is_near(host, p->to) || (p->to != NULL && soc_router_is_awaited(host, &p->send)))
        return SOC_OK;
    return soc_guard_send(host, p->from, p->to, &p->send, error);
}

static bool turn_failed(struct soc_host *host, struct soc_agent *agent, bool is_trial)
{
    return is_trial ? soc_hold_would_fail(host, agent) : soc_hold_note_failure(host, agent);
}

static void agent_ended(struct soc_host *host, struct soc_agent *agent)
{
    soc_hold_forget(host, agent);
}

const struct soc_part soc_supervision_part = {
    .name = "supervision",
    .number = SOC_PART_SUPERVISION,
    .operations = soc_hold_operations,
    .open = open_supervision,
    .settle = settle,
    .free = free_supervision,
    .restore = restore,
    .may_spawn = soc_guard_spawn,
    .agent_ended = agent_ended,
    .check = check,
    .turn_failed = turn_failed,
    .agent_failed = soc_hold_fail,
};

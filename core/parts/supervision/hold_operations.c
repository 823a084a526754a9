#include "parts/supervision/hold_operations.h"

#include "base/limits.h"
#include "kernel/operations/given.h"
#include "parts/supervision/hold.h"

static const struct soc_param params[] = {
    {.name = "agent",
     .most = SOC_KEY_BYTES_MAX,
     .is_needed = true,
     .summary = "an agent's id, or All"},
    {.name = "subtree", .kind = SOC_PARAM_FLAG, .summary = "the agent and all below it"},
    {.name = "reason", .most = SOC_REASON_BYTES_MAX, .summary = "why, for the activity log"},
    {.name = NULL},
};

static const struct soc_param members[] = {
    {.name = "count",
     .kind = SOC_PARAM_INTEGER,
     .is_needed = true,
     .summary = "for how many agents something changed"},
    {.name = "id", .is_needed = true, .summary = "as given"},
    {.name = "status", .summary = "of the agent now; not for All"},
    {.name = NULL},
};

static void order(struct soc_given *given, bool is_resume)
{
    struct soc_buf answer = {0};
    struct soc_hold_order order = {
        .id = soc_given_text(given, "agent"),
        .reason = soc_given_text(given, "reason"),
        .is_resume = is_resume,
        .has_subtree = soc_given_flag(given, "subtree"),
    };
    int rc = soc_hold_order_now(given->society->host, &order, &answer);
    soc_given_finish(given, rc, order.id, &answer);
}

static void pause(struct soc_given *given)
{
    order(given, false);
}

static void resume(struct soc_given *given)
{
    order(given, true);
}

const struct soc_operation soc_hold_operations[] = {
    {.name = "pause",
     .summary = "pauses agents: no new turn starts until they are resumed",
     .scope = SOC_SCOPE_OPERATE,
     .changes = true,
     .params = params,
     .answer = members,
     .run = pause},
    {.name = "resume",
     .summary = "resumes agents that are paused or have failed",
     .scope = SOC_SCOPE_OPERATE,
     .changes = true,
     .params = params,
     .answer = members,
     .run = resume},
    {.name = NULL},
};

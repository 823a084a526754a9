#include "kernel/operations/at.h"

#include "kernel/look.h"
#include "kernel/operations/given.h"
#include "kernel/operations/param.h"

static const struct soc_param params[] = {
    {.name = "line",
     .kind = SOC_PARAM_INTEGER,
     .least = 1,
     .most = INT64_MAX,
     .summary = "after which line of the activity log; beyond the last one: after that"},
    {.name = "time",
     .kind = SOC_PARAM_TIME,
     .summary = "or at which time; without either: after the last line"},
    {.name = NULL},
};

static const struct soc_param members[] = {
    {.name = "line",
     .kind = SOC_PARAM_INTEGER,
     .is_needed = true,
     .summary = "the last line that is part of it"},
    {.name = "time", .kind = SOC_PARAM_TIME, .summary = "the time of that line"},
    {.name = "agents",
     .kind = SOC_PARAM_LIST,
     .is_needed = true,
     .summary = "who lived: `{ id, role, parent, status, external, pending, contacts, children, "
                "created_at, brief }`; `working` means that messages were pending for it"},
    {.name = "contacts",
     .kind = SOC_PARAM_LIST,
     .is_needed = true,
     .summary = "who knew whom: `{ owner, id, role, source, addedAt, "
                "introducedBy, via }`"},
    {.name = "waits",
     .kind = SOC_PARAM_LIST,
     .is_needed = true,
     .summary = "who waited for an agent or a person: `{ agent, kind, waits_for, since, "
                "deadline, message_id, type, correlation_id }`; sleeps and calls are not told"},
    {.name = "tasks",
     .kind = SOC_PARAM_LIST,
     .is_needed = true,
     .summary = "the tasks as they stood; of those that were over, the latest 1,000"},
    {.name = "inbox",
     .kind = SOC_PARAM_LIST,
     .is_needed = true,
     .summary = "the items with their `state`; of those that were over, the latest 1,000"},
    {.name = "policies",
     .kind = SOC_PARAM_LIST,
     .is_needed = true,
     .summary = "the policies that were in force"},
    {.name = "totals",
     .kind = SOC_PARAM_OBJECT,
     .is_needed = true,
     .summary = "counts of messages, agents and waits, as `stats` has them"},
    {.name = NULL},
};

static void take(int rc, struct soc_slice rows, const struct soc_page *page, void *user)
{
    struct soc_call *call = user;
    call->as_of = page->as_of;
    if (rc == SOC_EGONE)
        soc_call_fail_gone(call, page->first);
    else if (rc < 0)
        soc_call_fail(call, rc, NULL);
    else
        soc_call_answer(call, rows);
}

static void look_at(struct soc_given *given)
{
    struct soc_query query = {.what = "at", .upto = (uint64_t)soc_given_integer(given, "line", 0)};
    int64_t time_ms = soc_given_time(given, "time", -1);
    if (query.upto != 0 && time_ms >= 0) {
        soc_given_fault(given, "time", "give line or time, not both");
        return;
    }
    if (time_ms >= 0)
        query.until_ms = time_ms < INT64_MAX ? time_ms + 1 : INT64_MAX;
    soc_look_page(given->society->host, &query, take, given->call);
}

const struct soc_operation soc_at_looks[] = {
    {.name = "at",
     .summary = "the society as it was after a line of the activity log",
     .scope = SOC_SCOPE_READ,
     .needs_running = true,
     .params = params,
     .answer = members,
     .run = look_at},
    {.name = NULL},
};

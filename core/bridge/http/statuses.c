#include "bridge/http/statuses.h"

#include <stdbool.h>

/* Exact names; the forms below are looked at for the others. */
static const struct {
    const char *error;
    int status;
} named[] = {
    {"invalid_message_format", 422},
    {"invalid_brief", 422},
    {"missing_payload", 422},
    {"policy_refused", 422},
    {"key_reused", 422},
    {"missing_token", 401},
    {"wrong_token", 401},
    {"wrong_code", 401},
    {"unknown_contact", 403},
    {"refused", 403},
    {"forbidden", 403},
    {"unknown_role", 404},
    {"unknown_host", 404},
    {"unknown_query", 404},
    {"unknown_task", 404},
    {"no_such_file", 404},
    {"agent_stopped", 409},
    {"task_finished", 409},
    {"cancelled", 409},
    {"count_differs", 409},
    {"ambiguous", 409},
    {"deadlock", 409},
    {"in_progress", 409},
    {"not_possible", 409},
    {"other_app", 409},
    {"nondeterministic", 409},
    {"state_locked", 409},
    {"state_newer", 409},
    {"state_older", 409},
    {"script_changed", 409},
    {"in_doubt", 409},
    {"item_withdrawn", 410},
    {"expired", 410},
    {"gone", 410},
    {"too_large", 413},
    {"mailbox_full", 429},
    {"too_many_agents", 429},
    {"too_many_children", 429},
    {"too_many_hops", 429},
    {"too_many_tries", 429},
    {"too_deep", 429},
    {"activation_too_long", 429},
    {"no_progress", 429},
    {"budget_exceeded", 429},
    {"script_error", 500},
    {"no_permission", 500},
    {"state_damaged", 500},
    {"storage_failed", 503},
    {"saturated", 503},
    {"too_many_streams", 503},
    {"stopping", 503},
    {"closed", 503},
    {"dropped", 409},
    {"receiver_failed", 502},
    {"timeout", 504},
    {"storage_full", 507},
};

static bool begins(struct soc_slice name, struct soc_slice with)
{
    return name.length >= with.length && memcmp(name.data, with.data, with.length) == 0;
}

static bool ends(struct soc_slice name, struct soc_slice with)
{
    return name.length >= with.length &&
           memcmp(name.data + name.length - with.length, with.data, with.length) == 0;
}

int soc_statuses_of(struct soc_slice error)
{
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        if (soc_slice_equal(error, soc_slice_text(named[i].error)))
            return named[i].status;
    if (error.data == NULL)
        return 500;
    if (begins(error, SOC_SLICE("invalid_")))
        return 400;
    if (ends(error, SOC_SLICE("_not_found")))
        return 404;
    if (begins(error, SOC_SLICE("already_")))
        return 409;
    return 500;
}

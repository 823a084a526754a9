#include "bridge/http/statuses.h"

#include "base/err.h"
#include "check.h"

static void expect(const char *error, int status)
{
    if (!CHECK_INT(soc_statuses_of(soc_slice_text(error)), status))
        printf("# %s\n", error);
}

static void errors_have_the_status_of_the_contract(void)
{
    expect("invalid_argument", 400);
    expect("invalid_json", 400);
    expect("invalid_id", 400);
    expect("invalid_message_format", 422);
    expect("missing_payload", 422);
    expect("key_reused", 422);
    expect("unknown_contact", 403);
    expect("refused", 403);
    expect("forbidden", 403);
    expect("agent_not_found", 404);
    expect("message_not_found", 404);
    expect("item_not_found", 404);
    expect("task_not_found", 404);
    expect("already_decided", 409);
    expect("already_exists", 409);
    expect("task_finished", 409);
    expect("agent_stopped", 409);
    expect("cancelled", 409);
    expect("ambiguous", 409);
    expect("count_differs", 409);
    expect("item_withdrawn", 410);
    expect("gone", 410);
    expect("too_large", 413);
    expect("mailbox_full", 429);
    expect("receiver_failed", 502);
    expect("timeout", 504);
    expect("storage_full", 507);
    expect("a_name_that_nobody_knows", 500);
    expect(NULL, 500);
}

/* An error that gets 500 by being forgotten would look like a fault of ours. */
static void every_error_has_a_status_of_its_own(void)
{
    static const char *const ours[] = {"script_error", "no_permission", "state_damaged", NULL};
    static const char *const names[] = {
#define X(name, value, wire, text) wire,
        SOC_ERROR_MAP(X)
#undef X
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        bool is_ours = false;
        for (const char *const *each = ours; *each != NULL; each++)
            is_ours |= strcmp(*each, names[i]) == 0;
        if (!CHECK((soc_statuses_of(soc_slice_text(names[i])) == 500) == is_ours))
            printf("# %s\n", names[i]);
    }
}

int main(void)
{
    RUN(errors_have_the_status_of_the_contract);
    RUN(every_error_has_a_status_of_its_own);
    return check_done();
}

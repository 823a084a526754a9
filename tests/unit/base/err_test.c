#include "check.h"

#include "base/err.h"

/* The contract: scripts, doors and C programs compare with these, so a code never changes
 * its number or its name. A new code gets a line here. */
static const struct {
    int code;
    const char *name;
} contract[] = {
    {-1, "invalid_argument"},
    {-2, "agent_not_found"},
    {-3, "unknown_contact"},
    {-4, "unknown_role"},
    {-5, "already_exists"},
    {-6, "invalid_id"},
    {-7, "invalid_message_format"},
    {-8, "missing_payload"},
    {-9, "timeout"},
    {-10, "too_large"},
    {-11, "expired"},
    {-12, "message_not_found"},
    {-13, "refused"},
    {-14, "nondeterministic"},
    {-15, "activation_too_long"},
    {-16, "deadlock"},
    {-17, "agent_stopped"},
    {-18, "forbidden"},
    {-19, "receiver_failed"},
    {-21, "too_deep"},
    {-22, "too_many_children"},
    {-23, "too_many_agents"},
    {-24, "too_many_hops"},
    {-25, "mailbox_full"},
    {-28, "no_progress"},
    {-41, "count_differs"},
    {-42, "ambiguous"},
    {-43, "key_reused"},
    {-26, "item_not_found"},
    {-27, "already_decided"},
    {-29, "item_withdrawn"},
    {-60, "task_not_found"},
    {-61, "task_finished"},
    {-62, "cancelled"},
    {-63, "in_doubt"},
    {-64, "budget_exceeded"},
    {-65, "unknown_query"},
    {-66, "unknown_task"},
    {-67, "dropped"},
    {-20, "invalid_json"},
    {-30, "storage_failed"},
    {-31, "storage_full"},
    {-32, "state_locked"},
    {-33, "state_newer"},
    {-34, "state_damaged"},
    {-35, "other_app"},
    {-36, "no_permission"},
    {-37, "no_such_file"},
    {-38, "closed"},
    {-39, "state_older"},
    {-44, "gone"},
    {-45, "script_changed"},
    {-46, "unknown_host"},
    {-68, "already_up"},
    {-40, "script_error"},
};

#define CONTRACT_COUNT (sizeof(contract) / sizeof(contract[0]))

/* The codes there are. */
static const int codes[] = {
#define X(name, value, wire, text) SOC_##name,
    SOC_ERROR_MAP(X)
#undef X
};

#define CODE_COUNT (sizeof(codes) / sizeof(codes[0]))

static void every_code_keeps_its_number_and_its_name(void)
{
    CHECK_INT(CODE_COUNT, CONTRACT_COUNT);
    for (size_t i = 0; i < CONTRACT_COUNT; i++)
        CHECK_TEXT(soc_error_name(contract[i].code), contract[i].name);
}

static void no_two_codes_share_a_number_or_a_name(void)
{
    for (size_t i = 0; i < CODE_COUNT; i++) {
        CHECK(codes[i] < 0);
        for (size_t j = 0; j < i; j++) {
            CHECK(codes[i] != codes[j]);
            CHECK(strcmp(soc_error_name(codes[i]), soc_error_name(codes[j])) != 0);
            CHECK(strcmp(soc_error_text(codes[i]), soc_error_text(codes[j])) != 0);
        }
    }
}

static void every_name_is_in_snake_case(void)
{
    for (size_t i = 0; i < CODE_COUNT; i++) {
        const char *name = soc_error_name(codes[i]);
        CHECK_INT(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
        CHECK(name[0] != '\0' && name[0] != '_' && name[strlen(name) - 1] != '_');
        CHECK(strcmp(name, "unknown_error") != 0);
    }
}

/* A text follows "NAME: " and may be followed by more. */
static void every_text_is_a_clause_without_a_full_stop(void)
{
    for (size_t i = 0; i < CODE_COUNT; i++) {
        const char *text = soc_error_text(codes[i]);
        CHECK(strlen(text) > 5 && strlen(text) < sizeof(struct soc_detail));
        CHECK(text[0] >= 'a' && text[0] <= 'z');
        CHECK(text[strlen(text) - 1] != '.' && strchr(text, '\n') == NULL);
    }
}

static void an_unknown_code_has_a_name_and_a_text(void)
{
    CHECK_TEXT(soc_error_name(-9999), "unknown_error");
    CHECK_TEXT(soc_error_name(SOC_OK), "unknown_error");
    CHECK(soc_error_text(-9999)[0] != '\0');
}

static void fail_returns_the_code_and_fills_the_detail(void)
{
    struct soc_detail detail = {{0}};
    CHECK_INT(soc_fail(&detail, SOC_EIO, "disk %d is %s", 3, "gone"), SOC_EIO);
    CHECK_TEXT(detail.text, "disk 3 is gone");
    CHECK_INT(soc_fail(NULL, SOC_EIO, "nobody listens"), SOC_EIO);
}

static void a_long_detail_is_truncated_and_terminated(void)
{
    struct soc_detail detail;
    memset(&detail, 'x', sizeof(detail));
    soc_fail(&detail, SOC_EIO, "%04000d", 1);
    CHECK_INT(strlen(detail.text), sizeof(detail.text) - 1);
}

int main(void)
{
    RUN(every_code_keeps_its_number_and_its_name);
    RUN(no_two_codes_share_a_number_or_a_name);
    RUN(every_name_is_in_snake_case);
    RUN(every_text_is_a_clause_without_a_full_stop);
    RUN(an_unknown_code_has_a_name_and_a_text);
    RUN(fail_returns_the_code_and_fills_the_detail);
    RUN(a_long_detail_is_truncated_and_terminated);
    return check_done();
}

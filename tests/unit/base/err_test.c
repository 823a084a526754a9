#include "check.h"

#include "base/err.h"

struct row {
    int code;
    const char *name;
    const char *text;
};

static const struct row rows[] = {
#define X(name, value, wire, text) {SOC_##name, wire, text},
    SOC_ERROR_MAP(X)
#undef X
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static void every_code_is_negative_and_has_its_own_name(void)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        CHECK(rows[i].code < 0);
        CHECK_TEXT(soc_error_name(rows[i].code), rows[i].name);
        CHECK_TEXT(soc_error_text(rows[i].code), rows[i].text);
        for (size_t j = 0; j < i; j++) {
            CHECK(rows[i].code != rows[j].code);
            CHECK(strcmp(rows[i].name, rows[j].name) != 0);
        }
    }
}

static void wire_names_that_the_protocol_fixes_are_as_it_says(void)
{
    CHECK_TEXT(soc_error_name(SOC_ENOAGENT), "agent_not_found");
    CHECK_TEXT(soc_error_name(SOC_ENOCONTACT), "unknown_contact");
    CHECK_TEXT(soc_error_name(SOC_ENOROLE), "unknown_role");
    CHECK_TEXT(soc_error_name(SOC_EBADMESSAGE), "invalid_message_format");
    CHECK_TEXT(soc_error_name(SOC_ENOPAYLOAD), "missing_payload");
    CHECK_TEXT(soc_error_name(SOC_ETIMEOUT), "timeout");
    CHECK_TEXT(soc_error_name(SOC_ENONDET), "nondeterministic");
    CHECK_TEXT(soc_error_name(SOC_ETOOLONG), "activation_too_long");
    CHECK_TEXT(soc_error_name(SOC_EDEADLOCK), "deadlock");
    CHECK_TEXT(soc_error_name(SOC_EDISKFULL), "storage_full");
}

static void a_code_that_is_none_has_a_name_too(void)
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

static void a_long_detail_is_cut_and_ended(void)
{
    struct soc_detail detail;
    memset(&detail, 'x', sizeof(detail));
    soc_fail(&detail, SOC_EIO, "%04000d", 1);
    CHECK_INT(strlen(detail.text), sizeof(detail.text) - 1);
}

int main(void)
{
    RUN(every_code_is_negative_and_has_its_own_name);
    RUN(wire_names_that_the_protocol_fixes_are_as_it_says);
    RUN(a_code_that_is_none_has_a_name_too);
    RUN(fail_returns_the_code_and_fills_the_detail);
    RUN(a_long_detail_is_cut_and_ended);
    return check_done();
}

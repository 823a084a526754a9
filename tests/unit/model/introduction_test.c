/* Introductions: whom a response names, and the path of a request. */
#include "check.h"
#include "model/introduction.h"

static struct soc_named named(const char *payload)
{
    return soc_introduction_named(soc_slice_text(payload));
}

static const char *text_of(struct soc_slice slice)
{
    static char text[64];
    if (slice.data == NULL)
        return "(absent)";
    memcpy(text, slice.data, slice.length);
    text[slice.length] = '\0';
    return text;
}

static void a_target_is_an_object_an_id_or_null(void)
{
    CHECK_TEXT(text_of(named("{\"target_agent\":{\"id\":\"a\"}}").id), "a");
    CHECK_TEXT(text_of(named("{\"target_agent\":\"a\"}").id), "a");
    CHECK(named("{\"target_agent\":null,\"reason\":\"r\"}").is_refusal);
    CHECK(named("{\"target_agent\":null}").id.data == NULL);
}

static void an_id_has_four_aliases(void)
{
    CHECK_TEXT(text_of(named("{\"targetAgentId\":\"a\"}").id), "a");
    CHECK_TEXT(text_of(named("{\"target_agent_id\":\"a\"}").id), "a");
    CHECK_TEXT(text_of(named("{\"agentId\":\"a\"}").id), "a");
    CHECK_TEXT(text_of(named("{\"agent_id\":\"a\"}").id), "a");
    CHECK_TEXT(text_of(named("{\"agent_id\":\"a\"}").given_by), "agent_id");
    CHECK_TEXT(text_of(named("{\"target_agent\":{\"agentId\":\"a\"}}").id), "a");
}

static void a_name_may_stand_beside_a_target_without_one(void)
{
    struct soc_named found = named("{\"target_agent\":{\"role\":\"r\"},\"agentId\":\"a\"}");
    CHECK_TEXT(text_of(found.id), "a");
    CHECK_TEXT(text_of(found.given_by), "agentId");
    CHECK_TEXT(text_of(named("{\"target_agent\":{\"id\":\"\",\"agentId\":\"a\"}}").id), "a");
    found = named("{\"target_agent\":null,\"agentId\":\"a\",\"reason\":\"r\"}");
    CHECK_TEXT(text_of(found.id), "a");
    CHECK(!found.is_refusal);
}

static void a_reason_without_a_target_is_a_refusal(void)
{
    CHECK(named("{\"reason\":\"r\"}").is_refusal);
    CHECK(!named("{\"reason\":\"\"}").is_refusal);
    CHECK(!named("{\"reason\":1}").is_refusal);
    CHECK(!named("{\"target_agent\":{},\"reason\":\"r\"}").is_refusal);
}

static void anything_else_names_no_target(void)
{
    static const char *const payloads[] = {
        "{}",
        "[]",
        "1",
        "\"a\"",
        "{\"target_agent\":1}",
        "{\"target_agent\":{}}",
        "{\"target_agent\":{\"id\":1}}",
        "{\"target_agent\":{\"id\":\"\"}}",
        "{\"agentId\":\"\"}",
    };
    for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
        CHECK(named(payloads[i]).id.data == NULL);
        CHECK(!named(payloads[i]).is_refusal);
    }
}

static void a_spec_must_be_an_object(void)
{
    CHECK_TEXT(text_of(named("{\"target_agent\":{\"id\":\"a\",\"interface_spec\":{}}}").spec),
               "{}");
    CHECK_TEXT(text_of(named("{\"target_agent\":{\"id\":\"a\",\"interfaceSpec\":{}}}").spec), "{}");
    CHECK(named("{\"target_agent\":{\"id\":\"a\",\"interface_spec\":3}}").spec.data == NULL);
}

static void a_path_is_extended_at_both_ends(void)
{
    struct soc_buf out = {0};
    struct soc_slice none = {0};
    soc_introduction_extend(&out, SOC_SLICE("a"), SOC_SLICE("[\"b\",\"c\"]"), SOC_SLICE("d"));
    CHECK_TEXT(soc_buf_text(&out), "[\"a\",\"b\",\"c\",\"d\"]");
    out.length = 0;
    soc_introduction_extend(&out, none, none, none);
    CHECK_TEXT(soc_buf_text(&out), "[]");
    CHECK(soc_introduction_lists(SOC_SLICE("[\"a\",\"b\"]"), SOC_SLICE("b")));
    CHECK(!soc_introduction_lists(SOC_SLICE("[\"a\",\"b\"]"), SOC_SLICE("c")));
    CHECK(!soc_introduction_lists(none, SOC_SLICE("c")));
    soc_buf_fini(&out);
}

int main(void)
{
    RUN(a_target_is_an_object_an_id_or_null);
    RUN(an_id_has_four_aliases);
    RUN(a_name_may_stand_beside_a_target_without_one);
    RUN(a_reason_without_a_target_is_a_refusal);
    RUN(anything_else_names_no_target);
    RUN(a_spec_must_be_an_object);
    RUN(a_path_is_extended_at_both_ends);
    return check_done();
}

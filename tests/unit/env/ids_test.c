#include "check.h"

#include "env/ids.h"
#include "env/rng.h"

static void a_message_id_contains_time_host_and_key(void)
{
    char id[SOC_MESSAGE_ID_BYTES];
    soc_message_id_format(id, 1767614400123, 1);
    CHECK_BYTES(id, sizeof(id), "msg_20260105_120000_123000000000001");
    soc_message_id_format(id, 1767614400123, 0xffffffffff);
    CHECK_BYTES(id, sizeof(id), "msg_20260105_120000_12300ffffffffff");
}

static void the_key_of_a_message_id_can_be_parsed(void)
{
    struct soc_rng rng;
    size_t wrong = 0;
    soc_rng_init(&rng, 5);
    for (int i = 0; i < 100000; i++) {
        char id[SOC_MESSAGE_ID_BYTES];
        uint64_t key = soc_rng_next(&rng) >> (24 + soc_rng_below(&rng, 40));
        uint64_t back;
        soc_message_id_format(id, (int64_t)soc_rng_below(&rng, 253402300800000), key);
        wrong += !soc_message_id_parse(soc_slice(id, sizeof(id)), &back) || back != key;
    }
    CHECK_INT(wrong, 0);
}

static void message_ids_sort_by_time_then_key(void)
{
    char last[SOC_MESSAGE_ID_BYTES], next[SOC_MESSAGE_ID_BYTES];
    struct soc_rng rng;
    int64_t time_ms = 1767614400123;
    size_t wrong = 0;
    soc_rng_init(&rng, 6);
    soc_message_id_format(last, time_ms, 0);
    for (uint64_t key = 1; key < 100000; key++) {
        time_ms += (int64_t)soc_rng_below(&rng, 3) * (int64_t)soc_rng_below(&rng, 100000);
        soc_message_id_format(next, time_ms, key);
        wrong += memcmp(last, next, sizeof(last)) >= 0;
        memcpy(last, next, sizeof(last));
    }
    CHECK_INT(wrong, 0);
}

static void an_id_bears_the_number_of_its_host(void)
{
    char id[SOC_MESSAGE_ID_BYTES];
    uint64_t key = soc_message_id_key_of(0xffffffffff, 42);
    uint64_t read;
    soc_message_id_format(id, 1767614400123, key);
    CHECK_BYTES(id, sizeof(id), "msg_20260105_120000_12342ffffffffff");
    CHECK(soc_message_id_parse(soc_slice(id, sizeof(id)), &read) && read == key);
    CHECK_INT(soc_message_id_host(read), 42);
    CHECK_INT(soc_message_id_host(7), 0);
    CHECK(soc_message_id_key_of(key, 3) > soc_message_id_key_of(key, 2));
    CHECK_INT(soc_message_id_time(soc_slice(id, sizeof(id))), 1767614400123);
    CHECK_INT(soc_message_id_time(SOC_SLICE("msg")), 0);
}

static void an_address_has_an_agent_and_a_host(void)
{
    static const char *const others[] = {
        "",        "ann",     "@beta", "ann@",
        "ann@a@b", "-n@beta", "a b@c", "ann@123456789012345678901234567890123"};
    struct soc_slice agent;
    struct soc_slice host;
    CHECK(soc_id_divide(SOC_SLICE("ann@beta"), &agent, &host));
    CHECK(soc_slice_equal(agent, SOC_SLICE("ann")) && soc_slice_equal(host, SOC_SLICE("beta")));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        CHECK(!soc_id_divide(soc_slice_text(others[i]), &agent, &host));
}

static bool is_message_id(const char *text)
{
    uint64_t key;
    return soc_message_id_parse(soc_slice_text(text), &key);
}

static void other_texts_are_not_message_ids(void)
{
    CHECK(is_message_id("msg_20260105_120000_12300000000000f"));
    CHECK(!is_message_id(NULL));
    CHECK(!is_message_id(""));
    CHECK(!is_message_id("msg_20260105_120000_123"));
    CHECK(!is_message_id("msg_20260105_120000_12300000000000f0"));
    CHECK(!is_message_id("ack_20260105_120000_12300000000000f"));
    CHECK(!is_message_id("msg_2026010x_120000_12300000000000f"));
    CHECK(!is_message_id("msg_20260105-120000_12300000000000f"));
    CHECK(!is_message_id("msg_20260105_120000-12300000000000f"));
    CHECK(!is_message_id("msg_20260105_1200x0_12300000000000f"));
    CHECK(!is_message_id("msg_20260105_120000_1x300000000000f"));
    CHECK(!is_message_id("msg_20260105_120000_1230x000000000f"));
    CHECK(!is_message_id("msg_20260105_120000_12300000000000F"));
    CHECK(!is_message_id("msg_20260105_120000_12300000000000g"));
}

static bool is_valid(const char *text)
{
    return soc_id_is_valid(soc_slice_text(text));
}

static void ids_start_with_a_letter_or_digit_and_have_few_other_characters(void)
{
    CHECK(is_valid("a"));
    CHECK(is_valid("7"));
    CHECK(is_valid("Root"));
    CHECK(is_valid("worker-1.b_C"));
    CHECK(!is_valid(NULL));
    CHECK(!is_valid(""));
    CHECK(!is_valid("-a"));
    CHECK(!is_valid(".."));
    CHECK(!is_valid("_a"));
    CHECK(!is_valid("a b"));
    CHECK(!is_valid("a/b"));
    CHECK(!is_valid("a@host"));
    CHECK(!is_valid("接待员"));
    CHECK(!is_valid("a\n"));
    CHECK(!soc_id_is_valid(soc_slice("a\0b", 3)));
}

static void the_length_of_an_id_is_limited(void)
{
    char text[SOC_ID_BYTES_MAX + 1];
    memset(text, 'x', sizeof(text));
    CHECK(soc_id_is_valid(soc_slice(text, SOC_ID_BYTES_MAX)));
    CHECK(!soc_id_is_valid(soc_slice(text, SOC_ID_BYTES_MAX + 1)));
}

static void a_checkpoint_id_is_a_message_id_with_another_prefix(void)
{
    char id[SOC_MESSAGE_ID_BYTES + 1] = {0};
    uint64_t key = 0;
    soc_checkpoint_id_format(id, 1767225600123, 0xabc);
    CHECK_TEXT(id, "chk_20260101_000000_123000000000abc");
    CHECK(soc_checkpoint_id_parse(soc_slice_text(id), &key));
    CHECK(key == 0xabc);
    CHECK(!soc_checkpoint_id_parse(SOC_SLICE("msg_20260101_000000_123000000000abc"), &key));
    CHECK(!soc_checkpoint_id_parse(SOC_SLICE("chk_1"), &key));
}

static void an_item_id_is_a_message_id_with_another_prefix(void)
{
    char id[SOC_ITEM_ID_BYTES + 1] = {0};
    uint64_t key = 0;
    soc_item_id_format(id, 1767225600123, 0xabc);
    CHECK_TEXT(id, "item_20260101_000000_123000000000abc");
    CHECK(soc_item_id_parse(soc_slice_text(id), &key));
    CHECK_INT(key, 0xabc);
    CHECK(!soc_message_id_parse(soc_slice_text(id), &key));
    CHECK(!soc_item_id_parse(SOC_SLICE("msg_20260101_000000_123000000000abc"), &key));
    CHECK(!soc_item_id_parse(SOC_SLICE("item_20260101_000000_12300000000zabc"), &key));
    CHECK(!soc_item_id_parse(SOC_SLICE(""), &key));
}

static void an_id_of_another_time_is_another_id(void)
{
    struct soc_slice own = SOC_SLICE("msg_20260101_000000_123000000000abc");
    CHECK(soc_message_id_is(own, 1767225600123, 0xabc));
    CHECK(!soc_message_id_is(own, 1767225600124, 0xabc));
    CHECK(!soc_message_id_is(own, 1767225600123, 0xabd));
    CHECK(!soc_message_id_is((struct soc_slice){0}, 1767225600123, 0xabc));
    CHECK(soc_item_id_is(SOC_SLICE("item_20260101_000000_123000000000abc"), 1767225600123, 0xabc));
    CHECK(!soc_item_id_is(SOC_SLICE("item_19990101_000000_123000000000abc"), 1767225600123, 0xabc));
    CHECK(!soc_item_id_is(own, 1767225600123, 0xabc));
    CHECK(soc_checkpoint_id_is(SOC_SLICE("chk_20260101_000000_123000000000abc"), 1767225600123,
                               0xabc));
    CHECK(!soc_checkpoint_id_is(SOC_SLICE("chk_19990101_000000_123000000000abc"), 1767225600123,
                                0xabc));
}

int main(void)
{
    RUN(a_message_id_contains_time_host_and_key);
    RUN(the_key_of_a_message_id_can_be_parsed);
    RUN(message_ids_sort_by_time_then_key);
    RUN(other_texts_are_not_message_ids);
    RUN(an_id_bears_the_number_of_its_host);
    RUN(an_address_has_an_agent_and_a_host);
    RUN(ids_start_with_a_letter_or_digit_and_have_few_other_characters);
    RUN(the_length_of_an_id_is_limited);
    RUN(a_checkpoint_id_is_a_message_id_with_another_prefix);
    RUN(an_item_id_is_a_message_id_with_another_prefix);
    RUN(an_id_of_another_time_is_another_id);
    return check_done();
}

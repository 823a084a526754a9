#include "model/message_fields.h"

#include "check.h"

static int find(const char *name, unsigned context)
{
    return soc_message_fields_find(soc_slice_text(name), context);
}

static void the_table_is_sorted_by_name(void)
{
    for (int i = 1; i < SOC_MESSAGE_FIELD_COUNT; i++) {
        const char *before = soc_message_fields_rule((enum soc_message_field)(i - 1))->name;
        const char *name = soc_message_fields_rule((enum soc_message_field)i)->name;
        if (!CHECK(strcmp(before, name) < 0))
            printf("# %s, %s\n", before, name);
    }
}

static void there_is_a_bit_for_each_field(void)
{
    CHECK(SOC_MESSAGE_FIELD_COUNT <= 32);
}

static void every_field_is_found_where_it_may_be_said_and_nowhere_else(void)
{
    static const unsigned contexts[] = {
        SOC_SEND_FROM_AGENT, SOC_SEND_FROM_BROADCAST, SOC_SEND_FROM_REPLY, SOC_SEND_FROM_SOCKET,
        SOC_SEND_FROM_FILE,  SOC_SEND_FROM_WAIT,      SOC_SEND_FROM_ACKED};
    for (int i = 0; i < SOC_MESSAGE_FIELD_COUNT; i++) {
        const struct soc_field_rule *rule = soc_message_fields_rule((enum soc_message_field)i);
        for (int k = 0; k < 7; k++) {
            if (i == SOC_MESSAGE_FIELD_ID && contexts[k] == SOC_SEND_FROM_FILE)
                continue; /* there it is another name of external_id */
            CHECK_INT(find(rule->name, contexts[k]), rule->given_by & contexts[k] ? i : -1);
        }
    }
}

static bool can_be_said(enum soc_field_kind kind)
{
    bool can = false;
    for (int i = 0; i < SOC_MESSAGE_FIELD_COUNT; i++) {
        const struct soc_field_rule *rule = soc_message_fields_rule((enum soc_message_field)i);
        can = can || (rule->kind == kind && rule->given_by != 0);
    }
    return can;
}

static void whatever_can_be_said_has_words_for_what_it_must_be(void)
{
    for (int i = 0; i < SOC_MESSAGE_FIELD_COUNT; i++) {
        const struct soc_field_rule *rule = soc_message_fields_rule((enum soc_message_field)i);
        bool takes_anything = rule->kind == SOC_KIND_SENDER || rule->kind == SOC_KIND_PAYLOAD;
        bool has_words = soc_field_kind_expects(rule->kind) != NULL;
        CHECK_INT(has_words, can_be_said(rule->kind) && !takes_anything);
        CHECK(strlen(soc_field_kind_name(rule->kind)) > 0);
    }
}

static void other_names_mean_their_field(void)
{
    CHECK_INT(find("content", SOC_SEND_FROM_AGENT), SOC_MESSAGE_FIELD_PAYLOAD);
    CHECK_INT(find("taskId", SOC_SEND_FROM_SOCKET), SOC_MESSAGE_FIELD_TASK_ID);
    CHECK_INT(find("id", SOC_SEND_FROM_FILE), SOC_MESSAGE_FIELD_EXTERNAL_ID);
    CHECK_INT(find("id", SOC_SEND_FROM_SOCKET), -1);
    CHECK_INT(find("timeout_ms", SOC_SEND_FROM_SOCKET | SOC_SEND_FROM_WAIT),
              SOC_MESSAGE_FIELD_TIMEOUT_MS);
    CHECK_INT(find("", SOC_SEND_FROM_AGENT), -1);
    CHECK_INT(find("to ", SOC_SEND_FROM_AGENT), -1);
    CHECK_INT(soc_message_fields_find(soc_slice("to\0", 3), SOC_SEND_FROM_AGENT), -1);
}

static void the_names_of_a_context_can_be_walked(void)
{
    static const char *const names[] = {"delay_ms", "priority", "ttl_seconds", "type"};
    int count = 0;
    const char *name;
    while ((name = soc_message_fields_name(SOC_SEND_FROM_REPLY, count)) != NULL && count < 4) {
        CHECK_TEXT(name, names[count]);
        count++;
    }
    CHECK(name == NULL);
    CHECK_INT(count, 4);
}

static void members_of_a_payload_are_found_by_their_names_alone(void)
{
    const char *const *names = soc_message_fields_payload_names();
    int count = 0;
    for (; names[count] != NULL; count++)
        CHECK(soc_message_fields_find_in_payload(soc_slice_text(names[count])) >= 0);
    CHECK_INT(count, 8);
    CHECK_INT(soc_message_fields_find_in_payload(SOC_SLICE("messageType")), SOC_MESSAGE_FIELD_TYPE);
    CHECK_INT(soc_message_fields_find_in_payload(SOC_SLICE("type")), -1);
}

int main(void)
{
    RUN(the_table_is_sorted_by_name);
    RUN(there_is_a_bit_for_each_field);
    RUN(every_field_is_found_where_it_may_be_said_and_nowhere_else);
    RUN(whatever_can_be_said_has_words_for_what_it_must_be);
    RUN(other_names_mean_their_field);
    RUN(the_names_of_a_context_can_be_walked);
    RUN(members_of_a_payload_are_found_by_their_names_alone);
    return check_done();
}

/* Also what covers kernel/mail/send_input.h, which takes the values that the reader finds.
 *
 * Covers: core/kernel/mail/send_input.c */
#include "kernel/mail/send_reader.h"

#include "check.h"
#include "env/clock.h"

/* One object, read. */
struct read {
    struct soc_send_reader reader;
    struct soc_send_input input;
    struct soc_send_input_fault fault;
    int rc;
};

static struct read begin(const char *json, unsigned context)
{
    struct read read = {0};
    read.rc =
        soc_send_reader_read(&read.reader, soc_slice_text(json), context, &read.input, &read.fault);
    return read;
}

static void end(struct read *read)
{
    soc_send_reader_fini(&read->reader);
}

static void check_slice(struct soc_slice actual, const char *expected)
{
    CHECK_BYTES(actual.data, actual.length, expected);
}

/* Checks what a bad object is refused with. */
static void refuse(const char *json, unsigned context, const char *field, const char *sentence)
{
    struct read read = begin(json, context);
    CHECK_INT(read.rc, SOC_EINVAL);
    CHECK_TEXT(read.fault.field, field);
    CHECK_TEXT(read.fault.detail.text, sentence);
    end(&read);
}

static void every_field_a_sender_may_set_is_read(void)
{
    struct read read = begin("{\"to\":\"a\",\"payload\":[1],\"type\":\"query\",\"priority\":\"P1\","
                             "\"ttl_seconds\":0.29,\"requires_ack\":true,\"deadline\":5,"
                             "\"deliver_at\":\"1970-01-01T00:00:07Z\",\"task_id\":\"t\","
                             "\"correlation_id\":\"c\",\"dedupe_key\":\"d\",\"traceparent\":\"p\","
                             "\"id\":\"i\",\"reply_to\":\"r\",\"from\":7,\"surprise\":{}}",
                             SOC_SEND_FROM_FILE);
    const struct soc_send *send = &read.input.send;
    CHECK_INT(read.rc, SOC_OK);
    check_slice(send->to, "a");
    check_slice(send->payload, "[1]");
    check_slice(send->type, "query");
    CHECK(send->has_priority && send->priority == SOC_PRIORITY_HIGH);
    CHECK(send->has_requires_ack && send->requires_ack);
    CHECK_INT(send->ttl_ms, 290);
    CHECK_INT(send->deadline_ms, 5);
    CHECK_INT(send->deliver_at_ms, 7000);
    check_slice(send->texts[SOC_TEXT_TASK_ID], "t");
    check_slice(send->texts[SOC_TEXT_CORRELATION_ID], "c");
    check_slice(send->texts[SOC_TEXT_DEDUPE_KEY], "d");
    check_slice(send->texts[SOC_TEXT_TRACEPARENT], "p");
    check_slice(send->texts[SOC_TEXT_EXTERNAL_ID], "i");
    check_slice(read.input.reply_to, "r");
    end(&read);
}

static void a_context_hides_fields_that_do_not_belong_to_it(void)
{
    struct read read =
        begin("{\"payload\":1,\"id\":9,\"reply_to\":9,\"timeout_ms\":\"x\"}", SOC_SEND_FROM_SOCKET);
    CHECK_INT(read.rc, SOC_OK);
    CHECK_INT(read.input.fields, 1u << SOC_MESSAGE_FIELD_PAYLOAD);
    end(&read);
    read = begin("{\"payload\":1,\"timeout_ms\":2.6}", SOC_SEND_FROM_SOCKET | SOC_SEND_FROM_WAIT);
    CHECK_INT(read.input.timeout_ms, 3);
    end(&read);
}

static void null_means_absent(void)
{
    struct read read = begin("{\"payload\":null,\"content\":\"x\",\"type\":null,\"to\":null,"
                             "\"requires_ack\":null}",
                             SOC_SEND_FROM_SOCKET);
    CHECK_INT(read.rc, SOC_OK);
    check_slice(read.input.send.payload, "{\"text\":\"x\"}");
    CHECK_INT(read.input.fields, 1u << SOC_MESSAGE_FIELD_PAYLOAD);
    CHECK(!read.input.send.has_requires_ack);
    end(&read);
}

static void escapes_are_read_in_names_and_values(void)
{
    struct read read = begin("{\"\\u0074o\":\"\\u0061\\n\",\"pa\\u0079load\":\"\\u0041\","
                             "\"correlation_id\":\"\\ud83d\\ude00\"}",
                             SOC_SEND_FROM_SOCKET);
    CHECK_INT(read.rc, SOC_OK);
    check_slice(read.input.send.to, "a\n");
    check_slice(read.input.send.payload, "{\"text\":\"\\u0041\"}");
    check_slice(read.input.send.texts[SOC_TEXT_CORRELATION_ID], "\xf0\x9f\x98\x80");
    end(&read);
}

static void a_list_of_receivers_is_read(void)
{
    struct read read = begin("{\"to\":[\"a\",\"\\u0062\"],\"payload\":1}", SOC_SEND_FROM_FILE);
    CHECK_INT(read.rc, SOC_OK);
    CHECK(read.input.send.to.data == NULL);
    if (CHECK_INT(read.input.receivers_count, 2)) {
        check_slice(read.input.receivers[0], "a");
        check_slice(read.input.receivers[1], "b");
    }
    end(&read);
}

static void a_bad_value_is_refused_in_the_same_words_at_every_door(void)
{
    static const char key[] = " must be a string of at most 256 bytes, UTF-8 without NUL";
    static const char list[] = "'to' must be an agent's id or a list of 1 to 1000 ids";
    static const unsigned doors[] = {SOC_SEND_FROM_SOCKET, SOC_SEND_FROM_FILE};
    char sentence[256];
    for (int i = 0; i < 2; i++) {
        refuse("{\"payload\":1,\"requires_ack\":\"yes\"}", doors[i], "requires_ack",
               "'requires_ack' must be true or false");
        refuse("{\"payload\":1,\"ttl_seconds\":0}", doors[i], "ttl_seconds",
               "'ttl_seconds' must be a number above 0 and at most 10^11");
        refuse("{\"payload\":1,\"ttl_seconds\":\"1\"}", doors[i], "ttl_seconds",
               "'ttl_seconds' must be a number above 0 and at most 10^11");
        refuse("{\"payload\":1,\"priority\":1}", doors[i], "priority",
               "'priority' must be urgent, high, normal, low or P0 to P3");
        refuse("{\"payload\":1,\"delay_ms\":-1}", doors[i], "delay_ms",
               "'delay_ms' must be a number from 0 to 10^14");
        refuse("{\"payload\":1,\"deadline\":\"soon\"}", doors[i], "deadline",
               "'deadline' must be an RFC 3339 time, or ms since 1970 from 0 to 10^14");
        refuse("{\"payload\":1,\"deadline\":1e15}", doors[i], "deadline",
               "'deadline' must be an RFC 3339 time, or ms since 1970 from 0 to 10^14");
        refuse("{\"payload\":1,\"task_id\":7}", doors[i], "task_id", "'task_id' must be a string");
        refuse("{\"payload\":1,\"to\":{}}", doors[i], "to", list);
        refuse("{\"payload\":1,\"to\":[]}", doors[i], "to", list);
        refuse("{\"payload\":1,\"to\":[\"a\",7]}", doors[i], "to", list);
        snprintf(sentence, sizeof(sentence), "'dedupe_key'%s", key);
        refuse("{\"payload\":1,\"dedupe_key\":\"a\\u0000\"}", doors[i], "dedupe_key", sentence);
    }
}

static void of_several_faults_the_first_in_the_table_is_named(void)
{
    refuse("{\"type\":7,\"priority\":7,\"payload\":1}", SOC_SEND_FROM_SOCKET, "priority",
           "'priority' must be urgent, high, normal, low or P0 to P3");
    refuse("{\"priority\":7,\"type\":7}", SOC_SEND_FROM_SOCKET, "priority",
           "'priority' must be urgent, high, normal, low or P0 to P3");
}

static void a_field_may_be_set_once(void)
{
    refuse("{\"payload\":1,\"content\":2}", SOC_SEND_FROM_FILE, "payload",
           "give payload or content, not both");
    refuse("{\"payload\":1,\"taskId\":\"a\",\"task_id\":\"a\"}", SOC_SEND_FROM_SOCKET, "task_id",
           "give task_id or taskId, not both");
    refuse("{\"payload\":1,\"id\":\"a\",\"external_id\":\"b\"}", SOC_SEND_FROM_FILE, "external_id",
           "give external_id or id, not both");
    refuse("{\"payload\":1,\"delay_ms\":0,\"deliver_at\":5}", SOC_SEND_FROM_SOCKET, "deliver_at",
           "give delay_ms or deliver_at, not both");
}

static void a_request_has_one_receiver(void)
{
    refuse("{\"payload\":1,\"to\":[\"a\"]}", SOC_SEND_FROM_SOCKET | SOC_SEND_FROM_WAIT, "to",
           "'to' must be one agent's id: a request has one receiver");
}

static void a_missing_payload_has_its_own_error(void)
{
    struct soc_buf error = {0};
    struct read read = begin("{\"to\":\"a\"}", SOC_SEND_FROM_SOCKET);
    CHECK_INT(read.rc, SOC_ENOPAYLOAD);
    CHECK_INT(soc_send_reader_refuse(&error, read.rc, &read.fault), SOC_ENOPAYLOAD);
    CHECK_TEXT(soc_buf_text(&error),
               "{\"error\":\"missing_payload\",\"message\":\"a message needs a payload\"}");
    end(&read);
    soc_buf_fini(&error);
}

static void a_delay_becomes_a_time(void)
{
    struct read read = begin("{\"payload\":1,\"delay_ms\":50}", SOC_SEND_FROM_SOCKET);
    struct soc_clock clock;
    CHECK_INT(read.input.send.deliver_at_ms, 0);
    soc_clock_init(&clock, true);
    soc_clock_set(&clock, 1000);
    soc_send_input_settle(&read.input, &clock);
    CHECK_INT(read.input.send.deliver_at_ms, 1050);
    CHECK(!read.input.send.is_dated);
    end(&read);
}

static void a_date_becomes_a_time_of_the_society(void)
{
    struct read read = begin("{\"payload\":1,\"deliver_at\":7000}", SOC_SEND_FROM_SOCKET);
    struct soc_clock clock;
    soc_clock_init(&clock, true);
    soc_clock_set(&clock, 5000);
    CHECK(soc_clock_resume(&clock, 104999));
    soc_send_input_settle(&read.input, &clock);
    CHECK_INT(read.input.send.deliver_at_ms, 107000);
    CHECK(read.input.send.is_dated);
    end(&read);
}

int main(void)
{
    RUN(every_field_a_sender_may_set_is_read);
    RUN(a_context_hides_fields_that_do_not_belong_to_it);
    RUN(null_means_absent);
    RUN(escapes_are_read_in_names_and_values);
    RUN(a_list_of_receivers_is_read);
    RUN(a_bad_value_is_refused_in_the_same_words_at_every_door);
    RUN(of_several_faults_the_first_in_the_table_is_named);
    RUN(a_field_may_be_set_once);
    RUN(a_request_has_one_receiver);
    RUN(a_missing_payload_has_its_own_error);
    RUN(a_delay_becomes_a_time);
    RUN(a_date_becomes_a_time_of_the_society);
    return check_done();
}

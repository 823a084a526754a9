/* Line: numbers and texts of lines are a pure function of records. */
#include "store/line.h"

#include "store_world.h"

/* Counts the lines of one record, by itself and in a batch of bytes. */
static uint64_t count(const struct soc_record *record, uint64_t *key)
{
    struct soc_buf batch = {0};
    soc_record_put(&batch, record);
    uint64_t lines = soc_line_count(soc_buf_slice(&batch), key);
    CHECK_INT(lines, soc_line_is_made(record));
    soc_buf_fini(&batch);
    return lines;
}

static void every_type_is_counted_in_bytes_as_it_is_in_records(void)
{
    static const unsigned types[] = {
#define R(tag, name, value) value,
        SOC_RECORD_MAP(R)
#undef R
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct soc_record record = {.type = (enum soc_record_type)types[i]};
        uint64_t key = 0;
        count(&record, &key);
    }
}

static void records_with_a_condition_make_a_line_if_it_holds(void)
{
    uint64_t key = 0;
    struct soc_record role = {.type = SOC_RECORD_ROLE};
    CHECK_INT(count(&role, &key), 0);
    role.role.creator = SOC_SLICE("ann");
    CHECK_INT(count(&role, &key), 1);
    struct soc_record removed = {.type = SOC_RECORD_CONTACT_END};
    CHECK_INT(count(&removed, &key), 0); /* of a version without the time */
    removed.contact_end.time_ms = 7;
    CHECK_INT(count(&removed, &key), 1);
    struct soc_record usage = {.type = SOC_RECORD_USAGE};
    CHECK_INT(count(&usage, &key), 0);
    usage.usage.time_ms = 7;
    CHECK_INT(count(&usage, &key), 1);
    struct soc_record end = {.type = SOC_RECORD_BROADCAST_END};
    static const int made[] = {0, 1, 0, 0, 1, 1}; /* by outcome */
    for (uint64_t i = 0; i < 6; i++) {
        end.broadcast_end = (struct soc_record_broadcast_end){.outcome = i};
        CHECK_INT(count(&end, &key), 0); /* without a reader it is over for all */
        end.broadcast_end.agent = SOC_SLICE("ann");
        CHECK_INT(count(&end, &key), made[i]);
    }
    CHECK_INT(key, 0);
}

static void the_highest_key_of_a_message_is_found(void)
{
    uint64_t key = 5;
    struct soc_record message = {.type = SOC_RECORD_MESSAGE, .message = {.key = 3}};
    CHECK_INT(count(&message, &key), 1);
    CHECK_INT(key, 5);
    message.message.key = UINT64_C(1) << 39;
    CHECK_INT(count(&message, &key), 1);
    CHECK(key == UINT64_C(1) << 39);
    struct soc_record end = {.type = SOC_RECORD_MESSAGE_END};
    end.message_end.key = UINT64_C(1) << 40;
    CHECK_INT(count(&end, &key), 1);
    CHECK(key == UINT64_C(1) << 39);
}

static void bytes_that_are_no_record_end_the_count(void)
{
    struct soc_buf batch = {0};
    uint64_t key = 0;
    struct soc_record message = {.type = SOC_RECORD_MESSAGE, .message = {.key = 3}};
    soc_record_put(&batch, &message);
    soc_buf_put_text(&batch, "\x07\x7f"
                             "cut off");
    CHECK_INT(soc_line_count(soc_buf_slice(&batch), &key), 1);
    soc_buf_fini(&batch);
}

static void a_line_takes_from_its_message_what_it_does_not_say(void)
{
    struct soc_record_message message = {
        .key = 9,
        .time_ms = 100,
        .from = SOC_SLICE("ann"),
        .to = SOC_SLICE("bob"),
        .type = SOC_SLICE("task"),
        .task_id = SOC_SLICE("t1"),
        .correlation_id = SOC_SLICE("c1"),
    };
    struct soc_record end = {.type = SOC_RECORD_MESSAGE_END};
    end.message_end = (struct soc_record_message_end){
        .key = 9, .time_ms = 200, .outcome = SOC_OUTCOME_DEAD, .reason = SOC_SLICE("gone")};
    struct soc_line line;
    struct soc_buf scratch = {0};
    soc_line_read(&end, &line, &scratch);
    soc_line_complete(&line, &message);
    CHECK_TEXT(line.event, "dead");
    CHECK_INT(line.time_ms, 200);
    CHECK_INT(line.sent_ms, 100);
    CHECK(soc_slice_equal(line.agent, message.to));
    CHECK(soc_slice_equal(line.other, message.from));
    CHECK(soc_slice_equal(line.type, message.type));
    CHECK(soc_slice_equal(line.task_id, message.task_id));
    CHECK(soc_slice_equal(line.correlation_id, message.correlation_id));
    CHECK(soc_slice_equal(line.detail, SOC_SLICE("gone")));
    soc_buf_fini(&scratch);
}

int main(void)
{
    RUN(every_type_is_counted_in_bytes_as_it_is_in_records);
    RUN(records_with_a_condition_make_a_line_if_it_holds);
    RUN(the_highest_key_of_a_message_is_found);
    RUN(bytes_that_are_no_record_end_the_count);
    RUN(a_line_takes_from_its_message_what_it_does_not_say);
    return check_done();
}

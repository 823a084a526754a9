/* Covers: core/store/writer.c, core/store/sqlite/presence.c */
#include "store_world.h"
#include "switched_disk.h"

#include <inttypes.h>
#include <pthread.h>

#include "env/clock.h"
#include "loop/loop.h"
#include "store/journal.h"

/* What a journal has reported. */
struct ear {
    struct world world;
    struct soc_loop *loop;
    struct soc_journal *journal;
    uint64_t durable;
    int durable_calls;
    bool is_in_order;
    int full_calls;
    bool is_full;
    int failed_calls;
    int answers;
    int answer_rc;
    size_t answer_rows;
};

static void hear_durable(uint64_t sequence, void *user)
{
    struct ear *ear = user;
    ear->is_in_order = ear->is_in_order && sequence > ear->durable;
    ear->durable = sequence;
    ear->durable_calls++;
}

static void hear_full(bool is_full, void *user)
{
    struct ear *ear = user;
    ear->is_full = is_full;
    ear->full_calls++;
}

static void hear_failed(const struct soc_detail *detail, void *user)
{
    struct ear *ear = user;
    CHECK(detail->text[0] != '\0');
    ear->failed_calls++;
}

static void hear_answer(int rc, struct soc_slice rows, void *user)
{
    struct ear *ear = user;
    ear->answers++;
    ear->answer_rc = rc;
    ear->answer_rows = 0;
    for (size_t i = 0; i + 1 < rows.length; i++)
        ear->answer_rows += rows.data[i] == '{' && rows.data[i + 1] == '"' &&
                            (rows.data[i - 1] == '[' || rows.data[i - 1] == ',');
}

static void ear_open(struct ear *ear)
{
    struct soc_journal_events events = {hear_durable, hear_full, hear_failed, ear};
    ear->durable = soc_store_sequence(ear->world.store);
    ear->is_in_order = true;
    ear->journal = soc_journal_open(ear->world.store, ear->loop, &events);
}

static void ear_init(struct ear *ear, enum place place, bool has_loop)
{
    *ear = (struct ear){0};
    world_init(&ear->world, place);
    ear->loop = has_loop ? soc_loop_new() : NULL;
    ear_open(ear);
}

static void ear_fini(struct ear *ear)
{
    world_fini(&ear->world);
    soc_loop_free(ear->loop);
}

/* Submits one message that is sent and processed. */
static uint64_t submit(struct ear *ear, uint64_t key)
{
    put_message(&ear->world, key);
    PUT(&ear->world, MESSAGE_END, message_end, .key = key, .time_ms = NOW_MS, .outcome = 1);
    return soc_journal_submit(ear->journal, &ear->world.batch);
}

/* Polls until `*value` is at least `wanted`, for ten seconds at most. */
#define WAIT_FOR(ear, value, wanted)                                                               \
    for (int64_t until_us = soc_clock_monotonic_us() + 10000000;                                   \
         (value) < (wanted) && soc_clock_monotonic_us() < until_us;)                               \
    soc_loop_poll((ear)->loop, 10)

static void without_a_loop_a_batch_is_reported_before_submit_returns(void)
{
    struct ear ear;
    ear_init(&ear, IN_MEMORY, false);
    CHECK_INT(submit(&ear, 1), 1);
    CHECK_INT(ear.durable, 1);
    CHECK_INT(ear.world.batch.length, 0);
    CHECK_INT(soc_journal_bytes(ear.journal), 0);
    CHECK_INT(soc_journal_durable(ear.journal), 1);
    CHECK_INT(submit(&ear, 2), 2);
    struct soc_query query = {.what = "messages"};
    soc_journal_query(ear.journal, &query, hear_answer, &ear);
    CHECK_INT(ear.answer_rows, 2);
    soc_journal_crash(ear.journal);
    ear_open(&ear);
    CHECK_INT(submit(&ear, 3), 3);
    soc_journal_close(ear.journal, 1000);
    ear_fini(&ear);
}

static void every_batch_becomes_durable_in_order(void)
{
    struct ear ear;
    ear_init(&ear, IN_DIRECTORY, true);
    for (uint64_t key = 1; key <= 500; key++)
        CHECK_INT(submit(&ear, key), key);
    CHECK(soc_journal_bytes(ear.journal) > 0);
    WAIT_FOR(&ear, ear.durable, 500);
    CHECK_INT(ear.durable, 500);
    CHECK_INT(soc_journal_durable(ear.journal), 500);
    CHECK(ear.is_in_order);
    CHECK_INT(soc_journal_bytes(ear.journal), 0);
    CHECK(ear.durable_calls < 500); /* many batches shared a transaction */
    soc_journal_close(ear.journal, 0);
    world_reopen(&ear.world);
    CHECK_INT(soc_store_sequence(ear.world.store), 500);
    ear_fini(&ear);
}

/* A removed file is still written and synced without error. */
static void take_away(const struct world *world, const char *name, bool is_replaced)
{
    char other[512];
    snprintf(other, sizeof(other), "%s", world_path(world, "other"));
    FILE *file = fopen(other, "wb");
    CHECK(file != NULL && fclose(file) == 0);
    if (is_replaced)
        CHECK_INT(rename(other, world_path(world, name)), 0);
    else
        CHECK_INT(unlink(world_path(world, name)), 0);
}

static void nothing_is_durable_in_files_that_are_gone(void)
{
    static const char *const names[] = {"society.db", "society.db-wal", "society.db-mark",
                                        "society.db-shm"};
    for (int i = 0; i < 8; i++) {
        struct ear ear;
        ear_init(&ear, IN_DIRECTORY, i % 2 == 0);
        submit(&ear, 1);
        if (ear.loop != NULL)
            WAIT_FOR(&ear, ear.durable, 1);
        take_away(&ear.world, names[i / 2], i % 4 == 3);
        submit(&ear, 2);
        if (ear.loop != NULL)
            WAIT_FOR(&ear, ear.failed_calls, 1);
        CHECK_INT(ear.failed_calls, 1);
        CHECK_INT(ear.durable, 1);
        soc_journal_crash(ear.journal);
        ear_fini(&ear);
    }
}

static void files_that_are_gone_are_noticed_without_a_commit(void)
{
    struct ear ear;
    ear_init(&ear, IN_DIRECTORY, true);
    submit(&ear, 1);
    WAIT_FOR(&ear, ear.durable, 1);
    take_away(&ear.world, "society.db", false);
    WAIT_FOR(&ear, ear.failed_calls, 1);
    CHECK_INT(ear.failed_calls, 1);
    soc_journal_crash(ear.journal);
    ear_fini(&ear);
}

static void a_close_waits_for_every_batch_and_folds(void)
{
    struct ear ear;
    ear_init(&ear, IN_DIRECTORY, true);
    for (uint64_t key = 1; key <= 200; key++)
        submit(&ear, key);
    soc_journal_close(ear.journal, 10000);
    CHECK_INT(ear.durable, 200);
    CHECK_INT(soc_store_sequence(ear.world.store), 200);
    CHECK_INT(soc_store_backlog(ear.world.store), 0);
    ear_fini(&ear);
}

static void a_close_without_time_to_fold_leaves_the_journal(void)
{
    struct ear ear;
    ear_init(&ear, IN_DIRECTORY, true);
    submit(&ear, 1);
    soc_journal_close(ear.journal, 0);
    CHECK_INT(ear.durable, 1);
    CHECK(soc_store_backlog(ear.world.store) > 0);
    ear_fini(&ear);
}

static void a_crash_keeps_a_prefix_and_reports_nothing(void)
{
    struct ear ear;
    ear_init(&ear, IN_DIRECTORY, true);
    for (uint64_t key = 1; key <= 300; key++)
        submit(&ear, key);
    soc_journal_crash(ear.journal);
    CHECK_INT(ear.durable_calls, 0);
    uint64_t sequence = soc_store_sequence(ear.world.store);
    CHECK(sequence <= 300);
    world_reopen(&ear.world);
    CHECK_INT(soc_store_sequence(ear.world.store), sequence);
    ear_open(&ear);
    CHECK_INT(submit(&ear, sequence + 1), sequence + 1);
    soc_journal_close(ear.journal, 1000);
    CHECK_INT(ear.durable, sequence + 1);
    ear_fini(&ear);
}

static void a_query_sees_everything_submitted_before_it(void)
{
    struct ear ear;
    ear_init(&ear, IN_DIRECTORY, true);
    for (uint64_t key = 1; key <= 100; key++)
        submit(&ear, key);
    char agent[] = "root";
    struct soc_query query = {.what = "messages", .agent = soc_slice_text(agent)};
    soc_journal_query(ear.journal, &query, hear_answer, &ear);
    memset(agent, 'x', 4); /* its texts were copied */
    for (uint64_t key = 101; key <= 200; key++)
        submit(&ear, key);
    WAIT_FOR(&ear, ear.answers, 1);
    CHECK_INT(ear.answer_rc, SOC_OK);
    CHECK(ear.answer_rows >= 100 && ear.answer_rows <= 200);
    CHECK(ear.durable >= 100);
    query = (struct soc_query){.what = "nonsense"};
    soc_journal_query(ear.journal, &query, hear_answer, &ear);
    WAIT_FOR(&ear, ear.answers, 2);
    CHECK_INT(ear.answer_rc, SOC_EINVAL);
    soc_journal_query(ear.journal, &query, hear_answer, &ear);
    soc_journal_close(ear.journal, 0);
    CHECK_INT(ear.answers, 3); /* answered or dropped, but told */
    CHECK(ear.answer_rc == SOC_EINVAL || ear.answer_rc == SOC_ECLOSED);
    ear_fini(&ear);
}

/* Rows left in the journal, as another program sees them. */
static int count_journal(struct ear *ear)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    int count = -1;
    CHECK_INT(sqlite3_open(world_path(&ear->world, "society.db"), &db), SQLITE_OK);
    sqlite3_prepare_v2(db, "SELECT count(*) FROM journal", -1, &statement, NULL);
    if (sqlite3_step(statement) == SQLITE_ROW)
        count = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return count;
}

static void an_idle_journal_folds_by_itself(void)
{
    struct ear ear;
    ear_init(&ear, IN_DIRECTORY, true);
    submit(&ear, 1);
    WAIT_FOR(&ear, ear.durable, 1);
    CHECK_INT(count_journal(&ear), 1);
    WAIT_FOR(&ear, -count_journal(&ear), 0);
    CHECK_INT(count_journal(&ear), 0);
    soc_journal_close(ear.journal, 0);
    ear_fini(&ear);
}

static void a_trickle_of_batches_does_not_delay_folding_forever(void)
{
    struct ear ear;
    ear_init(&ear, IN_DIRECTORY, true);
    uint64_t key = 0;
    int64_t until_us = soc_clock_monotonic_us() + 20000000; /* a busy machine folds late */
    int lowest = 1000;
    while (lowest >= 15 && soc_clock_monotonic_us() < until_us) {
        submit(&ear, ++key);
        soc_loop_poll(ear.loop, 20);
        if (key > 20) {
            int count = count_journal(&ear);
            lowest = count < lowest ? count : lowest;
        }
    }
    CHECK(lowest < 15);
    soc_journal_close(ear.journal, 0);
    ear_fini(&ear);
}

static void a_full_disk_is_reported_and_retried(void)
{
    struct ear ear;
    ear_init(&ear, IN_DIRECTORY, true);
    atomic_store(&disk.is_full, true);
    submit(&ear, 1);
    submit(&ear, 2);
    WAIT_FOR(&ear, ear.full_calls, 1);
    CHECK(ear.is_full);
    CHECK_INT(ear.durable, 0);
    CHECK(soc_journal_bytes(ear.journal) > 0);
    atomic_store(&disk.is_full, false);
    WAIT_FOR(&ear, ear.durable, 2);
    CHECK_INT(ear.durable, 2);
    CHECK_INT(ear.full_calls, 2);
    CHECK(!ear.is_full);
    CHECK_INT(ear.failed_calls, 0);
    soc_journal_close(ear.journal, 0);
    CHECK_INT(soc_store_sequence(ear.world.store), 2);
    ear_fini(&ear);
}

static void a_close_does_not_wait_for_a_full_disk(void)
{
    struct ear ear;
    ear_init(&ear, IN_DIRECTORY, true);
    submit(&ear, 1);
    WAIT_FOR(&ear, ear.durable, 1);
    atomic_store(&disk.is_full, true);
    submit(&ear, 2);
    submit(&ear, 3);
    soc_journal_close(ear.journal, 0);
    CHECK_INT(ear.failed_calls, 1);
    atomic_store(&disk.is_full, false);
    CHECK_INT(ear.durable, 1);
    CHECK_INT(soc_store_sequence(ear.world.store), 1);
    ear_fini(&ear);
}

static void a_crash_does_not_wait_for_a_full_disk(void)
{
    struct ear ear;
    ear_init(&ear, IN_DIRECTORY, true);
    atomic_store(&disk.is_full, true);
    submit(&ear, 1);
    WAIT_FOR(&ear, ear.full_calls, 1);
    soc_journal_crash(ear.journal);
    atomic_store(&disk.is_full, false);
    CHECK_INT(ear.durable, 0);
    ear_fini(&ear);
}

static void a_failed_disk_is_reported_once_and_ends_the_journal(void)
{
    struct ear ear;
    ear_init(&ear, IN_DIRECTORY, true);
    submit(&ear, 1);
    WAIT_FOR(&ear, ear.durable, 1);
    atomic_store(&disk.sync_fails, true);
    submit(&ear, 2);
    WAIT_FOR(&ear, ear.failed_calls, 1);
    atomic_store(&disk.sync_fails, false);
    CHECK_INT(submit(&ear, 3), 3);
    struct soc_query query = {.what = "messages"};
    soc_journal_query(ear.journal, &query, hear_answer, &ear);
    soc_loop_poll(ear.loop, 50);
    CHECK_INT(ear.answer_rc, SOC_EIO);
    soc_journal_close(ear.journal, 1000);
    CHECK_INT(ear.failed_calls, 1);
    CHECK_INT(ear.durable, 1);
    ear_fini(&ear);
}

static void a_failed_disk_is_reported_without_a_loop_as_well(void)
{
    struct ear ear;
    ear_init(&ear, IN_DIRECTORY, false);
    atomic_store(&disk.sync_fails, true);
    submit(&ear, 1);
    atomic_store(&disk.sync_fails, false);
    submit(&ear, 2);
    CHECK_INT(ear.failed_calls, 1);
    CHECK_INT(ear.durable, 0);
    soc_journal_close(ear.journal, 1000);
    ear_fini(&ear);
}

static void ask(struct ear *ear, bool waits_for_room)
{
    struct soc_query query = {.what = "messages", .waits_for_room = waits_for_room};
    soc_journal_query(ear->journal, &query, hear_answer, ear);
}

/* Queries while the disk is in trouble, with something to fold first. A writer that has
 * already folded answers all the same: then it tries again. */
static void ask_in_trouble(struct ear *ear, atomic_bool *trouble)
{
    for (uint64_t key = 1; key <= 50; key++) {
        submit(ear, key);
        if (ear->loop != NULL)
            WAIT_FOR(ear, ear->durable, key);
        atomic_store(trouble, true);
        ask(ear, true);
        if (ear->loop != NULL)
            WAIT_FOR(ear, ear->answers + ear->full_calls + ear->failed_calls, 1);
        if (ear->answers == 0 || ear->answer_rc < 0)
            return;
        atomic_store(trouble, false);
        ear->answers = 0;
    }
}

static void a_query_that_meets_a_failed_disk_ends_the_journal(void)
{
    struct ear ear;
    for (int has_loop = 0; has_loop < 2; has_loop++) {
        ear_init(&ear, IN_DIRECTORY, has_loop);
        ask_in_trouble(&ear, &disk.write_fails);
        if (has_loop)
            WAIT_FOR(&ear, ear.answers + ear.failed_calls, 2);
        atomic_store(&disk.write_fails, false);
        CHECK_INT(ear.answers, 1);
        CHECK_INT(ear.answer_rc, SOC_EIO);
        CHECK_INT(ear.failed_calls, 1);
        soc_journal_close(ear.journal, 0);
        ear_fini(&ear);
    }
}

static void a_query_waits_for_space_if_it_says_so(void)
{
    struct ear ear;
    for (int has_loop = 0; has_loop < 2; has_loop++) {
        ear_init(&ear, IN_DIRECTORY, has_loop);
        ask_in_trouble(&ear, &disk.is_full);
        CHECK(ear.is_full);
        CHECK_INT(ear.answers, 0);
        ask(&ear, false);
        if (has_loop)
            WAIT_FOR(&ear, ear.answers, 1);
        CHECK_INT(ear.answers, 1);
        CHECK_INT(ear.answer_rc, SOC_EDISKFULL);
        atomic_store(&disk.is_full, false);
        if (has_loop)
            WAIT_FOR(&ear, ear.answers, 2);
        else
            soc_journal_retry(ear.journal);
        CHECK_INT(ear.answers, 2);
        CHECK_INT(ear.answer_rc, SOC_OK);
        CHECK(ear.answer_rows >= 1);
        CHECK(!ear.is_full);
        CHECK_INT(ear.failed_calls, 0);
        soc_journal_close(ear.journal, 0);
        ear_fini(&ear);
    }
}

static void a_query_that_waits_for_space_does_not_delay_a_close(void)
{
    struct ear ear;
    for (int has_loop = 0; has_loop < 2; has_loop++) {
        ear_init(&ear, IN_DIRECTORY, has_loop);
        ask_in_trouble(&ear, &disk.is_full);
        CHECK_INT(ear.answers, 0);
        soc_journal_close(ear.journal, 0);
        CHECK_INT(ear.answers, 1);
        CHECK(ear.answer_rc < 0);
        atomic_store(&disk.is_full, false);
        ear_fini(&ear);
    }
}

static void a_store_in_memory_can_have_a_thread(void)
{
    struct ear ear;
    ear_init(&ear, IN_MEMORY, true);
    for (uint64_t key = 1; key <= 100; key++)
        submit(&ear, key);
    struct soc_query query = {.what = "messages"};
    soc_journal_query(ear.journal, &query, hear_answer, &ear);
    soc_journal_close(ear.journal, 1000);
    CHECK_INT(ear.durable, 100);
    CHECK_INT(ear.answer_rows, 100);
    ear_fini(&ear);
}

static void many_batches_become_durable_among_queries(void)
{
    struct ear ear;
    ear_init(&ear, IN_DIRECTORY, true);
    int64_t started_us = soc_clock_monotonic_us();
    uint64_t key = 0;
    int asked = 0;
    for (int batch = 1; batch <= 300; batch++) {
        for (int i = 0; i < 99; i++) {
            put_message(&ear.world, ++key);
            PUT(&ear.world, MESSAGE_END, message_end, .key = key, .time_ms = 1, .outcome = 1);
        }
        submit(&ear, ++key);
        soc_loop_poll(ear.loop, 0);
        if (batch % 100 == 0) {
            struct soc_query query = {.what = "messages", .limit = 5};
            soc_journal_query(ear.journal, &query, hear_answer, &ear);
            asked++;
        }
    }
    WAIT_FOR(&ear, ear.durable, 300);
    printf("# 30,000 messages durable after %" PRId64 " ms, %d reports\n",
           (soc_clock_monotonic_us() - started_us) / 1000, ear.durable_calls);
    WAIT_FOR(&ear, ear.answers, asked); /* a close would refuse what has not been read yet */
    CHECK_INT(ear.answer_rc, SOC_OK);
    soc_journal_close(ear.journal, 20000);
    CHECK_INT(ear.durable, 300);
    CHECK(ear.is_in_order);
    CHECK_INT(ear.answers, asked);
    CHECK_INT(ear.answer_rows, 5);
    CHECK_INT(soc_store_backlog(ear.world.store), 0);
    ear_fini(&ear);
}

int main(void)
{
    disk_install();
    RUN(without_a_loop_a_batch_is_reported_before_submit_returns);
    RUN(every_batch_becomes_durable_in_order);
    RUN(nothing_is_durable_in_files_that_are_gone);
    RUN(files_that_are_gone_are_noticed_without_a_commit);
    RUN(a_close_waits_for_every_batch_and_folds);
    RUN(a_close_without_time_to_fold_leaves_the_journal);
    RUN(a_crash_keeps_a_prefix_and_reports_nothing);
    RUN(a_query_sees_everything_submitted_before_it);
    RUN(an_idle_journal_folds_by_itself);
    RUN(a_trickle_of_batches_does_not_delay_folding_forever);
    RUN(a_full_disk_is_reported_and_retried);
    RUN(a_close_does_not_wait_for_a_full_disk);
    RUN(a_crash_does_not_wait_for_a_full_disk);
    RUN(a_failed_disk_is_reported_once_and_ends_the_journal);
    RUN(a_failed_disk_is_reported_without_a_loop_as_well);
    RUN(a_query_that_meets_a_failed_disk_ends_the_journal);
    RUN(a_query_waits_for_space_if_it_says_so);
    RUN(a_query_that_waits_for_space_does_not_delay_a_close);
    RUN(a_store_in_memory_can_have_a_thread);
    RUN(many_batches_become_durable_among_queries);
    return check_done();
}

/* Reader: looks are answered beside the journal and hold nothing up. */
#include "store/reader.h"

#include "store_world.h"

#include "env/clock.h"
#include "loop/loop.h"
#include "store/journal.h"
#include "store/tables/database.h"

/* A journal with its reader, and what they have reported. */
struct ear {
    struct world world;
    struct soc_loop *loop;
    struct soc_journal *journal;
    uint64_t durable;
    int answers;
    int closed; /* answers without rows, because they were dropped or the end came */
    int failed;
    struct soc_page page;
    struct soc_buf rows;
};

static void hear_durable(uint64_t sequence, void *user)
{
    struct ear *ear = user;
    CHECK(sequence > ear->durable);
    ear->durable = sequence;
}

static void hear_failed(const struct soc_detail *detail, void *user)
{
    struct ear *ear = user;
    printf("# %s\n", detail->text);
    ear->failed++;
}

static void hear_page(int rc, struct soc_slice rows, const struct soc_page *page, void *user)
{
    struct ear *ear = user;
    ear->answers++;
    if (rc == SOC_ECLOSED) {
        ear->closed++;
        return;
    }
    CHECK_INT(rc, SOC_OK);
    ear->page = *page;
    ear->rows.length = 0;
    soc_buf_put_slice(&ear->rows, rows);
}

static void ear_init(struct ear *ear)
{
    *ear = (struct ear){0};
    world_init(&ear->world, IN_DIRECTORY);
    ear->loop = soc_loop_new();
    struct soc_journal_events events = {
        .on_durable = hear_durable, .on_failed = hear_failed, .user = ear};
    ear->journal = soc_journal_open(ear->world.store, ear->loop, &events);
}

static void ear_fini(struct ear *ear)
{
    CHECK_INT(ear->failed, 0);
    soc_buf_fini(&ear->rows);
    world_fini(&ear->world);
    soc_loop_free(ear->loop);
}

static void submit(struct ear *ear, uint64_t first, uint64_t count)
{
    for (uint64_t key = first; key < first + count; key++) {
        put_message(&ear->world, key);
        PUT(&ear->world, MESSAGE_END, message_end, .key = key, .time_ms = NOW_MS, .outcome = 1);
    }
    soc_journal_submit(ear->journal, &ear->world.batch);
}

/* Polls until `value` is at least `wanted`, for a minute at most. */
#define WAIT_FOR(ear, value, wanted)                                                               \
    for (int64_t until_us = soc_clock_monotonic_us() + 60000000;                                   \
         (value) < (wanted) && soc_clock_monotonic_us() < until_us;)                               \
    soc_loop_poll((ear)->loop, 10)

static void ask(struct ear *ear, struct soc_query query)
{
    query.is_page = true;
    soc_journal_ask(ear->journal, &query, hear_page, ear);
}

static void a_look_sees_every_batch_submitted_before_it(void)
{
    struct ear ear;
    ear_init(&ear);
    for (uint64_t i = 0; i < 50; i++) {
        submit(&ear, i * 10 + 1, 10);
        ask(&ear, (struct soc_query){.what = i % 2 == 0 ? "activity" : "messages", .limit = 1});
        WAIT_FOR(&ear, ear.answers, (int)i + 1);
        CHECK(ear.durable >= i + 1);
        CHECK(ear.page.as_of >= 20 * (i + 1));
    }
    soc_journal_close(ear.journal, 0);
    ear_fini(&ear);
}

static void looks_and_commits_go_on_beside_each_other(void)
{
    struct ear ear;
    ear_init(&ear);
    for (uint64_t i = 0; i < 300; i++) {
        submit(&ear, i * 20 + 1, 20);
        if (i % 3 == 0)
            ask(&ear, (struct soc_query){.what = "activity", .agent = SOC_SLICE("user")});
        if (i % 10 == 0)
            soc_loop_poll(ear.loop, 0);
    }
    WAIT_FOR(&ear, ear.durable, 300);
    WAIT_FOR(&ear, ear.answers, 100);
    CHECK_INT(ear.durable, 300);
    CHECK_INT(ear.answers, 100);
    soc_journal_close(ear.journal, 1000);
    ear_fini(&ear);
}

/* Another connection holds a snapshot all the time, as a very long look would. */
static void a_long_read_holds_up_no_commit(void)
{
    struct ear ear;
    struct soc_database database = {0};
    ear_init(&ear);
    submit(&ear, 1, 10);
    WAIT_FOR(&ear, ear.durable, 1);
    CHECK_INT(soc_database_open(&database, world_path(&ear.world, "society.db"),
                                SQLITE_OPEN_READONLY, &ear.world.detail),
              SOC_OK);
    CHECK_INT(soc_database_exec(&database, "BEGIN; SELECT count(*) FROM journal", NULL), SOC_OK);
    for (uint64_t i = 1; i <= 200; i++)
        submit(&ear, i * 100, 50);
    WAIT_FOR(&ear, ear.durable, 201);
    CHECK_INT(ear.durable, 201);
    ask(&ear, (struct soc_query){.what = "activity", .limit = 2});
    WAIT_FOR(&ear, ear.answers, 1);
    CHECK_INT(ear.page.as_of, 20 + 200 * 100);
    soc_database_exec(&database, "ROLLBACK", NULL);
    soc_database_close(&database);
    soc_journal_close(ear.journal, 0);
    ear_fini(&ear);
}

static void a_list_as_a_whole_is_read_by_pages(void)
{
    struct ear ear;
    ear_init(&ear);
    for (uint64_t i = 0; i < 40; i++)
        submit(&ear, i * 500 + 1, 500);
    struct soc_query query = {.what = "activity"};
    soc_journal_ask(ear.journal, &query, hear_page, &ear);
    WAIT_FOR(&ear, ear.answers, 1);
    CHECK(ear.rows.length > 1000000);
    const char *end = soc_buf_text(&ear.rows) + ear.rows.length - 300;
    CHECK(strstr(end, "\"line\":40000,") != NULL);
    soc_journal_close(ear.journal, 0);
    ear_fini(&ear);
}

static void queries_of_one_who_has_gone_are_dropped(void)
{
    struct ear ear;
    ear_init(&ear);
    for (uint64_t i = 0; i < 40; i++)
        submit(&ear, i * 500 + 1, 500);
    WAIT_FOR(&ear, ear.durable, 40);
    struct soc_query query = {.what = "messages", .agent = SOC_SLICE("nobody")};
    for (int i = 0; i < 200; i++)
        soc_journal_ask(ear.journal, &query, hear_page, &ear);
    soc_journal_drop(ear.journal, &ear);
    WAIT_FOR(&ear, ear.answers, 200);
    CHECK_INT(ear.answers, 200);
    CHECK(ear.closed >= 198); /* but for those that were being answered */
    soc_journal_close(ear.journal, 0);
    ear_fini(&ear);
}

static void every_look_is_answered_when_the_journal_ends(void)
{
    for (int is_crash = 0; is_crash < 2; is_crash++) {
        struct ear ear;
        ear_init(&ear);
        for (uint64_t i = 0; i < 20; i++)
            submit(&ear, i * 500 + 1, 500);
        for (int i = 0; i < 30; i++)
            ask(&ear, (struct soc_query){.what = i % 2 == 0 ? "activity" : "messages",
                                         .agent = SOC_SLICE("nobody")});
        if (is_crash)
            soc_journal_crash(ear.journal);
        else
            soc_journal_close(ear.journal, 0);
        CHECK_INT(ear.answers, 30);
        ear_fini(&ear);
    }
}

int main(void)
{
    RUN(a_look_sees_every_batch_submitted_before_it);
    RUN(looks_and_commits_go_on_beside_each_other);
    RUN(a_long_read_holds_up_no_commit);
    RUN(a_list_as_a_whole_is_read_by_pages);
    RUN(queries_of_one_who_has_gone_are_dropped);
    RUN(every_look_is_answered_when_the_journal_ends);
    return check_done();
}

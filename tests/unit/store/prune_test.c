/* Retention: what is over is removed from the front, what is live stays, numbers go on. */
#include "store_sql.h"
#include "store_world.h"
#include "switched_disk.h"

#define DAY_MS INT64_C(86400000)

/* A message that was sent at that time; it ends with `finish`. */
static void put_mail(struct world *world, uint64_t key, int64_t time_ms, uint64_t reply_to)
{
    struct soc_record record = {.type = SOC_RECORD_MESSAGE};
    record.message = (struct soc_record_message){
        .key = key,
        .time_ms = (uint64_t)time_ms,
        .reply_to = reply_to,
        .from = SOC_SLICE("a"),
        .to = SOC_SLICE("b"),
        .type = SOC_SLICE("general"),
        .payload = SOC_SLICE("{\"text\":\"a payload of some length, so that pages fill up\"}"),
    };
    soc_record_put(&world->batch, &record);
}

static void put_end(struct world *world, uint64_t key, int64_t time_ms, uint64_t outcome)
{
    struct soc_record record = {.type = SOC_RECORD_MESSAGE_END};
    record.message_end = (struct soc_record_message_end){
        .key = key, .time_ms = (uint64_t)time_ms, .outcome = outcome};
    soc_record_put(&world->batch, &record);
}

static void put_task(struct world *world, uint64_t key, uint64_t state, int64_t ended_ms,
                     uint64_t parent)
{
    struct soc_record record = {.type = SOC_RECORD_TASK};
    record.task = (struct soc_record_task){.key = key,
                                           .state = state,
                                           .ended_ms = (uint64_t)ended_ms,
                                           .parent = parent,
                                           .id = SOC_SLICE("T"),
                                           .owner = SOC_SLICE("b")};
    soc_record_put(&world->batch, &record);
}

/* Messages from `first` to `last`, each handled at once. */
static void put_handled(struct world *world, uint64_t first, uint64_t last, int64_t time_ms)
{
    for (uint64_t key = first; key <= last; key++) {
        put_mail(world, key, time_ms, 0);
        put_end(world, key, time_ms, SOC_OUTCOME_PROCESSED);
    }
}

static void fold_all(struct world *world)
{
    CHECK_INT(world_append(world), SOC_OK);
    while (soc_store_fold(world->store, 1 << 20, &world->detail) > 0)
        ;
}

/* Steps until there is nothing more to remove. */
static void prune_all(struct world *world)
{
    struct soc_detail detail = {0};
    CHECK_INT(soc_store_tidy(world->store, false, &detail), SOC_OK);
    for (int i = 0; i < 10000 && world->store->is_untidy; i++)
        CHECK_INT(soc_store_tidy(world->store, false, &detail), SOC_OK);
    CHECK(!world->store->is_untidy);
}

/* Looks for what is due, as an idle writer does. */
static void make_due(struct world *world)
{
    CHECK_INT(soc_store_check(world->store, &world->detail), SOC_OK);
    CHECK(world->store->is_untidy);
    prune_all(world);
}

static int64_t count(struct world *world, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *row;
    CHECK_INT(sqlite3_open_v2(world_path(world, "society.db"), &db, SQLITE_OPEN_READONLY, NULL),
              SQLITE_OK);
    CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_step(row), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return number;
}

static void nothing_is_removed_unless_it_is_asked_for(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    put_handled(&world, 1, 3000, NOW_MS - 900 * DAY_MS);
    fold_all(&world);
    CHECK_INT(soc_store_check(world.store, &world.detail), SOC_OK);
    prune_all(&world);
    CHECK_INT(count(&world, "SELECT count(*) FROM message_entries"), 3000);
    world_fini(&world);
}

static void what_is_live_stays_however_old(void)
{
    struct world world;
    int64_t old_ms = NOW_MS - 900 * DAY_MS;
    world_init(&world, IN_DIRECTORY);
    put_handled(&world, 1, 600, old_ms);
    put_mail(&world, 601, old_ms, 0); /* pending */
    put_mail(&world, 602, old_ms, 0); /* dead, with a reply in transit */
    put_end(&world, 602, old_ms, SOC_OUTCOME_DEAD);
    put_mail(&world, 603, old_ms, 602);
    put_mail(&world, 604, old_ms, 0); /* of an open task */
    put_end(&world, 604, old_ms, SOC_OUTCOME_PROCESSED);
    put_task(&world, 604, 1, 0, 605);
    put_mail(&world, 605, old_ms, 0); /* of the ended task above it */
    put_end(&world, 605, old_ms, SOC_OUTCOME_PROCESSED);
    put_task(&world, 605, 2, old_ms, 0);
    put_mail(&world, 606, old_ms, 0); /* over: goes */
    put_end(&world, 606, old_ms, SOC_OUTCOME_DEAD);
    put_mail(&world, 607, old_ms, 0);
    put_end(&world, 607, old_ms, SOC_OUTCOME_PROCESSED);
    put_task(&world, 607, 2, old_ms, 0);
    fold_all(&world);
    put_handled(&world, 608, 620, NOW_MS + 90000 * DAY_MS); /* what "now" is */
    fold_all(&world);
    world.store->retention = (struct soc_retention){.days = 30};
    make_due(&world);
    CHECK_INT(count(&world, "SELECT count(*) FROM message_entries WHERE key <= 600"), 0);
    CHECK_INT(count(&world, "SELECT count(*) FROM message_entries WHERE key BETWEEN 601 AND 605"),
              5);
    /* A parent of an open task keeps all tasks above it, for simplicity. */
    CHECK_INT(count(&world, "SELECT count(*) FROM message_entries WHERE key = 606"), 0);
    CHECK_INT(count(&world, "SELECT count(*) FROM task_entries WHERE key IN (604, 605)"), 2);
    CHECK_INT(count(&world, "SELECT count(*) FROM message_entries WHERE key >= 608"), 13);

    /* When it is over, it goes as well. */
    put_end(&world, 601, NOW_MS + 90000 * DAY_MS, SOC_OUTCOME_PROCESSED);
    put_end(&world, 603, NOW_MS + 90000 * DAY_MS, SOC_OUTCOME_PROCESSED);
    put_task(&world, 604, 2, NOW_MS + 90000 * DAY_MS, 605);
    put_handled(&world, 621, 1400, NOW_MS + 90000 * DAY_MS);
    fold_all(&world);
    put_handled(&world, 1401, 1402, NOW_MS + 90100 * DAY_MS);
    fold_all(&world);
    make_due(&world);
    CHECK_INT(count(&world, "SELECT count(*) FROM message_entries WHERE key <= 1400"), 0);
    CHECK_INT(count(&world, "SELECT count(*) FROM task_entries"), 0);
    world_fini(&world);
}

static void numbers_go_on_after_everything_was_removed(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    put_handled(&world, 1, 5000, NOW_MS - 900 * DAY_MS);
    for (int i = 0; i < 2000; i++) /* so that no message is in the block that stays */
        PUT(&world, EVENT, event, .time_ms = NOW_MS - 900 * DAY_MS, .event = SOC_SLICE("noted"),
            .agent = SOC_SLICE("a"));
    fold_all(&world);
    uint64_t line = world.store->at.last_line;
    world.store->retention = (struct soc_retention){.days = 30};
    make_due(&world);
    CHECK(count(&world, "SELECT count(*) FROM message_entries") == 1);
    CHECK(count(&world, "SELECT count(*) FROM events") <= 512);
    world_reopen(&world);
    CHECK_INT(world.store->at.last_line, line);
    CHECK_INT(world.store->at.last_key, 5000);
    world_fini(&world);
}

static void a_cursor_below_the_first_line_is_told(void)
{
    struct world world;
    struct soc_page page;
    struct soc_buf rows = {0};
    world_init(&world, IN_DIRECTORY);
    put_handled(&world, 1, 5000, NOW_MS - 900 * DAY_MS);
    fold_all(&world);
    world.store->retention = (struct soc_retention){.days = 30};
    make_due(&world);
    struct soc_query query = {
        .what = "activity", .is_page = true, .has_after = true, .after = 7, .limit = 10};
    CHECK_INT(soc_store_look(world.store, &query, &page, &rows, &world.detail), SOC_EGONE);
    CHECK(page.first > 8 && page.first <= world.store->at.last_line);
    query.after = page.first - 1;
    CHECK_INT(soc_store_look(world.store, &query, &page, &rows, &world.detail), SOC_OK);
    soc_buf_fini(&rows);
    /* Whoever asks for all rows gets those that are left. */
    CHECK_INT(
        soc_lookup_run(world.store, &(struct soc_query){.what = "activity"}, &rows, &world.detail),
        SOC_OK);
    CHECK(rows.length > 2);
    soc_buf_fini(&rows);
    world_fini(&world);
}

static void a_limit_of_size_bounds_the_file(void)
{
    struct world world;
    struct stat status;
    world_init(&world, IN_DIRECTORY);
    world.store->retention = (struct soc_retention){.bytes = 2 << 20};
    for (uint64_t i = 0; i < 40; i++) {
        put_handled(&world, i * 1000 + 1, i * 1000 + 1000, NOW_MS);
        fold_all(&world);
    }
    make_due(&world);
    CHECK_INT(soc_store_tidy(world.store, true, &world.detail), SOC_OK);
    CHECK_INT(stat(world_path(&world, "society.db"), &status), 0);
    CHECK(status.st_size <= 2 << 20);
    CHECK(status.st_size >= 1 << 20);
    CHECK(count(&world, "SELECT count(*) FROM message_entries WHERE key > 39000") > 900);
    CHECK_INT(count(&world, "SELECT count(*) FROM message_entries WHERE key < 20000"), 0);
    world_fini(&world);
}

/* The directory of an older program, which has removed lines: it has no tables for the edge. A
 * step that a full disk undoes takes those it has made away again. */
static void a_full_disk_in_the_first_step_after_an_upgrade_is_gone_on_from(void)
{
    struct world world;
    struct soc_detail detail = {0};
    world_init(&world, IN_DIRECTORY);
    put_handled(&world, 1, 3000, NOW_MS - 900 * DAY_MS);
    fold_all(&world);
    world.store->retention = (struct soc_retention){.days = 30};
    make_due(&world);
    CHECK(count(&world, "SELECT min(line - count + 1) FROM lines") > 1);
    soc_store_close(world.store);
    set_sql(&world, "DROP TABLE snapshots; DROP TABLE edge;");
    CHECK_INT(world_open(&world), SOC_OK);
    put_handled(&world, 3001, 5000, NOW_MS - 800 * DAY_MS);
    fold_all(&world);
    world.store->retention = (struct soc_retention){.days = 30};
    CHECK_INT(soc_store_check(world.store, &detail), SOC_OK);
    int64_t lines = count(&world, "SELECT count(*) FROM lines");
    atomic_store(&disk.is_full, true);
    CHECK_INT(soc_store_tidy(world.store, false, &detail), SOC_OK); /* it tries again */
    atomic_store(&disk.is_full, false);
    CHECK_INT(count(&world, "SELECT count(*) FROM lines"), lines);
    CHECK_INT(count(&world, "SELECT count(*) FROM sqlite_schema WHERE name = 'edge'"), 0);
    make_due(&world);
    CHECK(count(&world, "SELECT count(*) FROM lines") < lines);
    CHECK_INT(count(&world, "SELECT count(*) FROM edge"), 0); /* it is lost, as before */
    world_fini(&world);
}

int main(void)
{
    disk_install();
    RUN(nothing_is_removed_unless_it_is_asked_for);
    RUN(what_is_live_stays_however_old);
    RUN(numbers_go_on_after_everything_was_removed);
    RUN(a_cursor_below_the_first_line_is_told);
    RUN(a_limit_of_size_bounds_the_file);
    RUN(a_full_disk_in_the_first_step_after_an_upgrade_is_gone_on_from);
    return check_done();
}

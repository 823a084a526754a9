/* Lines: the row of every line is found, however the history was folded or upgraded.
 * Covers: core/store/tables/lines.c */
#include "store/tables/lines.h"

#include "env/rng.h"
#include "store_sql.h"
#include "store_world.h"

#define COUNT 1400 /* lines: more than two blocks */

/* The history of a seed: messages that end at once, later or never, and other lines. */
static void put_history(struct world *world, uint64_t seed)
{
    struct soc_rng rng;
    uint64_t key = 0;
    uint64_t open = 0;
    soc_rng_init(&rng, seed);
    for (int i = 0; i < COUNT; i++) {
        uint64_t choice = soc_rng_below(&rng, 5);
        int64_t time_ms = NOW_MS + (int64_t)soc_rng_below(&rng, 100000); /* steps back */
        if (choice < 2 || open == key) {
            PUT(world, MESSAGE, message, .key = ++key, .time_ms = (uint64_t)time_ms,
                .from = SOC_SLICE("ann"), .to = SOC_SLICE("bob"), .type = SOC_SLICE("task"));
        } else if (choice < 4) {
            PUT(world, MESSAGE_END, message_end, .key = ++open, .time_ms = (uint64_t)time_ms,
                .outcome = SOC_OUTCOME_PROCESSED);
        } else {
            PUT(world, EVENT, event, .time_ms = (uint64_t)time_ms, .event = SOC_SLICE("log"),
                .agent = SOC_SLICE("ann"));
        }
        if (soc_rng_below(&rng, 10) == 0)
            CHECK_INT(world_append(world), SOC_OK);
        if (soc_rng_below(&rng, 50) == 0)
            CHECK_INT(world_fold(world), 0);
    }
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
}

/* Finds every line by its block and compares it with the view. */
static void check_lines(const struct world *world)
{
    struct soc_database database = {0};
    struct soc_detail detail = {0};
    struct soc_lines_block block;
    sqlite3_stmt *rows;
    uint64_t line = 0;
    CHECK_INT(soc_database_open(&database, world_path(world, "society.db"), SQLITE_OPEN_READONLY,
                                &detail),
              SOC_OK);
    CHECK_INT(soc_database_prepare(&database,
                                   "SELECT place, event, coalesce(key, 0) FROM activity_entries"
                                   " ORDER BY place",
                                   &rows, &detail),
              SOC_OK);
    for (;;) {
        struct soc_lines_span span = {.after = line, .until = UINT32_MAX};
        CHECK_INT(soc_lines_read(&database, &span, &block, &detail), SOC_OK);
        if (block.first == 0)
            break;
        CHECK_INT(block.first, line + 1);
        for (uint64_t i = 0; i < block.count; i++) {
            CHECK_INT(sqlite3_step(rows), SQLITE_ROW);
            CHECK_INT(sqlite3_column_int64(rows, 0), ++line);
            const char *event = (const char *)sqlite3_column_text(rows, 1);
            enum soc_lines_kind kind = strcmp(event, "sent") == 0  ? SOC_LINES_SENT
                                       : strcmp(event, "log") == 0 ? SOC_LINES_EVENT
                                                                   : SOC_LINES_END;
            CHECK_INT(block.entries[i].kind, kind);
            CHECK_INT(block.entries[i].key, sqlite3_column_int64(rows, 2));
        }
    }
    CHECK_INT(line, COUNT);
    CHECK_INT(sqlite3_step(rows), SQLITE_DONE);
    sqlite3_finalize(rows);
    /* Backwards, and only those of a span of time. */
    struct soc_lines_span back = {.after = 0, .until = 700, .is_backwards = true};
    CHECK_INT(soc_lines_read(&database, &back, &block, &detail), SOC_OK);
    CHECK(block.first <= 700 && block.first + block.count > 700);
    struct soc_lines_span late = {.until = COUNT, .since_ms = NOW_MS + 200000};
    CHECK_INT(soc_lines_read(&database, &late, &block, &detail), SOC_OK);
    CHECK_INT(block.first, 0);
    soc_database_close(&database);
}

static void every_line_is_found(void)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct world world;
        world_init(&world, IN_DIRECTORY);
        put_history(&world, seed);
        soc_store_close(world.store);
        world.store = NULL;
        check_lines(&world);
        CHECK_INT(world_open(&world), SOC_OK);
        CHECK_INT(world.store->at.last_line, COUNT);
        world_fini(&world);
    }
}

static void an_upgrade_fills_the_table(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    put_history(&world, 7);
    put_message(&world, 5000);
    CHECK_INT(world_append(&world), SOC_OK);
    put_message(&world, 5001);
    put_message(&world, 5002);
    CHECK_INT(world_append(&world), SOC_OK);
    soc_store_close(world.store);
    world.store = NULL;
    set_sql(&world, "ALTER TABLE roles DROP COLUMN is_isolated;"
                    "DROP VIEW dead_letters; DROP VIEW messages; DROP INDEX messages_foreign;"
                    "DROP TABLE links; DROP TABLE link_items;"
                    "ALTER TABLE message_entries DROP COLUMN foreign_id;"
                    "ALTER TABLE message_entries DROP COLUMN foreign_reply;"
                    "ALTER TABLE agents DROP COLUMN is_isolated;"
                    "ALTER TABLE message_entries DROP COLUMN cause;"
                    "DROP VIEW activity_logs; DROP VIEW activity_entries; DROP TABLE lines;"
                    "DROP TABLE call_keys; DROP INDEX messages_replies;"
                    "ALTER TABLE events ADD COLUMN place INTEGER; UPDATE events SET place = number;"
                    "ALTER TABLE journal DROP COLUMN lines; ALTER TABLE journal DROP COLUMN key;"
                    "ALTER TABLE usage DROP COLUMN time_ms;"
                    "PRAGMA user_version = 5; PRAGMA wal_checkpoint(TRUNCATE)");
    CHECK_INT(world_open(&world), SOC_OK);
    CHECK_INT(world.store->at.lines, COUNT);
    CHECK_INT(world.store->at.last_line, COUNT + 3);
    CHECK_INT(world.store->at.last_key, 5002);
    CHECK_TEXT(run_sql(&world, "SELECT group_concat(lines || ':' || key) FROM journal"),
               "1401:5000,1403:5002");
    soc_store_close(world.store);
    world.store = NULL;
    check_lines(&world);
    world_fini(&world);
}

int main(void)
{
    RUN(every_line_is_found);
    RUN(an_upgrade_fills_the_table);
    return check_done();
}

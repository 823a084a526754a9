/* What a store in a directory promises beyond one in memory.
 *
 * Covers: core/store/tables/batches.c, core/store/tables/copy.c, core/store/tables/schema.c
 * Covers: core/store/directory.c */
#include "store_sql.h"
#include "store_world.h"
#include "switched_disk.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "env/clock.h"
#include "env/ids.h"

static int file_mode(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (int)(status.st_mode & 0777) : -1;
}

/* Reads a whole file. */
static void read_bytes(const char *path, struct soc_buf *out)
{
    FILE *file = fopen(path, "rb");
    out->length = 0;
    if (!CHECK(file != NULL))
        return;
    for (size_t count = 1; count > 0; out->length += count)
        count = fread(soc_buf_reserve(out, 65536), 1, 65536, file);
    fclose(file);
}

static void write_bytes(const char *path, const void *bytes, size_t length, long at)
{
    FILE *file = fopen(path, "r+b");
    if (!CHECK(file != NULL))
        return;
    fseek(file, at, SEEK_SET);
    CHECK_INT(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static int count_files(struct world *world)
{
    int count = 0;
    DIR *listing = opendir(world->directory);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

static void a_new_directory_is_private(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    soc_store_close(world.store);
    world.store = NULL;
    unlink(world_path(&world, "society.db"));
    /* a rest of it is not ignored */
    CHECK_INT(world_open(&world), SOC_ECORRUPT);
    world.store = NULL;
    unlink(world_path(&world, "society.db-mark"));
    unlink(world_path(&world, "lock"));
    rmdir(world.directory);
    CHECK_INT(world_open(&world), SOC_OK);
    put_message(&world, 1);
    CHECK_INT(world_append(&world), SOC_OK);
    CHECK_INT(file_mode(world.directory), 0700);
    CHECK_INT(file_mode(world_path(&world, "society.db")), 0600);
    CHECK_INT(file_mode(world_path(&world, "society.db-wal")), 0600);
    CHECK_INT(file_mode(world_path(&world, "lock")), 0600);
    world_fini(&world);
}

static void a_directory_without_a_parent_is_refused(void)
{
    struct soc_store *store;
    struct soc_detail detail;
    struct soc_sqlite_options options = {.directory = "/nowhere/at/all"};
    CHECK_INT(soc_sqlite_open(&store, &options, &detail), SOC_ENOFILE);
    CHECK(strstr(detail.text, "/nowhere/at/all") != NULL);
}

static void a_second_opener_is_refused_even_without_the_lock_file(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    struct soc_store *second;
    struct soc_detail detail;
    struct soc_sqlite_options options = {.directory = world.directory};
    unlink(world_path(&world, "lock"));
    CHECK_INT(soc_sqlite_open(&second, &options, &detail), SOC_ELOCKED);
    CHECK(strstr(detail.text, "another process holds ") != NULL);
    CHECK(access(world_path(&world, "lock"), F_OK) < 0);
    soc_store_close(world.store);
    CHECK_INT(soc_sqlite_open(&world.store, &options, &detail), SOC_OK);
    world_fini(&world);
}

static void a_second_opener_learns_who_holds_the_directory(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    struct soc_store *second;
    struct soc_detail detail;
    struct soc_sqlite_options options = {.directory = world.directory};
    char expected[64];
    snprintf(expected, sizeof(expected), "process %ld since 2", (long)getpid());
    CHECK_INT(soc_sqlite_open(&second, &options, &detail), SOC_ELOCKED);
    CHECK(strncmp(detail.text, expected, strlen(expected)) == 0);
    CHECK(strstr(detail.text, world.directory) != NULL);
    soc_store_close(world.store);
    CHECK_INT(soc_sqlite_open(&world.store, &options, &detail), SOC_OK);
    CHECK_TEXT(detail.text, "");
    world_fini(&world);
}

/* Runs `body` in a child process that is killed at its end, with nothing closed. */
static void run_and_kill(struct world *world, void (*body)(struct world *))
{
    pid_t child = fork();
    if (child == 0) {
        body(world);
        kill(getpid(), SIGKILL);
    }
    int status;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
}

static void write_and_fold_some(struct world *world)
{
    if (world_open(world) != SOC_OK)
        _exit(1);
    for (uint64_t key = 1; key <= 50; key++) {
        put_message(world, key);
        PUT(world, MESSAGE_END, message_end, .key = key - 1, .time_ms = NOW_MS, .outcome = 1);
        if (world_append(world) != SOC_OK)
            _exit(1);
    }
    soc_store_fold(world->store, 20 * world->batch.capacity / 10, NULL);
}

static void committed_batches_survive_a_kill(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    soc_store_close(world.store);
    run_and_kill(&world, write_and_fold_some);
    CHECK_INT(world_open(&world), SOC_OK);
    CHECK_INT(soc_store_sequence(world.store), 50);
    CHECK_INT(world_fold(&world), 0);
    CHECK(strncmp(world_load(&world), "{\"record\":\"message\",\"key\":50,", 29) == 0);
    CHECK(strchr(world_load(&world), '\n')[1] == '\0');
    CHECK_TEXT(run_sql(&world, "SELECT count(*) FROM messages"), "50");
    CHECK_TEXT(run_sql(&world, "PRAGMA integrity_check"), "ok");
    world_fini(&world);
}

static void other_programs_read_while_it_runs(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    PUT(&world, AGENT, agent, NOW_MS, SOC_SLICE("user"), SOC_SLICE("user"));
    PUT(&world, AGENT, agent, NOW_MS, SOC_SLICE("root"), SOC_SLICE("root"));
    put_message(&world, 1234567);
    PUT(&world, MESSAGE, message, .key = 1234568, .time_ms = NOW_MS + 1, .priority = 3,
        .from = SOC_SLICE("user"), .to = SOC_SLICE("root"), .reply_to = 1234567);
    CHECK_INT(world_append(&world), SOC_OK);
    CHECK_TEXT(run_sql(&world, "SELECT count(*) FROM journal"), "1");
    CHECK_INT(world_fold(&world), 0);
    char id[SOC_MESSAGE_ID_BYTES + 1] = {0};
    soc_message_id_format(id, NOW_MS + 1234567, 1234567);
    CHECK_TEXT(run_sql(&world, "SELECT id FROM messages WHERE key = 1234567"), id);
    CHECK_TEXT(run_sql(&world, "SELECT reply_to FROM messages WHERE key = 1234568"), id);
    CHECK_TEXT(run_sql(&world, "SELECT priority FROM messages WHERE key = 1234568"), "low");
    char time[SOC_TIME_BYTES + 1] = {0};
    soc_time_format(time, NOW_MS + 1234567);
    CHECK_TEXT(run_sql(&world, "SELECT timestamp FROM messages WHERE key = 1234567"), time);
    CHECK_TEXT(run_sql(&world, "SELECT message_id FROM activity_logs WHERE agent = 'root'"), id);
    CHECK_TEXT(run_sql(&world, "SELECT group_concat(owner || '>' || id) FROM"
                               " (SELECT owner, id FROM contacts ORDER BY owner)"),
               "root>user,user>root");
    CHECK_TEXT(run_sql(&world, "SELECT count(*) FROM dead_letters"), "0");
    CHECK_TEXT(run_sql(&world, "PRAGMA journal_mode"), "wal");
    world_fini(&world);
}

/* Opens the directory as a reader. */
static int open_to_look(struct world *world, struct soc_store **out)
{
    struct soc_sqlite_options options = {.directory = world->directory, .access = SOC_SQLITE_READ};
    return soc_sqlite_open(out, &options, &world->detail);
}

static void a_reader_sees_batches_that_are_not_folded_and_folds_nothing(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    put_message(&world, 1);
    CHECK_INT(world_append(&world), SOC_OK);
    CHECK_INT(world_fold(&world), 0);
    struct world reader = world;
    reader.batch = reader.text = (struct soc_buf){0};
    CHECK_INT(open_to_look(&world, &reader.store), SOC_OK);
    CHECK(strstr(world_ask(&reader, "messages"), "\"status\":\"pending\"") != NULL);
    PUT(&world, MESSAGE_END, message_end, .key = 1, .time_ms = NOW_MS, .outcome = 1);
    put_message(&world, 2);
    CHECK_INT(world_append(&world), SOC_OK);
    const char *rows = world_ask(&reader, "messages");
    CHECK(strstr(rows, "\"status\":\"processed\"") != NULL);
    CHECK(strstr(rows, "\"status\":\"pending\"") != NULL);
    CHECK(strstr(world_load(&reader), "\"message_end\"") != NULL);
    CHECK_TEXT(run_sql(&world, "SELECT count(*) FROM journal"), "1");
    CHECK_INT(world_fold(&world), 0);
    CHECK(strstr(world_ask(&reader, "messages"), "\"status\":\"processed\"") != NULL);
    soc_store_close(reader.store);
    soc_buf_fini(&reader.text);
    world_fini(&world);
}

static void a_reader_of_a_missing_store_creates_nothing(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    soc_store_close(world.store);
    world.store = NULL;
    unlink(world_path(&world, "society.db"));
    unlink(world_path(&world, "lock"));
    unlink(world_path(&world, "society.db-mark"));
    struct soc_store *reader;
    CHECK_INT(open_to_look(&world, &reader), SOC_ENOFILE);
    CHECK_INT(count_files(&world), 0);
    world_fini(&world);
}

/* Removes what version 11 added. */
#define BACK_TO_10 "ALTER TABLE roles DROP COLUMN is_isolated;"

/* Removes what version 10 added; the views that show it are in the way. */
#define BACK_TO_9                                                                                  \
    BACK_TO_10                                                                                     \
    "DROP VIEW IF EXISTS dead_letters; DROP VIEW IF EXISTS messages;"                              \
    "DROP INDEX messages_foreign; DROP TABLE links; DROP TABLE link_items;"                        \
    "ALTER TABLE message_entries DROP COLUMN foreign_id;"                                          \
    "ALTER TABLE message_entries DROP COLUMN foreign_reply;"

/* Removes what version 9 added. */
#define BACK_TO_8 BACK_TO_9 "ALTER TABLE agents DROP COLUMN is_isolated;"

/* Removes what version 8 added. */
#define BACK_TO_7 BACK_TO_8 "ALTER TABLE message_entries DROP COLUMN cause;"

/* Removes what version 7 added. */
#define BACK_TO_6 BACK_TO_7 "DROP TABLE call_keys; DROP INDEX messages_replies;"

/* Removes what version 6 added; the views that show it are in the way. */
#define BACK_TO_5                                                                                  \
    BACK_TO_6                                                                                      \
    "DROP VIEW activity_logs; DROP VIEW activity_entries; DROP TABLE lines;"                       \
    "ALTER TABLE events ADD COLUMN place INTEGER; UPDATE events SET place = number;"               \
    "ALTER TABLE journal DROP COLUMN lines; ALTER TABLE journal DROP COLUMN key;"                  \
    "ALTER TABLE usage DROP COLUMN time_ms;"

/* Removes what version 5 added. */
#define BACK_TO_4                                                                                  \
    BACK_TO_5                                                                                      \
    "DROP VIEW IF EXISTS inbox; DROP VIEW IF EXISTS contacts;"                                     \
    "ALTER TABLE contact_entries DROP COLUMN usage_hint;"                                          \
    "ALTER TABLE contact_entries DROP COLUMN has_written;"                                         \
    "ALTER TABLE inbox_entries DROP COLUMN choice;"

/* Removes what version 3 added. */
#define BACK_TO_2                                                                                  \
    BACK_TO_4                                                                                      \
    "DROP INDEX events_readers;"                                                                   \
    "DELETE FROM events WHERE event IN ('spawned', 'stopped', 'contact_added', 'role_created')"    \
    " OR key > 0; ALTER TABLE events DROP COLUMN place; ALTER TABLE events DROP COLUMN other;"     \
    "ALTER TABLE events DROP COLUMN key; ALTER TABLE progress DROP COLUMN lines;"                  \
    "ALTER TABLE message_entries DROP COLUMN place;"                                               \
    "ALTER TABLE message_entries DROP COLUMN end_place;"                                           \
    "ALTER TABLE message_entries ADD COLUMN again_ms INTEGER;"

static void an_older_database_is_upgraded_by_a_writer(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    PUT(&world, AGENT, agent, 1, SOC_SLICE("ann"), SOC_SLICE("r"));
    CHECK_INT(world_append(&world), SOC_OK);
    CHECK_INT(world_fold(&world), 0);
    put_message(&world, 1);
    CHECK_INT(world_append(&world), SOC_OK);
    soc_store_close(world.store);
    world.store = NULL;
    set_sql(&world, BACK_TO_2
            "DROP VIEW IF EXISTS dead_letters; DROP VIEW IF EXISTS messages;"
            "ALTER TABLE agents DROP COLUMN ending_ms;"
            "ALTER TABLE agents DROP COLUMN is_adopted;"
            "ALTER TABLE contact_entries DROP COLUMN reason; DROP TABLE introductions;"
            "DROP TABLE inbox_entries;"
            "DROP VIEW tasks; DROP TABLE task_entries; DROP TABLE memories;"
            "DROP TABLE usage;"
            "ALTER TABLE agents DROP COLUMN since; DROP TABLE broadcast_ends;"
            "DROP TABLE barriers; DROP TABLE seats; DROP TABLE sent_keys; DROP TABLE positions;"
            "ALTER TABLE agents DROP COLUMN is_external;"
            "ALTER TABLE message_entries DROP COLUMN ack;"
            "ALTER TABLE agents DROP COLUMN hold;"
            "ALTER TABLE agents DROP COLUMN guards;"
            "ALTER TABLE agents DROP COLUMN births;"
            "DROP TABLE sources; DROP TABLE history;"
            "ALTER TABLE effects DROP COLUMN arguments;"
            "CREATE VIEW contacts AS SELECT 'older' AS id;"
            "PRAGMA user_version = 1; PRAGMA wal_checkpoint(TRUNCATE)");
    struct soc_store *reader;
    CHECK_INT(open_to_look(&world, &reader), SOC_EOLDER);
    CHECK_INT(world_open(&world), SOC_OK);
    PUT(&world, AGENT_ENDING, agent_ending, 4, SOC_SLICE("ann"));
    CHECK_INT(world_append(&world), SOC_OK);
    CHECK_INT(world_fold(&world), 0);
    CHECK(strstr(world_load(&world), "agent_ending") != NULL);
    CHECK_TEXT(world_ask(&world, "contacts"), "[]");
    CHECK_TEXT(world_ask(&world, "tasks"), "[]");
    CHECK(strstr(world_ask(&world, "activity"), "\"spawned\"") != NULL);
    CHECK_INT(open_to_look(&world, &reader), SOC_OK);
    soc_store_close(reader);
    world_reopen(&world);
    world_fini(&world);
}

/* The log of version 2 in its order, and then what has happened since. */
static void the_log_of_version_2_is_kept_and_continued(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    PUT(&world, AGENT, agent, 1, SOC_SLICE("root"), SOC_SLICE("root"));
    PUT(&world, ROLE, role, 1, .id = SOC_SLICE("w"), .creator = SOC_SLICE("root"));
    PUT(&world, AGENT, agent, 1, SOC_SLICE("ann"), SOC_SLICE("w"), SOC_SLICE("root"));
    PUT(&world, EVENT, event, 1, SOC_SLICE("noted"), SOC_SLICE("ann"));
    PUT(&world, CONTACT, contact, 1, 6, SOC_SLICE("ann"), SOC_SLICE("bob"));
    PUT(&world, MESSAGE, message, .key = 7, .time_ms = 1, .to = SOC_SLICE("ann"));
    PUT(&world, MESSAGE_END, message_end, 7, 1, SOC_OUTCOME_DEAD);
    PUT(&world, AGENT_END, agent_end, 1, SOC_SLICE("ann"));
    CHECK_INT(world_append(&world), SOC_OK);
    CHECK_INT(world_fold(&world), 0);
    soc_store_close(world.store);
    world.store = NULL;
    set_sql(&world, BACK_TO_2
            "UPDATE message_entries SET again_ms = 1;"
            "INSERT INTO contact_entries(owner, id, source, added_ms) VALUES('ann', 'bob', 6, 1);"
            "PRAGMA user_version = 2; PRAGMA wal_checkpoint(TRUNCATE)");
    CHECK_INT(world_open(&world), SOC_OK);
    PUT(&world, MESSAGE_AGAIN, message_again, 7, 1, 2);
    PUT(&world, EVENT, event, 1, SOC_SLICE("noted again"), SOC_SLICE("root"));
    PUT(&world, MESSAGE_END, message_end, 7, 1, SOC_OUTCOME_PROCESSED);
    CHECK_INT(world_append(&world), SOC_OK);
    CHECK_INT(world_fold(&world), 0);
    CHECK_TEXT(run_sql(&world, "SELECT group_concat(event, ', ') FROM activity_logs"),
               "role_created, spawned, spawned, contact_added, sent, sent_again, dead, noted,"
               " stopped, sent_again, noted again, processed");
    world_fini(&world);
}

/* Its view gave the dead letter of a reader a line in the past. */
static void the_views_of_version_3_are_recreated(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    PUT(&world, MESSAGE, message, .key = 7, .time_ms = 1, .flags = SOC_MESSAGE_IS_BROADCAST);
    PUT(&world, EVENT, event, 2, SOC_SLICE("noted"), SOC_SLICE("ann"));
    PUT(&world, MESSAGE, message, .key = 8, .time_ms = 1, .flags = SOC_MESSAGE_IS_LETTER);
    PUT(&world, MESSAGE_END, message_end, 8, 3, SOC_OUTCOME_DEAD);
    CHECK_INT(world_append(&world), SOC_OK);
    CHECK_INT(world_fold(&world), 0);
    soc_store_close(world.store);
    world.store = NULL;
    set_sql(&world, BACK_TO_4 "CREATE VIEW activity_logs AS SELECT 'older' AS event;"
                              "PRAGMA user_version = 3; PRAGMA wal_checkpoint(TRUNCATE)");
    struct soc_store *reader;
    CHECK_INT(open_to_look(&world, &reader), SOC_EOLDER);
    CHECK_INT(world_open(&world), SOC_OK);
    CHECK_TEXT(run_sql(&world, "SELECT group_concat(event, ', ') FROM activity_logs"),
               "sent, noted, dead");
    world_fini(&world);
}

static void a_newer_database_is_refused_and_left_alone(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    put_message(&world, 1);
    CHECK_INT(world_append(&world), SOC_OK);
    soc_store_close(world.store);
    world.store = NULL;
    unlink(world_path(&world, "lock"));
    write_bytes(world_path(&world, "society.db"), "\0\0\0\x63", 4, 60);
    struct soc_buf before = {0};
    struct soc_buf after = {0};
    read_bytes(world_path(&world, "society.db"), &before);
    CHECK_INT(world_open(&world), SOC_ENEWER);
    CHECK(strstr(world.detail.text, "version 99") != NULL);
    struct soc_store *reader;
    CHECK_INT(open_to_look(&world, &reader), SOC_ENEWER);
    read_bytes(world_path(&world, "society.db"), &after);
    CHECK(soc_slice_equal(soc_buf_slice(&before), soc_buf_slice(&after)));
    CHECK_INT(count_files(&world), 2);
    soc_buf_fini(&before);
    soc_buf_fini(&after);
    world_fini(&world);
}

static void a_file_that_is_not_our_database_is_refused(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    soc_store_close(world.store);
    world.store = NULL;
    write_bytes(world_path(&world, "society.db"), "\0\0\0\x01", 4, 68);
    CHECK_INT(world_open(&world), SOC_ECORRUPT);
    write_bytes(world_path(&world, "society.db"), "Dear diary,", 11, 0);
    CHECK_INT(world_open(&world), SOC_ECORRUPT);
    CHECK_INT(truncate(world_path(&world, "society.db"), 0), 0);
    CHECK_INT(world_open(&world), SOC_ECORRUPT);
    world_fini(&world);
}

/* Commits three batches with a marker in the second, and closes. */
static void write_three(struct world *world)
{
    world_init(world, IN_DIRECTORY);
    for (uint64_t key = 1; key <= 3; key++) {
        PUT(world, MESSAGE, message, .key = key,
            .payload = key == 2 ? SOC_SLICE("\"second\"") : SOC_SLICE("\"other\""));
        CHECK_INT(world_append(world), SOC_OK);
    }
    soc_store_close(world->store);
    world->store = NULL;
}

static void a_flipped_bit_is_found_and_its_page_named(void)
{
    struct world world;
    write_three(&world);
    struct soc_buf bytes = {0};
    read_bytes(world_path(&world, "society.db"), &bytes);
    const char *mark = memmem(bytes.data, bytes.length, "\"second\"", 8);
    if (CHECK(mark != NULL)) {
        char flipped = (char)(mark[3] ^ 4);
        write_bytes(world_path(&world, "society.db"), &flipped, 1, mark + 3 - bytes.data);
    }
    char expected[64];
    snprintf(expected, sizeof(expected), "page %d of society.db is damaged",
             (int)((mark - bytes.data) / 8192 + 1));
    CHECK_INT(world_open(&world), SOC_ECORRUPT);
    CHECK(strncmp(world.detail.text, expected, strlen(expected)) == 0);
    struct soc_store *reader;
    CHECK_INT(open_to_look(&world, &reader), SOC_ECORRUPT);
    CHECK_TEXT(run_sql(&world, "SELECT count(*) FROM journal"), "3");
    soc_buf_fini(&bytes);
    world_fini(&world);
}

static void a_page_written_by_another_program_is_found(void)
{
    struct world world;
    write_three(&world);
    run_sql(&world, "UPDATE journal SET batch = zeroblob(10) WHERE sequence = 2");
    CHECK_INT(world_open(&world), SOC_ECORRUPT);
    world_fini(&world);
}

static void a_changed_batch_is_found_and_named(void)
{
    struct world world;
    write_three(&world);
    set_sql(&world, "UPDATE journal SET batch = zeroblob(10) WHERE sequence = 2");
    CHECK_INT(world_open(&world), SOC_OK);
    CHECK_INT(soc_store_load(world.store, show_record, &world.text, &world.detail), SOC_ECORRUPT);
    CHECK(strstr(world.detail.text, "batch 2 ") != NULL);
    CHECK_INT(world_fold(&world), SOC_ECORRUPT);
    CHECK(strstr(world.detail.text, "batch 2 ") != NULL);
    world_fini(&world);
}

static void a_missing_batch_is_found(void)
{
    static const char *const faults[] = {
        "DELETE FROM journal WHERE sequence = 1",
        "DELETE FROM journal WHERE sequence = 2",
        "UPDATE journal SET sequence = 4 WHERE sequence = 3",
    };
    for (int i = 0; i < 3; i++) {
        struct world world;
        write_three(&world);
        set_sql(&world, faults[i]);
        CHECK_INT(world_open(&world), SOC_ECORRUPT);
        CHECK(strstr(world.detail.text, "journal") != NULL);
        world_fini(&world);
    }
}

static void swapped_batches_are_found(void)
{
    struct world world;
    write_three(&world);
    set_sql(&world, "UPDATE journal SET batch = (SELECT batch FROM journal WHERE sequence = 1),"
                    " checksum = (SELECT checksum FROM journal WHERE sequence = 1)"
                    " WHERE sequence = 3");
    CHECK_INT(world_open(&world), SOC_OK);
    CHECK_INT(soc_store_load(world.store, show_record, &world.text, &world.detail), SOC_ECORRUPT);
    CHECK(strstr(world.detail.text, "batch 3 ") != NULL);
    world_fini(&world);
}

static void a_full_disk_leaves_no_trace_and_the_batch_can_be_retried(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    put_message(&world, 1);
    CHECK_INT(world_append(&world), SOC_OK);
    atomic_store(&disk.is_full, true);
    put_message(&world, 2);
    CHECK_INT(world_append(&world), SOC_EDISKFULL);
    CHECK_INT(soc_store_sequence(world.store), 1);
    CHECK_INT(soc_store_fold(world.store, 1000, &world.detail), SOC_EDISKFULL);
    atomic_store(&disk.is_full, false);
    put_message(&world, 2);
    CHECK_INT(world_append(&world), SOC_OK);
    CHECK_INT(world_fold(&world), 0);
    world_reopen(&world);
    CHECK_INT(soc_store_sequence(world.store), 2);
    CHECK_TEXT(run_sql(&world, "SELECT count(*) FROM messages"), "2");
    world_fini(&world);
}

static void a_failed_sync_is_a_disk_error(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    put_message(&world, 1);
    atomic_store(&disk.sync_fails, true);
    CHECK_INT(world_append(&world), SOC_EIO);
    CHECK(world.detail.text[0] != '\0');
    atomic_store(&disk.sync_fails, false);
    world_fini(&world);
}

static void the_write_ahead_log_stays_bounded(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    char *payload = malloc(1u << 20);
    memset(payload, '7', 1u << 20);
    for (uint64_t key = 1; key <= 150; key++) {
        PUT(&world, MESSAGE, message, .key = key, .payload = soc_slice(payload, 1u << 20));
        CHECK_INT(world_append(&world), SOC_OK);
        if (key % 10 == 0)
            CHECK_INT(world_fold(&world), 0);
    }
    struct stat status;
    CHECK_INT(stat(world_path(&world, "society.db-wal"), &status), 0);
    CHECK(status.st_size < (80 << 20));
    printf("# write-ahead log after 150 MB: %d MB\n", (int)(status.st_size >> 20));
    free(payload);
    world_fini(&world);
}

static void a_hundred_thousand_messages_load_only_what_is_live(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    int64_t started_us = soc_clock_monotonic_us();
    for (uint64_t key = 1; key <= 100000; key++) {
        put_message(&world, key);
        if (key <= 99000)
            PUT(&world, MESSAGE_END, message_end, .key = key, .time_ms = NOW_MS, .outcome = 1);
        if (key % 100 == 0)
            CHECK_INT(world_append(&world), SOC_OK);
    }
    int64_t appended_us = soc_clock_monotonic_us();
    CHECK_INT(world_fold(&world), 0);
    int64_t folded_us = soc_clock_monotonic_us();
    size_t length = strlen(world_load(&world));
    int64_t loaded_us = soc_clock_monotonic_us();
    CHECK(length > 1000 * 100 && length < 1000 * 200);
    CHECK(strlen(world_ask(&world, "messages")) > 100000 * 100);
    printf("# 100,000 messages: append %d ms, fold %d ms, load of 1,000 live %d ms, query %d ms\n",
           (int)(appended_us - started_us) / 1000, (int)(folded_us - appended_us) / 1000,
           (int)(loaded_us - folded_us) / 1000, (int)(soc_clock_monotonic_us() - loaded_us) / 1000);
    world_fini(&world);
}

int main(void)
{
    disk_install();
    RUN(a_new_directory_is_private);
    RUN(a_directory_without_a_parent_is_refused);
    RUN(a_second_opener_is_refused_even_without_the_lock_file);
    RUN(a_second_opener_learns_who_holds_the_directory);
    RUN(committed_batches_survive_a_kill);
    RUN(other_programs_read_while_it_runs);
    RUN(a_reader_sees_batches_that_are_not_folded_and_folds_nothing);
    RUN(a_reader_of_a_missing_store_creates_nothing);
    RUN(a_newer_database_is_refused_and_left_alone);
    RUN(an_older_database_is_upgraded_by_a_writer);
    RUN(the_log_of_version_2_is_kept_and_continued);
    RUN(the_views_of_version_3_are_recreated);
    RUN(a_file_that_is_not_our_database_is_refused);
    RUN(a_flipped_bit_is_found_and_its_page_named);
    RUN(a_page_written_by_another_program_is_found);
    RUN(a_changed_batch_is_found_and_named);
    RUN(a_missing_batch_is_found);
    RUN(swapped_batches_are_found);
    RUN(a_full_disk_leaves_no_trace_and_the_batch_can_be_retried);
    RUN(a_failed_sync_is_a_disk_error);
    RUN(the_write_ahead_log_stays_bounded);
    RUN(a_hundred_thousand_messages_load_only_what_is_live);
    return check_done();
}

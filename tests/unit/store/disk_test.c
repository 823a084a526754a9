/* The simulated disk, and what a store on it keeps through crashes, power losses, full
 * disks and errors at each of its I/O calls. DISK_SEEDS is the number of crashes.
 *
 * Covers: core/store/sqlite/pages.c, core/store/disk/disk_faults.c
 * Covers: core/store/disk/disk_vfs.c, core/store/disk/disk_file.c */
#include "store_world.h"

#include "env/clock.h"
#include "env/rng.h"
#include "store/disk/disk.h"

#define BATCHES 12

/* A store on a disk, and what it has promised. */
struct bench {
    struct soc_disk *disk;
    struct soc_store *store; /* NULL while it is closed */
    const char *sync;
    uint64_t promised; /* the last batch reported durable */
    struct soc_buf batch;
    struct soc_buf text;
    struct soc_detail detail;
};

static void bench_close(struct bench *bench)
{
    soc_store_close(bench->store);
    bench->store = NULL;
}

static void bench_fini(struct bench *bench)
{
    bench_close(bench);
    soc_disk_free(bench->disk);
    soc_buf_fini(&bench->batch);
    soc_buf_fini(&bench->text);
}

static int bench_open(struct bench *bench)
{
    struct soc_sqlite_options options = {.disk = bench->disk, .sync = bench->sync};
    return soc_sqlite_open(&bench->store, &options, &bench->detail);
}

/* A batch by number: a new message, the end of the one before, a state. */
static struct soc_slice make_batch(struct bench *bench, uint64_t number)
{
    char payload[600];
    memset(payload, 'a' + (int)(number % 26), sizeof(payload));
    bench->batch.length = 0;
    if (number == 1)
        PUT(bench, AGENT, agent, NOW_MS, SOC_SLICE("root"), SOC_SLICE("root"));
    PUT(bench, MESSAGE, message, .key = number, .time_ms = NOW_MS + number, .priority = 2,
        .from = SOC_SLICE("root"), .to = SOC_SLICE("root"), .type = SOC_SLICE("general"),
        .payload = soc_slice(payload, sizeof(payload)));
    if (number > 1)
        PUT(bench, MESSAGE_END, message_end, .key = number - 1, .time_ms = NOW_MS, .outcome = 1);
    PUT(bench, STATE, state, SOC_SLICE("root"), soc_slice(payload, 20));
    return soc_buf_slice(&bench->batch);
}

/* Continues to the last batch: commits, folds and copies the log back now and then,
 * closes. Returns the first error. */
static int bench_work(struct bench *bench)
{
    int rc = bench->store == NULL ? bench_open(bench) : SOC_OK;
    while (rc >= 0 && soc_store_sequence(bench->store) < BATCHES) {
        uint64_t next = soc_store_sequence(bench->store) + 1;
        struct soc_slice batch = make_batch(bench, next);
        rc = soc_store_commit(bench->store, next, &batch, 1, &bench->detail);
        if (rc == SOC_OK)
            bench->promised = next;
        if (rc == SOC_OK && next % 3 == 0)
            rc = soc_store_fold(bench->store, 2000, &bench->detail);
        if (rc >= 0 && next % 5 == 0)
            rc = soc_store_tidy(bench->store, true, &bench->detail);
    }
    if (rc >= 0)
        bench_close(bench);
    return rc;
}

/* The contents of the store as text, or the error. */
static const char *bench_dump(struct bench *bench)
{
    struct soc_query query = {.what = "dump"};
    bench->text.length = 0;
    int rc = bench_open(bench);
    if (rc == SOC_OK)
        rc = soc_lookup_run(bench->store, &query, &bench->text, &bench->detail);
    if (rc < 0)
        bench->text.length = 0;
    if (rc < 0)
        soc_buf_put_text(&bench->text, bench->detail.text);
    bench_close(bench);
    return soc_buf_text(&bench->text);
}

/* A disk with an empty store: copying it is cheaper than making another. */
static struct soc_disk *make_prepared(void)
{
    struct bench bench = {.disk = soc_disk_new(1)};
    CHECK_INT(bench_open(&bench), SOC_OK);
    bench_close(&bench);
    struct soc_disk *disk = bench.disk;
    bench.disk = NULL;
    bench_fini(&bench);
    return disk;
}

/* What an undisturbed store holds at the end; the caller frees it. Returns the number of
 * calls it took from the prepared disk on. */
static char *plain_end(const struct soc_disk *prepared, uint64_t *calls)
{
    struct bench bench = {.disk = soc_disk_copy(prepared, 1)};
    CHECK(bench_work(&bench) >= 0);
    *calls = soc_disk_calls(bench.disk);
    char *end = strdup(bench_dump(&bench));
    bench_fini(&bench);
    return end;
}

static void a_store_on_a_simulated_disk_is_like_any_other(void)
{
    struct bench bench = {.disk = soc_disk_new(1)};
    CHECK(bench_work(&bench) >= 0);
    soc_disk_restart(bench.disk, SOC_DISK_POWER_LOSS);
    CHECK(soc_disk_has(bench.disk, "society.db"));
    CHECK(!soc_disk_has(bench.disk, "society.db.new"));
    CHECK(strstr(bench_dump(&bench), "\"table\":\"message_entries\"") != NULL);
    struct bench copy = {.disk = soc_disk_copy(bench.disk, 2)};
    CHECK_TEXT(bench_dump(&copy), soc_buf_text(&bench.text));
    bench_fini(&copy);
    bench_fini(&bench);
}

/* One process: it works until it ends at the armed call or by itself. Tells whether
 * everything promised is there when the next one opens the store. */
static bool live(struct bench *bench, enum soc_disk_end how, bool is_killed)
{
    bool is_done = bench_work(bench) >= 0;
    if (is_done && is_killed)
        soc_disk_kill(bench->disk);
    bench_close(bench);
    soc_disk_restart(bench->disk, how);
    return bench_open(bench) == SOC_OK && soc_store_sequence(bench->store) >= bench->promised;
}

/* Ends processes at random calls, up to three in a row; the fourth finishes. The first
 * seeds take each call in turn. Tells whether nothing was lost and the result is the same
 * as without faults. */
static bool survives(struct bench *bench, enum soc_disk_end how, uint64_t seed, uint64_t calls)
{
    struct soc_rng rng;
    soc_rng_init(&rng, seed);
    for (int i = 0; i < 4; i++) {
        uint64_t call = seed <= calls && i == 0 ? seed : 1 + soc_rng_below(&rng, calls);
        soc_disk_arm(bench->disk, SOC_DISK_CRASH, call);
        if (i == 3)
            soc_disk_clear(bench->disk);
        if (!live(bench, how, soc_rng_below(&rng, 2) == 0))
            return false;
        if (soc_store_sequence(bench->store) == BATCHES)
            break;
    }
    bench_close(bench);
    return true;
}

/* Counts the seeds after which something was lost or different. */
static int try_ends(enum soc_disk_end how, const char *sync, uint64_t seeds)
{
    uint64_t calls;
    struct soc_disk *prepared = make_prepared();
    char *end = plain_end(prepared, &calls);
    int lost = 0;
    int64_t begun_us = soc_clock_monotonic_us();
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct bench bench = {.disk = soc_disk_copy(prepared, seed), .sync = sync};
        bool is_same = survives(&bench, how, seed, calls) && strcmp(bench_dump(&bench), end) == 0;
        if (!is_same && sync == NULL)
            printf("# seed %d: %s\n", (int)seed, bench.detail.text);
        lost += !is_same;
        bench_fini(&bench);
    }
    printf("# %d seeds over %d calls: %d lost, %d ms\n", (int)seeds, (int)calls, lost,
           (int)((soc_clock_monotonic_us() - begun_us) / 1000));
    soc_disk_free(prepared);
    free(end);
    return lost;
}

static void a_crash_during_creation_leaves_no_store_or_a_complete_one(void)
{
    uint64_t calls;
    struct soc_disk *prepared = make_prepared();
    char *end = plain_end(prepared, &calls);
    uint64_t made = soc_disk_calls(prepared);
    for (uint64_t call = 1; call <= made; call++) {
        struct bench bench = {.disk = soc_disk_new(call)};
        soc_disk_arm(bench.disk, SOC_DISK_CRASH, call);
        CHECK(bench_open(&bench) < 0 || call + 5 > made);
        soc_disk_kill(bench.disk);
        bench_close(&bench);
        soc_disk_restart(bench.disk, call % 2 == 0 ? SOC_DISK_KILL : SOC_DISK_POWER_LOSS);
        CHECK(bench_work(&bench) >= 0);
        CHECK(strcmp(bench_dump(&bench), end) == 0);
        bench_fini(&bench);
    }
    soc_disk_free(prepared);
    free(end);
}

static uint64_t seeds_wanted(void)
{
    const char *text = getenv("DISK_SEEDS");
    return text == NULL ? 250 : strtoull(text, NULL, 10);
}

static void a_kill_at_any_call_loses_nothing(void)
{
    CHECK_INT(try_ends(SOC_DISK_KILL, NULL, seeds_wanted()), 0);
}

static void a_power_loss_at_any_call_loses_nothing(void)
{
    CHECK_INT(try_ends(SOC_DISK_POWER_LOSS, NULL, seeds_wanted()), 0);
}

static void a_power_loss_without_full_syncs_is_reported(void)
{
    CHECK(try_ends(SOC_DISK_POWER_LOSS, "NORMAL", 100) > 0);
    CHECK(try_ends(SOC_DISK_POWER_LOSS, "OFF", 100) > 0);
    CHECK_INT(try_ends(SOC_DISK_KILL, "OFF", 100), 0);
}

/* Fails one call after the other in the life of a store, then ends the process and the
 * power, and has the next one do the rest. */
static void fail_each_call(enum soc_disk_fault fault, bool is_told)
{
    uint64_t calls;
    struct soc_disk *prepared = make_prepared();
    char *end = plain_end(prepared, &calls);
    int struck = 0;
    for (uint64_t call = 1; call <= calls; call++) {
        struct bench bench = {.disk = soc_disk_copy(prepared, call)};
        soc_disk_arm(bench.disk, fault, call);
        int rc = bench_work(&bench);
        bool has_struck = soc_disk_struck(bench.disk) == fault;
        struck += has_struck;
        if (is_told && has_struck && bench.promised < BATCHES)
            CHECK(rc < 0);
        if (rc < 0) /* the error of the call, which SQLite may not have seen */
            CHECK(strstr(bench.detail.text, "not an error") == NULL);
        soc_disk_kill(bench.disk);
        bench_close(&bench);
        soc_disk_restart(bench.disk, SOC_DISK_KILL);
        if (!CHECK_INT(bench_open(&bench), SOC_OK)) {
            printf("# call %d: %s\n", (int)call, bench.detail.text);
            bench_fini(&bench);
            continue;
        }
        CHECK(soc_store_sequence(bench.store) >= bench.promised);
        bench.promised = soc_store_sequence(bench.store);
        if (call % 2 == 0)
            bench_work(&bench);
        soc_disk_kill(bench.disk);
        bench_close(&bench);
        soc_disk_restart(bench.disk, SOC_DISK_POWER_LOSS);
        if (!CHECK_INT(bench_open(&bench), SOC_OK)) {
            printf("# call %d: %s\n", (int)call, bench.detail.text);
            bench_fini(&bench);
            continue;
        }
        CHECK(soc_store_sequence(bench.store) >= bench.promised);
        CHECK(bench_work(&bench) >= 0);
        if (!CHECK(strcmp(bench_dump(&bench), end) == 0))
            printf("# call %d: %.300s\n", (int)call, soc_buf_text(&bench.text));
        bench_fini(&bench);
    }
    printf("# struck at %d of %d calls\n", struck, (int)calls);
    soc_disk_free(prepared);
    free(end);
}

static void a_failed_sync_stops_the_store_and_the_next_start_repairs_it(void)
{
    fail_each_call(SOC_DISK_SYNC_ERROR, true);
}

static void a_failed_write_stops_the_store(void)
{
    fail_each_call(SOC_DISK_WRITE_ERROR, true);
}

static void a_failed_read_loses_nothing(void)
{
    fail_each_call(SOC_DISK_READ_ERROR, false);
}

static void a_full_disk_at_any_write_is_survived(void)
{
    uint64_t calls;
    struct soc_disk *prepared = make_prepared();
    char *end = plain_end(prepared, &calls);
    int full = 0;
    for (uint64_t call = 1; call <= calls; call++) {
        struct bench bench = {.disk = soc_disk_copy(prepared, call)};
        soc_disk_arm(bench.disk, SOC_DISK_FULL, call);
        int rc = bench_work(&bench);
        if (soc_disk_is_full(bench.disk) && rc < 0) {
            CHECK_INT(rc, SOC_EDISKFULL);
            full++;
        }
        soc_disk_clear(bench.disk);
        CHECK(bench_work(&bench) >= 0);
        if (!CHECK(strcmp(bench_dump(&bench), end) == 0))
            printf("# call %d: %.300s\n", (int)call, soc_buf_text(&bench.text));
        bench_fini(&bench);
    }
    CHECK(full > 10);
    soc_disk_free(prepared);
    free(end);
}

static void a_commit_takes_few_calls(void)
{
    struct bench bench = {.disk = soc_disk_new(1)};
    CHECK_INT(bench_open(&bench), SOC_OK);
    uint64_t calls = soc_disk_calls(bench.disk);
    for (uint64_t i = 1; i <= 2000; i++) {
        struct soc_slice batch = make_batch(&bench, i);
        CHECK_INT(soc_store_commit(bench.store, i, &batch, 1, &bench.detail), SOC_OK);
    }
    calls = soc_disk_calls(bench.disk) - calls;
    printf("# %.2f calls for each commit\n", (double)calls / 2000);
    CHECK(calls < 2000 * 5);
    bench_close(&bench);
    bench_fini(&bench);
}

int main(void)
{
    RUN(a_store_on_a_simulated_disk_is_like_any_other);
    RUN(a_crash_during_creation_leaves_no_store_or_a_complete_one);
    RUN(a_kill_at_any_call_loses_nothing);
    RUN(a_power_loss_at_any_call_loses_nothing);
    RUN(a_power_loss_without_full_syncs_is_reported);
    RUN(a_failed_sync_stops_the_store_and_the_next_start_repairs_it);
    RUN(a_failed_write_stops_the_store);
    RUN(a_failed_read_loses_nothing);
    RUN(a_full_disk_at_any_write_is_survived);
    RUN(a_commit_takes_few_calls);
    return check_done();
}

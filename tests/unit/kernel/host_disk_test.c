/* A host whose disk fills up, fails, or kills it at any I/O call. */
#include "host_parts.h"

#include "store/disk/disk.h"

/* Prints a word and a number that only this life would draw; on replay the recorded
 * one is printed. So a line that was shown and then not kept is told from one that is
 * shown again. */
static int step_say(struct world *world, const char *word, struct soc_buf *error)
{
    char drawn[64];
    char kept[64];
    char line[128];
    snprintf(drawn, sizeof(drawn), "%d", world->runs);
    int rc = step_effect(world, SOC_EFFECT_RANDOM, drawn, kept, error);
    snprintf(line, sizeof(line), "%s %s", word, kept);
    return rc <= 0 ? rc : step_print(world, line, error);
}

static enum soc_turn_end main_that_prints(struct world *world, struct soc_activation *activation,
                                          struct soc_buf *error)
{
    (void)activation;
    PASS(step_say(world, "one", error));
    PASS(step_sleep(world, 100, error));
    PASS(step_say(world, "two", error));
    PASS(step_sleep(world, 100, error));
    PASS(step_say(world, "three", error));
    return SOC_TURN_DONE;
}

/* Opens the store on the disk and starts a host, which may both fail. */
static bool begin(struct world *world, struct soc_disk *disk)
{
    struct soc_sqlite_options options = {.disk = disk};
    world->failures = 0;
    world->store = NULL;
    world->host = NULL;
    if (soc_sqlite_open(&world->store, &options, NULL) < 0)
        return false;
    if (world_start_as(world, "test") == SOC_OK)
        return true;
    soc_host_crash(world->host);
    soc_store_close(world->store);
    return false;
}

/* Runs to the end or to the failure of the disk. */
static void run(struct world *world)
{
    world_settle(world);
    while (world->failures == 0 && soc_host_next_due(world->host) != 0) {
        soc_clock_move(soc_host_clock(world->host), soc_host_next_due(world->host));
        world_settle(world);
    }
    if (world->failures == 0)
        soc_batch_seal(world->host);
}

static void fini(struct world *world)
{
    soc_buf_fini(&world->shown);
    soc_buf_fini(&world->texts[0]);
    soc_buf_fini(&world->texts[1]);
}

/* The I/O calls of an undisturbed life. */
static uint64_t count_calls(void)
{
    struct world world = {.main = main_that_prints};
    struct soc_disk *disk = soc_disk_new(1);
    CHECK(begin(&world, disk));
    run(&world);
    CHECK_TEXT(soc_buf_text(&world.shown), "user: one 1\nuser: two 2\nuser: three 3\n");
    soc_host_close(world.host, 0);
    soc_store_close(world.store);
    uint64_t calls = soc_disk_calls(disk);
    soc_disk_free(disk);
    fini(&world);
    return calls;
}

/* Every line was shown, in order, and if twice, then the same. */
static bool is_shown_right(struct world *world)
{
    static const char *const words[] = {"user: one ", "user: two ", "user: three "};
    const char *text = soc_buf_text(&world->shown);
    const char *last = text;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const char *first = strstr(text, words[i]);
        if (first == NULL || first < last)
            return false;
        last = first;
        size_t length = (size_t)(strchr(first, '\n') - first) + 1;
        for (const char *at = first; (at = strstr(at + 1, words[i])) != NULL;)
            if (strncmp(at, first, length) != 0)
                return false;
    }
    return true;
}

/* Lets a process end in its `call`-th I/O call and another go on. Tells whether what
 * the world saw is right. */
static bool live_twice(enum soc_disk_end how, uint64_t call, bool shows_early)
{
    struct world world = {.main = main_that_prints, .shows_early = shows_early};
    struct soc_disk *disk = soc_disk_new(call);
    soc_disk_arm(disk, SOC_DISK_CRASH, call);
    for (int life = 0; life < 2; life++) {
        bool has_begun = begin(&world, disk);
        CHECK(has_begun || life == 0);
        if (has_begun) {
            run(&world);
            CHECK_INT(world.failures, soc_disk_is_dead(disk));
            soc_disk_kill(disk);
            soc_host_crash(world.host);
            soc_store_close(world.store);
        }
        soc_disk_kill(disk);
        soc_disk_restart(disk, how);
    }
    bool is_right = is_shown_right(&world);
    soc_disk_free(disk);
    fini(&world);
    return is_right;
}

/* Counts the calls at which an end shows. */
static int count_wrong(bool shows_early)
{
    int wrong = 0;
    uint64_t calls = count_calls();
    for (uint64_t call = 1; call <= calls; call++) {
        wrong += !live_twice(SOC_DISK_KILL, call, shows_early);
        wrong += !live_twice(SOC_DISK_POWER_LOSS, call, shows_early);
    }
    printf("# 2 ends at each of %d calls: %d wrong\n", (int)calls, wrong);
    return wrong;
}

static void a_process_killed_in_any_call_loses_nothing_and_shows_nothing_early(void)
{
    CHECK_INT(count_wrong(false), 0);
}

static void an_open_output_gate_is_detected(void)
{
    CHECK(count_wrong(true) > 0);
}

static void a_full_disk_blocks_everything_until_there_is_room(void)
{
    struct world world = {.main = main_that_prints};
    struct soc_disk *disk = soc_disk_new(1);
    CHECK(begin(&world, disk));
    soc_batch_seal(world.host);
    soc_disk_arm(disk, SOC_DISK_FULL, 1);
    world_settle(&world);
    CHECK(soc_disk_is_full(disk));
    CHECK(soc_host_is_full(world.host));
    CHECK(!soc_host_is_quiet(world.host));
    int runs = world.runs;
    for (int i = 0; i < 5; i++) {
        int64_t due_ms = soc_host_next_due(world.host);
        CHECK(due_ms > soc_clock_now(soc_host_clock(world.host)));
        soc_clock_move(soc_host_clock(world.host), due_ms);
        world_settle(&world);
    }
    CHECK_INT(world.runs, runs);
    CHECK_INT(world.shown.length, 0);
    CHECK_INT(world.failures, 0);
    soc_disk_clear(disk);
    run(&world);
    CHECK(!soc_host_is_full(world.host));
    CHECK(is_shown_right(&world));
    soc_host_close(world.host, 0);
    soc_store_close(world.store);
    soc_disk_free(disk);
    fini(&world);
}

static void a_failed_sync_ends_the_host_and_nothing_more_is_shown(void)
{
    uint64_t calls = count_calls();
    for (uint64_t call = 1; call <= calls; call++) {
        struct world world = {.main = main_that_prints};
        struct soc_disk *disk = soc_disk_new(call);
        soc_disk_arm(disk, SOC_DISK_SYNC_ERROR, call);
        if (begin(&world, disk)) {
            run(&world);
            if (soc_disk_struck(disk) == SOC_DISK_SYNC_ERROR && world.failures > 0) {
                CHECK_INT(world.failures, 1);
                CHECK(soc_host_is_failed(world.host));
                size_t shown = world.shown.length;
                run(&world);
                soc_batch_seal(world.host);
                CHECK_INT(world.shown.length, shown);
            }
            soc_host_crash(world.host);
            soc_store_close(world.store);
        }
        soc_disk_kill(disk);
        soc_disk_restart(disk, SOC_DISK_KILL);
        CHECK(begin(&world, disk));
        run(&world);
        CHECK(is_shown_right(&world));
        soc_host_close(world.host, 0);
        soc_store_close(world.store);
        soc_disk_free(disk);
        fini(&world);
    }
}

/* Lets the sync at or behind the `call`-th call of a close fail; tells whether there was one. */
static bool fail_close(uint64_t call)
{
    struct world world = {.main = main_that_prints};
    struct soc_disk *disk = soc_disk_new(call);
    CHECK(begin(&world, disk));
    run(&world);
    soc_disk_arm(disk, SOC_DISK_SYNC_ERROR, call);
    soc_host_close(world.host, call % 2 == 0 ? 0 : 1000);
    soc_store_close(world.store);
    bool has_struck = soc_disk_struck(disk) == SOC_DISK_SYNC_ERROR;
    CHECK_INT(world.failures, has_struck ? 1 : 0);
    soc_disk_kill(disk);
    soc_disk_restart(disk, SOC_DISK_POWER_LOSS);
    CHECK(begin(&world, disk));
    run(&world);
    CHECK(is_shown_right(&world));
    soc_host_close(world.host, 0);
    soc_store_close(world.store);
    soc_disk_free(disk);
    fini(&world);
    return has_struck;
}

static void a_sync_that_fails_at_close_is_reported(void)
{
    int struck = 0;
    for (uint64_t call = 1; call <= 60; call++)
        struck += fail_close(call);
    printf("# a close has at least %d calls before its last sync\n", struck);
    CHECK(struck > 10);
}

/* Sends one message under a key, as a door does; false if the disk failed. */
static bool send_once(struct world *world)
{
    struct soc_send send = {.to = SOC_SLICE("root"), .payload = SOC_SLICE("{}")};
    struct soc_buf answer = {0};
    send.texts[SOC_TEXT_DEDUPE_KEY] = SOC_SLICE("only once");
    CHECK_INT(soc_gate_send_as(world->host, soc_registry_user(world->host), &send, &answer),
              SOC_OK);
    soc_buf_fini(&answer);
    soc_batch_seal(world->host);
    return world->failures == 0;
}

static int count_messages(struct world *world)
{
    struct soc_query query = {.what = "messages"};
    struct soc_buf rows = {0};
    CHECK_INT(soc_lookup_run(world->store, &query, &rows, NULL), SOC_OK);
    int count = 0;
    for (const char *at = soc_buf_text(&rows); (at = strstr(at, "\"msg_")) != NULL; at++)
        count++;
    soc_buf_fini(&rows);
    return count;
}

/* Whoever heard nothing sends again: there is one message, whenever the end came. Counts
 * the ends after which there is not. */
static int count_doubled(bool keys_apart)
{
    int doubled = 0;
    for (uint64_t call = 1; call <= 200; call++) {
        struct world world = {.keys_apart = keys_apart};
        struct soc_disk *disk = soc_disk_new(call);
        soc_disk_arm(disk, SOC_DISK_CRASH, call);
        if (begin(&world, disk)) {
            send_once(&world);
            soc_disk_kill(disk);
            soc_host_crash(world.host);
            soc_store_close(world.store);
        }
        soc_disk_kill(disk);
        soc_disk_restart(disk, call % 2 == 0 ? SOC_DISK_KILL : SOC_DISK_POWER_LOSS);
        CHECK(begin(&world, disk));
        CHECK(send_once(&world));
        doubled += count_messages(&world) != 1;
        soc_host_close(world.host, 0);
        soc_store_close(world.store);
        soc_disk_free(disk);
        fini(&world);
    }
    printf("# an end at each of 200 calls: %d times doubled\n", doubled);
    return doubled;
}

static void a_key_is_kept_with_its_message(void)
{
    CHECK_INT(count_doubled(false), 0);
}

static void a_key_outside_its_transaction_is_detected(void)
{
    CHECK(count_doubled(true) > 0);
}

int main(void)
{
    RUN(a_key_is_kept_with_its_message);
    RUN(a_key_outside_its_transaction_is_detected);
    RUN(a_process_killed_in_any_call_loses_nothing_and_shows_nothing_early);
    RUN(an_open_output_gate_is_detected);
    RUN(a_full_disk_blocks_everything_until_there_is_room);
    RUN(a_failed_sync_ends_the_host_and_nothing_more_is_shown);
    RUN(a_sync_that_fails_at_close_is_reported);
    return check_done();
}

/* Damage: whichever byte of a stored society is flipped, truncated or rolled back, the
 * store reports it or hands out exactly what it would have. FLIPS is the number of bytes
 * tried in each file; 0: all.
 *
 * Covers: core/store/tables/database.c, core/store/sqlite/mark.c, core/store/sqlite/wal.c */
#include "store_world.h"

#include "env/rng.h"
#include "store/disk/disk.h"

/* What a store hands out at a start, or the error. */
struct outcome {
    int rc;
    struct soc_buf text;
    struct soc_detail detail;
};

static void look(struct soc_disk *disk, struct outcome *outcome)
{
    struct soc_store *store = NULL;
    struct soc_sqlite_options options = {.disk = disk};
    struct soc_query query = {.what = "dump"};
    outcome->text.length = 0;
    outcome->rc = soc_sqlite_open(&store, &options, &outcome->detail);
    if (outcome->rc == SOC_OK)
        outcome->rc = soc_store_load(store, show_record, &outcome->text, &outcome->detail);
    /* A lost fold is repeated, so the rows of the tables are compared. */
    outcome->text.length = 0;
    if (outcome->rc == SOC_OK)
        outcome->rc = soc_lookup_run(store, &query, &outcome->text, &outcome->detail);
    soc_store_close(store);
}

static int append(struct world *world, uint64_t key)
{
    char payload[3000];
    memset(payload, 'a' + (int)(key % 26), sizeof(payload));
    if (key == 1)
        PUT(world, AGENT, agent, NOW_MS, SOC_SLICE("root"), SOC_SLICE("root"));
    put_message(world, key);
    PUT(world, MESSAGE, message, .key = 1000 + key, .time_ms = NOW_MS, .from = SOC_SLICE("root"),
        .to = SOC_SLICE("root"), .payload = soc_slice(payload, sizeof(payload)));
    PUT(world, MESSAGE_END, message_end, .key = 999 + key, .time_ms = NOW_MS, .outcome = 1);
    PUT(world, STATE, state, SOC_SLICE("root"), soc_slice(payload, 100));
    return world_append(world);
}

/* How a society was left. */
enum way {
    CLOSED,    /* closed properly */
    LOGGED,    /* killed with everything in the log */
    FOLDED,    /* killed after a fold that was not synced */
    COPIED,    /* killed after a checkpoint, with the log still there */
    RESTARTED, /* killed after a new log had begun in the same file */
    CUT_OFF,   /* killed during a checkpoint */
    WAY_COUNT,
};

static struct soc_disk *make_cut(enum way way, uint64_t seed, uint64_t call)
{
    struct world world = {0};
    struct soc_disk *disk = soc_disk_new(seed);
    struct soc_sqlite_options options = {.disk = disk};
    CHECK_INT(soc_sqlite_open(&world.store, &options, &world.detail), SOC_OK);
    for (uint64_t key = 1; key <= 8; key++)
        CHECK_INT(append(&world, key), SOC_OK);
    if (way != LOGGED)
        CHECK(soc_store_fold(world.store, 10000, &world.detail) >= 0);
    if (way == COPIED || way == RESTARTED)
        CHECK_INT(soc_store_tidy(world.store, true, &world.detail), SOC_OK);
    if (way == RESTARTED)
        CHECK_INT(append(&world, 9), SOC_OK);
    if (way == CUT_OFF) {
        soc_disk_arm(disk, SOC_DISK_CRASH, call);
        CHECK(soc_store_tidy(world.store, true, &world.detail) < 0);
    } else if (way != CLOSED) {
        soc_disk_kill(disk);
    }
    soc_store_close(world.store);
    soc_buf_fini(&world.batch);
    soc_disk_restart(disk, SOC_DISK_KILL);
    return disk;
}

static struct soc_disk *make(enum way way)
{
    return make_cut(way, 1, 12);
}

static long flips_wanted(void)
{
    const char *text = getenv("FLIPS");
    return text == NULL ? 250 : strtol(text, NULL, 10);
}

/* Tries one damaged copy. Tells whether it was reported; other contents are a failure. */
static bool try_copy(struct soc_disk *disk, const struct outcome *right, const char *what, long at)
{
    struct outcome outcome = {0};
    look(disk, &outcome);
    bool is_noticed = outcome.rc < 0;
    if (is_noticed && !CHECK(outcome.detail.text[0] != '\0'))
        printf("# %s at %ld: no word about it\n", what, at);
    if (is_noticed && outcome.rc != SOC_ECORRUPT && outcome.rc != SOC_ENEWER &&
        !CHECK_INT(outcome.rc, SOC_ECORRUPT))
        printf("# %s at %ld: %s\n", what, at, outcome.detail.text);
    if (!is_noticed &&
        !CHECK(soc_slice_equal(soc_buf_slice(&outcome.text), soc_buf_slice(&right->text))))
        printf("# %s at %ld: something else is handed out\n", what, at);
    soc_buf_fini(&outcome.text);
    soc_disk_free(disk);
    return is_noticed;
}

/* Flips bits of one file, one at a time. */
static void flip_file(struct soc_disk *disk, const char *name, const struct outcome *right)
{
    struct soc_rng rng;
    long length = (long)soc_disk_bytes(disk, name)->length;
    long wanted = flips_wanted();
    long count = wanted == 0 || wanted > length ? length : wanted;
    long noticed = 0;
    soc_rng_init(&rng, (uint64_t)length);
    for (long i = 0; i < count; i++) {
        /* The start of a file is always included. */
        long at = count == length || i < 100 ? i : (long)soc_rng_below(&rng, (uint64_t)length);
        struct soc_disk *copy = soc_disk_copy(disk, 1);
        soc_disk_bytes(copy, name)->data[at] ^= (char)(1 << soc_rng_below(&rng, 8));
        noticed += try_copy(copy, right, name, at);
    }
    printf("#   %s: %ld of %ld bytes flipped, %ld noticed, the rest without effect\n", name, count,
           length, noticed);
}

static void a_flipped_bit_is_reported_or_harmless(void)
{
    static const char *const ways[] = {"closed", "logged", "folded", "copied", "restarted", "cut"};
    for (enum way way = CLOSED; way < WAY_COUNT; way++) {
        struct soc_disk *disk = make(way);
        struct soc_disk *copy = soc_disk_copy(disk, 1);
        struct outcome right = {0};
        look(copy, &right);
        CHECK_INT(right.rc, SOC_OK);
        printf("# %s\n", ways[way]);
        const char *name;
        for (int i = 0; (name = soc_disk_name(disk, i)) != NULL; i++)
            if (soc_disk_bytes(disk, name)->length > 0)
                flip_file(disk, name, &right);
        soc_buf_fini(&right.text);
        soc_disk_free(copy);
        soc_disk_free(disk);
    }
}

static void a_truncated_file_is_reported_or_harmless(void)
{
    for (enum way way = CLOSED; way < WAY_COUNT; way++) {
        struct soc_disk *disk = make(way);
        struct soc_disk *whole = soc_disk_copy(disk, 1);
        struct outcome right = {0};
        look(whole, &right);
        const char *name;
        for (int i = 0; (name = soc_disk_name(disk, i)) != NULL; i++) {
            size_t length = soc_disk_bytes(disk, name)->length;
            for (size_t part = 0; part < 20 && length > 0; part++) {
                struct soc_disk *copy = soc_disk_copy(disk, 1);
                soc_disk_bytes(copy, name)->length = length * part / 20;
                try_copy(copy, &right, name, (long)(length * part / 20));
            }
        }
        soc_buf_fini(&right.text);
        soc_disk_free(whole);
        soc_disk_free(disk);
    }
}

#define LOG_HEAD_BYTES   32
#define FRAME_HEAD_BYTES 24

/* Tries the log with fewer frames than were durable, which must always be reported. */
static void shorten_log(struct soc_disk *disk, int call)
{
    const struct soc_buf *log = soc_disk_bytes(disk, "society.db-wal");
    size_t frame = FRAME_HEAD_BYTES + (size_t)(unsigned char)log->data[10] * 256;
    size_t frames = (log->length - LOG_HEAD_BYTES) / frame;
    struct outcome outcome = {0};
    CHECK(frames > 20);
    for (size_t left = 1; left < frames; left++) {
        struct soc_disk *copy = soc_disk_copy(disk, 1);
        soc_disk_bytes(copy, "society.db-wal")->length = LOG_HEAD_BYTES + left * frame;
        look(copy, &outcome);
        if (!CHECK_INT(outcome.rc, SOC_ECORRUPT))
            printf("# an end at call %d, %d of %d frames left\n", call, (int)left, (int)frames);
        soc_disk_free(copy);
    }
    soc_buf_fini(&outcome.text);
    soc_disk_free(disk);
}

static void a_log_that_became_shorter_is_reported(void)
{
    shorten_log(make(COPIED), 0);
    for (uint64_t call = 4; call <= 24; call += 4)
        shorten_log(make_cut(CUT_OFF, 1, call), (int)call);
}

static void a_half_copied_page_is_not_damage(void)
{
    struct outcome outcome = {0};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        for (uint64_t call = 1; call <= 24; call++) {
            struct soc_disk *disk = make_cut(CUT_OFF, seed, call);
            look(disk, &outcome);
            if (!CHECK_INT(outcome.rc, SOC_OK))
                printf("# call %d: %s\n", (int)call, outcome.detail.text);
            soc_disk_free(disk);
        }
    }
    soc_buf_fini(&outcome.text);
}

/* Mixes files of an earlier day with those of today. */
static void an_older_log_or_database_is_reported(void)
{
    struct soc_disk *today = make(RESTARTED);
    struct soc_disk *before = make(COPIED);
    struct outcome right = {0};
    static const char *const names[] = {"society.db", "society.db-wal"};
    for (int i = 0; i < 2; i++) {
        struct soc_disk *copy = soc_disk_copy(today, 1);
        struct soc_buf *bytes = soc_disk_bytes(copy, names[i]);
        bytes->length = 0;
        soc_buf_put_slice(bytes, soc_buf_slice(soc_disk_bytes(before, names[i])));
        look(copy, &right);
        CHECK(i == 0 || right.rc == SOC_ECORRUPT);
        soc_disk_free(copy);
    }
    CHECK(strstr(right.detail.text, "society.db-mark") != NULL);
    soc_buf_fini(&right.text);
    soc_disk_free(before);
    soc_disk_free(today);
}

int main(void)
{
    RUN(a_flipped_bit_is_reported_or_harmless);
    RUN(a_truncated_file_is_reported_or_harmless);
    RUN(a_log_that_became_shorter_is_reported);
    RUN(a_half_copied_page_is_not_damage);
    RUN(an_older_log_or_database_is_reported);
    return check_done();
}

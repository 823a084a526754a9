/* Snapshots: a look at the past that begins with one tells what a look from the first line
 * tells, costs a bounded number of lines, and can still be had when lines were removed.
 *
 * Covers: core/store/tables/snapshots.c, core/store/tables/past_rows.c
 * Covers: core/store/tables/past.c, core/store/tables/prune.c
 * Covers: core/store/reader.c, core/store/writer.c */
#include "store/tables/snapshots.h"

#include <inttypes.h>

#include "base/limits.h"
#include "env/ids.h"
#include "env/rng.h"
#include "store/journal.h"
#include "store/tables/past_rows.h"
#include "store/tables/schema.h"
#include "store_sql.h"
#include "store_world.h"

#define DAY_MS    INT64_C(86400000)
#define HISTORIES 30
#define AGENTS    12
#define BATCH     500 /* steps */

/* A random history, whose lines make sense only in part: a past takes any. */
struct teller {
    struct world *world;
    struct soc_rng rng;
    uint64_t key;
    int64_t time_ms;
    char alive[AGENTS];
    struct soc_buf ended; /* by key: it has, and may not again */
};

static uint64_t below(struct teller *teller, uint64_t bound)
{
    return soc_rng_below(&teller->rng, bound);
}

static struct soc_slice name_of(uint64_t agent)
{
    static const char *const names[AGENTS] = {"root", "user", "ann", "bob", "cyn", "dan",
                                              "eve",  "fay",  "gus", "hal", "ida", "jon"};
    return soc_slice_text(names[agent]);
}

static void tell_event(struct teller *teller, const char *event, struct soc_slice agent,
                       struct soc_slice task_id, const char *detail)
{
    PUT(teller->world, EVENT, event, .time_ms = (uint64_t)teller->time_ms,
        .event = soc_slice_text(event), .agent = agent, .task_id = task_id,
        .detail = soc_slice_text(detail));
}

static void tell_life(struct teller *teller, uint64_t agent)
{
    if (teller->alive[agent])
        PUT(teller->world, AGENT_END, agent_end, .time_ms = (uint64_t)teller->time_ms,
            .id = name_of(agent), .reason = SOC_SLICE("done"));
    else
        PUT(teller->world, AGENT, agent, .time_ms = (uint64_t)teller->time_ms, .id = name_of(agent),
            .role = SOC_SLICE("worker"),
            .parent = agent == 0 ? (struct soc_slice){0} : name_of(below(teller, agent)),
            .brief = SOC_SLICE("{\"objective\":\"o\"}"));
    teller->alive[agent] = !teller->alive[agent];
}

static void tell_mail(struct teller *teller, uint64_t from, uint64_t to)
{
    static const char *const tasks[] = {"t1", "t2", "t3"};
    bool is_task = below(teller, 4) == 0;
    PUT(teller->world, MESSAGE, message, .key = ++teller->key, .time_ms = (uint64_t)teller->time_ms,
        .priority = 2, .attempt = 1, .from = name_of(from),
        .to = below(teller, 40) == 0 ? SOC_SLICE("All") : name_of(to),
        .type = is_task ? SOC_SLICE("task") : SOC_SLICE("general"),
        .task_id = is_task ? soc_slice_text(tasks[below(teller, 3)]) : (struct soc_slice){0},
        .payload = SOC_SLICE("{\"text\":\"of some length\"}"));
    soc_buf_put_byte(&teller->ended, 0);
}

static void tell_end(struct teller *teller)
{
    uint64_t key = teller->key < 20 ? 0 : teller->key - below(teller, 20);
    if (key == 0)
        return;
    char *ended = teller->ended.data + key - 1;
    uint64_t outcome = 1 + below(teller, 5);
    if (*ended == 0)
        PUT(teller->world, MESSAGE_END, message_end, .key = key,
            .time_ms = (uint64_t)teller->time_ms, .outcome = outcome, .reason = SOC_SLICE("why"));
    else if (*ended == 1)
        PUT(teller->world, MESSAGE_AGAIN, message_again, .key = key,
            .time_ms = (uint64_t)teller->time_ms, .attempt = 2);
    bool is_dead = outcome == SOC_OUTCOME_DEAD || outcome == SOC_OUTCOME_EXPIRED;
    *ended = *ended == 0 ? (is_dead ? 1 : 2) : *ended == 1 ? 0 : 2;
}

static void tell_item(struct teller *teller)
{
    static const char *const events[] = {"escalation", "escalation", "decision", "withdrawn"};
    char id[SOC_MESSAGE_ID_BYTES];
    char detail[96];
    soc_message_id_format(id, teller->time_ms, 1 + below(teller, 3000));
    snprintf(detail, sizeof(detail), "{\"item_id\":\"item_%.*s\"}", (int)sizeof(id) - 4, id + 4);
    tell_event(teller, events[below(teller, 4)], name_of(2), (struct soc_slice){0}, detail);
}

static void tell_step(struct teller *teller)
{
    static const char *const changes[] = {"blocked", "unblocked",    "failed",     "paused",
                                          "resumed", "unresponsive", "responsive", "adopted"};
    static const char *const tasks[] = {"task_opened", "task_start", "task_retried", "task_end"};
    static const char *const details[] = {"{\"assigner\":\"root\",\"state\":\"failed\"}",
                                          "{\"reason\":\"late\",\"state\":\"completed\"}", "{}"};
    uint64_t agent = below(teller, AGENTS);
    uint64_t other = below(teller, AGENTS);
    char id[8];
    teller->time_ms += (int64_t)below(teller, 100) - 10; /* it may step back */
    switch (below(teller, 14)) {
    case 0:
        return below(teller, 6) == 0 ? tell_life(teller, agent) : tell_end(teller);
    case 1:
        if (below(teller, 3) == 0)
            PUT(teller->world, CONTACT_END, contact_end, .time_ms = (uint64_t)teller->time_ms,
                .owner = name_of(agent), .id = name_of(other));
        else
            PUT(teller->world, CONTACT, contact, .time_ms = (uint64_t)teller->time_ms,
                .source = 3 + below(teller, 3), .owner = name_of(agent), .id = name_of(other));
        return;
    case 2:
        snprintf(id, sizeof(id), "%s%d", "t", (int)below(teller, 2000));
        return tell_event(teller, tasks[below(teller, 4)], name_of(agent), soc_slice_text(id),
                          details[below(teller, 3)]);
    case 3:
        return tell_event(teller, changes[below(teller, 8)], name_of(agent), (struct soc_slice){0},
                          "{\"kind\":\"human\",\"to\":\"blocked_user\",\"by\":\"root\"}");
    case 4:
        return below(teller, 4) == 0 ? tell_item(teller) : tell_mail(teller, agent, other);
    case 5:
    case 6:
    case 7:
    case 8:
        return tell_end(teller);
    default:
        return tell_mail(teller, agent, other);
    }
}

static void fold_all(struct world *world)
{
    if (world->batch.length > 0)
        CHECK_INT(world_append(world), SOC_OK);
    CHECK(world_fold(world) >= 0);
}

/* Tells a history of at least so many lines. */
static void tell(struct teller *teller, struct world *world, uint64_t seed, uint64_t lines)
{
    *teller = (struct teller){.world = world, .time_ms = NOW_MS - 900 * DAY_MS};
    soc_rng_init(&teller->rng, seed);
    for (uint64_t agent = 0; agent < 4; agent++)
        tell_life(teller, agent);
    while (world->store->at.lines < lines) {
        for (int i = 0; i < BATCH; i++)
            tell_step(teller);
        fold_all(world);
    }
    soc_buf_fini(&teller->ended);
}

/* Looks at the past as of a line. Returns the lines that were fed, or an error; the answer is
 * in `out`. */
static int64_t look(struct world *world, uint64_t line, int64_t until_ms, bool is_kept,
                    struct soc_buf *out)
{
    struct soc_query query = {.what = "at", .upto = line, .until_ms = until_ms};
    struct soc_lookup *lookup = soc_lookup_new(&query, NULL, NULL);
    int64_t fed = 0;
    int rc;
    while ((rc = soc_lookup_step(lookup, world->store, 0, &world->detail)) > 0)
        while (is_kept && lookup->snapshots != NULL)
            CHECK_INT(soc_lookup_keep(world->store, &lookup->snapshots, &world->detail), SOC_OK);
    fed = (int64_t)lookup->query.past->fed;
    out->length = 0;
    soc_buf_put_slice(out, soc_buf_slice(&lookup->rows));
    soc_lookup_free(lookup);
    return rc < 0 ? rc : fed;
}

/* ---- the bytes of a past ---- */

static void take_lines(struct soc_past *past, struct teller *teller, int count)
{
    static const char *const events[] = {
        "spawned",       "stopped",         "sent",       "processed", "dead",       "expired",
        "sent_again",    "task_opened",     "task_start", "task_end",  "escalation", "decision",
        "contact_added", "contact_removed", "blocked",    "paused"};
    for (int i = 0; i < count; i++) {
        char detail[96];
        char id[SOC_MESSAGE_ID_BYTES];
        soc_message_id_format(id, teller->time_ms, 1 + below(teller, 1500));
        snprintf(detail, sizeof(detail), "{\"item_id\":\"item_%.*s\",\"assigner\":\"root\"}",
                 (int)sizeof(id) - 4, id + 4);
        struct soc_line line = {.number = past->last + 1 + below(teller, 3),
                                .time_ms = teller->time_ms += (int64_t)below(teller, 5),
                                .key = 1 + below(teller, 400),
                                .name = soc_slice_text(events[below(teller, 16)]),
                                .agent = name_of(below(teller, AGENTS)),
                                .other = name_of(below(teller, AGENTS)),
                                .type = SOC_SLICE("task"),
                                .task_id = name_of(below(teller, AGENTS)),
                                .detail = soc_slice_text(detail)};
        soc_past_feed(past, &line);
        past->line = past->last;
    }
}

/* The letters of a past, whose order means nothing, are those of another. */
static void check_letters(struct soc_past *past, struct soc_past *other)
{
    const void *letter;
    uint64_t key;
    CHECK_INT(past->dead.count, other->dead.count);
    for (size_t cursor = 0; (letter = soc_map_each_number(&past->dead, &cursor, &key)) != NULL;)
        CHECK(soc_map_find_number(&other->dead, key) == letter);
    soc_map_fini(&other->dead);
}

static void check_rows(const struct soc_past *past, struct soc_slice expected)
{
    struct soc_buf bytes = {0};
    soc_past_rows_write(past, &bytes);
    CHECK(soc_slice_equal(soc_buf_slice(&bytes), expected));
    soc_buf_fini(&bytes);
}

static void a_past_goes_on_from_its_bytes_as_if_they_had_not_been(void)
{
    for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
        struct teller teller = {.time_ms = NOW_MS};
        struct soc_past *one = soc_past_new();
        struct soc_past *other = soc_past_new();
        struct soc_buf bytes = {0};
        for (int i = 0; i < 12; i++) {
            soc_rng_init(&teller.rng, seed * 100 + (uint64_t)i);
            struct teller again = teller;
            take_lines(one, &teller, 400);
            take_lines(other, &again, 400);
            bytes.length = 0;
            soc_past_rows_write(one, &bytes);
            check_rows(other, soc_buf_slice(&bytes));
            soc_past_empty(other);
            CHECK(soc_past_rows_read(other, soc_buf_slice(&bytes)));
            check_rows(other, soc_buf_slice(&bytes));
            CHECK_INT(other->tasks_over, one->tasks_over);
            CHECK_INT(other->items_over, one->items_over);
        }
        soc_buf_fini(&bytes);
        soc_past_free(one);
        soc_past_free(other);
    }
}

/* What a tracked past says has changed is enough to have the same one elsewhere. */
static void changes_are_all_that_changed(void)
{
    for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
        struct world world;
        struct teller teller = {.time_ms = NOW_MS};
        struct soc_past *past = soc_past_new();
        world_init(&world, IN_DIRECTORY);
        soc_rng_init(&teller.rng, seed);
        past->is_tracked = true;
        for (int i = 0; i < 8; i++) {
            struct soc_database *database = soc_sqlite_lend(world.store, NULL);
            struct soc_past *copy = soc_past_new();
            struct soc_buf bytes = {0};
            bool is_found = false;
            take_lines(past, &teller, 1 + (int)below(&teller, 300));
            soc_past_forget_letter(past, 1 + below(&teller, 400));
            CHECK_INT(soc_snapshots_write_edge(database, past, &world.detail), SOC_OK);
            CHECK_INT(soc_snapshots_read_edge(database, past->line, copy, &is_found, &world.detail),
                      SOC_OK);
            CHECK(is_found);
            check_letters(past, copy);
            struct soc_map letters = past->dead;
            past->dead = (struct soc_map){0};
            soc_past_rows_write(past, &bytes);
            past->dead = letters;
            check_rows(copy, soc_buf_slice(&bytes));
            soc_past_empty(copy);
            CHECK_INT(
                soc_snapshots_read_edge(database, past->line + 1, copy, &is_found, &world.detail),
                SOC_OK);
            CHECK(!is_found);
            soc_buf_fini(&bytes);
            soc_past_free(copy);
        }
        soc_past_free(past);
        world_fini(&world);
    }
}

static void damaged_bytes_are_refused(void)
{
    struct teller teller = {.time_ms = NOW_MS};
    struct soc_past *past = soc_past_new();
    struct soc_buf bytes = {0};
    soc_rng_init(&teller.rng, 7);
    take_lines(past, &teller, 300);
    soc_past_rows_write(past, &bytes);
    soc_past_empty(past);
    CHECK(!soc_past_rows_read(past, (struct soc_slice){0}));
    size_t refused = 0;
    for (size_t i = 0; i < bytes.length; i++) {
        struct soc_buf other = {0};
        soc_buf_put(&other, bytes.data, bytes.length);
        other.data[i] ^= (char)(1 << below(&teller, 8));
        soc_past_empty(past);
        refused += !soc_past_rows_read(past, soc_buf_slice(&other));
        soc_past_empty(past);
        soc_past_rows_read(past, soc_slice(bytes.data, i)); /* it may end where a row does */
        soc_buf_fini(&other);
    }
    CHECK(refused > bytes.length / 10);
    soc_buf_fini(&bytes);
    soc_past_free(past);
}

/* ---- looks ---- */

/* Two societies with the same history; only looks at the second leave snapshots. */
struct twins {
    struct world plain;
    struct world quick;
    struct teller teller;
    struct soc_buf expected;
    struct soc_buf found;
};

static void twins_init(struct twins *twins, enum place place, uint64_t seed, uint64_t lines)
{
    *twins = (struct twins){0};
    world_init(&twins->plain, place);
    world_init(&twins->quick, place);
    tell(&twins->teller, &twins->plain, seed, lines);
    tell(&twins->teller, &twins->quick, seed, lines);
    CHECK_INT(twins->quick.store->at.lines, twins->plain.store->at.lines);
}

static void twins_fini(struct twins *twins)
{
    soc_buf_fini(&twins->expected);
    soc_buf_fini(&twins->found);
    world_fini(&twins->plain);
    world_fini(&twins->quick);
}

/* Looks at both, and returns how many lines the second look was fed. */
static int64_t compare(struct twins *twins, uint64_t line, int64_t until_ms)
{
    CHECK(look(&twins->plain, line, until_ms, false, &twins->expected) >= 0);
    int64_t fed = look(&twins->quick, line, until_ms, true, &twins->found);
    const char *found = soc_buf_text(&twins->found);
    const char *expected = soc_buf_text(&twins->expected);
    size_t same = 0; /* the texts are too long to be shown */
    while (found[same] != '\0' && found[same] == expected[same])
        same++;
    if (!CHECK(found[same] == expected[same]))
        printf("# line %" PRIu64 ": «%.80s», not «%.80s»\n", line, found + same, expected + same);
    return fed;
}

static void a_look_is_the_same_with_snapshots_and_costs_a_bounded_number_of_lines(void)
{
    for (int place = IN_MEMORY; place <= IN_DIRECTORY; place++) {
        struct twins twins;
        twins_init(&twins, (enum place)place, 11 + (uint64_t)place, SOC_SNAPSHOT_LINES * 2 + 4000);
        uint64_t lines = twins.plain.store->at.lines;
        CHECK(compare(&twins, 0, 0) > SOC_SNAPSHOT_LINES); /* it leaves them */
        CHECK(look(&twins.plain, 0, 0, false, &twins.found) > SOC_SNAPSHOT_LINES);
        world_reopen(&twins.quick);
        CHECK(compare(&twins, 0, 0) <= SOC_SNAPSHOT_LINES);
        for (uint64_t i = 1; i <= 2; i++) {
            CHECK_INT(compare(&twins, i * SOC_SNAPSHOT_LINES, 0), 0);
            CHECK_INT(compare(&twins, i * SOC_SNAPSHOT_LINES + 1, 0), 1);
            CHECK(compare(&twins, i * SOC_SNAPSHOT_LINES - 1, 0) < SOC_SNAPSHOT_LINES);
        }
        for (int i = 0; i < 4; i++)
            CHECK(compare(&twins, 1 + below(&twins.teller, lines), 0) <= SOC_SNAPSHOT_LINES);
        twins_fini(&twins);
    }
}

/* A snapshot may hold lines of a later time than is asked for: then it is no beginning. */
static void a_look_at_a_time_is_the_same_with_snapshots(void)
{
    struct twins twins;
    twins_init(&twins, IN_MEMORY, 23, SOC_SNAPSHOT_LINES * 2 + 3000);
    int64_t begin_ms = NOW_MS - 900 * DAY_MS;
    uint64_t span_ms = (uint64_t)(twins.teller.time_ms - begin_ms);
    for (int round = 0; round < 2; round++) { /* the first leaves snapshots where it can */
        for (int i = 0; i < 6; i++)
            compare(&twins, 0, begin_ms + 1 + (int64_t)below(&twins.teller, span_ms));
        compare(&twins, 0, 0);
    }
    CHECK(compare(&twins, 0, twins.teller.time_ms - 2000) <= SOC_SNAPSHOT_LINES * 2);
    CHECK(compare(&twins, 0, INT64_MAX) <= SOC_SNAPSHOT_LINES);
    twins_fini(&twins);
}

/* What is stored in parts counts when all of them are there. */
static void a_snapshot_that_is_not_whole_is_not_used(void)
{
    struct twins twins;
    twins_init(&twins, IN_DIRECTORY, 31, SOC_SNAPSHOT_LINES + 2000);
    struct soc_snapshot *snapshot = NULL;
    struct soc_query query = {.what = "at"};
    struct soc_lookup *lookup = soc_lookup_new(&query, NULL, NULL);
    while (soc_lookup_step(lookup, twins.quick.store, 0, &twins.quick.detail) > 0)
        if (lookup->snapshots != NULL && snapshot == NULL) {
            snapshot = lookup->snapshots;
            lookup->snapshots = NULL;
        }
    soc_lookup_free(lookup);
    CHECK(snapshot != NULL);
    struct soc_slice real = soc_buf_slice(&snapshot->bytes);
    struct soc_buf large = {0}; /* as many parts as a society of very many agents has */
    soc_buf_put_slice(&large, real);
    soc_buf_reserve(&large, 700u << 10);
    memset(large.data + large.length, 0, 700u << 10);
    struct soc_snapshot half = {.line = snapshot->line, .latest_ms = snapshot->latest_ms};
    half.bytes = large;
    half.bytes.length += 700u << 10;
    CHECK_INT(soc_store_keep(twins.quick.store, &half, &twins.quick.detail), 1);
    CHECK_INT(soc_store_keep(twins.quick.store, &half, &twins.quick.detail), 1);
    CHECK(look(&twins.quick, 0, 0, false, &twins.found) > SOC_SNAPSHOT_LINES); /* from the first */
    CHECK_INT(soc_store_keep(twins.quick.store, &half, &twins.quick.detail), SOC_OK);
    CHECK(look(&twins.quick, 0, 0, false, &twins.found) > SOC_SNAPSHOT_LINES); /* damaged */
    CHECK_INT(soc_store_keep(twins.quick.store, snapshot, &twins.quick.detail), SOC_OK);
    CHECK_TEXT(run_sql(&twins.quick, "SELECT count(*) FROM snapshots"), "1");
    CHECK(compare(&twins, 0, 0) <= SOC_SNAPSHOT_LINES);
    soc_snapshots_free(snapshot);
    soc_buf_fini(&half.bytes);
    twins_fini(&twins);
}

/* An older program's database has no such tables. */
static void the_tables_are_made_when_they_are_needed(void)
{
    struct twins twins;
    twins_init(&twins, IN_DIRECTORY, 37, SOC_SNAPSHOT_LINES + 1000);
    soc_store_close(twins.quick.store);
    set_sql(&twins.quick, "DROP TABLE snapshots; DROP TABLE edge;");
    CHECK_INT(world_open(&twins.quick), SOC_OK);
    CHECK(compare(&twins, 0, 0) > SOC_SNAPSHOT_LINES);
    CHECK(compare(&twins, 0, 0) <= SOC_SNAPSHOT_LINES);
    twins_fini(&twins);
}

static void take_answer(int rc, struct soc_slice rows, const struct soc_page *page, void *user)
{
    struct soc_buf *answer = user;
    (void)page;
    CHECK_INT(rc, SOC_OK);
    soc_buf_put_slice(answer, rows);
}

/* The reader hands what its looks leave to the writer, which stores it when nothing waits. */
static void a_society_that_runs_stores_what_its_looks_leave(void)
{
    struct twins twins;
    twins_init(&twins, IN_DIRECTORY, 39, SOC_SNAPSHOT_LINES * 2 + 1000);
    struct soc_loop *loop = soc_loop_new();
    struct soc_journal_events events = {0};
    struct soc_journal *journal = soc_journal_open(twins.quick.store, loop, &events);
    struct soc_query query = {.what = "at"};
    soc_journal_ask(journal, &query, take_answer, &twins.found);
    while (twins.found.length == 0)
        soc_loop_poll(loop, 10);
    while (strcmp(run_sql(&twins.quick, "SELECT count(*) FROM snapshots"), "2") != 0)
        soc_loop_poll(loop, 10);
    CHECK(look(&twins.plain, 0, 0, false, &twins.expected) > SOC_SNAPSHOT_LINES);
    CHECK(soc_slice_equal(soc_buf_slice(&twins.found), soc_buf_slice(&twins.expected)));
    soc_journal_close(journal, 0);
    soc_loop_free(loop);
    CHECK(compare(&twins, 0, 0) <= SOC_SNAPSHOT_LINES);
    twins_fini(&twins);
}

/* ---- retention ---- */

static uint64_t first_line(struct world *world)
{
    return strtoull(run_sql(world, "SELECT line - count + 1 FROM lines ORDER BY line LIMIT 1"),
                    NULL, 10);
}

/* Removes lines until there is nothing more to remove. */
static void prune(struct world *world, struct soc_retention retention)
{
    world->store->retention = retention;
    CHECK_INT(soc_store_check(world->store, &world->detail), SOC_OK);
    for (int i = 0; i < 10000 && world->store->is_untidy; i++)
        CHECK_INT(soc_store_tidy(world->store, false, &world->detail), SOC_OK);
    CHECK(!world->store->is_untidy);
}

/* Tells both more of the same history. */
static void tell_more(struct twins *twins, struct teller *plain, struct teller *quick, int batches)
{
    for (int i = 0; i < batches * BATCH; i++) {
        tell_step(plain);
        tell_step(quick);
        if ((i + 1) % BATCH == 0) {
            fold_all(&twins->plain);
            fold_all(&twins->quick);
        }
    }
}

/* Every line that is left can be looked at, and the one before; no other. */
static void check_what_is_left(struct twins *twins)
{
    uint64_t first = first_line(&twins->quick);
    uint64_t lines = twins->plain.store->at.lines;
    CHECK(first > 2);
    compare(twins, first - 1, 0);
    compare(twins, first, 0);
    compare(twins, 0, 0);
    for (int i = 0; i < 2; i++)
        compare(twins, first + below(&twins->teller, lines - first), 0);
    CHECK_INT(look(&twins->quick, first - 2, 0, false, &twins->found), SOC_EGONE);
    CHECK_INT(look(&twins->quick, 0, NOW_MS - 900 * DAY_MS + 1, false, &twins->found), SOC_EGONE);
}

static void the_past_of_lines_that_are_left_stays(void)
{
    for (uint64_t seed = 41; seed < 43; seed++) {
        struct twins twins = {0};
        struct teller plain = {.world = &twins.plain, .time_ms = NOW_MS - 900 * DAY_MS};
        struct teller quick = {.world = &twins.quick, .time_ms = NOW_MS - 900 * DAY_MS};
        soc_rng_init(&plain.rng, seed);
        soc_rng_init(&quick.rng, seed);
        soc_rng_init(&twins.teller.rng, seed);
        world_init(&twins.plain, IN_DIRECTORY);
        world_init(&twins.quick, IN_DIRECTORY);
        tell_more(&twins, &plain, &quick, 8);
        for (int i = 0; i < 5; i++) {
            tell_more(&twins, &plain, &quick, 6);
            if (i == 3)
                compare(&twins, 0, 0); /* leaves snapshots, which go as well */
            prune(&twins.quick, (struct soc_retention){.bytes = 600 << 10});
            check_what_is_left(&twins);
            if (i % 2 == 0)
                world_reopen(&twins.quick);
        }
        uint64_t first = first_line(&twins.quick);
        CHECK(first > 6000);
        char sql[96];
        snprintf(sql, sizeof(sql), "SELECT count(*) FROM snapshots WHERE line < %" PRIu64, first);
        CHECK_TEXT(run_sql(&twins.quick, sql), "0");
        soc_buf_fini(&plain.ended);
        soc_buf_fini(&quick.ended);
        twins_fini(&twins);
    }
}

/* A program that knows nothing of the edge removes lines and leaves it behind. */
static void an_edge_of_another_line_is_none(void)
{
    struct twins twins;
    twins_init(&twins, IN_DIRECTORY, 51, 9000);
    int64_t pages = strtoll(run_sql(&twins.quick, "PRAGMA page_count"), NULL, 10);
    prune(&twins.quick, (struct soc_retention){.bytes = pages * SOC_SCHEMA_PAGE_BYTES});
    uint64_t first = first_line(&twins.quick);
    CHECK(first > 1 && first < 8000);
    compare(&twins, first, 0);
    soc_store_close(twins.quick.store);
    set_sql(&twins.quick, "DELETE FROM lines WHERE line = (SELECT min(line) FROM lines);");
    CHECK_INT(world_open(&twins.quick), SOC_OK);
    CHECK(first_line(&twins.quick) > first);
    CHECK_INT(look(&twins.quick, 0, 0, false, &twins.found), SOC_EGONE);
    prune(&twins.quick, (struct soc_retention){.days = 30}); /* all but the last block */
    CHECK_INT(look(&twins.quick, 0, 0, false, &twins.found), SOC_EGONE);
    twins_fini(&twins);
}

int main(void)
{
    RUN(a_past_goes_on_from_its_bytes_as_if_they_had_not_been);
    RUN(changes_are_all_that_changed);
    RUN(damaged_bytes_are_refused);
    RUN(a_look_is_the_same_with_snapshots_and_costs_a_bounded_number_of_lines);
    RUN(a_look_at_a_time_is_the_same_with_snapshots);
    RUN(a_snapshot_that_is_not_whole_is_not_used);
    RUN(the_tables_are_made_when_they_are_needed);
    RUN(a_society_that_runs_stores_what_its_looks_leave);
    RUN(the_past_of_lines_that_are_left_stays);
    RUN(an_edge_of_another_line_is_none);
    return check_done();
}

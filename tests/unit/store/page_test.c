/* Page: walks by cursor give exactly the whole list, from the tables and from batches that
 * are not folded.
 * Covers: core/store/tables/page.c, core/store/tables/page_rows.c
 * Covers: core/store/tables/page_activity.c, core/store/lookup.c */
#include "store/tables/page.h"

#include "base/json.h"
#include "env/rng.h"
#include "store_sql.h"
#include "store_world.h"

#define HISTORIES 60
#define STEPS     160

/* A random history: messages that end now, later, again or never, tasks, other lines. */
struct teller {
    struct world *world;
    struct soc_rng rng;
    uint64_t key;
    int64_t time_ms;
    char has_ended[STEPS * 4]; /* by key */
};

static uint64_t below(struct teller *teller, uint64_t bound)
{
    return soc_rng_below(&teller->rng, bound);
}

static void tell_message(struct teller *teller)
{
    static const char *const names[] = {"ann", "bob", "cyn"};
    bool is_letter = below(teller, 12) == 0;
    PUT(teller->world, MESSAGE, message, .key = ++teller->key, .time_ms = (uint64_t)teller->time_ms,
        .priority = 2, .attempt = 1, .flags = is_letter ? SOC_MESSAGE_IS_LETTER : 0,
        .from = soc_slice_text(names[below(teller, 3)]),
        .to = soc_slice_text(names[below(teller, 3)]), .type = SOC_SLICE("task"),
        .payload = SOC_SLICE("{}"),
        .task_id = below(teller, 3) == 0 ? SOC_SLICE("t1") : (struct soc_slice){0},
        .correlation_id = below(teller, 3) == 0 ? SOC_SLICE("c1") : (struct soc_slice){0});
    if (below(teller, 5) == 0)
        PUT(teller->world, TASK, task, .key = teller->key, .opened_ms = (uint64_t)teller->time_ms,
            .id = SOC_SLICE("t1"), .owner = SOC_SLICE("ann"));
}

/* An item that is decided at once, withdrawn at once, or stays open. */
static void tell_item(struct teller *teller, uint64_t time_ms)
{
    uint64_t end = below(teller, 4);
    teller->has_ended[++teller->key] = 2; /* no message */
    PUT(teller->world, ITEM, item, .key = teller->key, .time_ms = time_ms, .priority = 2,
        .agent = below(teller, 2) == 0 ? SOC_SLICE("ann") : SOC_SLICE("bob"),
        .title = SOC_SLICE("may I?"));
    if (end > 0)
        PUT(teller->world, ITEM_END, item_end, .key = teller->key, .time_ms = time_ms,
            .decision = end == 1 ? 4 : 1);
}

static void tell_step(struct teller *teller)
{
    teller->time_ms += (int64_t)below(teller, 100) - 20; /* it may step back */
    uint64_t some = teller->key == 0 ? 0 : 1 + below(teller, teller->key);
    uint64_t outcome = 1 + below(teller, 5);
    uint64_t time_ms = (uint64_t)teller->time_ms;
    switch (some == 0 ? 0 : below(teller, 9)) {
    case 0:
    case 1:
    case 2:
        tell_message(teller);
        break;
    case 3:
    case 4:
        if (teller->has_ended[some])
            break;
        teller->has_ended[some] = outcome == SOC_OUTCOME_PROCESSED ? 2 : 1;
        PUT(teller->world, MESSAGE_END, message_end, .key = some, .time_ms = time_ms,
            .outcome = outcome, .reason = SOC_SLICE("why"));
        break;
    case 5:
        if (teller->has_ended[some] == 2)
            break;
        teller->has_ended[some] = 0;
        PUT(teller->world, MESSAGE_AGAIN, message_again, .key = some, .time_ms = time_ms,
            .attempt = 2);
        break;
    case 6:
        PUT(teller->world, EVENT, event, .time_ms = time_ms, .event = SOC_SLICE("log"),
            .agent = SOC_SLICE("bob"), .detail = SOC_SLICE("{\"n\":1}"));
        break;
    case 7:
        tell_item(teller, time_ms);
        break;
    default:
        PUT(teller->world, BROADCAST_END, broadcast_end, .key = some, .time_ms = time_ms,
            .outcome = SOC_OUTCOME_PROCESSED, .agent = SOC_SLICE("cyn"));
    }
}

/* Appends the rows of a list without its brackets. */
static void put_rows(struct soc_buf *out, struct soc_slice rows)
{
    if (rows.length == 0)
        return;
    if (out->length > 0)
        soc_buf_put_byte(out, ',');
    soc_buf_put_slice(out, rows);
}

/* Reads one page of the reader, which sees what is not folded. */
static struct soc_page read_page(struct soc_store *reader, const struct soc_query *query,
                                 struct soc_buf *rows)
{
    struct soc_page page;
    struct soc_detail detail = {0};
    rows->length = 0;
    if (!CHECK_INT(soc_store_look(reader, query, &page, rows, &detail), SOC_OK))
        printf("# %s\n", detail.text);
    return page;
}

/* Walks the list up and down by pages of `limit` rows and compares it with `all`. */
static void check_walks(struct soc_store *reader, struct soc_query query, const char *all,
                        int64_t limit, int64_t budget_us)
{
    struct soc_buf up = {0};
    struct soc_buf down = {0};
    struct soc_buf rows = {0};
    struct soc_page page;
    query.is_page = true;
    query.limit = limit;
    query.budget_us = budget_us;
    query.has_after = true;
    do {
        page = read_page(reader, &query, &rows);
        put_rows(&up, soc_buf_slice(&rows));
        if (!CHECK(page.next == 0 || page.next > query.after))
            break;
        query.after = page.next;
    } while (page.next != 0);
    CHECK_TEXT(soc_buf_text(&up), all);
    query.has_after = false;
    query.after = 0;
    do {
        page = read_page(reader, &query, &rows);
        put_rows(&rows, soc_buf_slice(&down));
        struct soc_buf other = rows;
        rows = down;
        down = other;
        if (!CHECK(page.previous == 0 || query.before == 0 || page.previous < query.before))
            break;
        query.before = page.previous;
    } while (page.previous != 0);
    CHECK_TEXT(soc_buf_text(&down), all);
    soc_buf_fini(&up);
    soc_buf_fini(&down);
    soc_buf_fini(&rows);
}

/* The whole list as the folded tables have it, without brackets. */
static void ask_all(struct world *world, const struct soc_query *query, struct soc_buf *out)
{
    const char *text = world_ask_for(world, query);
    out->length = 0;
    soc_buf_put(out, text + 1, strlen(text) - 2);
}

static const struct soc_query questions[] = {
    {.what = "activity"},
    {.what = "messages"},
    {.what = "dead_letters"},
    {.what = "tasks"},
    {.what = "activity", .agent = {"ann", 3}},
    {.what = "activity", .type = {"dead", 4}},
    {.what = "activity", .correlation_id = {"c1", 2}},
    {.what = "activity", .since_ms = NOW_MS + 1000, .until_ms = NOW_MS + 2000},
    {.what = "messages", .agent = {"ann", 3}},
    {.what = "messages", .since_ms = NOW_MS + 1000, .until_ms = NOW_MS + 2000},
    {.what = "inbox", .state = {"all", 3}},
    {.what = "inbox", .state = {"decided", 7}},
    {.what = "inbox", .state = {"withdrawn", 9}},
    {.what = "inbox", .state = {"all", 3}, .agent = {"ann", 3}},
    {.what = "inbox", .state = {"decided", 7}, .since_ms = NOW_MS + 1000},
};
#define QUESTIONS (sizeof(questions) / sizeof(questions[0]))

/* Activity is walked while batches are not folded; what it gave must be what the tables
 * give later. */
static void check_history(uint64_t seed)
{
    struct world world;
    struct soc_store *reader;
    struct soc_buf unfolded = {0};
    struct soc_buf all = {0};
    world_init(&world, IN_DIRECTORY);
    struct teller teller = {.world = &world, .time_ms = NOW_MS};
    soc_rng_init(&teller.rng, seed);
    CHECK_INT(soc_store_open_reader(world.store, &reader, &world.detail), SOC_OK);
    for (int i = 0; i < STEPS; i++) {
        tell_step(&teller);
        if (below(&teller, 6) == 0)
            CHECK_INT(world_append(&world), SOC_OK);
        if (below(&teller, 40) == 0)
            CHECK_INT(world_fold(&world), 0);
        if (below(&teller, 80) == 0) {
            soc_store_close(reader);
            world_reopen(&world);
            CHECK_INT(soc_store_open_reader(world.store, &reader, &world.detail), SOC_OK);
        }
    }
    if (world.batch.length > 0)
        CHECK_INT(world_append(&world), SOC_OK);
    struct soc_query whole = {.what = "activity", .is_page = true, .has_after = true};
    read_page(reader, &whole, &unfolded);
    int64_t limit = 1 + (int64_t)below(&teller, 40);
    check_walks(reader, questions[0], soc_buf_text(&unfolded), limit, 0);
    check_walks(reader, questions[0], soc_buf_text(&unfolded), 1000, 1);
    CHECK_INT(world_fold(&world), 0);
    ask_all(&world, &questions[0], &all);
    CHECK_TEXT(soc_buf_text(&unfolded), soc_buf_text(&all));
    for (size_t i = 0; i < QUESTIONS; i++) {
        ask_all(&world, &questions[i], &all);
        check_walks(reader, questions[i], soc_buf_text(&all), limit, 0);
        check_walks(reader, questions[i], soc_buf_text(&all), 1000, 1);
    }
    soc_store_close(reader);
    soc_buf_fini(&unfolded);
    soc_buf_fini(&all);
    world_fini(&world);
}

static void walks_by_cursor_give_the_whole_list(void)
{
    for (uint64_t seed = 1; seed <= HISTORIES; seed++)
        check_history(seed);
}

/* The whole list by the SQL of the view, for what the page does by itself. */
static void a_page_is_what_the_view_shows(void)
{
    struct world world;
    world_init(&world, IN_MEMORY);
    struct teller teller = {.world = &world, .time_ms = NOW_MS};
    soc_rng_init(&teller.rng, 99);
    for (int i = 0; i < 400; i++)
        tell_step(&teller);
    CHECK_INT(world_append(&world), SOC_OK);
    struct soc_json_walk walk;
    uint64_t last = 0;
    uint64_t count = 0;
    soc_json_walk(&walk, soc_slice_text(world_ask(&world, "activity")));
    while (soc_json_next(&walk)) {
        int64_t line = 0;
        CHECK(soc_json_integer(soc_json_member(walk.value, "line"), &line));
        CHECK((uint64_t)line > last);
        last = (uint64_t)line;
        count++;
    }
    CHECK(count > 300);
    world_fini(&world);
}

static void a_page_says_where_the_list_goes_on(void)
{
    struct world world;
    struct soc_buf rows = {0};
    world_init(&world, IN_MEMORY);
    for (uint64_t key = 1; key <= 5; key++)
        put_message(&world, key);
    CHECK_INT(world_append(&world), SOC_OK);
    CHECK_INT(world_fold(&world), 0);
    struct soc_query latest = {.what = "messages", .is_page = true, .limit = 2};
    struct soc_page page = read_page(world.store, &latest, &rows);
    CHECK_INT(page.as_of, 5);
    CHECK_INT(page.next, 5); /* to follow from */
    CHECK_INT(page.previous, 4);
    struct soc_query follow = {.what = "messages", .is_page = true, .has_after = true, .after = 5};
    page = read_page(world.store, &follow, &rows);
    CHECK_INT(page.next, 0);
    CHECK_INT(rows.length, 0);
    follow.after = 3;
    follow.limit = 1;
    page = read_page(world.store, &follow, &rows);
    CHECK_INT(page.next, 4);
    soc_buf_fini(&rows);
    world_fini(&world);
}

static void decide_item(struct world *world, uint64_t key)
{
    PUT(world, ITEM_END, item_end, .key = key, .time_ms = NOW_MS, .decision = 1);
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
}

/* Between two pages, an item before the cursor is decided: none moves. */
static void an_item_that_is_decided_moves_no_other(void)
{
    struct world world;
    struct soc_buf rows = {0};
    world_init(&world, IN_MEMORY);
    for (uint64_t key = 1; key <= 6; key++)
        PUT(&world, ITEM, item, .key = key, .time_ms = NOW_MS, .priority = 2,
            .agent = SOC_SLICE("ann"), .title = SOC_SLICE("may I?"));
    for (uint64_t key = 3; key <= 6; key++)
        decide_item(&world, key);
    struct soc_query up = {.what = "inbox",
                           .state = SOC_SLICE("decided"),
                           .is_page = true,
                           .has_after = true,
                           .limit = 2};
    struct soc_page page = read_page(world.store, &up, &rows); /* 3 and 4 */
    CHECK_INT(page.next, 4);
    decide_item(&world, 1);
    struct soc_buf one = {0};
    soc_buf_put_slice(&one, soc_buf_slice(&rows));
    up.after = page.next;
    page = read_page(world.store, &up, &rows); /* 5 and 6 */
    CHECK_INT(page.next, 0);
    soc_buf_put_byte(&one, ',');
    soc_buf_put_slice(&one, soc_buf_slice(&rows));
    up.after = 2;
    up.limit = 4;
    read_page(world.store, &up, &rows);
    CHECK_TEXT(soc_buf_text(&one), soc_buf_text(&rows));
    soc_buf_fini(&one);
    soc_buf_fini(&rows);
    world_fini(&world);
}

static void a_page_without_time_looks_at_little_and_goes_on(void)
{
    struct world world;
    struct soc_buf rows = {0};
    world_init(&world, IN_MEMORY);
    for (uint64_t key = 1; key <= 2000; key++)
        put_message(&world, key);
    CHECK_INT(world_append(&world), SOC_OK);
    CHECK_INT(world_fold(&world), 0);
    static const char *const lists[] = {"activity", "messages"};
    for (int i = 0; i < 2; i++) {
        struct soc_query query = {.what = lists[i],
                                  .agent = SOC_SLICE("nobody"),
                                  .is_page = true,
                                  .has_after = true,
                                  .limit = 10,
                                  .budget_us = 1};
        struct soc_page page = read_page(world.store, &query, &rows);
        CHECK_INT(rows.length, 0);
        CHECK(page.next > 0 && page.next < 2000);
        query.has_after = false;
        page = read_page(world.store, &query, &rows);
        CHECK_INT(rows.length, 0);
        CHECK(page.previous > 1);
    }
    soc_buf_fini(&rows);
    world_fini(&world);
}

static void a_cursor_below_the_first_line_is_gone(void)
{
    struct world world;
    struct soc_page page;
    world_init(&world, IN_DIRECTORY);
    for (uint64_t key = 1; key <= 3; key++) {
        put_message(&world, key);
        CHECK_INT(world_append(&world), SOC_OK);
        CHECK_INT(world_fold(&world), 0);
    }
    soc_store_close(world.store);
    world.store = NULL;
    set_sql(&world, "DELETE FROM lines WHERE line <= 2");
    CHECK_INT(world_open(&world), SOC_OK);
    struct soc_query query = {.what = "activity", .is_page = true, .has_after = true};
    struct soc_buf rows = {0};
    CHECK_INT(soc_store_look(world.store, &query, &page, &rows, &world.detail), SOC_EGONE);
    CHECK_INT(page.first, 3);
    query.after = 2;
    CHECK_INT(soc_store_look(world.store, &query, &page, &rows, &world.detail), SOC_OK);
    CHECK(strstr(soc_buf_text(&rows), "\"line\":3") != NULL);
    query.has_after = false; /* back from a line */
    query.before = 3;
    CHECK_INT(soc_store_look(world.store, &query, &page, &rows, &world.detail), SOC_EGONE);
    CHECK_INT(page.first, 3);
    query.before = 4;
    CHECK_INT(soc_store_look(world.store, &query, &page, &rows, &world.detail), SOC_OK);
    CHECK_INT(page.previous, 0);
    query.before = 0;
    CHECK_INT(soc_store_look(world.store, &query, &page, &rows, &world.detail), SOC_OK);
    CHECK_INT(page.previous, 0);
    soc_buf_fini(&rows);
    world_fini(&world);
}

int main(void)
{
    RUN(walks_by_cursor_give_the_whole_list);
    RUN(a_page_is_what_the_view_shows);
    RUN(a_page_says_where_the_list_goes_on);
    RUN(an_item_that_is_decided_moves_no_other);
    RUN(a_page_without_time_looks_at_little_and_goes_on);
    RUN(a_cursor_below_the_first_line_is_gone);
    return check_done();
}

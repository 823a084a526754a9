/* However the journal is split into windows, the tables end up the same.
 *
 * Covers: core/store/tables/fold_links.c, core/store/tables/fold_mail.c
 * Covers: core/store/tables/window_rows.c */
#include "store_world.h"

#include "env/rng.h"

#define AGENTS 6
#define PEERS  2

static struct soc_slice pick_agent(struct soc_rng *rng)
{
    static const char *const ids[AGENTS] = {"root", "user", "ann", "bob", "cyd", "dan"};
    return soc_slice_text(ids[soc_rng_below(rng, AGENTS)]);
}

static struct soc_slice pick_text(struct soc_rng *rng)
{
    static const char *const texts[] = {"{}", "{\"a\":1}", "[1,2]", "\"s\"", NULL};
    return soc_slice_text(texts[soc_rng_below(rng, 5)]);
}

/* The state of a random history. */
struct story {
    struct soc_rng rng;
    uint64_t time_ms;
    uint64_t key;
    uint64_t output;
    struct soc_record_link links[PEERS];
};

static void put_mail(struct world *world, struct story *story)
{
    struct soc_rng *rng = &story->rng;
    uint64_t old = 1 + soc_rng_below(rng, story->key + 1);
    switch (soc_rng_below(rng, 3)) {
    case 0:
        PUT(world, MESSAGE, message, .key = ++story->key, .time_ms = story->time_ms,
            .from = pick_agent(rng), .to = pick_agent(rng), .payload = pick_text(rng));
        break;
    case 1:
        PUT(world, MESSAGE_END, message_end, old, story->time_ms, 1 + soc_rng_below(rng, 6),
            pick_text(rng));
        break;
    default:
        PUT(world, MESSAGE_AGAIN, message_again, old, story->time_ms, soc_rng_below(rng, 9), 3);
    }
}

static void put_turn(struct world *world, struct story *story)
{
    struct soc_rng *rng = &story->rng;
    struct soc_slice agent = pick_agent(rng);
    uint64_t index = soc_rng_below(rng, 5);
    switch (soc_rng_below(rng, 7)) {
    case 0:
        PUT(world, ACTIVATION, activation, 1 + soc_rng_below(rng, 9), story->time_ms, 1, agent);
        break;
    case 1:
    case 2:
        PUT(world, EFFECT, effect, index, soc_rng_next(rng), agent, SOC_SLICE("kind"),
            pick_text(rng), pick_text(rng));
        break;
    case 3:
        PUT(world, ANSWER, answer, index, agent, SOC_SLICE("true"));
        break;
    case 4:
        if (story->key > 0) /* only what was sent can be taken */
            PUT(world, TAKE, take, 1 + soc_rng_below(rng, story->key), agent);
        break;
    case 5:
        PUT(world, STATE, state, agent, pick_text(rng));
        break;
    default:
        PUT(world, ACTIVATION_END, activation_end, agent);
    }
}

static void put_people(struct world *world, struct story *story)
{
    struct soc_rng *rng = &story->rng;
    struct soc_slice agent = pick_agent(rng);
    switch (soc_rng_below(rng, 11)) {
    case 9:
        PUT(world, AGENT_ENDING, agent_ending, story->time_ms, agent, pick_text(rng));
        break;
    case 10:
        PUT(world, AGENT_PARENT, agent_parent, story->time_ms, agent, pick_agent(rng));
        break;
    case 0:
    case 1:
        PUT(world, AGENT, agent, story->time_ms, agent, SOC_SLICE("r"), pick_agent(rng),
            pick_text(rng));
        break;
    case 2:
        PUT(world, AGENT_END, agent_end, story->time_ms, agent, pick_text(rng));
        break;
    case 3:
    case 4:
        PUT(world, CONTACT, contact, story->time_ms, soc_rng_below(rng, 7), agent, pick_agent(rng));
        break;
    case 5:
        PUT(world, CONTACT_END, contact_end, agent, pick_agent(rng));
        break;
    case 6:
        PUT(world, ROLE, role, story->time_ms, agent, pick_text(rng));
        break;
    case 7:
        PUT(world, META, meta, agent, pick_text(rng));
        break;
    default:
        PUT(world, EVENT, event, story->time_ms, SOC_SLICE("noted"), agent);
    }
}

static void put_task(struct world *world, struct story *story)
{
    struct soc_rng *rng = &story->rng;
    PUT(world, TASK, task, .key = 1 + soc_rng_below(rng, 9), .state = soc_rng_below(rng, 5),
        .tries = soc_rng_below(rng, 3), .opened_ms = story->time_ms, .id = SOC_SLICE("t"),
        .owner = pick_agent(rng), .reason = pick_text(rng));
}

static void put_at_once(struct world *world, struct story *story)
{
    struct soc_rng *rng = &story->rng;
    uint64_t key = 1 + soc_rng_below(rng, 9);
    switch (soc_rng_below(rng, 8)) {
    case 6:
        PUT(world, MEMORY, memory, key, story->time_ms, pick_agent(rng), SOC_SLICE("{}"));
        break;
    case 7:
        PUT(world, USAGE, usage, .calls = key, .agent = pick_agent(rng), .model = SOC_SLICE("m"));
        break;
    case 0:
        PUT(world, BARRIER, barrier, key, story->time_ms, story->time_ms + 9, pick_agent(rng));
        break;
    case 1:
        PUT(world, BARRIER_END, barrier_end, key);
        break;
    case 2:
        PUT(world, SEAT, seat, key, key + 1, story->time_ms, soc_rng_below(rng, 3), pick_agent(rng),
            pick_text(rng));
        break;
    case 3:
        PUT(world, BROADCAST_END, broadcast_end, key, story->time_ms);
        break;
    default:
        PUT(world, BROADCAST_END, broadcast_end, key, story->time_ms, soc_rng_below(rng, 6),
            pick_agent(rng));
    }
}

/* A link gives numbers, hears of acks, and is sometimes reset: it has another id then, and
 * begins anew. */
static void put_link(struct world *world, struct story *story)
{
    static const char *const peers[PEERS] = {"beta", "gamma"};
    static const char *const ids[] = {"0123", "4567", "89ab"};
    struct soc_rng *rng = &story->rng;
    uint64_t peer = soc_rng_below(rng, PEERS);
    struct soc_record_link *link = &story->links[peer];
    uint64_t count = 1 + soc_rng_below(rng, 4);
    link->peer = soc_slice_text(peers[peer]);
    link->own_id = soc_slice_text(ids[link->epoch % 3]);
    switch (soc_rng_below(rng, 9)) {
    case 0:
        *link = (struct soc_record_link){.epoch = link->epoch + 1, .peer = link->peer};
        link->own_id = soc_slice_text(ids[link->epoch % 3]);
        break;
    case 1:
    case 2:
    case 3:
    case 4:
        link->acked += soc_rng_below(rng, link->last - link->acked + 1);
        break;
    default:
        PUT(world, LINK_ITEMS, link_items, link->last + 1, count, link->peer, pick_text(rng));
        link->last += count;
    }
    soc_record_put(&world->batch, &(struct soc_record){.type = SOC_RECORD_LINK, .link = *link});
}

static void put_output(struct world *world, struct story *story)
{
    if (soc_rng_below(&story->rng, 2) == 0)
        PUT(world, OUTPUT, output, ++story->output, story->time_ms, pick_agent(&story->rng));
    else
        PUT(world, OUTPUT_END, output_end, soc_rng_below(&story->rng, story->output + 1));
}

/* Commits one random batch. */
static void append_batch(struct world *world, struct story *story)
{
    static void (*const parts[])(struct world *, struct story *) = {
        put_mail, put_turn, put_people, put_output, put_task, put_at_once, put_link};
    for (uint64_t i = 1 + soc_rng_below(&story->rng, 20); i > 0; i--) {
        story->time_ms++;
        parts[soc_rng_below(&story->rng, 7)](world, story);
    }
    CHECK_INT(world_append(world), SOC_OK);
}

/* Writes the history of `seed` and folds after every `fold_every` batches. */
static void tell_story(struct world *world, uint64_t seed, int fold_every)
{
    struct story story = {.time_ms = NOW_MS};
    soc_rng_init(&story.rng, seed);
    world_init(world, IN_MEMORY);
    for (int i = 1; i <= 60; i++) {
        append_batch(world, &story);
        if (i % fold_every == 0)
            CHECK_INT(world_fold(world), 0);
    }
    CHECK_INT(world_fold(world), 0);
}

/* Compares long texts and shows only where they differ. */
static void check_same(const char *what, uint64_t seed, const char *actual, const char *expected)
{
    size_t at = 0;
    while (actual[at] != '\0' && actual[at] == expected[at])
        at++;
    if (CHECK(actual[at] == expected[at]))
        return;
    size_t from = at < 100 ? 0 : at - 100;
    printf("# %s of seed %d\n#   actual:   %.200s\n#   expected: %.200s\n", what, (int)seed,
           actual + from, expected + from);
}

static void the_tables_do_not_depend_on_when_the_journal_was_folded(void)
{
    static const int every[] = {1, 2, 7};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct world whole;
        tell_story(&whole, seed, 1000);
        struct soc_buf dump = {0};
        struct soc_buf load = {0};
        soc_buf_put_text(&dump, world_ask(&whole, "dump"));
        soc_buf_put_text(&load, world_load(&whole));
        CHECK(dump.length > 1000);
        for (int i = 0; i < 3; i++) {
            struct world pieces;
            tell_story(&pieces, seed, every[i]);
            check_same("dump", seed, world_ask(&pieces, "dump"), soc_buf_text(&dump));
            check_same("load", seed, world_load(&pieces), soc_buf_text(&load));
            world_fini(&pieces);
        }
        world_fini(&whole);
        soc_buf_fini(&dump);
        soc_buf_fini(&load);
    }
}

static void short_lived_rows_are_written_once_or_never(void)
{
    struct world world;
    world_init(&world, IN_MEMORY);
    put_message(&world, 1);
    PUT(&world, ACTIVATION, activation, .key = 1, .agent = SOC_SLICE("user"));
    PUT(&world, EFFECT, effect, .index = 1, .agent = SOC_SLICE("user"));
    PUT(&world, MESSAGE_END, message_end, .key = 1, .time_ms = NOW_MS, .outcome = 1);
    PUT(&world, ACTIVATION_END, activation_end, SOC_SLICE("user"));
    CHECK_INT(world_append(&world), SOC_OK);
    CHECK_INT(world_fold(&world), 0);
    const char *dump = world_ask(&world, "dump");
    CHECK(strstr(dump, "\"table\":\"effects\"") == NULL);
    CHECK(strstr(dump, "\"status\":1") != NULL);
    world_fini(&world);
}

/* An activation that ends in its first turn leaves no other record of itself. */
static void a_take_ends_with_its_message(void)
{
    for (int folds_between = 0; folds_between < 2; folds_between++) {
        struct world world;
        world_init(&world, IN_MEMORY);
        put_message(&world, 1);
        put_message(&world, 2);
        PUT(&world, TAKE, take, .key = 1, .agent = SOC_SLICE("root"));
        PUT(&world, TAKE, take, .key = 2, .agent = SOC_SLICE("root"));
        CHECK_INT(world_append(&world), SOC_OK);
        if (folds_between)
            CHECK_INT(world_fold(&world), 0);
        PUT(&world, MESSAGE_END, message_end, .key = 1, .time_ms = NOW_MS, .outcome = 1);
        CHECK_INT(world_append(&world), SOC_OK);
        CHECK_INT(world_fold(&world), 0);
        const char *take = strstr(world_ask(&world, "dump"), "\"table\":\"takes\"");
        CHECK(take != NULL && strstr(take + 1, "\"table\":\"takes\"") == NULL);
        PUT(&world, MESSAGE_END, message_end, .key = 2, .time_ms = NOW_MS, .outcome = 1);
        CHECK_INT(world_append(&world), SOC_OK);
        CHECK_INT(world_fold(&world), 0);
        CHECK(strstr(world_ask(&world, "dump"), "\"table\":\"takes\"") == NULL);
        world_fini(&world);
    }
}

int main(void)
{
    RUN(a_take_ends_with_its_message);
    RUN(the_tables_do_not_depend_on_when_the_journal_was_folded);
    RUN(short_lived_rows_are_written_once_or_never);
    return check_done();
}

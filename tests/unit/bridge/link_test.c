/* Links: two ends over the simulator's network, which cuts, forgets and falls back, while the
 * ends crash and commit late. Each item arrives once, in order, and nothing is acknowledged
 * before it is durable. States that were put back or replaced are named.
 *
 * `SEEDS=N` runs so many seeds of the property. */
#include "bridge/links/link.h"

#include "check.h"
#include "env/rng.h"
#include "sim/network.h"

#define ITEMS     400
#define STEPS_MAX 40000 /* of 5 ms, in which everything must have drained */
#define STEP_MS   5

/* What an end has in its journal. Item n of the link says `passed` + n; `passed` moves when the
 * link is reset. */
struct journal {
    struct soc_link_state state;
    uint64_t passed;
    uint64_t received; /* the last thing the peer said */
};

struct world;

/* One host. */
struct end {
    struct world *world;
    const char *name;
    const char *peer_name;
    struct end *peer;
    struct journal db;  /* durable */
    struct journal mem; /* as it is now; of its state only what the link does not keep */
    struct soc_carrier *carrier;
    struct soc_link *link;
    bool is_checked; /* what comes must be the next thing */
    int stops[6];    /* how often each condition was reported */
    uint64_t frames; /* sent */
    uint64_t items;  /* in them */
};

struct world {
    struct soc_network *network;
    struct soc_rng rng;
    int64_t now_ms;
    struct end ends[3]; /* alpha, beta, and another alpha */
};

static struct soc_frame_keys keys_of(const char *from, const char *to)
{
    return (struct soc_frame_keys){.society = "acme", .sender = from, .receiver = to};
}

/* ---- an end ---- */

static void put_item(void *user, uint64_t number, struct soc_buf *out)
{
    struct end *end = user;
    CHECK(number > soc_link_state(end->link)->acked && number <= end->db.state.last);
    soc_buf_printf(out, "%llu", (unsigned long long)(end->mem.passed + number));
}

/* Commits everything. */
static void commit(struct end *end)
{
    end->mem.state = *soc_link_state(end->link);
    end->db = end->mem;
    soc_link_durable(end->link, end->db.state.last, end->db.state.taken);
}

/* Lets the frames leave that are due. */
static void flush_out(struct end *end)
{
    struct soc_link_outgoing out;
    while (soc_link_next(end->link, end->world->now_ms, &out)) {
        struct soc_frame_keys keys = keys_of(end->name, end->peer_name);
        struct soc_buf bytes = {0};
        soc_frame_put(&bytes, &out.frame, &keys);
        if (out.is_creation)
            soc_carrier_create(end->carrier, 0, out.place, soc_buf_slice(&bytes));
        else
            soc_carrier_append(end->carrier, 0, out.place, out.trim, soc_buf_slice(&bytes));
        end->frames++;
        end->items += out.frame.count;
        soc_buf_fini(&bytes);
    }
}

static void hear_ready(void *user)
{
    struct end *end = user;
    soc_carrier_read(end->carrier, 0, soc_link_ready(end->link));
}

static void hear_lost(void *user, const char *why)
{
    struct end *end = user;
    (void)why;
    soc_link_lost(end->link);
}

static void count_stop(struct end *end)
{
    end->stops[soc_link_figures(end->link).stop]++;
}

static void hear_appended(void *user, int peer, struct soc_carrier_place place,
                          enum soc_carrier_end how)
{
    struct end *end = user;
    (void)peer;
    if (soc_link_appended(end->link, place, how))
        count_stop(end);
}

static void take(struct end *end, const struct soc_frame *frame, const struct soc_link_news *news)
{
    struct soc_slice rest = frame->items;
    struct soc_slice item;
    for (uint32_t i = 0; i < news->skip + news->take; i++) {
        char text[32] = {0};
        if (!CHECK(soc_frame_next(&rest, &item)) || i < news->skip)
            continue;
        memcpy(text, item.data, item.length);
        uint64_t said = strtoull(text, NULL, 10);
        if (end->is_checked)
            CHECK_INT(said, end->mem.received + 1);
        end->mem.received = said;
    }
}

static void hear_frame(void *user, int peer, struct soc_carrier_place place, struct soc_slice bytes)
{
    struct end *end = user;
    struct soc_frame frame;
    struct soc_frame_keys keys = keys_of(end->peer_name, end->name);
    (void)peer;
    if (!CHECK_INT(soc_frame_read(&frame, bytes, &keys, NULL), SOC_OK))
        return;
    struct soc_link_news news = soc_link_receive(end->link, place, &frame, end->world->now_ms);
    if (news.is_stopped)
        count_stop(end);
    take(end, &frame, &news);
    if (news.acked > 0 && end->is_checked)
        CHECK(news.acked <= end->peer->db.state.taken);
    CHECK(news.is_state_changed || (news.take == 0 && news.acked == 0));
}

static void hear_card(void *user, struct soc_slice host, struct soc_slice bytes)
{
    (void)user, (void)host, (void)bytes;
}

static void hear_claimed(void *user, int number, struct soc_slice host)
{
    (void)user, (void)number, (void)host;
}

static void hear_blocked(void *user, int peer, const char *why)
{
    (void)user, (void)peer, (void)why;
}

static void hear_cards(void *user, int64_t time_ms)
{
    (void)user, (void)time_ms;
}

/* Starts an end from what is durable. */
static void start(struct end *end)
{
    const struct soc_carrier_events events = {
        .ready = hear_ready,
        .lost = hear_lost,
        .appended = hear_appended,
        .frame = hear_frame,
        .card = hear_card,
        .claimed = hear_claimed,
        .blocked = hear_blocked,
        .cards = hear_cards,
        .user = end,
    };
    soc_link_state_open(&end->db.state, end->world->now_ms);
    end->mem = end->db;
    end->link = soc_link_new(&end->db.state, put_item, end);
    const char *peers[] = {end->peer_name};
    end->carrier = soc_network_join(end->world->network, end->name, peers, 1, &events);
}

/* Ends it as a kill does. */
static void kill_end(struct end *end)
{
    if (end->carrier != NULL)
        soc_carrier_close(end->carrier);
    soc_link_free(end->link);
    end->carrier = NULL;
    end->link = NULL;
}

/* Makes a link that knows nobody. */
static struct journal fresh(struct world *world)
{
    struct journal journal = {0};
    for (int i = 0; i < SOC_FRAME_ID_BYTES; i++)
        journal.state.own_id[i] = (uint8_t)(1 + soc_rng_below(&world->rng, 255));
    return journal;
}

static void set_up(struct world *world, uint64_t seed)
{
    memset(world, 0, sizeof(*world));
    world->network = soc_network_new(seed);
    world->now_ms = 1000000;
    soc_rng_init(&world->rng, seed);
    for (int i = 0; i < 3; i++) {
        struct end *end = &world->ends[i];
        *end = (struct end){.world = world,
                            .name = i == 1 ? "beta" : "alpha",
                            .peer_name = i == 1 ? "alpha" : "beta",
                            .peer = &world->ends[i == 1 ? 0 : 1],
                            .db = fresh(world),
                            .is_checked = true};
        if (i < 2)
            start(end);
    }
}

static void tear_down(struct world *world)
{
    for (int i = 0; i < 3; i++)
        kill_end(&world->ends[i]);
    soc_network_free(world->network);
}

static void step(struct world *world)
{
    world->now_ms += STEP_MS;
    soc_network_step(world->network, world->now_ms);
    for (int i = 0; i < 3; i++)
        if (world->ends[i].link != NULL)
            flush_out(&world->ends[i]);
}

static void commit_all(struct world *world)
{
    for (int i = 0; i < 3; i++)
        if (world->ends[i].link != NULL)
            commit(&world->ends[i]);
}

static void run_ms(struct world *world, int64_t ms)
{
    for (int64_t i = 0; i < ms / STEP_MS; i++) {
        step(world);
        commit_all(world);
    }
}

static void say(struct end *end, int count)
{
    for (int i = 0; i < count; i++)
        soc_link_number(end->link);
}

static enum soc_link_stop stop_of(const struct end *end)
{
    return soc_link_figures(end->link).stop;
}

static bool is_drained(const struct end *end)
{
    const struct soc_link_state *state = soc_link_state(end->link);
    return state->acked == state->last && end->peer->db.received == end->mem.passed + state->last;
}

/* ---- the property ---- */

static void strike(struct world *world)
{
    struct end *end = &world->ends[soc_rng_below(&world->rng, 2)];
    switch (soc_rng_below(&world->rng, 8)) {
    case 0:
        kill_end(end);
        start(end);
        break;
    case 1:
        soc_network_flush(world->network);
        break;
    case 2:
        soc_network_fail_over(world->network, 1 + soc_rng_below(&world->rng, 20));
        break;
    case 3:
        soc_network_cut(world->network, end->name, true);
        break;
    case 4:
        soc_network_cut(world->network, NULL, true);
        break;
    case 5:
        soc_network_delay(world->network, (int64_t)soc_rng_below(&world->rng, 200));
        break;
    default:
        soc_network_cut(world->network, "alpha", false);
        soc_network_cut(world->network, "beta", false);
        soc_network_cut(world->network, NULL, false);
    }
}

static void calm(struct world *world)
{
    soc_network_cut(world->network, "alpha", false);
    soc_network_cut(world->network, "beta", false);
    soc_network_cut(world->network, NULL, false);
    soc_network_delay(world->network, 2);
}

static void run_seed(uint64_t seed)
{
    struct world world;
    set_up(&world, seed);
    uint64_t faults = soc_rng_below(&world.rng, 30);
    for (int i = 0; i < 1500; i++) {
        for (int e = 0; e < 2; e++) {
            struct end *end = &world.ends[e];
            if (soc_link_state(end->link)->last < ITEMS && soc_rng_below(&world.rng, 3) == 0)
                say(end, (int)soc_rng_below(&world.rng, 6));
            if (soc_rng_below(&world.rng, 4) == 0)
                commit(end);
        }
        if (soc_rng_below(&world.rng, 1000) < faults)
            strike(&world);
        step(&world);
    }
    calm(&world);
    int64_t from_ms = world.now_ms;
    while ((!is_drained(&world.ends[0]) || !is_drained(&world.ends[1])) &&
           world.now_ms - from_ms < 10000)
        run_ms(&world, STEP_MS);
    if (!CHECK(is_drained(&world.ends[0]) && is_drained(&world.ends[1])))
        printf("# seed %llu\n", (unsigned long long)seed);
    for (int e = 0; e < 2; e++)
        CHECK_INT(stop_of(&world.ends[e]), SOC_LINK_NONE);
    /* What was acknowledged has left the network. */
    run_ms(&world, 2 * SOC_LINK_IDLE_MS);
    CHECK(soc_network_length(world.network, "alpha", "beta") <= 2);
    tear_down(&world);
}

static void each_item_arrives_once_and_in_order_whatever_fails(void)
{
    const char *seeds = getenv("SEEDS");
    uint64_t count = seeds == NULL ? 300 : strtoull(seeds, NULL, 10);
    for (uint64_t seed = 1; seed <= count && check_state.checks_failed == 0; seed++)
        run_seed(seed);
}

/* ---- one thing at a time ---- */

static void no_item_leaves_before_the_peer_has_answered(void)
{
    struct world world;
    set_up(&world, 1);
    kill_end(&world.ends[1]);
    say(&world.ends[0], 10);
    run_ms(&world, 5000);
    CHECK(world.ends[0].frames > 0);
    CHECK_INT(world.ends[0].items, 0);
    CHECK(!soc_link_figures(world.ends[0].link).is_met);
    CHECK_INT(soc_network_length(world.network, "alpha", "beta"), 1);
    start(&world.ends[1]);
    run_ms(&world, 1000);
    CHECK_INT(world.ends[0].items, 10);
    CHECK(is_drained(&world.ends[0]));
    tear_down(&world);
}

static void an_item_leaves_when_it_is_durable(void)
{
    struct world world;
    set_up(&world, 1);
    run_ms(&world, 100);
    say(&world.ends[0], 1);
    for (int i = 0; i < 1000; i++)
        step(&world);
    CHECK_INT(world.ends[0].items, 0);
    say(&world.ends[0], 1);
    soc_link_unnumber(world.ends[0].link);
    run_ms(&world, 100);
    CHECK_INT(world.ends[0].items, 1);
    tear_down(&world);
}

static void nothing_is_acknowledged_before_it_is_durable(void)
{
    struct world world;
    set_up(&world, 1);
    run_ms(&world, 100);
    say(&world.ends[0], 5);
    commit(&world.ends[0]);
    for (int i = 0; i < 2000; i++)
        step(&world);
    CHECK_INT(world.ends[1].mem.received, 5);
    CHECK_INT(soc_link_state(world.ends[0].link)->acked, 0);
    commit(&world.ends[1]);
    for (int i = 0; i < 4; i++)
        step(&world);
    CHECK_INT(soc_link_state(world.ends[0].link)->acked, 5);
    tear_down(&world);
}

static void an_idle_link_sends_a_frame_every_two_seconds(void)
{
    struct world world;
    set_up(&world, 1);
    run_ms(&world, 1000);
    uint64_t before = world.ends[0].frames;
    run_ms(&world, 100 * SOC_LINK_IDLE_MS);
    CHECK(world.ends[0].frames - before <= 100);
    CHECK(world.ends[0].frames - before >= 99);
    tear_down(&world);
}

static void what_is_not_acknowledged_is_bounded(void)
{
    struct world world;
    set_up(&world, 1);
    run_ms(&world, 100);
    say(&world.ends[0], 2 * SOC_LINK_WINDOW_ITEMS);
    commit(&world.ends[0]);
    for (int i = 0; i < 2000; i++)
        step(&world);
    CHECK_INT(world.ends[0].items, SOC_LINK_WINDOW_ITEMS);
    struct soc_link_figures figures = soc_link_figures(world.ends[0].link);
    CHECK_INT(figures.in_flight, SOC_LINK_WINDOW_ITEMS);
    CHECK_INT(figures.waiting, 2 * SOC_LINK_WINDOW_ITEMS);
    run_ms(&world, 1000);
    CHECK(is_drained(&world.ends[0]));
    CHECK_INT(soc_link_figures(world.ends[0].link).in_flight_bytes, 0);
    tear_down(&world);
}

static void a_stream_whose_end_was_lost_is_sent_again(void)
{
    struct world world;
    set_up(&world, 1);
    run_ms(&world, 100);
    soc_network_cut(world.network, "beta", true);
    say(&world.ends[0], 1000);
    run_ms(&world, 100);
    soc_network_fail_over(world.network, 3);
    calm(&world);
    run_ms(&world, 2 * SOC_LINK_IDLE_MS);
    CHECK(is_drained(&world.ends[0]));
    tear_down(&world);
}

/* ---- stop conditions ---- */

/* Puts an old state of one end back, from before it sent or took something. */
static void put_back(int who, bool is_sender, bool is_flushed)
{
    struct world world;
    set_up(&world, (uint64_t)who + 7);
    struct end *end = &world.ends[who];
    struct end *other = &world.ends[1 - who];
    say(&world.ends[0], 10);
    say(&world.ends[1], 10);
    run_ms(&world, 1000);
    struct journal copy = end->db;
    say(is_sender ? end : other, 5);
    run_ms(&world, 1000);
    CHECK(is_drained(&world.ends[0]) && is_drained(&world.ends[1]));
    kill_end(end);
    end->db = copy;
    if (is_flushed)
        soc_network_flush(world.network);
    start(end);
    uint64_t mine = end->mem.received;
    uint64_t theirs = other->mem.received;
    say(end, 20);
    say(other, 20);
    run_ms(&world, 5000);
    CHECK_INT(stop_of(end), SOC_LINK_STATE_ROLLED_BACK);
    CHECK_INT(stop_of(other), SOC_LINK_PEER_ROLLED_BACK);
    CHECK_INT(end->stops[SOC_LINK_STATE_ROLLED_BACK], 1);
    CHECK_INT(other->stops[SOC_LINK_PEER_ROLLED_BACK], 1);
    CHECK(end->mem.received == mine && other->mem.received == theirs);
    tear_down(&world);
}

static void a_state_that_was_put_back_is_named_at_both_ends(void)
{
    for (int i = 0; i < 8; i++)
        put_back(i & 1, (i & 2) != 0, (i & 4) != 0);
}

/* Resets the link of an end, as `society link reset` does. */
static void reset(struct end *end)
{
    uint8_t id[SOC_FRAME_ID_BYTES];
    struct journal other = fresh(end->world);
    commit(end);
    memcpy(id, other.state.own_id, sizeof(id));
    kill_end(end);
    end->db.passed += end->db.state.acked;
    soc_link_state_reset(&end->db.state, id, end->world->now_ms);
    start(end);
}

static void a_replaced_peer_is_named_until_the_link_is_reset(void)
{
    struct world world;
    set_up(&world, 3);
    struct end *alpha = &world.ends[0];
    struct end *beta = &world.ends[1];
    say(alpha, 10);
    say(beta, 10);
    run_ms(&world, 1000);
    kill_end(beta);
    beta->db = fresh(&world);
    say(alpha, 3);
    start(beta);
    say(beta, 4);
    run_ms(&world, 5000);
    CHECK_INT(stop_of(alpha), SOC_LINK_PEER_REPLACED);
    CHECK_INT(alpha->stops[SOC_LINK_PEER_REPLACED], 1);
    CHECK_INT(stop_of(beta), SOC_LINK_NOT_RECOGNIZED);
    CHECK(beta->mem.received == 0 && alpha->mem.received == 10);
    /* The new beta counts from 1, and what alpha still has comes after what it had sent. */
    reset(alpha);
    alpha->mem.received = alpha->db.received = 0;
    beta->mem.received = beta->db.received = 10;
    run_ms(&world, 5000);
    CHECK_INT(stop_of(alpha), SOC_LINK_NONE);
    CHECK_INT(stop_of(beta), SOC_LINK_NONE);
    CHECK_INT(beta->mem.received, 13);
    CHECK_INT(alpha->mem.received, 4);
    tear_down(&world);
}

static void a_link_goes_on_when_the_known_peer_is_back(void)
{
    struct world world;
    set_up(&world, 3);
    struct end *alpha = &world.ends[0];
    struct end *beta = &world.ends[1];
    say(alpha, 10);
    say(beta, 10);
    run_ms(&world, 1000);
    kill_end(beta);
    struct journal known = beta->db;
    beta->db = fresh(&world);
    start(beta);
    say(alpha, 3);
    run_ms(&world, 3000);
    CHECK_INT(stop_of(alpha), SOC_LINK_PEER_REPLACED);
    kill_end(beta);
    beta->db = known;
    start(beta);
    run_ms(&world, 3000);
    CHECK_INT(stop_of(alpha), SOC_LINK_NONE);
    CHECK_INT(stop_of(beta), SOC_LINK_NONE);
    CHECK(is_drained(alpha) && is_drained(beta));
    CHECK_INT(beta->mem.received, 13);
    tear_down(&world);
}

static void a_reset_of_both_ends_carries_what_waits(void)
{
    struct world world;
    set_up(&world, 3);
    for (int e = 0; e < 2; e++)
        say(&world.ends[e], 10);
    run_ms(&world, 1000);
    soc_network_cut(world.network, NULL, true);
    for (int e = 0; e < 2; e++)
        say(&world.ends[e], 5);
    run_ms(&world, 1000);
    reset(&world.ends[0]);
    calm(&world);
    run_ms(&world, 3000);
    CHECK_INT(stop_of(&world.ends[0]), SOC_LINK_NOT_RECOGNIZED);
    CHECK_INT(stop_of(&world.ends[1]), SOC_LINK_PEER_REPLACED);
    reset(&world.ends[1]);
    run_ms(&world, 3000);
    CHECK(is_drained(&world.ends[0]) && is_drained(&world.ends[1]));
    for (int e = 0; e < 2; e++)
        CHECK_INT(stop_of(&world.ends[e]), SOC_LINK_NONE);
    tear_down(&world);
}

static void the_older_of_two_processes_with_one_state_is_fenced(void)
{
    for (int is_flushed = 0; is_flushed <= 1; is_flushed++) {
        struct world world;
        set_up(&world, 3);
        struct end *second = &world.ends[2];
        say(&world.ends[0], 10);
        run_ms(&world, 1000);
        second->db = world.ends[0].db;
        if (is_flushed)
            soc_network_flush(world.network);
        start(second);
        run_ms(&world, 5000);
        CHECK_INT(stop_of(&world.ends[0]), SOC_LINK_FENCED);
        CHECK_INT(world.ends[0].stops[SOC_LINK_FENCED], 1);
        CHECK_INT(stop_of(second), SOC_LINK_NONE);
        uint64_t frames = world.ends[0].frames;
        say(second, 10);
        run_ms(&world, 5000);
        CHECK_INT(world.ends[0].frames, frames);
        CHECK(is_drained(second));
        tear_down(&world);
    }
}

static void an_epoch_rises_though_the_clock_falls(void)
{
    struct soc_link_state state = {.epoch = 5000, .last = 7, .acked = 4, .taken = 9};
    soc_link_state_open(&state, 4000);
    CHECK_INT(state.epoch, 5001);
    soc_link_state_open(&state, 6000);
    CHECK_INT(state.epoch, 6000);
    uint8_t id[SOC_FRAME_ID_BYTES] = {9};
    soc_link_state_reset(&state, id, 0);
    CHECK(state.epoch == 6001 && state.last == 3 && state.acked == 0 && state.taken == 0);
    CHECK(state.own_id[0] == 9 && state.peer_id[0] == 0);
}

static void each_condition_has_a_name_and_a_text(void)
{
    CHECK_TEXT(soc_link_stop_name(SOC_LINK_FENCED), "fenced");
    CHECK_TEXT(soc_link_stop_name(SOC_LINK_STATE_ROLLED_BACK), "state_rolled_back");
    CHECK_TEXT(soc_link_stop_name(SOC_LINK_PEER_ROLLED_BACK), "peer_rolled_back");
    CHECK_TEXT(soc_link_stop_name(SOC_LINK_PEER_REPLACED), "peer_replaced");
    CHECK_TEXT(soc_link_stop_name(SOC_LINK_NOT_RECOGNIZED), "not_recognized");
    CHECK(strlen(soc_link_stop_text(SOC_LINK_NOT_RECOGNIZED)) > 0);
}

/* ---- frames by hand ---- */

static void put_nothing(void *user, uint64_t number, struct soc_buf *out)
{
    (void)user, (void)number;
    soc_buf_put_text(out, "x");
}

/* A link in epoch 100 that has items 1 to 9, acknowledged up to 3, and has taken 5 in epoch 50
 * of its peer. The carrier is ready. */
static struct soc_link *by_hand(void)
{
    const struct soc_link_state state = {.own_id = {1},
                                         .peer_id = {2},
                                         .last = 9,
                                         .acked = 3,
                                         .taken = 5,
                                         .peer_epoch = 50,
                                         .epoch = 100};
    struct soc_link *link = soc_link_new(&state, put_nothing, NULL);
    soc_link_ready(link);
    return link;
}

/* A frame of the peer that fits. */
static struct soc_frame fitting(void)
{
    return (struct soc_frame){
        .from = {2}, .to = {1}, .first = 6, .opened = 5, .acked = 5, .taken = 3, .heard = {100, 1}};
}

static enum soc_link_stop verdict(uint64_t epoch, struct soc_frame frame)
{
    struct soc_link *link = by_hand();
    struct soc_link_news news =
        soc_link_receive(link, (struct soc_carrier_place){epoch, 1}, &frame, 10);
    enum soc_link_stop stop = soc_link_figures(link).stop;
    CHECK_INT(news.is_stopped, stop != SOC_LINK_NONE);
    soc_link_free(link);
    return stop;
}

static void each_contradiction_has_its_name(void)
{
    struct soc_frame frame = fitting();
    CHECK_INT(verdict(50, frame), SOC_LINK_NONE);
    CHECK_INT(verdict(51, frame), SOC_LINK_NONE);
    CHECK_INT(verdict(49, frame), SOC_LINK_PEER_ROLLED_BACK);
    frame.opened = 4;
    CHECK_INT(verdict(50, frame), SOC_LINK_NONE);
    CHECK_INT(verdict(51, frame), SOC_LINK_PEER_ROLLED_BACK);
    frame = fitting();
    frame.taken = 2;
    CHECK_INT(verdict(50, frame), SOC_LINK_PEER_ROLLED_BACK);
    frame.taken = 10;
    CHECK_INT(verdict(50, frame), SOC_LINK_STATE_ROLLED_BACK);
    frame = fitting();
    frame.acked = 6;
    CHECK_INT(verdict(50, frame), SOC_LINK_STATE_ROLLED_BACK);
    frame = fitting();
    frame.heard.epoch = 101;
    CHECK_INT(verdict(50, frame), SOC_LINK_FENCED);
    /* What was said to an earlier run is not judged. */
    frame.heard.epoch = 99;
    frame.taken = 1000;
    frame.from[0] = 7;
    CHECK_INT(verdict(50, frame), SOC_LINK_NONE);
}

static void a_refused_place_fences(void)
{
    struct soc_link *link = by_hand();
    struct soc_link_outgoing out;
    CHECK(soc_link_next(link, 10, &out));
    CHECK(out.is_creation && out.place.epoch == 100 && out.frame.count == 0);
    CHECK(!soc_link_appended(link, (struct soc_carrier_place){99, 4}, SOC_CARRIER_FENCED));
    CHECK(soc_link_appended(link, out.place, SOC_CARRIER_FENCED));
    CHECK(!soc_link_appended(link, out.place, SOC_CARRIER_FENCED));
    CHECK_INT(soc_link_due(link), -1);
    CHECK(!soc_link_next(link, 100000, &out));
    soc_link_free(link);
}

static void a_frame_that_comes_again_is_not_heard_again(void)
{
    struct soc_link *link = by_hand();
    struct soc_frame frame = fitting();
    struct soc_link_outgoing out;
    soc_link_receive(link, (struct soc_carrier_place){50, 7}, &frame, 10);
    frame.is_asking = true;
    while (soc_link_next(link, 20, &out))
        CHECK(out.frame.heard.epoch == 50 && out.frame.heard.frame == 7);
    soc_link_receive(link, (struct soc_carrier_place){50, 6}, &frame, 10);
    CHECK(soc_link_due(link) > 20);
    soc_link_receive(link, (struct soc_carrier_place){50, 8}, &frame, 10);
    CHECK_INT(soc_link_due(link), 0);
    soc_link_free(link);
}

static void items_that_are_missed_are_sent_again_once(void)
{
    struct soc_link *link = by_hand();
    struct soc_frame frame = fitting();
    struct soc_link_outgoing out;
    struct soc_carrier_place last = {0, 0};
    soc_link_receive(link, (struct soc_carrier_place){50, 1}, &frame, 10);
    while (soc_link_next(link, 10, &out))
        last = out.place;
    CHECK(out.frame.first == 4 || out.frame.count == 0);
    frame.wanted = 5;
    frame.heard = last;
    soc_link_receive(link, (struct soc_carrier_place){50, 2}, &frame, 10);
    CHECK(soc_link_next(link, 10, &out));
    CHECK(out.frame.first == 5 && out.frame.count == 5);
    /* The peer asks once more before it can have read them. */
    soc_link_receive(link, (struct soc_carrier_place){50, 3}, &frame, 10);
    CHECK(!soc_link_next(link, 10, &out));
    frame.heard = out.place;
    frame.heard.frame++;
    soc_link_receive(link, (struct soc_carrier_place){50, 4}, &frame, 10);
    CHECK(soc_link_next(link, 10, &out) && out.frame.first == 5);
    /* A number that was never sent is not asked for by an honest peer. */
    frame.wanted = 400;
    frame.heard.frame += 100;
    soc_link_receive(link, (struct soc_carrier_place){50, 5}, &frame, 10);
    CHECK(!soc_link_next(link, 10, &out));
    soc_link_free(link);
}

static void a_lost_stream_is_created_and_filled_again(void)
{
    struct soc_link *link = by_hand();
    struct soc_frame frame = fitting();
    struct soc_link_outgoing out;
    struct soc_carrier_place sent = {0, 0};
    soc_link_receive(link, (struct soc_carrier_place){50, 1}, &frame, 10);
    while (soc_link_next(link, 10, &out))
        sent = out.place;
    CHECK_INT(soc_link_figures(link).in_flight, 6);
    soc_link_appended(link, sent, SOC_CARRIER_GONE);
    CHECK(soc_link_next(link, 10, &out) && out.is_creation && out.frame.is_asking);
    CHECK_INT(out.frame.count, 0);
    soc_link_appended(link, sent, SOC_CARRIER_GONE); /* an earlier one: known already */
    CHECK(soc_link_next(link, 10, &out) && !out.is_creation);
    CHECK(out.frame.first == 4 && out.frame.count == 6);
    CHECK(!soc_link_next(link, 10, &out));
    soc_link_free(link);
}

static void many_items_leave_in_few_frames(void)
{
    struct world world;
    set_up(&world, 1);
    run_ms(&world, 100);
    say(&world.ends[0], 600);
    run_ms(&world, 100);
    CHECK(is_drained(&world.ends[0]));
    CHECK(world.ends[0].frames < 20 && world.ends[0].items == 600);
    tear_down(&world);
}

int main(void)
{
    RUN(each_item_arrives_once_and_in_order_whatever_fails);
    RUN(no_item_leaves_before_the_peer_has_answered);
    RUN(an_item_leaves_when_it_is_durable);
    RUN(nothing_is_acknowledged_before_it_is_durable);
    RUN(an_idle_link_sends_a_frame_every_two_seconds);
    RUN(what_is_not_acknowledged_is_bounded);
    RUN(a_stream_whose_end_was_lost_is_sent_again);
    RUN(a_state_that_was_put_back_is_named_at_both_ends);
    RUN(a_replaced_peer_is_named_until_the_link_is_reset);
    RUN(a_link_goes_on_when_the_known_peer_is_back);
    RUN(a_reset_of_both_ends_carries_what_waits);
    RUN(the_older_of_two_processes_with_one_state_is_fenced);
    RUN(an_epoch_rises_though_the_clock_falls);
    RUN(each_condition_has_a_name_and_a_text);
    RUN(each_contradiction_has_its_name);
    RUN(a_refused_place_fences);
    RUN(a_frame_that_comes_again_is_not_heard_again);
    RUN(items_that_are_missed_are_sent_again_once);
    RUN(a_lost_stream_is_created_and_filled_again);
    RUN(many_items_leave_in_few_frames);
    return check_done();
}

/* The simulator's carrier: places, loss, fences, cards, and the same events for one seed. */
#include "sim/network.h"

#include "base/buf.h"
#include "check.h"

/* What one end has heard. */
struct end {
    struct soc_carrier *carrier;
    int readies;
    int losses;
    int ends[SOC_CARRIER_LOST + 1]; /* of appends, by enum soc_carrier_end */
    int frames;
    bool is_in_order;
    struct soc_carrier_place last;
    int cards;
    int64_t time_ms;
    char holder[16];
    struct soc_buf story; /* all of it, in order */
};

static void hear_ready(void *user)
{
    struct end *end = user;
    end->readies++;
    soc_buf_put_text(&end->story, "ready ");
    soc_carrier_read(end->carrier, 0, end->last);
}

static void hear_lost(void *user, const char *why)
{
    struct end *end = user;
    (void)why;
    end->losses++;
    soc_buf_put_text(&end->story, "lost ");
}

static void hear_appended(void *user, int peer, struct soc_carrier_place place,
                          enum soc_carrier_end how)
{
    struct end *end = user;
    (void)peer;
    end->ends[how]++;
    soc_buf_printf(&end->story, "%d=%d ", (int)place.frame, (int)how);
}

static void hear_frame(void *user, int peer, struct soc_carrier_place place, struct soc_slice bytes)
{
    struct end *end = user;
    (void)peer;
    end->frames++;
    if (place.epoch < end->last.epoch ||
        (place.epoch == end->last.epoch && place.frame <= end->last.frame))
        end->is_in_order = false;
    end->last = place;
    soc_buf_printf(&end->story, "%d:%.*s ", (int)place.frame, (int)bytes.length, bytes.data);
}

static void hear_card(void *user, struct soc_slice host, struct soc_slice bytes)
{
    (void)host;
    (void)bytes;
    ((struct end *)user)->cards++;
}

static void hear_cards(void *user, int64_t time_ms)
{
    ((struct end *)user)->time_ms = time_ms;
}

static void hear_claimed(void *user, int number, struct soc_slice host)
{
    (void)number;
    struct end *end = user;
    snprintf(end->holder, sizeof(end->holder), "%.*s", (int)host.length, host.data);
}

/* Two joined hosts. */
struct pair {
    struct soc_network *network;
    int64_t now_ms;
    struct end alpha;
    struct end beta;
};

static void join(struct pair *pair, struct end *end, const char *host, const char *peer)
{
    struct soc_carrier_events events = {
        .ready = hear_ready,
        .lost = hear_lost,
        .appended = hear_appended,
        .frame = hear_frame,
        .card = hear_card,
        .claimed = hear_claimed,
        .cards = hear_cards,
        .user = end,
    };
    end->is_in_order = true;
    end->carrier = soc_network_join(pair->network, host, &peer, 1, &events);
}

/* Runs until nothing is under way. */
static void settle(struct pair *pair)
{
    int64_t due_ms;
    while ((due_ms = soc_network_due(pair->network)) >= 0) {
        if (due_ms > pair->now_ms)
            pair->now_ms = due_ms;
        CHECK(soc_network_step(pair->network, pair->now_ms));
    }
}

static void open_pair(struct pair *pair, uint64_t seed)
{
    *pair = (struct pair){.network = soc_network_new(seed)};
    join(pair, &pair->alpha, "alpha", "beta");
    join(pair, &pair->beta, "beta", "alpha");
    settle(pair);
    CHECK_INT(pair->alpha.readies, 1);
}

static void close_pair(struct pair *pair)
{
    soc_carrier_close(pair->alpha.carrier);
    soc_carrier_close(pair->beta.carrier);
    soc_buf_fini(&pair->alpha.story);
    soc_buf_fini(&pair->beta.story);
    soc_network_free(pair->network);
}

static struct soc_carrier_place at(uint64_t epoch, uint64_t frame)
{
    return (struct soc_carrier_place){epoch, frame};
}

static void append(struct pair *pair, uint64_t epoch, uint64_t frame)
{
    soc_carrier_append(pair->alpha.carrier, 0, at(epoch, frame), at(0, 0), SOC_SLICE("x"));
}

static void frames_arrive_in_order_once_their_stream_was_created(void)
{
    struct pair pair;
    open_pair(&pair, 1);
    soc_network_delay(pair.network, 50);
    append(&pair, 3, 1);
    settle(&pair);
    CHECK_INT(pair.alpha.ends[SOC_CARRIER_GONE], 1);
    soc_carrier_create(pair.alpha.carrier, 0, at(3, 2), SOC_SLICE("hi"));
    for (uint64_t i = 3; i <= 100; i++)
        append(&pair, 3, i);
    CHECK(soc_carrier_backlog(pair.alpha.carrier) >= 98);
    settle(&pair);
    CHECK_INT(pair.beta.frames, 99);
    CHECK(pair.beta.is_in_order);
    CHECK_INT(pair.beta.last.frame, 100);
    append(&pair, 3, 100);
    append(&pair, 2, 900);
    settle(&pair);
    CHECK_INT(pair.alpha.ends[SOC_CARRIER_FENCED], 2);
    CHECK_INT(pair.beta.frames, 99);
    soc_carrier_append(pair.alpha.carrier, 0, at(3, 101), at(3, 100), SOC_SLICE("x"));
    settle(&pair);
    CHECK_INT(soc_network_length(pair.network, "alpha", "beta"), 2);
    close_pair(&pair);
}

static void a_flush_forgets_streams_cards_and_numbers(void)
{
    struct pair pair;
    open_pair(&pair, 2);
    soc_carrier_create(pair.alpha.carrier, 0, at(1, 1), SOC_SLICE("a"));
    soc_carrier_claim(pair.alpha.carrier, 7);
    soc_carrier_claim(pair.beta.carrier, 7);
    soc_carrier_exchange(pair.beta.carrier, SOC_SLICE("I am beta"));
    settle(&pair);
    CHECK_TEXT(pair.beta.holder, "alpha");
    CHECK_INT(pair.beta.cards, 1);
    soc_network_flush(pair.network);
    append(&pair, 1, 2);
    soc_carrier_claim(pair.beta.carrier, 7);
    soc_network_skew(pair.network, 3600000);
    soc_carrier_exchange(pair.alpha.carrier, SOC_SLICE("I am alpha"));
    settle(&pair);
    CHECK_INT(pair.alpha.ends[SOC_CARRIER_GONE], 1);
    CHECK_TEXT(pair.beta.holder, "beta");
    CHECK_INT(pair.alpha.cards, 1);
    CHECK_INT(pair.alpha.time_ms, pair.now_ms + 3600000);
    CHECK_INT(pair.alpha.losses, 0);
    close_pair(&pair);
}

static void a_cut_host_hears_it_once_and_reads_on_afterwards(void)
{
    struct pair pair;
    open_pair(&pair, 3);
    soc_network_delay(pair.network, 10);
    soc_carrier_create(pair.alpha.carrier, 0, at(1, 1), SOC_SLICE("a"));
    settle(&pair);
    soc_network_cut(pair.network, "beta", true);
    for (uint64_t i = 2; i <= 5; i++)
        append(&pair, 1, i);
    settle(&pair);
    CHECK_INT(pair.beta.losses, 1);
    CHECK_INT(pair.beta.frames, 1);
    CHECK_INT(pair.alpha.losses, 0);
    soc_network_cut(pair.network, "beta", false);
    settle(&pair);
    CHECK_INT(pair.beta.readies, 2);
    CHECK_INT(pair.beta.frames, 5);
    /* Of what was under way when the server went, some was done, and nobody is told what. */
    for (uint64_t i = 6; i <= 25; i++)
        append(&pair, 1, i);
    soc_network_cut(pair.network, NULL, true);
    soc_network_cut(pair.network, NULL, false);
    settle(&pair);
    CHECK_INT(pair.alpha.ends[SOC_CARRIER_LOST], 20);
    CHECK(pair.beta.frames >= 5 && pair.beta.frames <= 25);
    CHECK(pair.beta.is_in_order);
    close_pair(&pair);
}

static void a_lagging_replica_has_lost_the_newest_frames(void)
{
    struct pair pair;
    open_pair(&pair, 4);
    soc_network_cut(pair.network, "beta", true);
    soc_carrier_create(pair.alpha.carrier, 0, at(1, 1), SOC_SLICE("a"));
    for (uint64_t i = 2; i <= 50; i++)
        append(&pair, 1, i);
    settle(&pair);
    size_t before = soc_network_length(pair.network, "alpha", "beta");
    CHECK_INT(before, 50);
    for (int i = 0; i < 8; i++)
        soc_network_fail_over(pair.network, 5);
    size_t after = soc_network_length(pair.network, "alpha", "beta");
    CHECK(after < before && after >= before - 40);
    settle(&pair);
    CHECK_INT(pair.alpha.losses, 1);
    append(&pair, 1, 60);
    soc_network_cut(pair.network, "beta", false);
    settle(&pair);
    CHECK_INT(pair.beta.frames, after + 1);
    CHECK_INT(pair.beta.last.frame, 60);
    close_pair(&pair);
}

/* Plays a fixed piece with random delays and returns what both ends heard. */
static void play(uint64_t seed, struct soc_buf *out)
{
    struct pair pair;
    open_pair(&pair, seed);
    soc_network_delay(pair.network, 30);
    soc_carrier_create(pair.alpha.carrier, 0, at(1, 1), SOC_SLICE("a"));
    for (uint64_t i = 2; i < 60; i++) {
        append(&pair, 1, i);
        if (i % 20 == 0)
            soc_network_cut(pair.network, "alpha", true);
        if (i % 20 == 5)
            soc_network_cut(pair.network, "alpha", false);
        soc_network_step(pair.network, pair.now_ms += 5);
    }
    settle(&pair);
    soc_buf_put_slice(out, soc_buf_slice(&pair.alpha.story));
    soc_buf_put_slice(out, soc_buf_slice(&pair.beta.story));
    close_pair(&pair);
}

static void one_seed_gives_the_same_events(void)
{
    struct soc_buf first = {0};
    struct soc_buf again = {0};
    struct soc_buf other = {0};
    play(5, &first);
    play(5, &again);
    play(6, &other);
    CHECK(soc_slice_equal(soc_buf_slice(&first), soc_buf_slice(&again)));
    CHECK(!soc_slice_equal(soc_buf_slice(&first), soc_buf_slice(&other)));
    soc_buf_fini(&first);
    soc_buf_fini(&again);
    soc_buf_fini(&other);
}

int main(void)
{
    RUN(frames_arrive_in_order_once_their_stream_was_created);
    RUN(a_flush_forgets_streams_cards_and_numbers);
    RUN(a_cut_host_hears_it_once_and_reads_on_afterwards);
    RUN(a_lagging_replica_has_lost_the_newest_frames);
    RUN(one_seed_gives_the_same_events);
    return check_done();
}

/* Frames through Redis Streams: places, loss, fences, cards. */
#include "check.h"
#include "env/clock.h"
#include "net/redis.h"
#include "net/redis_carrier.h"
#include "redis_server.h"

#define LIMIT_US 60000000

/* What one end has heard. */
struct end {
    struct soc_carrier *carrier;
    int readies;
    int losses;
    int ends[SOC_CARRIER_LOST + 1]; /* of appends, by enum soc_carrier_end */
    int frames;
    bool is_in_order;
    struct soc_carrier_place last;
    char bytes[64];
    int cards;
    int rounds;
    char card[64];
    int64_t time_ms;
    int claims;
    char holder[32];
    int blocks;
};

static void hear_ready(void *user)
{
    struct end *end = user;
    end->readies++;
    soc_carrier_read(end->carrier, 0, end->last);
}

static void hear_lost(void *user, const char *why)
{
    (void)why;
    ((struct end *)user)->losses++;
}

static void hear_appended(void *user, int peer, struct soc_carrier_place place,
                          enum soc_carrier_end how)
{
    (void)peer;
    (void)place;
    ((struct end *)user)->ends[how]++;
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
    snprintf(end->bytes, sizeof(end->bytes), "%.*s", (int)bytes.length, bytes.data);
}

static void hear_card(void *user, struct soc_slice host, struct soc_slice bytes)
{
    struct end *end = user;
    end->cards++;
    if (soc_slice_equal(host, SOC_SLICE("alpha")))
        snprintf(end->card, sizeof(end->card), "%.*s", (int)bytes.length, bytes.data);
}

static void hear_cards(void *user, int64_t time_ms)
{
    struct end *end = user;
    end->rounds++;
    end->time_ms = time_ms;
}

static void hear_claimed(void *user, int number, struct soc_slice host)
{
    struct end *end = user;
    end->claims += number == 7;
    snprintf(end->holder, sizeof(end->holder), "%.*s", (int)host.length, host.data);
}

static void hear_blocked(void *user, int peer, const char *why)
{
    (void)why;
    ((struct end *)user)->blocks += peer == 0;
}

static void open_end(struct end *end, struct soc_loop *loop, const struct redis_server *server,
                     const char *host, const char *peer)
{
    *end = (struct end){.is_in_order = true};
    struct soc_carrier_events events = {
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
    struct soc_redis_carrier_options options = {
        .url = soc_slice_text(server->url),
        .society = "test",
        .host = host,
        .peers = &peer,
        .peer_count = 1,
    };
    end->carrier = soc_redis_carrier_open(loop, &options, &events, NULL);
}

static bool wait_for(struct soc_loop *loop, const int *number, int wanted)
{
    int64_t end_us = soc_clock_monotonic_us() + LIMIT_US;
    while (*number < wanted && soc_clock_monotonic_us() < end_us)
        soc_loop_poll(loop, 50);
    return *number >= wanted;
}

/* Two joined ends on a private server. */
struct pair {
    struct redis_server server;
    struct soc_loop *loop;
    struct end alpha;
    struct end beta;
};

static void open_pair(struct pair *pair)
{
    *pair = (struct pair){0};
    redis_server_start(&pair->server);
    pair->loop = soc_loop_new();
    open_end(&pair->alpha, pair->loop, &pair->server, "alpha", "beta");
    open_end(&pair->beta, pair->loop, &pair->server, "beta", "alpha");
    CHECK(wait_for(pair->loop, &pair->alpha.readies, 1));
    CHECK(wait_for(pair->loop, &pair->beta.readies, 1));
}

static void close_pair(struct pair *pair)
{
    soc_carrier_close(pair->alpha.carrier);
    soc_carrier_close(pair->beta.carrier);
    soc_loop_free(pair->loop);
    redis_server_stop(&pair->server);
}

static void append(struct pair *pair, uint64_t epoch, uint64_t frame, const char *text)
{
    soc_carrier_append(pair->alpha.carrier, 0, (struct soc_carrier_place){epoch, frame},
                       (struct soc_carrier_place){0, 0}, soc_slice_text(text));
}

static void frames_arrive_in_the_order_of_their_places(void)
{
    struct pair pair;
    open_pair(&pair);
    append(&pair, 3, 1, "too early");
    CHECK(wait_for(pair.loop, &pair.alpha.ends[SOC_CARRIER_GONE], 1));
    soc_carrier_create(pair.alpha.carrier, 0, (struct soc_carrier_place){3, 1}, SOC_SLICE("hi"));
    for (uint64_t i = 2; i <= 500; i++)
        append(&pair, 3, i, "frame");
    CHECK(wait_for(pair.loop, &pair.beta.frames, 500));
    CHECK(pair.beta.is_in_order);
    CHECK_INT(pair.beta.last.frame, 500);
    CHECK_TEXT(pair.beta.bytes, "frame");
    CHECK(wait_for(pair.loop, &pair.alpha.ends[SOC_CARRIER_DONE], 500));
    append(&pair, 3, 500, "again");
    append(&pair, 2, 900, "older epoch");
    CHECK(wait_for(pair.loop, &pair.alpha.ends[SOC_CARRIER_FENCED], 2));
    CHECK_INT(pair.beta.frames, 500);
    close_pair(&pair);
}

static void trimming_removes_what_was_acknowledged(void)
{
    struct pair pair;
    open_pair(&pair);
    soc_carrier_create(pair.alpha.carrier, 0, (struct soc_carrier_place){1, 1}, SOC_SLICE("a"));
    append(&pair, 1, 2, "b");
    CHECK(wait_for(pair.loop, &pair.beta.frames, 2));
    soc_carrier_append(pair.alpha.carrier, 0, (struct soc_carrier_place){1, 3},
                       (struct soc_carrier_place){1, 3}, SOC_SLICE("c"));
    CHECK(wait_for(pair.loop, &pair.beta.frames, 3));
    /* Reading from the start finds the last one only. */
    pair.beta.last = (struct soc_carrier_place){0, 0};
    soc_carrier_read(pair.beta.carrier, 0, pair.beta.last);
    CHECK(wait_for(pair.loop, &pair.beta.frames, 4));
    CHECK_INT(pair.beta.last.frame, 3);
    close_pair(&pair);
}

static void a_server_that_forgot_everything_is_noticed(void)
{
    struct pair pair;
    open_pair(&pair);
    soc_carrier_create(pair.alpha.carrier, 0, (struct soc_carrier_place){1, 1}, SOC_SLICE("a"));
    CHECK(wait_for(pair.loop, &pair.beta.frames, 1));
    int losses = pair.alpha.losses;
    redis_server_stop(&pair.server);
    CHECK(wait_for(pair.loop, &pair.alpha.losses, losses + 1));
    redis_server_start(&pair.server);
    CHECK(wait_for(pair.loop, &pair.alpha.readies, 2));
    CHECK(wait_for(pair.loop, &pair.beta.readies, 2));
    CHECK_INT(pair.alpha.losses, losses + 1);
    append(&pair, 1, 2, "b");
    CHECK(wait_for(pair.loop, &pair.alpha.ends[SOC_CARRIER_GONE], 1));
    soc_carrier_create(pair.alpha.carrier, 0, (struct soc_carrier_place){1, 3}, SOC_SLICE("c"));
    CHECK(wait_for(pair.loop, &pair.beta.frames, 2));
    CHECK_TEXT(pair.beta.bytes, "c");
    close_pair(&pair);
}

static void cards_time_and_numbers_are_exchanged(void)
{
    struct pair pair;
    open_pair(&pair);
    soc_carrier_exchange(pair.alpha.carrier, SOC_SLICE("I am alpha"));
    CHECK(wait_for(pair.loop, &pair.alpha.rounds, 1));
    soc_carrier_exchange(pair.beta.carrier, SOC_SLICE("I am beta"));
    CHECK(wait_for(pair.loop, &pair.beta.rounds, 1));
    CHECK_INT(pair.beta.cards, 2);
    CHECK_TEXT(pair.beta.card, "I am alpha");
    CHECK(pair.beta.time_ms > 1600000000000);
    soc_carrier_claim(pair.alpha.carrier, 7);
    CHECK(wait_for(pair.loop, &pair.alpha.claims, 1));
    CHECK_TEXT(pair.alpha.holder, "alpha");
    soc_carrier_claim(pair.beta.carrier, 7);
    CHECK(wait_for(pair.loop, &pair.beta.claims, 1));
    CHECK_TEXT(pair.beta.holder, "alpha");
    close_pair(&pair);
}

static void ignore_event(void *user)
{
    ++*(int *)user;
}

static void take_ok(void *user, const struct soc_redis_reply *reply)
{
    *(int *)user += soc_redis_reply_error(reply).length == 0;
}

static void a_key_of_another_type_is_named(void)
{
    struct pair pair;
    open_pair(&pair);
    int ups = 0;
    struct soc_redis_options options = {.url = soc_slice_text(pair.server.url)};
    struct soc_redis_events events = {.up = ignore_event, .user = &ups};
    struct soc_redis *redis = soc_redis_open(pair.loop, &options, &events, NULL);
    CHECK(wait_for(pair.loop, &ups, 1));
    int losses = pair.beta.losses;
    soc_redis_call(redis, NULL, NULL, "SET", "society:test:{beta}:from:alpha", "x", NULL);
    CHECK(wait_for(pair.loop, &pair.beta.blocks, 1));
    CHECK_INT(pair.beta.losses, losses);
    soc_redis_close(redis);
    close_pair(&pair);
}

/* Without it no card is ever looked at. */
static void a_server_that_refuses_to_tell_the_time_is_of_no_use(void)
{
    struct pair pair;
    open_pair(&pair);
    int ups = 0;
    struct soc_redis_options options = {.url = soc_slice_text(pair.server.url)};
    struct soc_redis_events events = {.up = ignore_event, .user = &ups};
    struct soc_redis *redis = soc_redis_open(pair.loop, &options, &events, NULL);
    CHECK(wait_for(pair.loop, &ups, 1));
    int losses = pair.alpha.losses;
    soc_redis_call(redis, take_ok, &ups, "ACL", "SETUSER", "default", "-time", NULL);
    CHECK(wait_for(pair.loop, &ups, 2));
    soc_carrier_exchange(pair.alpha.carrier, SOC_SLICE("I am alpha"));
    CHECK(wait_for(pair.loop, &pair.alpha.losses, losses + 1));
    CHECK_INT(pair.alpha.rounds, 0);
    soc_redis_close(redis);
    close_pair(&pair);
}

int main(void)
{
    if (!redis_server_is_there())
        return 0;
    RUN(frames_arrive_in_the_order_of_their_places);
    RUN(trimming_removes_what_was_acknowledged);
    RUN(a_server_that_forgot_everything_is_noticed);
    RUN(cards_time_and_numbers_are_exchanged);
    RUN(a_key_of_another_type_is_named);
    RUN(a_server_that_refuses_to_tell_the_time_is_of_no_use);
    return check_done();
}

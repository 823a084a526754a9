/* Three hosts on one virtual clock, joined by the simulated network, under faults by seed: cuts
 * of a host and of the server, flushes, fail-overs, skew, delays, slow disks and kills. Then
 * calm, and books over all stores: every message that its sender has is at its receiver exactly
 * once, in order and with the same bytes, and the receiver has nothing else.
 *
 * FLEET_SEEDS is the number of seeds (40).
 *
 * Covers: core/bridge/links/links.c, core/parts/hosts/hosts_part.c */
#include "bridge/links/links.h"
#include "env/rng.h"
#include "host_world.h"
#include "sim/network.h"

#define HOSTS     3
#define ROUNDS    40
#define CALM_MS   60000
#define PATIENCE  1000000 /* steps at one moment: more is a loop without an end */
#define ROUND_MAX 4000
#define SLOWNESS  400 /* looks at a slow disk until something becomes durable, about */

static const char *const names[HOSTS] = {"alpha", "beta", "gamma"};

struct fleet;

struct member { /* a host */
    struct fleet *fleet;
    struct world world;
    struct soc_links *links; /* NULL: it is down */
    bool is_cut;
    bool is_held; /* its disk is slow: batches become durable one by one */
};

struct fleet { /* all of them */
    struct soc_network *network;
    struct member members[HOSTS];
    struct soc_rng rng;
    int64_t now_ms;
    int number; /* of the last message */
};

/* Whoever gets a message does nothing with it. */
static enum soc_turn_end do_nothing(struct world *world, struct soc_activation *activation,
                                    struct soc_buf *error)
{
    (void)world, (void)activation, (void)error;
    return SOC_TURN_DONE;
}

static struct soc_carrier *carry(void *user, const char *host, const char *const *peers,
                                 int peer_count, const struct soc_carrier_events *events,
                                 struct soc_detail *detail)
{
    struct fleet *fleet = user;
    (void)detail;
    return soc_network_join(fleet->network, host, peers, peer_count, events);
}

static void join(struct member *member)
{
    const char *peers[HOSTS];
    int count = 0;
    int own = (int)(member - member->fleet->members);
    for (int i = 0; i < HOSTS; i++)
        if (i != own)
            peers[count++] = names[i];
    struct soc_links_options options = {
        .host = member->world.host,
        .society = "fleet",
        .name = names[own],
        .peers = peers,
        .peer_count = count,
        .number = own + 1,
        .keys = {SOC_SLICE("a key of this fleet")},
        .key_count = 1,
        .carry = carry,
        .user = member->fleet,
    };
    struct soc_detail detail;
    CHECK_INT(soc_links_open(&member->links, &options, &detail), SOC_OK);
}

static void kill_member(struct member *member)
{
    if (member->links == NULL)
        return;
    soc_links_stop(member->links);
    soc_host_crash(member->world.host);
    soc_links_free(member->links);
    member->links = NULL;
    member->world.host = NULL;
    member->is_held = false;
}

static void start_member(struct member *member)
{
    if (member->links != NULL)
        return;
    member->world.now_ms = member->fleet->now_ms;
    world_start(&member->world);
    join(member);
}

/* Runs one host as far as it comes at this moment. */
static bool run_member(struct member *member)
{
    bool is_any = false;
    struct soc_clock *clock = soc_host_clock(member->world.host);
    soc_clock_move(clock, member->fleet->now_ms);
    while (soc_host_step(member->world.host))
        is_any = true;
    if (member->is_held && soc_rng_below(&member->fleet->rng, SLOWNESS) == 0)
        soc_host_commit(member->world.host, 1 + soc_rng_below(&member->fleet->rng, 3));
    int64_t due_ms = soc_links_due(member->links);
    is_any |= due_ms >= 0 && due_ms <= soc_clock_now(clock);
    soc_links_tick(member->links);
    return is_any;
}

static void at_earliest(int64_t *next_ms, int64_t due_ms)
{
    if (due_ms > 0 && due_ms < *next_ms)
        *next_ms = due_ms;
}

static void run(struct fleet *fleet, int64_t time_ms)
{
    int64_t end_ms = fleet->now_ms + time_ms;
    while (fleet->now_ms < end_ms) {
        bool is_any = true;
        for (int i = 0; is_any && i < PATIENCE; i++) {
            is_any = soc_network_step(fleet->network, fleet->now_ms);
            for (int k = 0; k < HOSTS; k++)
                if (fleet->members[k].links != NULL)
                    is_any |= run_member(&fleet->members[k]);
        }
        CHECK(!is_any);
        int64_t next_ms = end_ms;
        at_earliest(&next_ms, soc_network_due(fleet->network));
        for (int k = 0; k < HOSTS; k++) {
            struct member *member = &fleet->members[k];
            if (member->links == NULL)
                continue;
            at_earliest(&next_ms, soc_host_next_due(member->world.host));
            at_earliest(&next_ms, soc_links_due(member->links));
            if (member->is_held)
                at_earliest(&next_ms, fleet->now_ms + 5);
        }
        fleet->now_ms = next_ms > fleet->now_ms ? next_ms : fleet->now_ms + 1;
    }
}

/* Makes the disk of a host slow, or fast again. */
static void set_slow(struct member *member, bool is_slow)
{
    member->is_held = is_slow;
    soc_host_hold(member->world.host, is_slow);
    if (!is_slow)
        soc_host_commit(member->world.host, SIZE_MAX);
}

/* Sends some messages from a host to another. */
static void talk(struct fleet *fleet)
{
    struct member *member = &fleet->members[soc_rng_below(&fleet->rng, HOSTS)];
    uint64_t other = soc_rng_below(&fleet->rng, HOSTS);
    char to[32], payload[64];
    if (member->links == NULL || member == &fleet->members[other])
        return;
    snprintf(to, sizeof(to), "user@%s", names[other]);
    for (uint64_t i = soc_rng_below(&fleet->rng, 20); i > 0; i--) {
        struct soc_buf answer = {0};
        snprintf(payload, sizeof(payload), "{\"number\":%d}", ++fleet->number);
        struct soc_send send = {
            .to = soc_slice_text(to), .payload = soc_slice_text(payload), .is_report = true};
        CHECK_INT(soc_gate_send_as(member->world.host, soc_registry_user(member->world.host), &send,
                                   &answer),
                  SOC_OK);
        soc_buf_fini(&answer);
    }
}

static void strike(struct fleet *fleet)
{
    struct member *member = &fleet->members[soc_rng_below(&fleet->rng, HOSTS)];
    const char *name = names[member - fleet->members];
    switch (soc_rng_below(&fleet->rng, 12)) {
    case 0:
        member->is_cut = !member->is_cut;
        soc_network_cut(fleet->network, name, member->is_cut);
        return;
    case 1:
        soc_network_cut(fleet->network, NULL, true);
        run(fleet, (int64_t)soc_rng_below(&fleet->rng, ROUND_MAX));
        soc_network_cut(fleet->network, NULL, false);
        return;
    case 2:
        soc_network_flush(fleet->network);
        return;
    case 3:
        soc_network_fail_over(fleet->network, 1 + soc_rng_below(&fleet->rng, 5));
        return;
    case 4:
        soc_network_skew(fleet->network, (int64_t)soc_rng_below(&fleet->rng, 7200000) - 3600000);
        return;
    case 5:
        soc_network_delay(fleet->network, (int64_t)soc_rng_below(&fleet->rng, 200));
        return;
    case 6:
    case 7:
        kill_member(member);
        return;
    case 8:
    case 9:
        if (member->links != NULL)
            set_slow(member, !member->is_held);
        return;
    default:
        start_member(member);
        return;
    }
}

static void calm_down(struct fleet *fleet)
{
    soc_network_delay(fleet->network, 0);
    for (int i = 0; i < HOSTS; i++) {
        struct member *member = &fleet->members[i];
        soc_network_cut(fleet->network, names[i], false);
        if (member->is_held)
            set_slow(member, false);
        start_member(member);
    }
    run(fleet, CALM_MS);
}

/* ---- the books ---- */

/* Appends the payload of every message in the tables of a host that has this sender and receiver,
 * in the order of arrival; each must have ended like this. */
static void put_mail(struct member *member, const char *from, const char *to,
                     enum soc_outcome outcome, struct soc_buf *out)
{
    struct soc_buf rows = {0};
    struct soc_json_walk walk;
    soc_look_query(member->world.host, &(struct soc_query){.what = "dump"}, world_take_rows, &rows);
    soc_json_walk(&walk, soc_buf_slice(&rows));
    while (soc_json_next(&walk)) {
        struct soc_slice payload = soc_json_member(walk.value, "payload");
        int64_t status = -1;
        if (!soc_slice_equal(soc_json_plain_string(soc_json_member(walk.value, "table")),
                             SOC_SLICE("message_entries")) ||
            !soc_slice_equal(soc_json_plain_string(soc_json_member(walk.value, "sender")),
                             soc_slice_text(from)) ||
            !soc_slice_equal(soc_json_plain_string(soc_json_member(walk.value, "receiver")),
                             soc_slice_text(to)) ||
            soc_json_member(payload, "number").data == NULL)
            continue;
        soc_json_integer(soc_json_member(walk.value, "status"), &status);
        CHECK_INT(status, outcome);
        soc_buf_put_slice(out, payload);
        soc_buf_put_byte(out, '\n');
    }
    soc_buf_fini(&rows);
}

static int64_t count_of(struct soc_slice stats, const char *name)
{
    int64_t number = 0;
    soc_json_integer(soc_json_member(stats, name), &number);
    return number;
}

/* The law of messages on one host; returns what was handed over, less what was taken. */
static int64_t check_law(struct member *member)
{
    static const char *const ends[] = {"processed", "pending",   "expired",    "dead",
                                       "dropped",   "cancelled", "handed_over"};
    struct soc_buf stats = {0};
    int64_t ended = 0;
    soc_look_stats(member->world.host, &stats);
    struct soc_slice json = soc_buf_slice(&stats);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        ended += count_of(json, ends[i]);
    CHECK_INT(count_of(json, "sent") + count_of(json, "taken"), ended);
    int64_t surplus = count_of(json, "handed_over") - count_of(json, "taken");
    soc_buf_fini(&stats);
    return surplus;
}

static size_t check_books(struct fleet *fleet)
{
    int64_t surplus = 0;
    size_t bytes = 0;
    for (int a = 0; a < HOSTS; a++) {
        surplus += check_law(&fleet->members[a]);
        for (int b = 0; b < HOSTS; b++) {
            struct soc_buf sent = {0}, taken = {0};
            char far_sender[32], far_receiver[32];
            if (a == b)
                continue;
            snprintf(far_sender, sizeof(far_sender), "user@%s", names[a]);
            snprintf(far_receiver, sizeof(far_receiver), "user@%s", names[b]);
            put_mail(&fleet->members[a], "user", far_receiver, SOC_OUTCOME_HANDED_OVER, &sent);
            put_mail(&fleet->members[b], far_sender, "user", SOC_OUTCOME_PROCESSED, &taken);
            CHECK_TEXT(soc_buf_text(&taken), soc_buf_text(&sent));
            bytes += sent.length;
            soc_buf_fini(&sent);
            soc_buf_fini(&taken);
        }
    }
    CHECK_INT(surplus, 0);
    return bytes;
}

static size_t play(uint64_t seed)
{
    struct fleet fleet = {.now_ms = SOC_CLOCK_VIRTUAL_START_MS};
    soc_rng_init(&fleet.rng, seed);
    fleet.network = soc_network_new(seed);
    for (int i = 0; i < HOSTS; i++) {
        struct member *member = &fleet.members[i];
        member->fleet = &fleet;
        member->world.worker = do_nothing;
        member->world.store = soc_memory_open(NULL);
        start_member(member);
    }
    for (int round = 0; round < ROUNDS; round++) {
        talk(&fleet);
        talk(&fleet);
        run(&fleet, (int64_t)soc_rng_below(&fleet.rng, ROUND_MAX));
        strike(&fleet);
    }
    calm_down(&fleet);
    size_t bytes = check_books(&fleet);
    for (int i = 0; i < HOSTS; i++) {
        soc_links_stop(fleet.members[i].links);
        world_close(&fleet.members[i].world);
        soc_links_free(fleet.members[i].links);
    }
    soc_network_free(fleet.network);
    return bytes;
}

static void what_one_host_sends_is_at_the_other_once_whatever_breaks(void)
{
    const char *text = getenv("FLEET_SEEDS");
    uint64_t seeds = text == NULL ? 40 : strtoull(text, NULL, 10);
    size_t bytes = 0;
    for (uint64_t seed = 1; seed <= seeds && check_state.checks_failed == 0; seed++) {
        bytes += play(seed);
        if (check_state.checks_failed > 0)
            printf("# seed %llu\n", (unsigned long long)seed);
    }
    CHECK(bytes > 0);
}

int main(void)
{
    RUN(what_one_host_sends_is_at_the_other_once_whatever_breaks);
    return check_done();
}

/* Three hosts on one virtual clock, joined by the simulated network, under faults by seed: cuts
 * of a host and of the server, flushes, fail-overs, skew, delays, slow disks and kills. Then
 * calm, and books over all stores: every message that its sender has is at its receiver exactly
 * once, in order and with the same bytes, and the receiver has nothing else.
 *
 * FLEET_SEEDS is the number of seeds (40).
 *
 * Covers: core/bridge/links/links.c, core/parts/hosts/hosts_part.c */
#include "host_fleet.h"

#define HOSTS     3
#define ROUNDS    40
#define CALM_MS   60000
#define ROUND_MAX 4000

static const char *const names[HOSTS] = {"alpha", "beta", "gamma"};

/* Sends some messages from a host to another. */
static void talk(struct fleet *fleet, int *number)
{
    struct member *member = &fleet->members[soc_rng_below(&fleet->rng, HOSTS)];
    uint64_t other = soc_rng_below(&fleet->rng, HOSTS);
    char to[32], payload[64];
    if (member->links == NULL || member == &fleet->members[other])
        return;
    snprintf(to, sizeof(to), "user@%s", names[other]);
    for (uint64_t i = soc_rng_below(&fleet->rng, 20); i > 0; i--) {
        snprintf(payload, sizeof(payload), "{\"number\":%d}", ++*number);
        CHECK_INT(fleet_send(member, to, payload), SOC_OK);
    }
}

static void strike(struct fleet *fleet)
{
    struct member *member = &fleet->members[soc_rng_below(&fleet->rng, HOSTS)];
    switch (soc_rng_below(&fleet->rng, 12)) {
    case 0:
        fleet_cut(member, !member->is_cut);
        return;
    case 1:
        soc_network_cut(fleet->network, NULL, true);
        fleet_run(fleet, (int64_t)soc_rng_below(&fleet->rng, ROUND_MAX));
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
        fleet_kill(member);
        return;
    case 8:
    case 9:
        if (member->links != NULL)
            fleet_set_slow(member, !member->is_held);
        return;
    default:
        fleet_begin(member);
        return;
    }
}

static void calm_down(struct fleet *fleet)
{
    soc_network_delay(fleet->network, 0);
    for (int i = 0; i < HOSTS; i++) {
        struct member *member = &fleet->members[i];
        fleet_cut(member, false);
        if (member->is_held)
            fleet_set_slow(member, false);
        fleet_begin(member);
    }
    fleet_run(fleet, CALM_MS);
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
    struct fleet fleet;
    int number = 0; /* of the last message */
    fleet_open(&fleet, seed);
    for (int i = 0; i < HOSTS; i++)
        fleet_add(&fleet, names[i], i + 1);
    for (int i = 0; i < HOSTS; i++)
        fleet_begin(&fleet.members[i]);
    for (int round = 0; round < ROUNDS; round++) {
        talk(&fleet, &number);
        talk(&fleet, &number);
        fleet_run(&fleet, (int64_t)soc_rng_below(&fleet.rng, ROUND_MAX));
        strike(&fleet);
    }
    calm_down(&fleet);
    size_t bytes = check_books(&fleet);
    fleet_close(&fleet);
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

/* Which agents can take no mail, told in pieces: however many there are and whatever was said
 * before, once all pieces are told both hosts agree. */
#include "env/rng.h"
#include "host_world.h"
#include "kernel/registry.h"
#include "parts/hosts/hosts_state.h"
#include "parts/supervision/guard.h"

#define AGENTS 3000

struct pair { /* beta tells alpha */
    struct world alpha, beta;
    struct soc_hosts_peer *to; /* beta, as alpha knows it */
    struct soc_hosts_peer *from;
    struct soc_agent *agents[AGENTS]; /* of beta */
    struct soc_buf after;
};

static void do_open(struct pair *pair)
{
    *pair = (struct pair){0};
    world_open(&pair->alpha, NULL);
    world_open(&pair->beta, NULL);
    CHECK_INT(soc_hosts_join(pair->alpha.host, SOC_SLICE("alpha"), NULL), SOC_OK);
    CHECK_INT(soc_hosts_join(pair->beta.host, SOC_SLICE("beta"), NULL), SOC_OK);
    pair->to = soc_hosts_need_peer(pair->alpha.host, SOC_SLICE("beta"));
    pair->from = soc_hosts_need_peer(pair->beta.host, SOC_SLICE("alpha"));
    soc_guard_set(pair->beta.host, SOC_GUARD_MAILBOX, 0); /* half full even if empty */
    struct soc_role *role = soc_registry_find_role(pair->beta.host, SOC_SLICE("worker"));
    for (int i = 0; i < AGENTS; i++) {
        char id[64], address[80];
        snprintf(id, sizeof(id), "an-agent-with-a-long-name-%d", i * 7919 % AGENTS);
        snprintf(address, sizeof(address), "%s@beta", id);
        struct soc_record_agent record = {.id = soc_slice_text(id), .time_ms = 1};
        pair->agents[i] = soc_registry_add(pair->beta.host, &record, role, NULL);
        soc_map_put(&pair->from->known, soc_agent_id(pair->agents[i]), pair->agents[i]);
        soc_registry_need_remote(pair->alpha.host, soc_slice_text(address));
    }
}

static void do_close(struct pair *pair)
{
    soc_buf_fini(&pair->after);
    world_close(&pair->alpha);
    world_close(&pair->beta);
}

/* Tells one piece; returns whether more is to be told. */
static bool tell(struct pair *pair, bool is_lost)
{
    struct soc_buf piece = {0};
    bool is_holding = soc_hosts_put_busy(pair->beta.host, pair->from, &pair->after, &piece);
    CHECK(piece.length <= SOC_HOSTS_BUSY_BYTES + 3 * 65);
    if (!is_lost)
        soc_hosts_set_busy(pair->alpha.host, pair->to, soc_buf_slice(&piece));
    soc_buf_fini(&piece);
    return is_holding;
}

/* Tells all pieces, from the first on; returns how many there were. */
static int tell_all(struct pair *pair)
{
    int count = 0;
    while (pair->after.length > 0)
        tell(pair, false);
    do
        count++, tell(pair, false);
    while (pair->after.length > 0);
    return count;
}

static void check_agreed(struct pair *pair)
{
    size_t expected = 0;
    for (int i = 0; i < AGENTS; i++) {
        struct soc_buf address = {0};
        soc_buf_printf(&address, "%s@beta", pair->agents[i]->id);
        bool is_held = soc_map_find(&pair->to->busy, soc_buf_slice(&address)) != NULL;
        CHECK(is_held == !pair->agents[i]->is_ended);
        expected += !pair->agents[i]->is_ended;
        soc_buf_fini(&address);
    }
    CHECK_INT(pair->to->busy.count, expected);
}

static void both_agree_when_all_pieces_are_told(void)
{
    struct pair pair;
    struct soc_rng rng;
    do_open(&pair);
    soc_rng_init(&rng, 1);
    CHECK(tell_all(&pair) > 10);
    check_agreed(&pair);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < AGENTS; i++)
            pair.agents[i]->is_ended = soc_rng_below(&rng, 3) < (uint64_t)round % 3;
        for (uint64_t i = soc_rng_below(&rng, 30); i > 0; i--)
            tell(&pair, soc_rng_below(&rng, 2) == 0);
        tell_all(&pair);
        check_agreed(&pair);
    }
    do_close(&pair);
}

static void nothing_is_held_when_the_last_mailbox_is_empty(void)
{
    struct pair pair;
    do_open(&pair);
    CHECK(tell(&pair, false));
    CHECK(pair.to->busy.count > 0);
    for (int i = 0; i < AGENTS; i++)
        pair.agents[i]->is_ended = true;
    CHECK(tell(&pair, false)); /* the rest of the list, which was begun */
    CHECK(!tell(&pair, false));
    CHECK_INT(pair.to->busy.count, 0);
    for (int i = 0; i < AGENTS; i++)
        pair.agents[i]->is_ended = false;
    do_close(&pair);
}

static void what_is_no_piece_changes_nothing(void)
{
    static const struct {
        const char *bytes;
        size_t length;
    } bad[] = {{"", 0}, {"\0", 1}, {"a", 1}, {"ab\0", 3}, {"\0\0x", 3}};
    static const char odd[] = "\0no such agent\0a b\0\0an-agent-with-a-long-name-1@gamma\0\0";
    struct pair pair;
    do_open(&pair);
    tell(&pair, false);
    size_t held = pair.to->busy.count;
    size_t known = pair.alpha.host->registry.remotes.count;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        soc_hosts_set_busy(pair.alpha.host, pair.to, soc_slice(bad[i].bytes, bad[i].length));
    CHECK_INT(pair.to->busy.count, held);
    soc_hosts_set_busy(pair.alpha.host, pair.to, soc_slice(odd, sizeof(odd) - 1));
    CHECK_INT(pair.to->busy.count, 0); /* a whole list, without any agent that is known */
    CHECK_INT(pair.alpha.host->registry.remotes.count, known);
    do_close(&pair);
}

int main(void)
{
    RUN(both_agree_when_all_pieces_are_told);
    RUN(nothing_is_held_when_the_last_mailbox_is_empty);
    RUN(what_is_no_piece_changes_nothing);
    return check_done();
}

/* Host fleet: hosts on one virtual clock, joined by the simulated network.
 *
 *     struct fleet fleet;
 *     fleet_open(&fleet, 1);
 *     struct member *alpha = fleet_add(&fleet, "alpha", 1);
 *     struct member *beta = fleet_add(&fleet, "beta", 2);
 *     fleet_begin(alpha), fleet_begin(beta);
 *     fleet_run(&fleet, 5000);
 *     fleet_send(alpha, "user@beta", "{}");
 *     fleet_close(&fleet);
 *
 * A host has its store in memory, or on a simulated disk, which can be put back.
 * Layer: tests. Thread: one. */
#ifndef SOC_TESTS_HOST_FLEET_H
#define SOC_TESTS_HOST_FLEET_H

#include "bridge/links/links.h"
#include "env/rng.h"
#include "host_world.h"
#include "sim/network.h"
#include "store/disk/disk.h"

#define FLEET_MAX      4
#define FLEET_PATIENCE 1000000 /* steps at one moment: more is a loop without an end */
#define FLEET_SLOWNESS 400     /* looks at a slow disk until something becomes durable, about */

struct fleet;

struct member { /* a host */
    struct fleet *fleet;
    const char *name;
    int number;      /* that it is started with; -1: any */
    const char *key; /* that signs its frames; NULL: that of the fleet; "": none */
    struct world world;
    struct soc_links *links; /* NULL: it is down */
    struct soc_disk *disk;   /* NULL: its store is in memory */
    bool is_cut;
    bool is_held; /* its disk is slow: batches become durable one by one */
};

struct fleet { /* all of them */
    struct soc_network *network;
    struct member members[FLEET_MAX];
    int count;
    struct soc_rng rng;
    int64_t now_ms;
    uint64_t starts; /* each with a seed of its own, so that the ids of its links are as well */
};

/* Whoever gets a message does nothing with it. */
static inline enum soc_turn_end
fleet_do_nothing(struct world *world, struct soc_activation *activation, struct soc_buf *error)
{
    (void)world, (void)activation, (void)error;
    return SOC_TURN_DONE;
}

/* Makes a fleet without hosts. */
static inline void fleet_open(struct fleet *fleet, uint64_t seed)
{
    *fleet = (struct fleet){.now_ms = SOC_CLOCK_VIRTUAL_START_MS};
    soc_rng_init(&fleet->rng, seed);
    fleet->network = soc_network_new(seed);
}

/* Adds a host, which is down. */
static inline struct member *fleet_add(struct fleet *fleet, const char *name, int number)
{
    struct member *member = &fleet->members[fleet->count++];
    *member = (struct member){.fleet = fleet, .name = name, .number = number};
    member->world.worker = fleet_do_nothing;
    return member;
}

/* Opens the carrier of a host. */
static inline struct soc_carrier *fleet_carry(void *user, const char *host,
                                              const char *const *peers, int peer_count,
                                              const struct soc_carrier_events *events,
                                              struct soc_detail *detail)
{
    struct fleet *fleet = user;
    (void)detail;
    return soc_network_join(fleet->network, host, peers, peer_count, events);
}

/* The names of the others, each once. */
static inline int fleet_peers(const struct member *member, const char *peers[FLEET_MAX])
{
    const struct fleet *fleet = member->fleet;
    int count = 0;
    for (int i = 0; i < fleet->count; i++) {
        bool is_new = strcmp(fleet->members[i].name, member->name) != 0;
        for (int k = 0; is_new && k < count; k++)
            is_new = strcmp(fleet->members[i].name, peers[k]) != 0;
        if (is_new)
            peers[count++] = fleet->members[i].name;
    }
    return count;
}

/* Starts a host, new or as it was left, unless it runs. */
static inline void fleet_begin(struct member *member)
{
    const char *peers[FLEET_MAX];
    struct soc_detail detail;
    if (member->links != NULL)
        return;
    if (member->world.store == NULL && member->disk == NULL)
        member->world.store = soc_memory_open(NULL);
    else if (member->world.store == NULL)
        CHECK_INT(soc_sqlite_open(&member->world.store,
                                  &(struct soc_sqlite_options){.disk = member->disk}, &detail),
                  SOC_OK);
    member->world.now_ms = member->fleet->now_ms;
    member->world.seed = ++member->fleet->starts;
    world_start(&member->world);
    struct soc_links_options options = {
        .host = member->world.host,
        .society = "fleet",
        .name = member->name,
        .peers = peers,
        .peer_count = fleet_peers(member, peers),
        .number = member->number,
        .keys = {soc_slice_text(member->key == NULL ? "a key of this fleet" : member->key)},
        .key_count = member->key != NULL && member->key[0] == '\0' ? 0 : 1,
        .carry = fleet_carry,
        .user = member->fleet,
    };
    CHECK_INT(soc_links_open(&member->links, &options, &detail), SOC_OK);
    if (member->is_cut)
        soc_network_cut(member->fleet->network, member->name, true);
}

/* Ends it as a kill does. */
static inline void fleet_kill(struct member *member)
{
    if (member->links == NULL)
        return;
    soc_links_stop(member->links);
    soc_host_crash(member->world.host);
    soc_links_free(member->links);
    member->links = NULL;
    member->world.host = NULL;
    member->is_held = false;
    if (member->disk == NULL)
        return;
    soc_disk_kill(member->disk);
    soc_store_close(member->world.store);
    soc_disk_restart(member->disk, SOC_DISK_KILL);
    member->world.store = NULL;
}

/* Gives a host that is down another disk, which it owns; NULL: an empty memory. */
static inline void fleet_put_back(struct member *member, struct soc_disk *disk)
{
    soc_store_close(member->world.store);
    member->world.store = NULL;
    soc_disk_free(member->disk);
    member->disk = disk;
}

/* Runs one host as far as it comes at this moment. */
static inline bool fleet_run_member(struct member *member)
{
    bool is_any = false;
    struct soc_clock *clock = soc_host_clock(member->world.host);
    soc_clock_move(clock, member->fleet->now_ms);
    while (soc_host_step(member->world.host))
        is_any = true;
    if (member->is_held && soc_rng_below(&member->fleet->rng, FLEET_SLOWNESS) == 0)
        soc_host_commit(member->world.host, 1 + soc_rng_below(&member->fleet->rng, 3));
    int64_t due_ms = soc_links_due(member->links);
    is_any |= due_ms >= 0 && due_ms <= soc_clock_now(clock);
    soc_links_tick(member->links);
    return is_any;
}

/* Takes a time that is earlier, if there is one. */
static inline void fleet_at_earliest(int64_t *next_ms, int64_t due_ms)
{
    if (due_ms > 0 && due_ms < *next_ms)
        *next_ms = due_ms;
}

/* Returns when something is due next, at most `next_ms`. */
static inline int64_t fleet_next_due(struct fleet *fleet, int64_t next_ms)
{
    fleet_at_earliest(&next_ms, soc_network_due(fleet->network));
    for (int k = 0; k < fleet->count; k++) {
        struct member *member = &fleet->members[k];
        if (member->links == NULL)
            continue;
        fleet_at_earliest(&next_ms, soc_host_next_due(member->world.host));
        fleet_at_earliest(&next_ms, soc_links_due(member->links));
        if (member->is_held)
            fleet_at_earliest(&next_ms, fleet->now_ms + 5);
    }
    return next_ms;
}

/* Lets so much time pass. */
static inline void fleet_run(struct fleet *fleet, int64_t time_ms)
{
    int64_t end_ms = fleet->now_ms + time_ms;
    while (fleet->now_ms < end_ms) {
        bool is_any = true;
        for (int i = 0; is_any && i < FLEET_PATIENCE; i++) {
            is_any = soc_network_step(fleet->network, fleet->now_ms);
            for (int k = 0; k < fleet->count; k++)
                if (fleet->members[k].links != NULL)
                    is_any |= fleet_run_member(&fleet->members[k]);
        }
        CHECK(!is_any);
        int64_t next_ms = fleet_next_due(fleet, end_ms);
        fleet->now_ms = next_ms > fleet->now_ms ? next_ms : fleet->now_ms + 1;
    }
}

/* Makes the disk of a host slow, or fast again. */
static inline void fleet_set_slow(struct member *member, bool is_slow)
{
    member->is_held = is_slow;
    soc_host_hold(member->world.host, is_slow);
    if (!is_slow)
        soc_host_commit(member->world.host, SIZE_MAX);
}

/* Cuts a host off, or joins it again. */
static inline void fleet_cut(struct member *member, bool is_cut)
{
    member->is_cut = is_cut;
    soc_network_cut(member->fleet->network, member->name, is_cut);
}

/* Has the user of a host send a message. Returns what the router does. */
static inline int fleet_send(struct member *member, const char *to, const char *payload)
{
    struct soc_buf answer = {0};
    struct soc_send send = {
        .to = soc_slice_text(to), .payload = soc_slice_text(payload), .is_report = true};
    int rc =
        soc_gate_send_as(member->world.host, soc_registry_user(member->world.host), &send, &answer);
    soc_buf_fini(&answer);
    return rc;
}

/* Ends all hosts and frees everything. */
static inline void fleet_close(struct fleet *fleet)
{
    for (int i = 0; i < fleet->count; i++) {
        struct member *member = &fleet->members[i];
        soc_links_stop(member->links);
        if (member->world.host != NULL) {
            world_close(&member->world);
        } else {
            soc_store_close(member->world.store);
            soc_buf_fini(&member->world.shown);
        }
        soc_links_free(member->links);
        soc_disk_free(member->disk);
    }
    soc_network_free(fleet->network);
}

#endif

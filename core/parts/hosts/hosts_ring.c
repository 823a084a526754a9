#include "parts/hosts/hosts_ring.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/hooks.h"
#include "kernel/registry.h"
#include "kernel/turns/deadlock.h"
#include "kernel/turns/wait.h"
#include "parts/hosts/hosts_notify.h"
#include "parts/hosts/hosts_state.h"

#define KIND_BYTES  16
#define SEEN_MAX    16384 /* remembered */
#define WAITING_MAX 256   /* orders for a host beyond which none is added */

bool soc_hosts_has_seen(struct soc_host *host, uint64_t hash)
{
    struct soc_hosts_seen *seen = &soc_hosts_state(host)->seen;
    if (soc_map_find_number(&seen->map, hash) != NULL)
        return true;
    if (seen->hashes == NULL)
        seen->hashes = soc_alloc_zero(SEEN_MAX * sizeof(*seen->hashes));
    soc_map_take_number(&seen->map, seen->hashes[seen->next]);
    seen->hashes[seen->next] = hash;
    seen->next = (seen->next + 1) % SEEN_MAX;
    soc_map_put_number(&seen->map, hash, seen);
    return false;
}

bool soc_hosts_ring_names(const struct soc_host *host, struct soc_slice address,
                          const struct soc_agent *agent)
{
    struct soc_slice local;
    struct soc_slice name;
    if (agent->is_remote)
        return soc_slice_equal(address, soc_agent_id(agent));
    return soc_id_divide(address, &local, &name) && soc_slice_equal(local, soc_agent_id(agent)) &&
           soc_slice_equal(name, soc_slice_text(host->registry.host_name));
}

void soc_hosts_put_wait(const struct soc_host *host, const struct soc_agent *agent, size_t index,
                        struct soc_buf *out)
{
    const struct soc_wait *wait = &agent->activation->wait;
    const struct soc_wait_ops *ops = soc_wait_ops_of(host, agent->activation);
    const struct soc_agent *target = soc_deadlock_target(host, agent, index);
    const struct soc_agent *ends[] = {agent, target};
    uint64_t question = wait->request_key;
    if (ops != NULL && ops->question != NULL)
        question = ops->question(host, agent->activation, index);
    soc_buf_put_byte(out, '{');
    for (int i = 0; i < 2; i++) {
        struct soc_buf address = {0};
        soc_buf_put_slice(&address, soc_agent_id(ends[i]));
        if (!ends[i]->is_remote)
            soc_buf_printf(&address, "@%s", host->registry.host_name);
        soc_json_put_text_member(out, i == 0 ? "id" : "for", soc_buf_slice(&address));
        soc_buf_fini(&address);
    }
    soc_json_put_text_member(out, "kind", soc_slice_text(soc_wait_name(agent->activation)));
    soc_json_put_text_member(out, "type", soc_symbol_slice(wait->type));
    soc_json_put_name(out, "number");
    soc_json_put_integer(out, (int64_t)wait->number);
    soc_json_put_name(out, "since");
    soc_json_put_integer(out, wait->since_ms);
    soc_json_put_name(out, "question");
    soc_json_put_integer(out, (int64_t)question);
    soc_buf_put_byte(out, '}');
}

/* ---- reading a ring ---- */

/* A wait of a ring; its texts are lent by the order. */
struct wait {
    struct soc_slice text; /* JSON */
    struct soc_slice id;   /* the address of the agent */
    struct soc_slice local;
    struct soc_slice host;
    struct soc_slice target; /* the address of whom it waits for */
    int64_t number;
    int64_t since_ms;
    char kind[KIND_BYTES];
};

struct ring {
    struct wait waits[SOC_HOSTS_RING_MAX];
    size_t count;
};

static bool read_wait(struct soc_slice text, struct wait *wait)
{
    struct soc_slice kind = soc_json_plain_string(soc_json_member(text, "kind"));
    *wait = (struct wait){
        .text = text,
        .id = soc_json_plain_string(soc_json_member(text, "id")),
        .target = soc_json_plain_string(soc_json_member(text, "for")),
    };
    if (wait->id.data == NULL || wait->target.data == NULL || kind.data == NULL ||
        kind.length >= KIND_BYTES)
        return false;
    memcpy(wait->kind, kind.data, kind.length);
    return soc_id_divide(wait->id, &wait->local, &wait->host) &&
           soc_json_integer(soc_json_member(text, "number"), &wait->number) &&
           soc_json_integer(soc_json_member(text, "since"), &wait->since_ms);
}

static bool is_own(const struct soc_host *host, struct soc_slice name)
{
    return soc_slice_equal(name, soc_slice_text(host->registry.host_name));
}

/* Reads a ring whose agents are of this host and of those it is joined to. */
static bool read_ring(const struct soc_host *host, struct soc_slice cycle, struct ring *ring)
{
    struct soc_json_walk walk;
    ring->count = 0;
    if (cycle.length == 0 || cycle.data[0] != '[' || host->registry.host_name == NULL)
        return false;
    soc_json_walk(&walk, cycle);
    while (soc_json_next(&walk)) {
        struct wait *wait = &ring->waits[ring->count];
        if (ring->count == SOC_HOSTS_RING_MAX || !read_wait(walk.value, wait) ||
            (!is_own(host, wait->host) && soc_map_find(&host->registry.peers, wait->host) == NULL))
            return false;
        ring->count++;
    }
    return ring->count > 1;
}

static int compare_texts(struct soc_slice a, struct soc_slice b)
{
    size_t length = a.length < b.length ? a.length : b.length;
    int order = memcmp(a.data, b.data, length);
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* By when they began; no two of a ring are equal. */
static int compare_waits(const struct wait *a, const struct wait *b)
{
    if (a->since_ms != b->since_ms)
        return a->since_ms < b->since_ms ? -1 : 1;
    return compare_texts(a->id, b->id);
}

/* Moves the latest wait, which closed the ring, to the front: every host has it so. */
static void turn(struct ring *ring)
{
    struct wait waits[SOC_HOSTS_RING_MAX];
    size_t first = 0;
    for (size_t i = 1; i < ring->count; i++)
        if (compare_waits(&ring->waits[i], &ring->waits[first]) > 0)
            first = i;
    for (size_t i = 0; i < ring->count; i++)
        waits[i] = ring->waits[(first + i) % ring->count];
    memcpy(ring->waits, waits, ring->count * sizeof(waits[0]));
}

/* ---- the round ---- */

/* Tells whether the wait of an agent of this host is still the same, and for the same one. */
static bool is_current(struct soc_host *host, const struct wait *wait)
{
    struct soc_agent *agent = soc_registry_find_known(host, wait->local);
    struct soc_agent *target;
    if (agent == NULL || agent->is_remote || soc_deadlock_target(host, agent, 0) == NULL ||
        agent->activation->wait.number != (uint64_t)wait->number)
        return false;
    for (size_t i = 0; (target = soc_deadlock_target(host, agent, i)) != NULL; i++)
        if (soc_hosts_ring_names(host, wait->target, target))
            return true;
    return false;
}

static bool is_own_part_current(struct soc_host *host, const struct ring *ring)
{
    for (size_t i = 0; i < ring->count; i++)
        if (is_own(host, ring->waits[i].host) && !is_current(host, &ring->waits[i]))
            return false;
    return true;
}

/* Returns the host that decides. */
static struct soc_slice find_judge(const struct ring *ring)
{
    const struct wait *lowest = &ring->waits[0];
    for (size_t i = 1; i < ring->count; i++)
        if (compare_texts(ring->waits[i].id, lowest->id) < 0)
            lowest = &ring->waits[i];
    return lowest->host;
}

/* Returns the host after `name` in the order of the ring, without those that came before and the
 * judge; absent: only the judge is left. `name` absent: the first one. */
static struct soc_slice find_next(const struct ring *ring, struct soc_slice judge,
                                  struct soc_slice name)
{
    bool is_after = name.data == NULL;
    for (size_t i = 0; i < ring->count; i++) {
        struct soc_slice host = ring->waits[i].host;
        bool is_first = !soc_slice_equal(host, judge);
        for (size_t j = 0; j < i; j++)
            is_first &= !soc_slice_equal(host, ring->waits[j].host);
        if (is_first && is_after)
            return host;
        is_after |= is_first && soc_slice_equal(host, name);
    }
    return (struct soc_slice){0};
}

/* Sends the ring to a host, for the agent `id` there. */
static void send_ring(struct soc_host *host, struct soc_slice name, const char *type,
                      struct soc_slice id, const struct ring *ring)
{
    struct soc_buf payload = {0};
    soc_buf_put_byte(&payload, '{');
    soc_json_put_text_member(&payload, "id", id);
    soc_json_put_name(&payload, "cycle");
    soc_buf_put_byte(&payload, '[');
    for (size_t i = 0; i < ring->count; i++) {
        if (i > 0)
            soc_buf_put_byte(&payload, ',');
        soc_buf_put_slice(&payload, ring->waits[i].text);
    }
    soc_buf_put_text(&payload, "]}");
    soc_hosts_notify(host, name, type, soc_buf_slice(&payload));
    soc_buf_fini(&payload);
}

/* ---- the end ---- */

/* Fills in what the policy is told; the agents of other hosts are proxies. */
static void fill_cycle(struct soc_host *host, const struct ring *ring, struct soc_waiter *cycle)
{
    for (size_t i = 0; i < ring->count; i++) {
        const struct wait *wait = &ring->waits[i];
        struct soc_slice id = is_own(host, wait->host) ? wait->local : wait->id;
        cycle[i] = (struct soc_waiter){
            .agent = soc_registry_find(host, id),
            .kind = wait->kind,
            .since_ms = wait->since_ms,
            .number = 1,
        };
        for (size_t j = 0; j < ring->count; j++)
            cycle[i].number += compare_waits(&ring->waits[j], wait) < 0;
    }
    for (size_t i = 0; i < ring->count; i++)
        cycle[i].target = cycle[(i + 1) % ring->count].agent;
}

/* Breaks the ring at `victim`, an agent of this host. */
static void break_at(struct soc_host *host, const struct ring *ring, size_t victim)
{
    struct soc_waiter cycle[SOC_HOSTS_RING_MAX];
    fill_cycle(host, ring, cycle);
    for (size_t i = 0; i < ring->count; i++)
        if (cycle[i].agent == NULL)
            return;
    soc_deadlock_break(host, cycle, ring->count, victim);
}

/* Asks the policy, once for each ring: several probes may have found it. */
static void decide(struct soc_host *host, struct ring *ring)
{
    struct soc_waiter cycle[SOC_HOSTS_RING_MAX];
    uint64_t hash = 2;
    turn(ring);
    fill_cycle(host, ring, cycle);
    for (size_t i = 0; i < ring->count; i++) {
        if (cycle[i].agent == NULL)
            return;
        hash = soc_hash(ring->waits[i].id.data, ring->waits[i].id.length, hash);
        hash = soc_hash(&ring->waits[i].number, sizeof(ring->waits[i].number), hash);
    }
    if (soc_hosts_has_seen(host, hash))
        return;
    size_t victim = host->hooks.victim(host->hooks.user, cycle, ring->count);
    assert(victim < ring->count);
    const struct wait *wait = &ring->waits[victim];
    if (is_own(host, wait->host))
        soc_deadlock_break(host, cycle, ring->count, victim);
    else
        send_ring(host, wait->host, "host_deadlock", wait->local, ring);
}

void soc_hosts_confirm_ring(struct soc_host *host, struct soc_slice cycle, bool is_found)
{
    struct ring ring;
    if (!read_ring(host, cycle, &ring) || !is_own_part_current(host, &ring))
        return;
    struct soc_slice judge = find_judge(&ring);
    bool is_judge = is_own(host, judge);
    struct soc_slice next = {0};
    if (!is_judge)
        next = find_next(&ring, judge, soc_slice_text(host->registry.host_name));
    else if (is_found)
        next = find_next(&ring, judge, (struct soc_slice){0});
    if (is_judge && next.data == NULL) {
        decide(host, &ring);
        return;
    }
    next = next.data == NULL ? judge : next;
    if (soc_hosts_can_notify(host, next, WAITING_MAX)) /* another probe follows */
        send_ring(host, next, "host_probe_back", ring.waits[0].local, &ring);
}

void soc_hosts_break_ring(struct soc_host *host, struct soc_slice id, struct soc_slice cycle)
{
    struct ring ring;
    if (!read_ring(host, cycle, &ring))
        return;
    for (size_t i = 0; i < ring.count; i++) {
        const struct wait *wait = &ring.waits[i];
        if (!is_own(host, wait->host) || !soc_slice_equal(wait->local, id))
            continue;
        if (is_current(host, wait))
            break_at(host, &ring, i);
        return;
    }
}

#include "kernel/operations/agent_pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/look.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/turns/waiting.h"

#define LOOKED_AT_MAX 10000 /* agents of one page */
#define PEER_BITS     26    /* of the key of a contact, below its owner's number */
#define PEER_MAX      ((UINT64_C(1) << PEER_BITS) - 1)

struct soc_agent_page {
    const struct soc_query *query;
    unsigned peer_bits; /* of a key, below the number of the agent */
    bool is_back;       /* the last rows before a key, the last one first */
    uint64_t after;     /* keys in between are wanted, these two not */
    uint64_t before;
    uint64_t last; /* key of the row added last; 0: none */
    uint64_t count;
    struct soc_buf rows;
    struct soc_buf starts; /* size_t each */
};

const struct soc_query *soc_agent_page_query(const struct soc_agent_page *page)
{
    return page->query;
}

struct soc_buf *soc_agent_page_begin(struct soc_agent_page *page)
{
    soc_buf_put(&page->starts, &page->rows.length, sizeof(page->rows.length));
    return &page->rows;
}

static size_t start_of(const struct soc_agent_page *page, size_t number)
{
    size_t start;
    memcpy(&start, page->starts.data + number * sizeof(start), sizeof(start));
    return start;
}

bool soc_agent_page_end(struct soc_agent_page *page, uint64_t key)
{
    size_t start = start_of(page, page->count);
    bool is_wanted = key > page->after && key < page->before;
    bool is_full = page->count == (uint64_t)page->query->limit || start >= SOC_PAGE_BYTES_MAX;
    if (is_wanted && !is_full) {
        page->last = key;
        page->count++;
        return true;
    }
    page->rows.length = start;
    page->starts.length -= sizeof(start);
    return !is_wanted;
}

/* Appends the rows in ascending order. */
static void put_rows(const struct soc_agent_page *page, struct soc_buf *out)
{
    soc_buf_put_byte(out, '[');
    for (size_t i = 0; i < page->count; i++) {
        size_t at = page->is_back ? page->count - 1 - i : i;
        size_t start = start_of(page, at);
        size_t end = at + 1 < page->count ? start_of(page, at + 1) : page->rows.length;
        if (i > 0)
            soc_buf_put_byte(out, ',');
        soc_buf_put(out, page->rows.data + start, end - start);
    }
    soc_buf_put_byte(out, ']');
}

/* Finds the place in the map behind all agents with numbers up to `number`: numbers rise with
 * places. */
static size_t find_place(const struct soc_map *agents, uint64_t number)
{
    size_t low = 0;
    size_t high = agents->entry_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        size_t cursor = middle;
        const struct soc_agent *agent = soc_map_each(agents, &cursor);
        if (agent == NULL || agent->number > number)
            high = middle;
        else
            low = cursor;
    }
    return low;
}

/* Lends the next agent in the direction of the page, which may have ended, or NULL. */
static const struct soc_agent *next_agent(const struct soc_map *agents, bool is_back, size_t *place)
{
    if (!is_back)
        return soc_map_each(agents, place);
    while (*place > 0) {
        size_t cursor = --*place;
        const struct soc_agent *agent = soc_map_each(agents, &cursor);
        if (agent != NULL && cursor == *place + 1)
            return agent;
    }
    return NULL;
}

/* Adds rows of all agents. Returns the key to go on with, 0 if there are no more. */
static uint64_t walk(struct soc_agent_page *page, struct soc_host *host, soc_agent_rows *rows)
{
    const struct soc_map *agents = &host->registry.agents;
    uint64_t first = page->after >> page->peer_bits;
    uint64_t last = page->before >> page->peer_bits;
    size_t place = page->is_back
                       ? page->before == UINT64_MAX ? agents->entry_count : find_place(agents, last)
                       : find_place(agents, first == 0 ? 0 : first - 1);
    const struct soc_agent *agent;
    for (int looked_at = 0; (agent = next_agent(agents, page->is_back, &place)) != NULL;) {
        uint64_t edge = agent->number << page->peer_bits;
        if (!agent->is_ended && !rows(page, host, agent))
            return page->last;
        if (++looked_at == LOOKED_AT_MAX)
            return page->is_back ? edge : edge | ((UINT64_C(1) << page->peer_bits) - 1);
    }
    return 0;
}

/* The same where the rows of one agent are asked for. */
static uint64_t look_at_one(struct soc_agent_page *page, struct soc_host *host,
                            soc_agent_rows *rows)
{
    const struct soc_agent *agent = soc_registry_find_known(host, page->query->agent);
    return agent == NULL || rows(page, host, agent) ? 0 : page->last;
}

static void put_page(struct soc_host *host, const struct soc_query *query, unsigned peer_bits,
                     soc_agent_rows *rows, struct soc_page *page, struct soc_buf *out)
{
    struct soc_agent_page making = {
        .query = query,
        .peer_bits = peer_bits,
        .is_back = !query->has_after,
        .after = query->has_after ? query->after : 0,
        .before = query->has_after || query->before == 0 ? UINT64_MAX : query->before,
    };
    uint64_t rest =
        query->agent.data == NULL ? walk(&making, host, rows) : look_at_one(&making, host, rows);
    put_rows(&making, out);
    if (!making.is_back)
        page->next = rest;
    else
        page->previous = rest;
    if (making.is_back && query->before == 0)
        page->next = ((host->registry.births + 1) << peer_bits) - 1; /* those born later */
    soc_buf_fini(&making.rows);
    soc_buf_fini(&making.starts);
}

void soc_agent_pages_put(struct soc_host *host, const struct soc_query *query, soc_agent_rows *rows,
                         struct soc_page *page, struct soc_buf *out)
{
    put_page(host, query, 0, rows, page, out);
}

/* ---- the lists of the kernel ---- */

static bool fits_time(const struct soc_host *host, const struct soc_query *query, int64_t time_ms)
{
    int64_t date_ms = soc_clock_date_of(&host->clock, time_ms);
    return (query->since_ms == 0 || date_ms >= query->since_ms) &&
           (query->until_ms == 0 || date_ms < query->until_ms);
}

static bool add_agent(struct soc_agent_page *page, struct soc_host *host,
                      const struct soc_agent *agent)
{
    if (!fits_time(host, page->query, agent->created_ms))
        return true;
    soc_look_agent(host, agent, soc_agent_page_begin(page));
    return soc_agent_page_end(page, agent->number);
}

void soc_agent_pages_agents(struct soc_host *host, const struct soc_query *query,
                            struct soc_page *page, struct soc_buf *out)
{
    soc_agent_pages_put(host, query, add_agent, page, out);
}

static bool add_wait(struct soc_agent_page *page, struct soc_host *host,
                     const struct soc_agent *agent)
{
    if (agent->activation == NULL || agent->activation->state == SOC_ACTIVATION_READY)
        return true;
    soc_look_wait(host, agent->activation, soc_agent_page_begin(page));
    return soc_agent_page_end(page, agent->number);
}

void soc_agent_pages_waits(struct soc_host *host, const struct soc_query *query,
                           struct soc_page *page, struct soc_buf *out)
{
    soc_agent_pages_put(host, query, add_wait, page, out);
}

/* Where a peer stands among contacts: by number, and behind all of them, the last one first,
 * those that are known by name only, whose numbers are not theirs alone. */
static uint64_t place_of(const struct soc_contact *contact)
{
    const struct soc_agent *peer = contact->peer;
    uint64_t place = peer->rank == 0 ? peer->number : PEER_MAX - peer->rank;
    return place < PEER_MAX ? place : PEER_MAX - 1;
}

static int compare_peers(const void *a, const void *b)
{
    uint64_t x = place_of(*(const struct soc_contact *const *)a);
    uint64_t y = place_of(*(const struct soc_contact *const *)b);
    return x < y ? -1 : x > y;
}

static uint64_t key_of(const struct soc_agent *owner, const struct soc_contact *contact)
{
    return owner->number << PEER_BITS | place_of(contact);
}

/* Lends the contacts of an agent that may be on the page, by the numbers of the peers: a list
 * that the caller frees. */
static const struct soc_contact **sort_contacts(const struct soc_agent_page *page,
                                                const struct soc_host *host,
                                                const struct soc_agent *agent, size_t *count)
{
    const struct soc_contact **sorted =
        soc_alloc((agent->contacts.count + 1) * sizeof(struct soc_contact *));
    *count = 0;
    for (uint32_t i = 0; i < agent->contacts.count; i++) {
        const struct soc_contact *contact = &agent->contacts.items[i];
        uint64_t key = key_of(agent, contact);
        if (key > page->after && key < page->before &&
            fits_time(host, page->query, contact->added_ms))
            sorted[(*count)++] = contact;
    }
    qsort(sorted, *count, sizeof(struct soc_contact *), compare_peers);
    return sorted;
}

static bool add_contacts(struct soc_agent_page *page, struct soc_host *host,
                         const struct soc_agent *agent)
{
    size_t count;
    const struct soc_contact **sorted = sort_contacts(page, host, agent, &count);
    bool has_room = true;
    for (size_t i = 0; has_room && i < count; i++) {
        const struct soc_contact *contact = sorted[page->is_back ? count - 1 - i : i];
        struct soc_buf *out = soc_agent_page_begin(page);
        soc_look_contact(host, contact, out);
        out->length--; /* one more member follows */
        soc_json_put_text_member(out, "owner", soc_agent_id(agent));
        soc_buf_put_byte(out, '}');
        has_room = soc_agent_page_end(page, key_of(agent, contact));
    }
    free(sorted);
    return has_room;
}

void soc_agent_pages_contacts(struct soc_host *host, const struct soc_query *query,
                              struct soc_page *page, struct soc_buf *out)
{
    put_page(host, query, PEER_BITS, add_contacts, page, out);
}

#include "model/waits.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

/* An agent that was reached, and from which visit. */
struct visit {
    struct soc_agent *agent;
    size_t from;  /* index of the visit that led here */
    size_t depth; /* 1 for the start */
};

struct search {
    struct visit *visits; /* ordered by depth: a queue that keeps what was popped */
    size_t count;
    size_t capacity;
    struct soc_map seen; /* address of each agent reached, except the start */
};

static void add_visit(struct search *search, struct soc_agent *agent, size_t from, size_t depth)
{
    if (search->count == search->capacity) {
        search->capacity = search->capacity == 0 ? 16 : search->capacity * 2;
        search->visits = soc_realloc(search->visits, search->capacity * sizeof(*search->visits));
    }
    search->visits[search->count++] = (struct visit){agent, from, depth};
}

/* Enqueues `agent` unless it was reached before or waits for nobody. */
static void reach(struct search *search, struct soc_agent *agent, size_t from,
                  soc_waits_target_cb *cb, void *user)
{
    uint64_t address = (uintptr_t)agent;
    if (cb(user, agent, 0) == NULL || soc_map_find_number(&search->seen, address) != NULL)
        return;
    soc_map_put_number(&search->seen, address, agent);
    add_visit(search, agent, from, search->visits[from].depth + 1);
}

/* Returns the path from the start to visit `last`. */
static size_t take_path(const struct search *search, size_t last, struct soc_agent ***cycle)
{
    size_t count = search->visits[last].depth;
    struct soc_agent **agents = soc_alloc(count * sizeof(*agents));
    for (size_t i = count; i > 0; i--) {
        agents[i - 1] = search->visits[last].agent;
        last = search->visits[last].from;
    }
    assert(last == 0); /* the start leads to itself */
    *cycle = agents;
    return count;
}

size_t soc_waits_find_cycle(struct soc_agent *start, struct soc_agent ***cycle,
                            soc_waits_target_cb *cb, void *user)
{
    assert(start != NULL);
    struct search search = {0};
    size_t count = 0;
    add_visit(&search, start, 0, 1);
    for (size_t at = 0; count == 0 && at < search.count; at++) {
        struct soc_agent *next;
        for (size_t i = 0; (next = cb(user, search.visits[at].agent, i)) != NULL; i++) {
            if (next == start) {
                count = take_path(&search, at, cycle);
                break;
            }
            reach(&search, next, at, cb, user);
        }
    }
    soc_map_fini(&search.seen);
    free(search.visits);
    return count;
}

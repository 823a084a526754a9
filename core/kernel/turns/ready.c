#include "kernel/turns/ready.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kernel/state.h"

static void grow(struct soc_ready *ready)
{
    size_t capacity = ready->capacity == 0 ? 64 : ready->capacity * 2;
    struct soc_agent **agents = soc_alloc(capacity * sizeof(struct soc_agent *));
    for (size_t i = 0; i < ready->count; i++)
        agents[i] = ready->agents[(ready->head + i) & (ready->capacity - 1)];
    free(ready->agents);
    ready->agents = agents;
    ready->head = 0;
    ready->capacity = capacity;
}

void soc_ready_add(struct soc_host *host, struct soc_agent *agent)
{
    struct soc_ready *ready = &host->ready;
    if (agent->is_ready)
        return;
    if (ready->count == ready->capacity)
        grow(ready);
    agent->is_ready = true;
    ready->agents[(ready->head + ready->count++) & (ready->capacity - 1)] = agent;
}

struct soc_agent *soc_ready_take(struct soc_host *host)
{
    struct soc_ready *ready = &host->ready;
    assert(ready->count > 0);
    size_t mask = ready->capacity - 1;
    size_t head = ready->head & mask;
    if (host->options.loop == NULL && ready->count > 1) {
        size_t pick = (head + soc_rng_below(&host->order, ready->count)) & mask;
        struct soc_agent *picked = ready->agents[pick];
        ready->agents[pick] = ready->agents[head];
        ready->agents[head] = picked;
    }
    struct soc_agent *agent = ready->agents[head];
    ready->head = (head + 1) & mask;
    ready->count--;
    assert(agent->is_ready);
    agent->is_ready = false;
    return agent;
}

/* A wrong guess costs nothing, so in a simulation it peeks at the next random number,
 * assuming that the running agent makes one other ready. */
void soc_ready_guess(struct soc_host *host)
{
    struct soc_ready *ready = &host->ready;
    size_t ahead = 0;
    ready->guess = NULL;
    if (host->options.loop == NULL) {
        struct soc_rng order = host->order;
        ahead = soc_rng_below(&order, ready->count + 1);
    }
    if (ahead >= ready->count)
        return;
    ready->guess = ready->agents[(ready->head + ahead) & (ready->capacity - 1)];
    soc_agent_prefetch(ready->guess);
}

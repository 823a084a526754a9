#include "kernel/operations/awaiting.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kernel/state.h"

struct soc_awaiting {
    struct soc_heap_item timer; /* first: the host casts back */
    struct soc_awaiting *next;
    struct soc_awaiting *previous;
    uint64_t key;                  /* of the message to be answered; 0: … */
    const struct soc_agent *agent; /* … the agent that waits for mail; NULL: nothing */
    soc_awaited_cb *cb;
    void *user;
};

static struct soc_awaiting *add(struct soc_host *host, const struct soc_awaiting *draft,
                                int64_t wait_ms)
{
    struct soc_awaiting *awaiting = soc_alloc_zero(sizeof(*awaiting));
    assert(wait_ms > 0 && wait_ms <= SOC_WAIT_MS_MAX && draft->cb != NULL);
    *awaiting = *draft;
    awaiting->timer.kind = SOC_TIMER_AWAITING;
    awaiting->previous = host->awaiting.last;
    if (host->awaiting.last == NULL)
        host->awaiting.first = awaiting;
    else
        host->awaiting.last->next = awaiting;
    host->awaiting.last = awaiting;
    soc_heap_add(&host->timers, &awaiting->timer, soc_host_now(host) + wait_ms);
    return awaiting;
}

struct soc_awaiting *soc_awaiting_reply(struct soc_host *host, uint64_t key, int64_t wait_ms,
                                        soc_awaited_cb *cb, void *user)
{
    struct soc_awaiting draft = {.key = key, .cb = cb, .user = user};
    assert(key != 0);
    return add(host, &draft, wait_ms);
}

struct soc_awaiting *soc_awaiting_mail(struct soc_host *host, const struct soc_agent *agent,
                                       int64_t wait_ms, soc_awaited_cb *cb, void *user)
{
    struct soc_awaiting draft = {.agent = agent, .cb = cb, .user = user};
    assert(agent != NULL);
    return add(host, &draft, wait_ms);
}

struct soc_awaiting *soc_awaiting_time(struct soc_host *host, int64_t wait_ms, soc_awaited_cb *cb,
                                       void *user)
{
    struct soc_awaiting draft = {.cb = cb, .user = user};
    return add(host, &draft, wait_ms);
}

void soc_awaiting_end(struct soc_host *host, struct soc_awaiting *awaiting)
{
    if (awaiting == NULL)
        return;
    if (soc_heap_has(&awaiting->timer))
        soc_heap_remove(&host->timers, &awaiting->timer);
    if (awaiting->previous == NULL)
        host->awaiting.first = awaiting->next;
    else
        awaiting->previous->next = awaiting->next;
    if (awaiting->next == NULL)
        host->awaiting.last = awaiting->previous;
    else
        awaiting->next->previous = awaiting->previous;
    free(awaiting);
}

static void wake(struct soc_host *host, struct soc_awaiting *awaiting, enum soc_awaited why)
{
    soc_awaited_cb *cb = awaiting->cb;
    void *user = awaiting->user;
    soc_awaiting_end(host, awaiting);
    cb(user, why);
}

/* Wakes all that wait for the same. Callbacks may register again: those come later. */
static void wake_all(struct soc_host *host, uint64_t key, const struct soc_agent *agent)
{
    const struct soc_awaiting *last = host->awaiting.last;
    struct soc_awaiting *next;
    bool is_last = false;
    for (struct soc_awaiting *one = host->awaiting.first; one != NULL && !is_last; one = next) {
        next = one->next;
        is_last = one == last;
        if (one->key == key && one->agent == agent)
            wake(host, one, SOC_AWAITED_CAME);
    }
}

void soc_awaiting_note_reply(struct soc_host *host, uint64_t key)
{
    assert(key != 0);
    if (host->awaiting.first != NULL)
        wake_all(host, key, NULL);
}

void soc_awaiting_note_mail(struct soc_host *host, const struct soc_agent *agent)
{
    assert(agent != NULL);
    if (host->awaiting.first != NULL)
        wake_all(host, 0, agent);
}

void soc_awaiting_timeout(struct soc_host *host, struct soc_awaiting *awaiting)
{
    wake(host, awaiting, SOC_AWAITED_LATE);
}

void soc_awaiting_free_all(struct soc_host *host)
{
    while (host->awaiting.first != NULL)
        wake(host, host->awaiting.first, SOC_AWAITED_GONE);
}

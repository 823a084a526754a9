#include "kernel/parts.h"

#include <assert.h>
#include <string.h>

#include "kernel/state.h"

static void add(struct soc_host *host, const struct soc_part *part, size_t index)
{
    struct soc_parts *parts = &host->parts;
    assert(index < SOC_PARTS_MAX && part->number < SOC_PARTS_MAX && part->name != NULL);
    assert(parts->timers[part->number] == NULL);         /* numbers are unique */
    assert((part->due == NULL) == (part->fire == NULL)); /* host.c fires by position */
    parts->timers[part->number] = part;
#define E(function)                                                                                \
    if (part->function != NULL) {                                                                  \
        size_t at = 0;                                                                             \
        while (parts->calls.function[at] != NULL)                                                  \
            at++;                                                                                  \
        parts->calls.function[at] = part->function;                                                \
    }
    SOC_PART_MAP(E)
#undef E
    for (const struct soc_wait_ops *ops = part->waits; ops != NULL && ops->kind != 0; ops++)
        soc_parts_serve_wait(parts, ops);
}

void soc_parts_serve_wait(struct soc_parts *parts, const struct soc_wait_ops *ops)
{
    assert(ops->kind > SOC_WAIT_NONE && ops->kind < SOC_WAIT_COUNT);
    assert(parts->waits[ops->kind] == NULL); /* each kind has one owner */
    parts->waits[ops->kind] = ops;
}

void soc_parts_open(struct soc_host *host, const struct soc_part *const *parts)
{
    for (size_t i = 0; parts[i] != NULL; i++)
        add(host, parts[i], i);
    for (size_t i = 0; parts[i] != NULL; i++)
        if (parts[i]->open != NULL)
            host->parts.states[parts[i]->number] = parts[i]->open(host);
}

void soc_parts_free(struct soc_host *host)
{
    SOC_PARTS_TELL(host, free, host);
    memset(&host->parts, 0, sizeof(host->parts));
}

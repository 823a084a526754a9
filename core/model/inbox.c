#include "model/inbox.h"

#include <assert.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

static const char *const names[] = {"none", "approve", "modify", "reject", "withdrawn"};

struct soc_item *soc_item_new(uint64_t key, int64_t time_ms, struct soc_agent *agent)
{
    struct soc_item *item = soc_alloc_zero(sizeof(*item));
    item->key = key;
    item->time_ms = time_ms;
    item->agent = agent;
    item->priority = SOC_PRIORITY_NORMAL;
    return item;
}

void soc_item_free(struct soc_item *item)
{
    if (item == NULL)
        return;
    free(item->title);
    free(item->body);
    free(item->options);
    free(item->task_id);
    free(item->correlation_id);
    free(item);
}

void soc_inbox_fini(struct soc_inbox *inbox)
{
    size_t cursor = 0;
    struct soc_item *item;
    while ((item = soc_map_each(&inbox->open, &cursor)) != NULL)
        soc_item_free(item);
    soc_map_fini(&inbox->open);
    soc_map_fini(&inbox->decided);
}

void soc_inbox_add(struct soc_inbox *inbox, struct soc_item *item)
{
    void *older = soc_map_put_number(&inbox->open, item->key, item);
    assert(older == NULL);
    (void)older;
}

struct soc_item *soc_inbox_find(const struct soc_inbox *inbox, uint64_t key)
{
    return soc_map_find_number(&inbox->open, key);
}

enum soc_decision soc_inbox_decision(const struct soc_inbox *inbox, uint64_t key)
{
    return (enum soc_decision)(uintptr_t)soc_map_find_number(&inbox->decided, key);
}

struct soc_item *soc_inbox_end(struct soc_inbox *inbox, uint64_t key, enum soc_decision decision)
{
    assert(decision != SOC_DECISION_NONE);
    soc_map_put_number(&inbox->decided, key, (void *)(uintptr_t)decision);
    return soc_map_take_number(&inbox->open, key);
}

void soc_inbox_reopen(struct soc_inbox *inbox, struct soc_item *item)
{
    assert(soc_inbox_decision(inbox, item->key) != SOC_DECISION_NONE);
    soc_map_take_number(&inbox->decided, item->key);
    soc_inbox_add(inbox, item);
}

struct soc_item *soc_inbox_take(struct soc_inbox *inbox, uint64_t key)
{
    return soc_map_take_number(&inbox->open, key);
}

static int compare(const void *a, const void *b)
{
    const struct soc_item *x = *(struct soc_item *const *)a;
    const struct soc_item *y = *(struct soc_item *const *)b;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key; /* keys increase with time */
}

struct soc_item **soc_inbox_sorted(const struct soc_inbox *inbox, size_t *count)
{
    struct soc_item **items = soc_alloc((inbox->open.count + 1) * sizeof(*items));
    struct soc_item *item;
    size_t cursor = 0;
    *count = 0;
    while ((item = soc_map_each(&inbox->open, &cursor)) != NULL)
        items[(*count)++] = item;
    qsort(items, *count, sizeof(*items), compare);
    return items;
}

bool soc_item_is_overdue(const struct soc_item *item, int64_t now_ms)
{
    return item->deadline_ms != 0 && item->deadline_ms <= now_ms;
}

const char *soc_decision_name(enum soc_decision decision)
{
    assert(decision <= SOC_DECISION_WITHDRAWN);
    return names[decision];
}

enum soc_decision soc_decision_parse(struct soc_slice text)
{
    for (int i = SOC_DECISION_APPROVE; i <= SOC_DECISION_REJECT; i++)
        if (text.data != NULL && soc_slice_equal(text, soc_slice_text(names[i])))
            return (enum soc_decision)i;
    return SOC_DECISION_NONE;
}

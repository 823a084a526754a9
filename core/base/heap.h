/* Heap: finds what is due next.
 *
 * Items know their position, so removing one needs no search: timers are many and mostly
 * cancelled. Items due at the same time leave in order of insertion.
 * Layer: base. Thread: any, one at a time. */
#ifndef SOC_BASE_HEAP_H
#define SOC_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Embed it as a member; all-zero means that it is not in a heap. */
struct soc_heap_item {
    int64_t due_ms;
    uint64_t order;    /* set by the heap */
    uint32_t position; /* index + 1; 0 outside */
    uint32_t kind;     /* for the owner: what the item is embedded in */
};

/* An all-zero struct is an empty heap. */
struct soc_heap {
    struct soc_heap_item **items;
    size_t count;
    size_t capacity;
    uint64_t order_next;
};

/* Frees the heap's own memory, not its items. */
void soc_heap_fini(struct soc_heap *heap);

/* Adds `item`, which must not be in a heap, due at `due_ms`. The item is lent. */
void soc_heap_add(struct soc_heap *heap, struct soc_heap_item *item, int64_t due_ms);

/* Removes `item`; does nothing if it is not in a heap. */
void soc_heap_remove(struct soc_heap *heap, struct soc_heap_item *item);

/* Lends the first item, or NULL if the heap is empty. */
struct soc_heap_item *soc_heap_peek(const struct soc_heap *heap);

/* Tells whether `item` is in a heap. */
bool soc_heap_has(const struct soc_heap_item *item);

#endif

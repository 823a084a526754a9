#include "base/heap.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

void soc_heap_fini(struct soc_heap *heap)
{
    free(heap->items);
    *heap = (struct soc_heap){0};
}

static bool comes_before(const struct soc_heap_item *a, const struct soc_heap_item *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->order < b->order;
}

static void place(struct soc_heap *heap, struct soc_heap_item *item, size_t index)
{
    heap->items[index] = item;
    item->position = (uint32_t)(index + 1);
}

static void sift_up(struct soc_heap *heap, struct soc_heap_item *item, size_t index)
{
    while (index > 0) {
        size_t parent = (index - 1) / 2;
        if (!comes_before(item, heap->items[parent]))
            break;
        place(heap, heap->items[parent], index);
        index = parent;
    }
    place(heap, item, index);
}

static void sift_down(struct soc_heap *heap, struct soc_heap_item *item, size_t index)
{
    for (;;) {
        size_t child = index * 2 + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && comes_before(heap->items[child + 1], heap->items[child]))
            child++;
        if (!comes_before(heap->items[child], item))
            break;
        place(heap, heap->items[child], index);
        index = child;
    }
    place(heap, item, index);
}

void soc_heap_add(struct soc_heap *heap, struct soc_heap_item *item, int64_t due_ms)
{
    assert(item->position == 0);
    if (heap->count == heap->capacity) {
        assert(heap->count < UINT32_MAX); /* positions have 32 bits */
        heap->capacity = heap->capacity == 0 ? 16 : heap->capacity * 2;
        heap->items = soc_realloc(heap->items, heap->capacity * sizeof(struct soc_heap_item *));
    }
    item->due_ms = due_ms;
    item->order = heap->order_next++;
    sift_up(heap, item, heap->count++);
}

void soc_heap_remove(struct soc_heap *heap, struct soc_heap_item *item)
{
    if (item->position == 0)
        return;
    size_t index = item->position - 1;
    assert(index < heap->count && heap->items[index] == item);
    struct soc_heap_item *last = heap->items[--heap->count];
    item->position = 0;
    if (last == item)
        return;
    if (index > 0 && comes_before(last, heap->items[(index - 1) / 2]))
        sift_up(heap, last, index);
    else
        sift_down(heap, last, index);
}

struct soc_heap_item *soc_heap_peek(const struct soc_heap *heap)
{
    return heap->count == 0 ? NULL : heap->items[0];
}

bool soc_heap_has(const struct soc_heap_item *item)
{
    return item->position != 0;
}

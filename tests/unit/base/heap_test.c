#include "check.h"

#include "base/heap.h"
#include "env/rng.h"

static struct soc_heap_item *take_first(struct soc_heap *heap)
{
    struct soc_heap_item *first = soc_heap_peek(heap);
    if (first != NULL)
        soc_heap_remove(heap, first);
    return first;
}

static void the_earliest_item_comes_first(void)
{
    struct soc_heap heap = {0};
    struct soc_heap_item late = {0}, early = {0}, middle = {0};
    CHECK(soc_heap_peek(&heap) == NULL);
    soc_heap_add(&heap, &late, 30);
    soc_heap_add(&heap, &early, -5);
    soc_heap_add(&heap, &middle, 20);
    CHECK(take_first(&heap) == &early);
    CHECK(take_first(&heap) == &middle);
    CHECK(take_first(&heap) == &late);
    CHECK(take_first(&heap) == NULL);
    soc_heap_fini(&heap);
}

static void equal_times_leave_in_order_of_insertion(void)
{
    struct soc_heap heap = {0};
    static struct soc_heap_item items[100];
    for (size_t i = 0; i < 100; i++)
        soc_heap_add(&heap, &items[i], 7);
    soc_heap_remove(&heap, &items[0]);
    soc_heap_add(&heap, &items[0], 7); /* added again, it is the last */
    for (size_t i = 1; i < 100; i++)
        CHECK(take_first(&heap) == &items[i]);
    CHECK(take_first(&heap) == &items[0]);
    soc_heap_fini(&heap);
}

static void an_item_knows_whether_it_is_in_a_heap(void)
{
    struct soc_heap heap = {0};
    struct soc_heap_item item = {0};
    CHECK(!soc_heap_has(&item));
    soc_heap_remove(&heap, &item); /* not in the heap: nothing happens */
    soc_heap_add(&heap, &item, 1);
    CHECK(soc_heap_has(&item));
    soc_heap_remove(&heap, &item);
    CHECK(!soc_heap_has(&item));
    CHECK_INT(heap.count, 0);
    soc_heap_fini(&heap);
}

#define MODEL_ITEMS 300

/* Items and when each was added, found by a full search. */
struct model {
    struct soc_heap_item items[MODEL_ITEMS];
    uint64_t added[MODEL_ITEMS]; /* 0: not in the heap */
    uint64_t added_last;
};

static struct soc_heap_item *model_first(struct model *model)
{
    size_t first = MODEL_ITEMS;
    for (size_t i = 0; i < MODEL_ITEMS; i++) {
        if (model->added[i] == 0)
            continue;
        if (first == MODEL_ITEMS || model->items[i].due_ms < model->items[first].due_ms ||
            (model->items[i].due_ms == model->items[first].due_ms &&
             model->added[i] < model->added[first]))
            first = i;
    }
    return first == MODEL_ITEMS ? NULL : &model->items[first];
}

static void random_operations_agree_with_a_naive_model(void)
{
    static struct model model;
    struct soc_heap heap = {0};
    struct soc_rng rng;
    size_t wrong = 0, taken = 0;
    soc_rng_init(&rng, 7);
    for (int step = 0; step < 50000; step++) {
        size_t i = soc_rng_below(&rng, MODEL_ITEMS);
        if (model.added[i] == 0) {
            soc_heap_add(&heap, &model.items[i], (int64_t)soc_rng_below(&rng, 50));
            model.added[i] = ++model.added_last;
        } else if (soc_rng_below(&rng, 2) == 0) {
            soc_heap_remove(&heap, &model.items[i]);
            model.added[i] = 0;
        } else {
            struct soc_heap_item *first = model_first(&model);
            wrong += take_first(&heap) != first;
            model.added[first - model.items] = 0;
            taken++;
        }
        wrong += soc_heap_peek(&heap) != model_first(&model);
    }
    CHECK_INT(wrong, 0);
    CHECK(taken > 1000);
    soc_heap_fini(&heap);
}

int main(void)
{
    RUN(the_earliest_item_comes_first);
    RUN(equal_times_leave_in_order_of_insertion);
    RUN(an_item_knows_whether_it_is_in_a_heap);
    RUN(random_operations_agree_with_a_naive_model);
    return check_done();
}

#include "check.h"

#include "base/map.h"
#include "env/rng.h"

static void a_key_finds_only_its_own_value(void)
{
    struct soc_map map = {0};
    int one, two;
    CHECK(soc_map_find(&map, SOC_SLICE("a")) == NULL);
    CHECK(soc_map_take(&map, SOC_SLICE("a")) == NULL);
    CHECK(soc_map_put(&map, SOC_SLICE("a"), &one) == NULL);
    CHECK(soc_map_put(&map, SOC_SLICE("ab"), &two) == NULL);
    CHECK(soc_map_find(&map, SOC_SLICE("a")) == &one);
    CHECK(soc_map_find(&map, SOC_SLICE("ab")) == &two);
    CHECK(soc_map_find(&map, SOC_SLICE("b")) == NULL);
    CHECK(soc_map_find(&map, SOC_SLICE("")) == NULL);
    CHECK_INT(map.count, 2);
    soc_map_fini(&map);
}

static void a_second_put_replaces_the_value_and_the_lent_key(void)
{
    struct soc_map map = {0};
    int one, two;
    char first[] = "key", second[] = "key";
    soc_map_put(&map, soc_slice_text(first), &one);
    CHECK(soc_map_put(&map, soc_slice_text(second), &two) == &one);
    first[0] = '?'; /* the first key may go with the first value */
    CHECK(soc_map_find(&map, SOC_SLICE("key")) == &two);
    CHECK_INT(map.count, 1);
    soc_map_fini(&map);
}

static void numbers_and_bytes_are_different_keys(void)
{
    struct soc_map map = {0};
    int one, two, three;
    soc_map_put_number(&map, 1, &one);
    soc_map_put(&map, SOC_SLICE("x"), &two); /* a text of length 1 */
    soc_map_put_number(&map, 0, &three);
    CHECK(soc_map_find_number(&map, 1) == &one);
    CHECK(soc_map_find(&map, SOC_SLICE("x")) == &two);
    CHECK(soc_map_find(&map, SOC_SLICE("")) == NULL);
    CHECK(soc_map_find_number(&map, UINT64_MAX) == NULL);
    CHECK(soc_map_take_number(&map, 0) == &three);
    CHECK(soc_map_find_number(&map, 0) == NULL);
    CHECK_INT(map.count, 2);
    soc_map_fini(&map);
}

static void iteration_is_in_order_of_insertion(void)
{
    struct soc_map map = {0};
    int values[100];
    for (size_t i = 0; i < 100; i++)
        soc_map_put_number(&map, (i * 7919) % 100, &values[i]);
    soc_map_put_number(&map, 0, &values[0]); /* a replaced one keeps its place */
    soc_map_take_number(&map, 7919 % 100);
    soc_map_put_number(&map, 7919 % 100, &values[1]); /* a removed one goes last */
    size_t cursor = 0;
    CHECK(soc_map_each(&map, &cursor) == &values[0]);
    for (size_t i = 2; i < 100; i++)
        CHECK(soc_map_each(&map, &cursor) == &values[i]);
    CHECK(soc_map_each(&map, &cursor) == &values[1]);
    CHECK(soc_map_each(&map, &cursor) == NULL);
    soc_map_fini(&map);
}

static void entries_may_be_removed_while_iterating(void)
{
    struct soc_map map = {0};
    size_t numbers[50];
    for (size_t i = 0; i < 50; i++) {
        numbers[i] = i;
        soc_map_put_number(&map, i, &numbers[i]);
    }
    size_t cursor = 0, seen = 0;
    for (size_t *n; (n = soc_map_each(&map, &cursor)) != NULL; seen++)
        soc_map_take_number(&map, *n);
    CHECK_INT(seen, 50);
    CHECK_INT(map.count, 0);
    soc_map_fini(&map);
}

static void steady_insertion_and_removal_does_not_grow_the_map(void)
{
    struct soc_map map = {0};
    int value;
    for (uint64_t i = 0; i < 100000; i++) {
        soc_map_put_number(&map, i, &value);
        if (i >= 10)
            soc_map_take_number(&map, i - 10);
    }
    CHECK_INT(map.count, 10);
    CHECK(map.slot_count <= 64);
    soc_map_fini(&map);
}

#define MODEL_KEYS 400

/* What the map should hold: the value of each key, and the keys by age. */
struct model {
    void *values[MODEL_KEYS];
    size_t order[MODEL_KEYS];
    size_t count;
};

static void model_remove(struct model *model, size_t key)
{
    size_t kept = 0;
    for (size_t i = 0; i < model->count; i++)
        if (model->order[i] != key)
            model->order[kept++] = model->order[i];
    model->count = kept;
    model->values[key] = NULL;
}

static bool same_as_model(const struct soc_map *map, const struct model *model)
{
    size_t cursor = 0;
    if (map->count != model->count)
        return false;
    for (size_t i = 0; i < model->count; i++)
        if (soc_map_each(map, &cursor) != model->values[model->order[i]])
            return false;
    return soc_map_each(map, &cursor) == NULL;
}

/* Even keys are numbers, odd ones texts, in the same map. */
static void random_operations_agree_with_a_naive_model(void)
{
    static char texts[MODEL_KEYS][16], cells[64];
    struct model model = {0};
    struct soc_map map = {0};
    struct soc_rng rng;
    size_t wrong = 0;
    soc_rng_init(&rng, 20260101);
    for (size_t i = 0; i < MODEL_KEYS; i++)
        snprintf(texts[i], sizeof(texts[i]), "key-%zu", i);
    for (int step = 0; step < 100000; step++) {
        /* The mix of operations changes, so that the map fills up and drains. */
        size_t key = soc_rng_below(&rng, MODEL_KEYS);
        bool is_put = soc_rng_below(&rng, 10) < (step / 5000 % 2 == 0 ? 7u : 3u);
        struct soc_slice text = soc_slice_text(texts[key]);
        void *value = &cells[soc_rng_below(&rng, sizeof(cells))];
        void *old = model.values[key];
        void *found = key % 2 ? soc_map_find(&map, text) : soc_map_find_number(&map, key);
        void *gone;
        if (is_put) {
            gone = key % 2 ? soc_map_put(&map, text, value) : soc_map_put_number(&map, key, value);
            if (old == NULL)
                model.order[model.count++] = key;
            model.values[key] = value;
        } else {
            gone = key % 2 ? soc_map_take(&map, text) : soc_map_take_number(&map, key);
            model_remove(&model, key);
        }
        wrong += found != old || gone != old;
        if (step % 100 == 0)
            wrong += !same_as_model(&map, &model);
    }
    CHECK_INT(wrong, 0);
    CHECK(same_as_model(&map, &model));
    soc_map_fini(&map);
}

int main(void)
{
    RUN(a_key_finds_only_its_own_value);
    RUN(a_second_put_replaces_the_value_and_the_lent_key);
    RUN(numbers_and_bytes_are_different_keys);
    RUN(iteration_is_in_order_of_insertion);
    RUN(entries_may_be_removed_while_iterating);
    RUN(steady_insertion_and_removal_does_not_grow_the_map);
    RUN(random_operations_agree_with_a_naive_model);
    return check_done();
}

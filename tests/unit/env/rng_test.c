#include "check.h"

#include "env/rng.h"

/* The values its authors' code gives for the state 1, 2, 3, 4. */
static void the_sequence_is_xoshiro256_starstar(void)
{
    static const uint64_t expected[] = {
        11520, 0, 1509978240, 1215971899390074240, 1216172134540287360, 607988272756665600,
    };
    struct soc_rng rng = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        CHECK_INT(soc_rng_next(&rng), expected[i]);
}

static void a_seed_is_expanded_by_splitmix64(void)
{
    struct soc_rng rng;
    soc_rng_init(&rng, 0);
    CHECK_INT(rng.state[0], 0xe220a8397b1dcdaf);
    CHECK_INT(rng.state[1], 0x6e789e6aa1b965f4);
    CHECK_INT(rng.state[2], 0x06c45d188009454f);
    CHECK_INT(rng.state[3], 0xf88bb8a8724c81ec);
}

static void the_same_seed_gives_the_same_sequence_and_another_does_not(void)
{
    struct soc_rng a, b, c;
    size_t different = 0;
    soc_rng_init(&a, 42);
    soc_rng_init(&b, 42);
    soc_rng_init(&c, 43);
    for (int i = 0; i < 1000; i++) {
        uint64_t drawn = soc_rng_next(&a);
        CHECK(soc_rng_next(&b) == drawn);
        different += soc_rng_next(&c) != drawn;
    }
    CHECK_INT(different, 1000);
}

static void below_is_uniform_and_keeps_its_bound(void)
{
    struct soc_rng rng;
    int counts[7] = {0};
    soc_rng_init(&rng, 1);
    for (int i = 0; i < 70000; i++) {
        uint64_t drawn = soc_rng_below(&rng, 7);
        if (CHECK(drawn < 7))
            counts[drawn]++;
    }
    for (int i = 0; i < 7; i++)
        CHECK(counts[i] > 9600 && counts[i] < 10400);
    CHECK_INT(soc_rng_below(&rng, 1), 0);
}

/* Without a second draw the lower half would come up twice as often here. */
static void below_is_uniform_for_bounds_that_do_not_divide(void)
{
    struct soc_rng rng;
    uint64_t bound = 3ull << 62;
    int low = 0;
    soc_rng_init(&rng, 2);
    for (int i = 0; i < 10000; i++) {
        uint64_t drawn = soc_rng_below(&rng, bound);
        CHECK(drawn < bound);
        low += drawn < bound / 3;
    }
    CHECK(low > 3100 && low < 3560);
}

static void a_fraction_is_uniform_in_the_unit_interval(void)
{
    struct soc_rng rng;
    double sum = 0;
    soc_rng_init(&rng, 3);
    for (int i = 0; i < 100000; i++) {
        double drawn = soc_rng_fraction(&rng);
        CHECK(drawn >= 0 && drawn < 1);
        sum += drawn;
    }
    CHECK(sum > 49500 && sum < 50500);
}

static void system_seeds_differ(void)
{
    CHECK(soc_rng_system_seed() != soc_rng_system_seed());
}

int main(void)
{
    RUN(the_sequence_is_xoshiro256_starstar);
    RUN(a_seed_is_expanded_by_splitmix64);
    RUN(the_same_seed_gives_the_same_sequence_and_another_does_not);
    RUN(below_is_uniform_and_keeps_its_bound);
    RUN(below_is_uniform_for_bounds_that_do_not_divide);
    RUN(a_fraction_is_uniform_in_the_unit_interval);
    RUN(system_seeds_differ);
    return check_done();
}

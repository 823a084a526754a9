#include "check.h"

#include "base/hash.h"
#include "env/rng.h"

static void a_number_is_mixed_as_by_splitmix64(void)
{
    CHECK_INT(soc_hash_number(0), 0xe220a8397b1dcdaf);
    CHECK_INT(soc_hash_number(0x9e3779b97f4a7c15), 0x6e789e6aa1b965f4);
}

/* Recorded effects contain hashes, so these values never change. */
static void hashes_are_the_same_on_every_machine_and_run(void)
{
    CHECK_INT(soc_hash("", 0, 0), 0xe220a8397b1dcdaf);
    CHECK_INT(soc_hash("a", 1, 0), 0x6d16bf441c521f6a);
    CHECK_INT(soc_hash("society of agents", 17, 0), 0xd4a9ea54e979adfd);
    CHECK_INT(soc_hash("society of agents", 17, 99), 0xb096531ce8fa4169);
}

static void the_seed_continues_a_hash(void)
{
    uint64_t once = soc_hash("ab", 2, 0);
    uint64_t twice = soc_hash("cd", 2, once);
    CHECK(twice != soc_hash("cd", 2, 0));
    CHECK(twice != soc_hash("abcd", 4, 0));
    CHECK(soc_hash("ab", 2, soc_hash("cd", 2, 0)) != twice);
}

static void a_hash_does_not_depend_on_alignment(void)
{
    char room[64];
    uint64_t expected = soc_hash("thirty bytes that are hashed..", 30, 0);
    for (size_t at = 0; at < 16; at++) {
        memcpy(room + at, "thirty bytes that are hashed..", 30);
        CHECK_INT(soc_hash(room + at, 30, 0), expected);
    }
}

static void every_bit_and_the_length_matter(void)
{
    unsigned char bytes[40] = {0};
    for (size_t length = 1; length <= sizeof(bytes); length++) {
        uint64_t zero = soc_hash(bytes, length, 0);
        CHECK(zero != soc_hash(bytes, length - 1, 0));
        for (size_t bit = 0; bit < length * 8; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
            CHECK(soc_hash(bytes, length, 0) != zero);
            bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
        }
    }
}

/* Ids that differ in a digit must spread over the low bits, which maps use. */
static void similar_keys_spread_over_the_slots(void)
{
    static unsigned short slots[1 << 16];
    size_t used = 0;
    for (int i = 0; i < 1 << 16; i++) {
        char key[16];
        int length = snprintf(key, sizeof(key), "agent-%d", i);
        size_t slot = soc_hash(key, (size_t)length, 0) & ((1 << 16) - 1);
        used += slots[slot]++ == 0;
    }
    /* A uniform spread leaves 1/e of the slots free: 41,428 are used. */
    CHECK(used > 41000 && used < 41900);
}

int main(void)
{
    RUN(a_number_is_mixed_as_by_splitmix64);
    RUN(hashes_are_the_same_on_every_machine_and_run);
    RUN(the_seed_continues_a_hash);
    RUN(a_hash_does_not_depend_on_alignment);
    RUN(every_bit_and_the_length_matter);
    RUN(similar_keys_spread_over_the_slots);
    return check_done();
}

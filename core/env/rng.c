#include "env/rng.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/hash.h"

/* soc_hash_number is one step of splitmix64, including its increment. */
void soc_rng_init(struct soc_rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++, seed += 0x9e3779b97f4a7c15ull)
        rng->state[i] = soc_hash_number(seed);
}

uint64_t soc_rng_system_seed(void)
{
    uint64_t seed;
    soc_rng_system_bytes(&seed, sizeof(seed));
    return seed;
}

void soc_rng_system_bytes(void *out, size_t length)
{
    ssize_t got;
    assert(length <= 256); /* more may come in pieces */
    do {
        got = getrandom(out, length, 0);
    } while (got < 0 && errno == EINTR);
    if (got != (ssize_t)length) {
        fprintf(stderr, "society: cannot get random numbers from the system\n");
        abort();
    }
}

static uint64_t rotate_left(uint64_t bits, int by)
{
    return bits << by | bits >> (64 - by);
}

uint64_t soc_rng_next(struct soc_rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

/* Rejects values below 2^64 mod bound, so that the rest divides evenly. */
uint64_t soc_rng_below(struct soc_rng *rng, uint64_t bound)
{
    assert(bound > 0);
    uint64_t uneven = (0 - bound) % bound;
    uint64_t drawn;
    do {
        drawn = soc_rng_next(rng);
    } while (drawn < uneven);
    return drawn % bound;
}

double soc_rng_fraction(struct soc_rng *rng)
{
    return (double)(soc_rng_next(rng) >> 11) * 0x1p-53;
}

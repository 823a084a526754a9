/* Rng: random numbers from a seed (xoshiro256**, seeded by splitmix64).
 *
 * Layer: env. Thread: one at a time. */
#ifndef SOC_ENV_RNG_H
#define SOC_ENV_RNG_H

#include <stddef.h>
#include <stdint.h>

/* A position in a sequence. */
struct soc_rng {
    uint64_t state[4];
};

/* Starts the sequence of `seed`. */
void soc_rng_init(struct soc_rng *rng, uint64_t seed);

/* Returns a seed from the system. */
uint64_t soc_rng_system_seed(void);

/* Fills `out` with bytes from the system that nobody can guess: for keys. */
void soc_rng_system_bytes(void *out, size_t length);

/* Returns the next 64 bits. */
uint64_t soc_rng_next(struct soc_rng *rng);

/* Returns a uniform choice of 0 .. bound - 1 (bound > 0). */
uint64_t soc_rng_below(struct soc_rng *rng, uint64_t bound);

/* Returns a double in [0, 1). */
double soc_rng_fraction(struct soc_rng *rng);

#endif

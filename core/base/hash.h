/* Hash: a fast 64-bit hash of bytes, the same on every machine and in every run.
 *
 * It compares recorded effects and finds map slots. It does not resist deliberate
 * collisions.
 * Layer: base. Thread: any. */
#ifndef SOC_BASE_HASH_H
#define SOC_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Returns the hash of `length` bytes, continued from `seed` (0 to start). */
uint64_t soc_hash(const void *data, size_t length, uint64_t seed);

/* Returns a well-mixed hash of a number. */
uint64_t soc_hash_number(uint64_t number);

#endif

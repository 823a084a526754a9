/* Hash: a fast 64-bit hash of bytes, the same on every machine and run.
 *
 * It compares recorded effects and finds map slots; it is no defence against
 * somebody who looks for collisions on purpose.
 * Layer: base. Thread: any. */
#ifndef SOC_BASE_HASH_H
#define SOC_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Returns the hash of `length` bytes, continued from `seed` (0 to begin). */
uint64_t soc_hash(const void *data, size_t length, uint64_t seed);

/* Returns a well-mixed form of one number. */
uint64_t soc_hash_number(uint64_t number);

#endif

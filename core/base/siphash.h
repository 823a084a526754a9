/* Siphash: a 128-bit hash of bytes under a secret key.
 *
 * SipHash-2-4 with 128 bits of output. Who does not know the key cannot find two texts with
 * one hash any faster than by chance: a billion texts have two alike with a probability of
 * 2 to the power of -69. So a hash may stand for its text where the texts come from others.
 * Layer: base. Thread: any. */
#ifndef SOC_BASE_SIPHASH_H
#define SOC_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* Computes the hash of `length` bytes under `key`. */
void soc_siphash(const void *data, size_t length, const uint64_t key[2], uint64_t out[2]);

#endif

#include "base/siphash.h"

#define COMPRESSION_ROUNDS  2
#define FINALIZATION_ROUNDS 4

static uint64_t rotate(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static void mix(uint64_t v[4], int rounds)
{
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

/* Reads up to eight bytes, the lowest first. */
static uint64_t read_word(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static void compress(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v, COMPRESSION_ROUNDS);
    v[0] ^= word;
}

void soc_siphash(const void *data, size_t length, const uint64_t key[2], uint64_t out[2])
{
    const unsigned char *bytes = data;
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du ^ 0xee,
                     key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    size_t rest = length % 8;
    for (size_t at = 0; at + 8 <= length; at += 8)
        compress(v, read_word(bytes + at, 8));
    compress(v, (uint64_t)length << 56 | (rest == 0 ? 0 : read_word(bytes + length - rest, rest)));
    v[2] ^= 0xee;
    mix(v, FINALIZATION_ROUNDS);
    out[0] = v[0] ^ v[1] ^ v[2] ^ v[3];
    v[1] ^= 0xdd;
    mix(v, FINALIZATION_ROUNDS);
    out[1] = v[0] ^ v[1] ^ v[2] ^ v[3];
}

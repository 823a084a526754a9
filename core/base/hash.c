#include "base/hash.h"

#include <string.h>

#define MIX_A 0x9e3779b97f4a7c15ull
#define MIX_B 0xbf58476d1ce4e5b9ull
#define MIX_C 0x94d049bb133111ebull

uint64_t soc_hash_number(uint64_t number)
{
    number += MIX_A;
    number = (number ^ (number >> 30)) * MIX_B;
    number = (number ^ (number >> 27)) * MIX_C;
    return number ^ (number >> 31);
}

/* Eight bytes per step, read as little-endian so that big-endian machines agree. */
static uint64_t read_word(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

uint64_t soc_hash(const void *data, size_t length, uint64_t seed)
{
    const unsigned char *bytes = data;
    uint64_t hash = seed ^ (length * MIX_A);
    size_t rest = length;
    for (; rest >= 8; rest -= 8, bytes += 8) {
        hash = (hash ^ read_word(bytes)) * MIX_B;
        hash ^= hash >> 32;
    }
    uint64_t tail = 0;
    for (size_t i = 0; i < rest; i++)
        tail |= (uint64_t)bytes[i] << (8 * i);
    return soc_hash_number(hash ^ tail);
}

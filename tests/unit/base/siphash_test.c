#include "check.h"

#include "base/siphash.h"

/* The first vectors of the reference: the key is 00 to 0f, the text 00, 01, … */
static void the_hash_is_that_of_the_reference(void)
{
    static const uint64_t key[2] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
    static const uint64_t empty[2] = {0xe6a825ba047f81a3u, 0x930255c71472f66du};
    static const uint64_t one[2] = {0x44af996bd8c187dau, 0x45fc229b11597634u};
    uint64_t hash[2];
    soc_siphash("", 0, key, hash);
    CHECK(hash[0] == empty[0] && hash[1] == empty[1]);
    soc_siphash("", 1, key, hash); /* its NUL */
    CHECK(hash[0] == one[0] && hash[1] == one[1]);
}

/* Every byte, every length and either half of the key count. */
static void another_text_or_key_has_another_hash(void)
{
    unsigned char text[40] = {0};
    uint64_t key[2] = {1, 2};
    uint64_t hash[2];
    uint64_t other[2];
    for (size_t length = 1; length <= sizeof(text); length++) {
        soc_siphash(text, length, key, hash);
        soc_siphash(text, length - 1, key, other);
        CHECK(hash[0] != other[0] && hash[1] != other[1]);
        for (size_t i = 0; i < length; i++) {
            text[i] ^= 1;
            soc_siphash(text, length, key, other);
            text[i] ^= 1;
            CHECK(hash[0] != other[0] && hash[1] != other[1]);
        }
        for (int i = 0; i < 2; i++) {
            key[i] ^= 1;
            soc_siphash(text, length, key, other);
            key[i] ^= 1;
            CHECK(hash[0] != other[0] && hash[1] != other[1]);
        }
    }
}

int main(void)
{
    RUN(the_hash_is_that_of_the_reference);
    RUN(another_text_or_key_has_another_hash);
    return check_done();
}

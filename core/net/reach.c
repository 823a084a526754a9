#include "net/reach.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A network of IPv4: the address, and how many bits of it count. */
struct network {
    uint32_t address;
    int bits;
};

static bool is_private_4(uint32_t address)
{
    static const struct network networks[] = {
        {0x00000000, 8},  /* this network */
        {0x0a000000, 8},  /* private */
        {0x64400000, 10}, /* of providers */
        {0x7f000000, 8},  /* loopback */
        {0xa9fe0000, 16}, /* link-local; metadata of clouds */
        {0xac100000, 12}, /* private */
        {0xc0000000, 24}, /* protocols */
        {0xc0a80000, 16}, /* private */
        {0xc6120000, 15}, /* benchmarks */
        {0xe0000000, 3},  /* multicast, reserved, broadcast */
    };
    for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++)
        if ((address ^ networks[i].address) >> (32 - networks[i].bits) == 0)
            return true;
    return false;
}

static uint32_t read_4(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Only 2000::/3 is given to machines of the internet. */
static bool is_private_6(const unsigned char bytes[16])
{
    static const unsigned char nat[12] = {0x00, 0x64, 0xff, 0x9b};
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    if (memcmp(bytes, nat, sizeof(nat)) == 0 || memcmp(bytes, mapped, sizeof(mapped)) == 0)
        return is_private_4(read_4(bytes + 12));
    if (bytes[0] == 0x20 && bytes[1] == 0x02) /* 6to4 */
        return is_private_4(read_4(bytes + 2));
    return (bytes[0] & 0xe0) != 0x20;
}

bool soc_reach_is_private(const char *address)
{
    unsigned char bytes[16];
    if (inet_pton(AF_INET, address, bytes) == 1)
        return is_private_4(read_4(bytes));
    return inet_pton(AF_INET6, address, bytes) != 1 || is_private_6(bytes);
}

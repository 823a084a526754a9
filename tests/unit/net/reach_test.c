#include "net/reach.h"

#include <stddef.h>

#include "check.h"

static void addresses_of_this_machine_and_of_private_networks_are_private(void)
{
    static const char *const addresses[] = {"127.0.0.1",
                                            "127.255.255.255",
                                            "0.0.0.0",
                                            "10.1.2.3",
                                            "100.64.0.1",
                                            "169.254.169.254",
                                            "172.16.0.1",
                                            "172.31.255.255",
                                            "192.168.0.1",
                                            "198.18.0.1",
                                            "198.19.0.1",
                                            "224.0.0.1",
                                            "240.0.0.1",
                                            "::1",
                                            "255.255.255.255",
                                            "192.0.0.170",
                                            "::",
                                            "fe80::1",
                                            "fd00::1",
                                            "ff02::1",
                                            "::ffff:10.0.0.1",
                                            "::ffff:127.0.0.1",
                                            "64:ff9b::a00:1",
                                            "::127.0.0.1",
                                            "2002:a00:1::"};
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
        CHECK(soc_reach_is_private(addresses[i]));
}

static void addresses_of_the_internet_are_not(void)
{
    static const char *const addresses[] = {"1.1.1.1",          "9.255.255.255",   "11.0.0.0",
                                            "100.63.255.255",   "100.128.0.0",     "126.0.0.1",
                                            "128.0.0.1",        "172.15.0.1",      "172.32.0.1",
                                            "192.167.255.255",  "192.169.0.0",     "198.17.255.255",
                                            "223.255.255.255",  "2606:4700::1111", "::ffff:1.1.1.1",
                                            "64:ff9b::101:101", "2002:101:101::"};
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
        CHECK(!soc_reach_is_private(addresses[i]));
}

static void what_is_no_address_is_private(void)
{
    CHECK(soc_reach_is_private(""));
    CHECK(soc_reach_is_private("localhost"));
    CHECK(soc_reach_is_private("1.1.1.1:80"));
}

int main(void)
{
    RUN(addresses_of_this_machine_and_of_private_networks_are_private);
    RUN(addresses_of_the_internet_are_not);
    RUN(what_is_no_address_is_private);
    return check_done();
}

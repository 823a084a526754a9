#include "bridge/http/misses.h"

#include "base/mem.h"
#include "check.h"

static void an_address_has_so_many_tries_a_minute(void)
{
    struct soc_misses *misses = soc_alloc_zero(sizeof(*misses));
    for (int i = 0; i < 3; i++)
        CHECK(soc_misses_add(misses, "10.0.0.1", 1000 + i, 3));
    CHECK(!soc_misses_add(misses, "10.0.0.1", 1004, 3));
    CHECK(soc_misses_add(misses, "10.0.0.2", 1004, 3));
    CHECK(!soc_misses_add(misses, "10.0.0.1", 60999, 3));
    CHECK(soc_misses_add(misses, "10.0.0.1", 61000, 3));
    free(misses);
}

static void only_the_latest_addresses_are_known(void)
{
    struct soc_misses *misses = soc_alloc_zero(sizeof(*misses));
    char address[SOC_MISSES_ADDRESS_SIZE];
    CHECK(soc_misses_add(misses, "first", 1, 1));
    for (int i = 0; i < SOC_MISSES_MAX - 1; i++) {
        snprintf(address, sizeof(address), "address %d", i);
        CHECK(soc_misses_add(misses, address, 2 + i, 1));
    }
    CHECK(!soc_misses_add(misses, "first", 300, 1));
    CHECK(soc_misses_add(misses, "one more", 300, 1));
    CHECK(soc_misses_add(misses, "first", 301, 1));
    free(misses);
}

int main(void)
{
    RUN(an_address_has_so_many_tries_a_minute);
    RUN(only_the_latest_addresses_are_known);
    return check_done();
}

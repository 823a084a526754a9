#include "bridge/http/misses.h"

#include <stdio.h>
#include <string.h>

#define WINDOW_MS 60000

/* Lends the entry of an address, or the one that was begun longest ago, emptied. */
static struct soc_misses_entry *find(struct soc_misses *misses, const char *address)
{
    struct soc_misses_entry *oldest = &misses->entries[0];
    for (int i = 0; i < SOC_MISSES_MAX; i++) {
        struct soc_misses_entry *entry = &misses->entries[i];
        if (entry->count > 0 && strcmp(entry->address, address) == 0)
            return entry;
        if (entry->since_ms < oldest->since_ms)
            oldest = entry;
    }
    snprintf(oldest->address, sizeof(oldest->address), "%s", address);
    oldest->count = 0;
    return oldest;
}

bool soc_misses_add(struct soc_misses *misses, const char *address, int64_t now_ms, int64_t most)
{
    struct soc_misses_entry *entry = find(misses, address);
    if (entry->count == 0 || now_ms - entry->since_ms >= WINDOW_MS) {
        entry->since_ms = now_ms;
        entry->count = 0;
    }
    if (entry->count >= most)
        return false;
    entry->count++;
    return true;
}

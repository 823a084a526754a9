/* Misses: how often each address has shown a wrong token within the last minute.
 *
 * Who guesses gets few tries; a valid token is never counted nor held up. Only the latest
 * SOC_MISSES_MAX addresses are known.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_HTTP_MISSES_H
#define SOC_BRIDGE_HTTP_MISSES_H

#include <stdbool.h>
#include <stdint.h>

#define SOC_MISSES_MAX          256
#define SOC_MISSES_ADDRESS_SIZE 48

/* An all-zero struct knows nobody. */
struct soc_misses {
    struct soc_misses_entry {
        char address[SOC_MISSES_ADDRESS_SIZE];
        int64_t since_ms; /* the first of this minute; 0: free */
        int64_t count;
    } entries[SOC_MISSES_MAX];
};

/* Counts a wrong token. Returns false, without counting, if the address has had `most`
 * within a minute: it has to wait. */
bool soc_misses_add(struct soc_misses *misses, const char *address, int64_t now_ms, int64_t most);

#endif

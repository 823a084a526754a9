/* Map: bytes or numbers to pointers, iterated in order of insertion.
 *
 * Order never depends on the hash: soc_map_each gives entries in order of insertion. Keys
 * are lent by the caller and must live as long as their entry, which comes naturally
 * where the value itself holds its key. A number key is stored in place.
 * Layer: base. Thread: any, one at a time. */
#ifndef SOC_BASE_MAP_H
#define SOC_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct soc_map_entry; /* private */

/* An all-zero struct is an empty map. */
struct soc_map {
    struct soc_map_entry *entries; /* in order of insertion; removed ones have no value */
    uint32_t *slots;               /* hash table of entry numbers + 1; 0 is free */
    size_t entry_count;            /* used entries, removed ones included */
    size_t entry_capacity;
    size_t slot_count; /* a power of two */
    size_t count;      /* live entries */
};

/* Frees the map, not what it points to. */
void soc_map_fini(struct soc_map *map);

/* Returns the value of `key`, lent, or NULL. */
void *soc_map_find(const struct soc_map *map, struct soc_slice key);

/* Sets `key` to `value` (not NULL) and returns the value it replaced, or NULL. */
void *soc_map_put(struct soc_map *map, struct soc_slice key, void *value);

/* Removes `key` and returns its value, or NULL if there was none. */
void *soc_map_take(struct soc_map *map, struct soc_slice key);

/* The same three for a number as the key. */
void *soc_map_find_number(const struct soc_map *map, uint64_t key);
void *soc_map_put_number(struct soc_map *map, uint64_t key, void *value);
void *soc_map_take_number(struct soc_map *map, uint64_t key);

/* Returns the next live value and moves `*cursor` (0 to start), or NULL at the end.
 * Entries may be removed while iterating. Entries added meanwhile are visited, unless the
 * addition makes the map grow: collect first where that matters. */
void *soc_map_each(const struct soc_map *map, size_t *cursor);

/* The same where keys are numbers; `*key`: that of the value. */
void *soc_map_each_number(const struct soc_map *map, size_t *cursor, uint64_t *key);

#endif

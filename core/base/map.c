#include "base/map.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

/* A number key has data == NULL and is in length_or_number. */
struct soc_map_entry {
    const char *data;
    uint64_t length_or_number;
    uint64_t hash;
    void *value; /* NULL: removed */
};

void soc_map_fini(struct soc_map *map)
{
    free(map->entries);
    free(map->slots);
    *map = (struct soc_map){0};
}

static bool entry_matches(const struct soc_map_entry *entry, const char *data, uint64_t length,
                          uint64_t hash)
{
    if (entry->hash != hash || entry->length_or_number != length)
        return false;
    if (data == NULL || entry->data == NULL)
        return data == entry->data;
    return memcmp(entry->data, data, length) == 0;
}

/* Returns the slot that holds the key, or the free one where it would go. Removed entries
 * keep their slot until the next rebuild. */
static size_t find_slot(const struct soc_map *map, const char *data, uint64_t length, uint64_t hash)
{
    size_t mask = map->slot_count - 1;
    size_t slot = hash & mask;
    while (map->slots[slot] != 0) {
        const struct soc_map_entry *entry = &map->entries[map->slots[slot] - 1];
        if (entry->value != NULL && entry_matches(entry, data, length, hash))
            return slot;
        slot = (slot + 1) & mask;
    }
    return slot;
}

/* Drops removed entries, and doubles the table if the live ones need it. */
static void rebuild(struct soc_map *map)
{
    size_t kept = 0;
    for (size_t i = 0; i < map->entry_count; i++)
        if (map->entries[i].value != NULL)
            map->entries[kept++] = map->entries[i];
    assert(kept == map->count && kept < UINT32_MAX / 2); /* slots have 32 bits */
    map->entry_count = kept;
    size_t slot_count = 32;
    while (slot_count < kept * 2 + 2)
        slot_count *= 2;
    size_t capacity = slot_count / 4 * 3;
    map->entries = soc_realloc(map->entries, capacity * sizeof(*map->entries));
    map->entry_capacity = capacity;
    free(map->slots);
    map->slots = soc_alloc_zero(slot_count * sizeof(*map->slots));
    map->slot_count = slot_count;
    for (size_t i = 0; i < kept; i++) {
        size_t slot = map->entries[i].hash & (slot_count - 1);
        while (map->slots[slot] != 0)
            slot = (slot + 1) & (slot_count - 1);
        map->slots[slot] = (uint32_t)(i + 1);
    }
}

static void *find_value(const struct soc_map *map, const char *data, uint64_t length, uint64_t hash)
{
    if (map->count == 0)
        return NULL;
    size_t slot = find_slot(map, data, length, hash);
    return map->slots[slot] == 0 ? NULL : map->entries[map->slots[slot] - 1].value;
}

static void *put_value(struct soc_map *map, const char *data, uint64_t length, uint64_t hash,
                       void *value)
{
    assert(value != NULL);
    if (map->entry_count == map->entry_capacity)
        rebuild(map);
    size_t slot = find_slot(map, data, length, hash);
    if (map->slots[slot] != 0) {
        struct soc_map_entry *entry = &map->entries[map->slots[slot] - 1];
        void *old = entry->value;
        entry->value = value;
        entry->data = data;
        return old;
    }
    map->entries[map->entry_count++] = (struct soc_map_entry){data, length, hash, value};
    map->slots[slot] = (uint32_t)map->entry_count;
    map->count++;
    return NULL;
}

static void *take_value(struct soc_map *map, const char *data, uint64_t length, uint64_t hash)
{
    if (map->count == 0)
        return NULL;
    size_t slot = find_slot(map, data, length, hash);
    if (map->slots[slot] == 0)
        return NULL;
    struct soc_map_entry *entry = &map->entries[map->slots[slot] - 1];
    void *value = entry->value;
    entry->value = NULL;
    entry->data = NULL;
    assert(map->count > 0);
    map->count--;
    return value;
}

void *soc_map_find(const struct soc_map *map, struct soc_slice key)
{
    return find_value(map, key.data, key.length, soc_hash(key.data, key.length, 0));
}

void *soc_map_put(struct soc_map *map, struct soc_slice key, void *value)
{
    assert(key.data != NULL);
    return put_value(map, key.data, key.length, soc_hash(key.data, key.length, 0), value);
}

void *soc_map_take(struct soc_map *map, struct soc_slice key)
{
    return take_value(map, key.data, key.length, soc_hash(key.data, key.length, 0));
}

void *soc_map_find_number(const struct soc_map *map, uint64_t key)
{
    return find_value(map, NULL, key, soc_hash_number(key));
}

void *soc_map_put_number(struct soc_map *map, uint64_t key, void *value)
{
    return put_value(map, NULL, key, soc_hash_number(key), value);
}

void *soc_map_take_number(struct soc_map *map, uint64_t key)
{
    return take_value(map, NULL, key, soc_hash_number(key));
}

void *soc_map_each(const struct soc_map *map, size_t *cursor)
{
    while (*cursor < map->entry_count) {
        void *value = map->entries[(*cursor)++].value;
        if (value != NULL)
            return value;
    }
    return NULL;
}

void *soc_map_each_number(const struct soc_map *map, size_t *cursor, uint64_t *key)
{
    void *value = soc_map_each(map, cursor);
    if (value != NULL)
        *key = map->entries[*cursor - 1].length_or_number;
    return value;
}

#include "model/delivery/dedupe.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/siphash.h"

#define CHUNK     1024 /* entries */
#define SLOTS_MIN 16
#define NUMBERS   UINT32_MAX /* values of a slot that is not free */

static const char kinds[] = {'e', 'k', 'l', 'q', 'a', 'x'}; /* on disk */

/* The encoding is unambiguous: ids contain no line break, and the words come last. */
void soc_dedupe_text(struct soc_buf *out, const struct soc_dedupe_words *words)
{
    soc_buf_put_byte(out, kinds[words->kind]);
    soc_buf_put_slice(out, words->sender);
    soc_buf_put_byte(out, '\n');
    if (words->kind >= SOC_DEDUPE_LIST) {
        soc_buf_put_slice(out, words->receiver);
        soc_buf_put_byte(out, '\n');
    }
    soc_buf_put_slice(out, words->words);
}

/* Takes what is before the next line break. */
static bool take_id(struct soc_slice *rest, struct soc_slice *id)
{
    const char *end = rest->length == 0 ? NULL : memchr(rest->data, '\n', rest->length);
    if (end == NULL)
        return false;
    *id = soc_slice(rest->data, (size_t)(end - rest->data));
    *rest = soc_slice(end + 1, rest->length - id->length - 1);
    return true;
}

bool soc_dedupe_words(struct soc_dedupe_words *words, struct soc_slice text)
{
    const char *kind = text.length == 0 ? NULL : memchr(kinds, text.data[0], sizeof(kinds));
    *words = (struct soc_dedupe_words){0};
    if (kind == NULL)
        return false;
    words->kind = (enum soc_dedupe_kind)(kind - kinds);
    words->words = soc_slice(text.data + 1, text.length - 1);
    return take_id(&words->words, &words->sender) &&
           (words->kind < SOC_DEDUPE_LIST || take_id(&words->words, &words->receiver));
}

bool soc_dedupe_is_of_query(struct soc_slice text)
{
    return text.length > 0 && memchr("qax", text.data[0], 3) != NULL;
}

void soc_dedupe_fini(struct soc_dedupe *dedupe)
{
    for (size_t i = 0; i < dedupe->chunk_count; i++)
        free(dedupe->chunks[i]);
    free(dedupe->chunks);
    free(dedupe->slots);
    *dedupe = (struct soc_dedupe){.secret = {dedupe->secret[0], dedupe->secret[1]}};
}

static struct soc_dedupe_entry *entry_at(const struct soc_dedupe *dedupe, uint64_t number)
{
    assert(number >= dedupe->first && number < dedupe->next);
    return &dedupe->chunks[number / CHUNK - dedupe->first / CHUNK][number % CHUNK];
}

/* What stands in the slot of an entry: its number, so far that it differs from others. */
static uint32_t slot_value(uint64_t number)
{
    return (uint32_t)(number % NUMBERS + 1);
}

/* Lends the entry of a slot. */
static struct soc_dedupe_entry *entry_in(const struct soc_dedupe *dedupe, size_t slot)
{
    assert(dedupe->slots[slot] != 0);
    uint64_t number = dedupe->slots[slot] - 1;
    uint64_t distance = (number + NUMBERS - dedupe->first % NUMBERS) % NUMBERS;
    return entry_at(dedupe, dedupe->first + distance);
}

/* Finds the slot of a hash, or the free one where it belongs. */
static size_t find_slot(const struct soc_dedupe *dedupe, const uint64_t hash[2])
{
    size_t mask = dedupe->slot_count - 1;
    size_t slot = (size_t)hash[0] & mask;
    while (dedupe->slots[slot] != 0) {
        const struct soc_dedupe_entry *entry = entry_in(dedupe, slot);
        if (entry->hash[0] == hash[0] && entry->hash[1] == hash[1])
            break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

/* Makes the table of slots anew. */
static void set_slots(struct soc_dedupe *dedupe, size_t slot_count)
{
    free(dedupe->slots);
    dedupe->slots = soc_alloc_zero(slot_count * sizeof(*dedupe->slots));
    dedupe->slot_count = slot_count;
    for (uint64_t number = dedupe->first; number < dedupe->next; number++) {
        const struct soc_dedupe_entry *entry = entry_at(dedupe, number);
        if (entry->key != 0)
            dedupe->slots[find_slot(dedupe, entry->hash)] = slot_value(number);
    }
}

/* Frees a slot and moves those behind it that could not be found any more. */
static void free_slot(struct soc_dedupe *dedupe, size_t slot)
{
    size_t mask = dedupe->slot_count - 1;
    size_t hole = slot;
    dedupe->slots[hole] = 0;
    for (slot = (slot + 1) & mask; dedupe->slots[slot] != 0; slot = (slot + 1) & mask) {
        size_t home = (size_t)entry_in(dedupe, slot)->hash[0] & mask;
        if (((slot - home) & mask) < ((slot - hole) & mask))
            continue; /* its home is behind the hole */
        dedupe->slots[hole] = dedupe->slots[slot];
        dedupe->slots[slot] = 0;
        hole = slot;
    }
}

static bool is_over(const struct soc_dedupe_entry *entry, int64_t now_ms, int64_t window_ms)
{
    return now_ms - entry->since_ms >= window_ms;
}

const struct soc_dedupe_entry *soc_dedupe_find(const struct soc_dedupe *dedupe,
                                               const struct soc_dedupe_words *words, int64_t now_ms,
                                               int64_t window_ms)
{
    if (dedupe->count == 0)
        return NULL;
    struct soc_buf text = {0};
    uint64_t hash[2];
    soc_dedupe_text(&text, words);
    soc_siphash(text.data, text.length, dedupe->secret, hash);
    soc_buf_fini(&text);
    size_t slot = find_slot(dedupe, hash);
    if (dedupe->slots[slot] == 0)
        return NULL;
    const struct soc_dedupe_entry *entry = entry_in(dedupe, slot);
    return is_over(entry, now_ms, window_ms) ? NULL : entry;
}

/* Passes over the oldest entry and frees its chunk, if it was the last there. */
static void drop_first(struct soc_dedupe *dedupe)
{
    dedupe->first++;
    if (dedupe->first % CHUNK != 0)
        return;
    free(dedupe->chunks[0]);
    dedupe->chunk_count--;
    memmove(dedupe->chunks, dedupe->chunks + 1, dedupe->chunk_count * sizeof(*dedupe->chunks));
}

void soc_dedupe_remove(struct soc_dedupe *dedupe, struct soc_dedupe_entry *entry)
{
    size_t slot = find_slot(dedupe, entry->hash);
    assert(entry->key != 0 && entry_in(dedupe, slot) == entry);
    free_slot(dedupe, slot);
    entry->key = 0;
    dedupe->count--;
    while (dedupe->next > dedupe->first && entry_at(dedupe, dedupe->next - 1)->key == 0)
        dedupe->next--; /* rolled back: its place is free again */
    while (dedupe->first < dedupe->next && entry_at(dedupe, dedupe->first)->key == 0)
        drop_first(dedupe);
}

/* Makes room for one more entry behind the last one. */
static struct soc_dedupe_entry *push(struct soc_dedupe *dedupe)
{
    assert(dedupe->next - dedupe->first < NUMBERS);
    if (dedupe->next / CHUNK - dedupe->first / CHUNK == dedupe->chunk_count) {
        if (dedupe->chunk_count == dedupe->chunk_capacity) {
            dedupe->chunk_capacity = dedupe->chunk_capacity == 0 ? 4 : dedupe->chunk_capacity * 2;
            dedupe->chunks =
                soc_realloc(dedupe->chunks, dedupe->chunk_capacity * sizeof(*dedupe->chunks));
        }
        dedupe->chunks[dedupe->chunk_count++] = soc_alloc(CHUNK * sizeof(**dedupe->chunks));
    }
    return entry_at(dedupe, dedupe->next++);
}

struct soc_dedupe_entry *soc_dedupe_restore(struct soc_dedupe *dedupe, struct soc_slice text,
                                            uint64_t key, int64_t sent_ms, int64_t since_ms)
{
    uint64_t hash[2];
    assert(key != 0);
    soc_siphash(text.data, text.length, dedupe->secret, hash);
    if ((dedupe->count + 1) * 4 > dedupe->slot_count * 3)
        set_slots(dedupe, dedupe->slot_count == 0 ? SLOTS_MIN : dedupe->slot_count * 2);
    size_t slot = find_slot(dedupe, hash);
    if (dedupe->slots[slot] != 0) {
        soc_dedupe_remove(dedupe, entry_in(dedupe, slot));
        slot = find_slot(dedupe, hash);
    }
    struct soc_dedupe_entry *entry = push(dedupe);
    *entry = (struct soc_dedupe_entry){{hash[0], hash[1]}, key, sent_ms, since_ms};
    dedupe->slots[slot] = slot_value(dedupe->next - 1);
    dedupe->count++;
    return entry;
}

struct soc_dedupe_entry *soc_dedupe_add(struct soc_dedupe *dedupe,
                                        const struct soc_dedupe_words *words, uint64_t key,
                                        int64_t sent_ms, int64_t since_ms)
{
    struct soc_buf text = {0};
    soc_dedupe_text(&text, words);
    struct soc_dedupe_entry *entry =
        soc_dedupe_restore(dedupe, soc_buf_slice(&text), key, sent_ms, since_ms);
    soc_buf_fini(&text);
    return entry;
}

size_t soc_dedupe_forget(struct soc_dedupe *dedupe, int64_t now_ms, int64_t window_ms)
{
    size_t count = 0;
    while (dedupe->first < dedupe->next) {
        struct soc_dedupe_entry *entry = entry_at(dedupe, dedupe->first);
        if (!is_over(entry, now_ms, window_ms))
            break;
        assert(entry->key != 0); /* forgotten ones are passed over at once */
        soc_dedupe_remove(dedupe, entry);
        count++;
    }
    if (dedupe->slot_count > SLOTS_MIN && dedupe->count * 8 < dedupe->slot_count)
        set_slots(dedupe, dedupe->slot_count / 2);
    return count;
}

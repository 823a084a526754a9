#include "model/delivery/dedupe.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

/* The encoding is unambiguous: ids contain no line break, and the words come last. */
static void put_text(struct soc_buf *out, const struct soc_dedupe_words *words)
{
    static const char kinds[] = {'e', 'k', 'l'};
    soc_buf_put_byte(out, kinds[words->kind]);
    soc_buf_put_slice(out, words->sender);
    soc_buf_put_byte(out, '\n');
    if (words->kind == SOC_DEDUPE_LIST) {
        soc_buf_put_slice(out, words->receiver);
        soc_buf_put_byte(out, '\n');
    }
    soc_buf_put_slice(out, words->words);
}

static struct soc_slice text_of(const struct soc_dedupe_entry *entry)
{
    return soc_slice(entry->text, entry->length);
}

void soc_dedupe_fini(struct soc_dedupe *dedupe)
{
    while (dedupe->first != NULL) {
        struct soc_dedupe_entry *next = dedupe->first->next;
        free(dedupe->first);
        dedupe->first = next;
    }
    dedupe->last = NULL;
    soc_map_fini(&dedupe->entries);
}

static bool is_over(const struct soc_dedupe_entry *entry, int64_t now_ms, int64_t window_ms)
{
    return now_ms - entry->since_ms >= window_ms;
}

const struct soc_dedupe_entry *soc_dedupe_find(const struct soc_dedupe *dedupe,
                                               const struct soc_dedupe_words *words, int64_t now_ms,
                                               int64_t window_ms)
{
    if (dedupe->first == NULL)
        return NULL;
    struct soc_buf text = {0};
    put_text(&text, words);
    const struct soc_dedupe_entry *entry = soc_map_find(&dedupe->entries, soc_buf_slice(&text));
    soc_buf_fini(&text);
    return entry == NULL || is_over(entry, now_ms, window_ms) ? NULL : entry;
}

void soc_dedupe_remove(struct soc_dedupe *dedupe, struct soc_dedupe_entry *entry)
{
    assert(soc_map_find(&dedupe->entries, text_of(entry)) == entry);
    soc_map_take(&dedupe->entries, text_of(entry));
    *(entry->previous == NULL ? &dedupe->first : &entry->previous->next) = entry->next;
    *(entry->next == NULL ? &dedupe->last : &entry->next->previous) = entry->previous;
    free(entry);
}

struct soc_dedupe_entry *soc_dedupe_restore(struct soc_dedupe *dedupe, struct soc_slice text,
                                            uint64_t key, int64_t sent_ms, int64_t since_ms)
{
    struct soc_dedupe_entry *old = soc_map_find(&dedupe->entries, text);
    if (old != NULL)
        soc_dedupe_remove(dedupe, old);
    struct soc_dedupe_entry *entry = soc_alloc_zero(sizeof(*entry) + text.length);
    entry->key = key;
    entry->sent_ms = sent_ms;
    entry->since_ms = since_ms;
    entry->length = (uint32_t)text.length;
    memcpy(entry->text, text.data, text.length);
    entry->previous = dedupe->last;
    *(dedupe->last == NULL ? &dedupe->first : &dedupe->last->next) = entry;
    dedupe->last = entry;
    soc_map_put(&dedupe->entries, text_of(entry), entry);
    return entry;
}

struct soc_dedupe_entry *soc_dedupe_add(struct soc_dedupe *dedupe,
                                        const struct soc_dedupe_words *words, uint64_t key,
                                        int64_t sent_ms, int64_t since_ms)
{
    struct soc_buf text = {0};
    put_text(&text, words);
    struct soc_dedupe_entry *entry =
        soc_dedupe_restore(dedupe, soc_buf_slice(&text), key, sent_ms, since_ms);
    soc_buf_fini(&text);
    return entry;
}

size_t soc_dedupe_forget(struct soc_dedupe *dedupe, int64_t now_ms, int64_t window_ms)
{
    size_t count = 0;
    while (dedupe->first != NULL && is_over(dedupe->first, now_ms, window_ms)) {
        soc_dedupe_remove(dedupe, dedupe->first);
        count++;
    }
    return count;
}

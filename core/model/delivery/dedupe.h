/* Dedupe: remembers deduplication keys, so that repeating a send does nothing.
 *
 * A key is remembered for a time window, with the message that was sent under it. Each
 * sender has its own keys. Entries expire oldest first, so expiry needs no search.
 *
 * A key costs 40 bytes and its share of an index, about 48 in all, however long it is: a
 * hash of 128 bits under a secret stands for its text (base/siphash.h). The text itself is
 * in the store alone.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_DELIVERY_DEDUPE_H
#define SOC_MODEL_DELIVERY_DEDUPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

/* The kinds of keys; each has its own namespace. */
enum soc_dedupe_kind {
    SOC_DEDUPE_EXTERNAL, /* an outside agent's own message id */
    SOC_DEDUPE_KEY,      /* the sender's dedupe_key */
    SOC_DEDUPE_LIST,     /* `dedupe_key` of a send to a list: one for each receiver */
    /* Of a query, by its id: `sender` asked `receiver`. */
    SOC_DEDUPE_QUERY,    /* it may be answered */
    SOC_DEDUPE_ANSWERED, /* it was */
    SOC_DEDUPE_LAPSED,   /* nobody waits for the answer any more */
};

/* A remembered key. */
struct soc_dedupe_entry {
    uint64_t hash[2]; /* of its text */
    uint64_t key;     /* of the message; 0: forgotten */
    int64_t sent_ms;  /* when it was sent; part of its printed id */
    int64_t since_ms; /* when the key was remembered */
};

/* An all-zero struct is empty. Entries are numbered in order and lie in chunks, which do not
 * move and are freed oldest first. */
struct soc_dedupe {
    uint64_t secret[2];               /* of the hash; set before the first key */
    struct soc_dedupe_entry **chunks; /* owned */
    size_t chunk_count;
    size_t chunk_capacity;
    uint64_t first;    /* number of the oldest entry */
    uint64_t next;     /* number of the next entry */
    uint32_t *slots;   /* owned; hash table of numbers; 0 is free */
    size_t slot_count; /* a power of two, or 0 */
    size_t count;      /* keys remembered */
};

/* The components of a key; its texts are lent. */
struct soc_dedupe_words {
    enum soc_dedupe_kind kind;
    struct soc_slice sender;
    struct soc_slice receiver; /* for lists and queries only */
    struct soc_slice words;
};

/* Appends the text of a key: kind, sender, receiver (of lists and queries) and words, told
 * apart. */
void soc_dedupe_text(struct soc_buf *out, const struct soc_dedupe_words *words);

/* Reads the components of such a text, which lends them. False if the text is malformed. */
bool soc_dedupe_words(struct soc_dedupe_words *words, struct soc_slice text);

/* Tells whether an encoded key is that of a query. */
bool soc_dedupe_is_of_query(struct soc_slice text);

/* Frees everything. */
void soc_dedupe_fini(struct soc_dedupe *dedupe);

/* Lends the entry remembered under this key less than `window_ms` ago, or NULL. */
const struct soc_dedupe_entry *soc_dedupe_find(const struct soc_dedupe *dedupe,
                                               const struct soc_dedupe_words *words, int64_t now_ms,
                                               int64_t window_ms);

/* Remembers a message under this key and replaces an older one. `since_ms` never
 * decreases between calls. Lends the entry. */
struct soc_dedupe_entry *soc_dedupe_add(struct soc_dedupe *dedupe,
                                        const struct soc_dedupe_words *words, uint64_t key,
                                        int64_t sent_ms, int64_t since_ms);

/* The same for a key in its encoded form, as stored. */
struct soc_dedupe_entry *soc_dedupe_restore(struct soc_dedupe *dedupe, struct soc_slice text,
                                            uint64_t key, int64_t sent_ms, int64_t since_ms);

/* Forgets one entry. */
void soc_dedupe_remove(struct soc_dedupe *dedupe, struct soc_dedupe_entry *entry);

/* Removes entries that are at least `window_ms` old and returns how many. */
size_t soc_dedupe_forget(struct soc_dedupe *dedupe, int64_t now_ms, int64_t window_ms);

#endif

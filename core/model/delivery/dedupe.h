/* Dedupe: what senders have said once, so that saying it again does nothing.
 *
 * A key is remembered for a window of time, with the message that was sent under it.
 * Keys are the sender's own: two senders may use the same words. The oldest are
 * forgotten first, so forgetting costs no search.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_DELIVERY_DEDUPE_H
#define SOC_MODEL_DELIVERY_DEDUPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/slice.h"

/* What kind of key it is: the same words mean different things in each. */
enum soc_dedupe_kind {
    SOC_DEDUPE_EXTERNAL, /* an outsider's own id of the message */
    SOC_DEDUPE_KEY,      /* the sender's dedupe_key */
    SOC_DEDUPE_LIST,     /* the same, said of a list of receivers: each has its own */
};

/* A key that is remembered. */
struct soc_dedupe_entry {
    struct soc_dedupe_entry *previous;
    struct soc_dedupe_entry *next;
    uint64_t key;     /* of the message */
    int64_t sent_ms;  /* its time, for its printed id */
    int64_t since_ms; /* when the key was remembered */
    uint32_t length;
    char text[]; /* kind, sender, receiver (of a list) and words, told apart */
};

/* All-zero remembers nothing. */
struct soc_dedupe {
    struct soc_map entries;
    struct soc_dedupe_entry *first; /* the oldest */
    struct soc_dedupe_entry *last;
};

/* What a key is made of; its texts are lent. */
struct soc_dedupe_words {
    enum soc_dedupe_kind kind;
    struct soc_slice sender;
    struct soc_slice receiver; /* of a list only */
    struct soc_slice words;
};

/* Frees everything. */
void soc_dedupe_fini(struct soc_dedupe *dedupe);

/* Lends what was remembered under these words less than `window_ms` ago, or NULL. */
const struct soc_dedupe_entry *soc_dedupe_find(const struct soc_dedupe *dedupe,
                                               const struct soc_dedupe_words *words, int64_t now_ms,
                                               int64_t window_ms);

/* Remembers a message under these words, instead of an older one. `since_ms` never goes
 * back from one call to the next. Lends the entry. */
struct soc_dedupe_entry *soc_dedupe_add(struct soc_dedupe *dedupe,
                                        const struct soc_dedupe_words *words, uint64_t key,
                                        int64_t sent_ms, int64_t since_ms);

/* The same for a key whose text is known: one that was stored. */
struct soc_dedupe_entry *soc_dedupe_restore(struct soc_dedupe *dedupe, struct soc_slice text,
                                            uint64_t key, int64_t sent_ms, int64_t since_ms);

/* Forgets one entry. */
void soc_dedupe_remove(struct soc_dedupe *dedupe, struct soc_dedupe_entry *entry);

/* Forgets what is `window_ms` old or older and returns how many that were. */
size_t soc_dedupe_forget(struct soc_dedupe *dedupe, int64_t now_ms, int64_t window_ms);

#endif

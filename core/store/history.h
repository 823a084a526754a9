/* History rows: what a society has kept for replay, read back.
 *
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_HISTORY_H
#define SOC_STORE_HISTORY_H

#include "store/record.h"
#include "store/store.h"

/* One row; the texts are lent. What there is says parts/history/history.h. */
struct soc_history_row {
    int64_t number; /* rising by one */
    int64_t time_ms;
    struct soc_slice what;
    struct soc_slice agent;  /* absent: nobody's */
    struct soc_slice detail; /* JSON */
    bool is_damaged;         /* the detail is not what was written */
};

/* Replaces a read-only store by a private copy with everything folded, if it has
 * batches that are not. On an error it is as it was. */
int soc_store_settle(struct soc_store **store, struct soc_detail *detail);

/* Calls `each` with every row in order; a negative result ends it and is returned.
 * Rows are read a few at a time, so that whoever writes there is not held up. */
int soc_store_history(struct soc_store *store,
                      int (*each)(void *user, const struct soc_history_row *row), void *user,
                      struct soc_detail *detail);

/* How many rows there are, for whoever shows how far it is. */
int soc_store_history_count(struct soc_store *store, int64_t *count, struct soc_detail *detail);

/* Appends the text that was kept by that hash. SOC_ENOFILE if there is none,
 * SOC_ECORRUPT if its bytes have another hash. */
int soc_store_source(struct soc_store *store, struct soc_slice hash, struct soc_buf *out,
                     struct soc_detail *detail);

/* Calls `each` with every entry of every agent's conversation, each agent's in order. */
int soc_store_memories(struct soc_store *store,
                       void (*each)(void *user, const struct soc_record_memory *entry), void *user,
                       struct soc_detail *detail);

#endif

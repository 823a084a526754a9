/* Kept: what a society keeps for replay, read back from the tables.
 *
 * store.h says what each of them does.
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_TABLES_KEPT_H
#define SOC_STORE_TABLES_KEPT_H

#include "store/store.h"
#include "store/tables/database.h"

/* Walks the history. Rows are read a few at a time, so that a writer elsewhere is not held
 * up. */
int soc_kept_history(struct soc_database *database, soc_history_cb *cb, void *user,
                     struct soc_detail *detail);

/* Counts its rows. */
int soc_kept_history_count(struct soc_database *database, int64_t *count,
                           struct soc_detail *detail);

/* Appends the source text with that hash. */
int soc_kept_source(struct soc_database *database, struct soc_slice hash, struct soc_buf *out,
                    struct soc_detail *detail);

/* Walks the conversations. */
int soc_kept_memories(struct soc_database *database, soc_memory_cb *cb, void *user,
                      struct soc_detail *detail);

#endif

/* Batches: the table `journal`, which holds the batches that are not folded yet.
 *
 * Each batch is one row with a checksum. Their sequences have no gaps.
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_TABLES_BATCHES_H
#define SOC_STORE_TABLES_BATCHES_H

#include "store/store.h"
#include "store/tables/database.h"

/* Reads how far the journal and folding have come. SOC_ECORRUPT if batches are missing. */
int soc_batches_position(struct soc_database *database, struct soc_store_position *at,
                         struct soc_detail *detail);

/* The same for the last line of the activity log and the highest key of a message, in a
 * database of the current version. */
int soc_batches_last_line(struct soc_database *database, struct soc_store_position *at,
                          struct soc_detail *detail);

/* Moves `at` past a batch that was committed after it. */
void soc_batches_pass(struct soc_store_position *at, struct soc_slice batch);

/* Appends batches after `at`, in one transaction, and moves `at` past them. */
int soc_batches_append(struct soc_database *database, struct soc_store_position *at,
                       const struct soc_slice *batches, size_t count, struct soc_detail *detail);

/* Appends the bytes of the batches after `*last` to `out` until that has `bytes_max` or
 * `until` is in it, and moves `*last` to the last one read. SOC_ECORRUPT: one is missing or
 * damaged. `user` is the database (struct soc_fold_source). */
int soc_batches_read(void *user, uint64_t *last, uint64_t until, size_t bytes_max,
                     struct soc_buf *out, struct soc_detail *detail);

/* Hands out every record of the batches after `folded`, in order. */
int soc_batches_load(struct soc_database *database, uint64_t folded, soc_record_cb *cb, void *user,
                     struct soc_detail *detail);

#endif

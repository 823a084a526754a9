/* Copy: a private copy of a database, in which the rest of its journal is folded.
 *
 * A read-only store answers from one while a society that runs, or was killed, has left
 * batches that are not folded. It lives in a temporary file and costs reading and writing
 * the whole database.
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_TABLES_COPY_H
#define SOC_STORE_TABLES_COPY_H

#include "store/store.h"
#include "store/tables/database.h"

/* Copies all pages from one snapshot of `from` to `to`, which is open and empty. */
int soc_copy_pages(struct soc_database *from, struct soc_database *to, struct soc_detail *detail);

/* Makes `to`, which is closed, a copy of `from`, and `at` its position. On an error `to` is
 * closed again. */
int soc_copy_make(struct soc_database *from, struct soc_database *to, struct soc_store_position *at,
                  struct soc_detail *detail);

#endif

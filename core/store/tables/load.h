/* Load: the live rows of the tables as records.
 *
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_TABLES_LOAD_H
#define SOC_STORE_TABLES_LOAD_H

#include "store/store.h"
#include "store/tables/database.h"

/* Hands out what the tables hold of a load (soc_store_load), in its order. */
int soc_load_tables(struct soc_database *database, soc_record_cb *cb, void *user,
                    struct soc_detail *detail);

/* Hands out the dead letter with that key, its message and its end; nothing if there is
 * none. */
int soc_load_letter(struct soc_database *database, uint64_t key, soc_record_cb *cb, void *user,
                    struct soc_detail *detail);

/* Columns of a message and its end, and the records that such a row stands for. */
#define SOC_LOAD_LETTER_COLUMNS "{message}, status, finished_ms, reason"
int soc_load_letter_row(sqlite3_stmt *row, soc_record_cb *cb, void *user);

/* Hands out the task that failed with the message `key`, and the ended tasks above it. */
int soc_load_failed_task(struct soc_database *database, uint64_t key, soc_record_cb *cb, void *user,
                         struct soc_detail *detail);

#endif

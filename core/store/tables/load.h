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

#endif

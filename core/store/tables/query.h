/* Query: rows of the tables as JSON.
 *
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_TABLES_QUERY_H
#define SOC_STORE_TABLES_QUERY_H

#include "store/store.h"
#include "store/tables/database.h"

/* Answers a query from the tables as they are (soc_store_look). */
int soc_query_answer(struct soc_database *database, const struct soc_query *query,
                     struct soc_buf *out, struct soc_detail *detail);

#endif

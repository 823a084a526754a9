/* Query: rows of the tables as JSON.
 *
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_TABLES_QUERY_H
#define SOC_STORE_TABLES_QUERY_H

#include "store/store.h"
#include "store/tables/database.h"

/* Lends the name of what is asked for: that of the items of the past is not `inbox`. */
const char *soc_query_name(const struct soc_query *query);

/* For pages: prepares the statement of a list whose rows have a key, which is the last
 * column and not shown, in ascending or descending order of the keys. The caller binds a
 * span of keys (low, high], steps and finalizes it. */
int soc_query_prepare(struct soc_database *database, const struct soc_query *query,
                      bool is_backwards, sqlite3_stmt **out, struct soc_detail *detail);
void soc_query_bind_span(sqlite3_stmt *statement, int64_t low, int64_t high);

/* Reads the calendar of the database, which turns times into dates. Before a page. */
int soc_query_read_calendar(struct soc_database *database, struct soc_detail *detail);

/* Appends a row as a JSON object. */
void soc_query_put_row(struct soc_database *database, struct soc_buf *out, sqlite3_stmt *row);

/* Answers any other query from the tables as they are (soc_store_look). */
int soc_query_answer(struct soc_database *database, const struct soc_query *query,
                     struct soc_buf *out, struct soc_detail *detail);

#endif

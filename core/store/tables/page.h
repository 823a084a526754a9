/* Page: a bounded part of a list of rows, found by line.
 *
 * The activity log, messages, dead letters and tasks are asked by pages. A row's cursor is
 * the number of the line of its origin (line.h), so a page begins where the one before it
 * ended, whatever happened meanwhile. A page ends at its limit, at SOC_PAGE_BYTES_MAX, or
 * when its time is up; then it may be short or empty and still have a next one.
 *
 * The activity log is read from the tables and from the batches that are not folded, in
 * one snapshot. The other lists are as of the last batch that is folded.
 * Layer: store. Thread: that of the database. */
#ifndef SOC_STORE_TABLES_PAGE_H
#define SOC_STORE_TABLES_PAGE_H

#include "store/store.h"
#include "store/tables/database.h"

/* Tells whether the query is about a list that has pages. */
bool soc_page_serves(const struct soc_query *query);

/* Appends the rows of a page, separated by commas, in ascending order, and fills in `page`.
 * SOC_EGONE: the rows after `query->after` were removed; `page->first` is the first line
 * there is. In a transaction, if others write. */
int soc_page_answer(struct soc_database *database, const struct soc_query *query,
                    struct soc_page *page, struct soc_buf *out, struct soc_detail *detail);

#endif

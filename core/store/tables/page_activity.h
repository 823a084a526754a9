/* Page activity: the lines of the activity log, from the tables and from the batches that
 * are not folded.
 *
 * Layer: store. Thread: that of the database. */
#ifndef SOC_STORE_TABLES_PAGE_ACTIVITY_H
#define SOC_STORE_TABLES_PAGE_ACTIVITY_H

#include "store/tables/page_rows.h"

/* Collects lines after `after`, or in descending order those before `before`, until the
 * page is over. `folded` is the last line in the tables. */
int soc_page_activity_read(struct soc_page_rows *rows, uint64_t after, uint64_t before,
                           uint64_t folded);

#endif

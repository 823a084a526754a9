/* Columns: SQL whose columns are the fields of a record.
 *
 * In such SQL `{task}` stands for the columns that the fields of a task record fill, in
 * their order, and `{?task}` for as many parameters from ?1 on. So the fields of a record
 * are spelled only in record_fields.h and in the table's own definition.
 * Layer: store. Thread: any. */
#ifndef SOC_STORE_TABLES_COLUMNS_H
#define SOC_STORE_TABLES_COLUMNS_H

#include "base/buf.h"

/* Appends `sql` to `out` with the names of records in braces replaced. */
void soc_columns_expand(struct soc_buf *out, const char *sql);

#endif

/* Past rows: what a past holds as bytes, a row for each thing.
 *
 * A row begins with the kind of its thing; the head, which has the number 0, holds the counts
 * and the form of all rows. Rows in the order of their numbers make the same past again. Bytes
 * that are damaged or of another form are refused, never half taken: whoever stored them can
 * do without.
 * Layer: store. Thread: any. */
#ifndef SOC_STORE_TABLES_PAST_ROWS_H
#define SOC_STORE_TABLES_PAST_ROWS_H

#include "store/tables/past.h"

/* Appends the row of a thing that has not gone, or the head. */
void soc_past_rows_put(const struct soc_past *past, const struct soc_past_change *change,
                       struct soc_buf *out);

/* Adds the thing of a row to a past; false if the bytes are none. */
bool soc_past_rows_take(struct soc_past *past, uint64_t number, struct soc_slice row);

/* Appends all rows of a past, each after its number and length. */
void soc_past_rows_write(const struct soc_past *past, struct soc_buf *out);

/* Fills an empty past with all of its rows; false if the bytes are damaged. The past is to be
 * freed then. */
bool soc_past_rows_read(struct soc_past *past, struct soc_slice bytes);

#endif

/* Transfer: the rows of a society's tables as lines of JSON, and a society made from them.
 *
 * A line is {"stored":TABLE,"row":{COLUMN:VALUE,…}}, without columns that are NULL. Numbers
 * and texts are JSON; a blob is {"blob":HEX}, a text that is not UTF-8 {"text":HEX}, a number
 * with a fraction {"real":TEXT}. The first line says which tables those are: the table
 * `schema` with the column `version`.
 *
 * The rows are those of one state with everything folded, so the journal is empty and is left
 * out, as is the cache of tables/snapshots.h. Nothing else is: who reads the lines has the
 * whole society.
 * Layer: store. Thread: any. */
#ifndef SOC_STORE_SQLITE_TRANSFER_H
#define SOC_STORE_SQLITE_TRANSFER_H

#include "base/err.h"
#include "base/slice.h"

/* Takes a line, which is lent; an error ends the transfer. */
typedef int soc_transfer_take_cb(struct soc_slice line, void *user);

/* Lends the next line, absent at the end; it must last until the next call. */
typedef int soc_transfer_next_cb(struct soc_slice *line, void *user);

/* Gives every row of the society in `directory`, running or stopped; those of one table if
 * `table` is not NULL. Errors of the store and those of `take`. */
int soc_transfer_write(const char *directory, const char *table, soc_transfer_take_cb *take,
                       void *user, struct soc_detail *detail);

/* Makes a society of the lines in `directory`, which must not have one. SOC_EINVAL: a line is
 * not a row, or is of another version; the detail says so. After an error the directory holds
 * half a society and is to be removed. */
int soc_transfer_read(const char *directory, soc_transfer_next_cb *next, void *user,
                      struct soc_detail *detail);

#endif

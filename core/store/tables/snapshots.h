/* Snapshots: what a society was at some lines, so that a look at the past need not begin with
 * the first line.
 *
 * The table `snapshots` is a cache. A look leaves one every so many lines on its way; so a
 * society at whose past nobody looks never pays for it, and the second look is cheap. One has
 * parts, which are stored one at a time so that no commit waits long; the first comes last,
 * and has their count with a minus for its number.
 *
 * The table `edge` is what the society was before the first line that is left. It is kept by
 * whoever removes lines (prune.h), row by row as things change, since it has no lines to be
 * made from again. Its head says as of which line it is: where that is not the line before
 * the first, an older program has removed lines, and the past cannot be told.
 * Layer: store. Thread: that of the database. */
#ifndef SOC_STORE_TABLES_SNAPSHOTS_H
#define SOC_STORE_TABLES_SNAPSHOTS_H

#include "store/store.h"
#include "store/tables/database.h"
#include "store/tables/past.h"

/* A snapshot on its way into the table. */
struct soc_snapshot {
    struct soc_snapshot *next;
    uint64_t line;
    int64_t latest_ms; /* the latest date up to there */
    struct soc_buf bytes;
    uint64_t stored; /* parts */
};

/* Adds the tables to a database of an older program, in the transaction that will fill them.
 * After an error there is no transaction any more. */
int soc_snapshots_need_tables(struct soc_database *database, struct soc_detail *detail);

/* Tells whether a past that is fed should leave a snapshot where it is. */
bool soc_snapshot_is_due(const struct soc_past *past);

/* Returns a snapshot of a past, which notes it; the caller owns it. */
struct soc_snapshot *soc_snapshot_take(struct soc_past *past);

/* Frees a list of them. NULL is allowed. */
void soc_snapshots_free(struct soc_snapshot *snapshots);

/* Stores the next part of a snapshot in a transaction. Returns 1 if there are more. */
int soc_snapshots_store(struct soc_database *database, struct soc_snapshot *snapshot,
                        struct soc_detail *detail);

/* Where a look may begin. */
struct soc_snapshots_span {
    uint64_t first;   /* first line there is */
    uint64_t until;   /* the line asked for */
    int64_t until_ms; /* or: only with dates before this; 0: any */
};

/* Fills an empty past with the latest snapshot it may begin with, or with the edge; it stays
 * empty if there is none. */
int soc_snapshots_begin(struct soc_database *database, const struct soc_snapshots_span *span,
                        struct soc_past *past, struct soc_detail *detail);

/* Removes those of lines before `first`. */
int soc_snapshots_forget(struct soc_database *database, uint64_t first, struct soc_detail *detail);

/* Fills an empty past with the edge; `*is_found`: it is as of `line`. If not, the past stays
 * empty. */
int soc_snapshots_read_edge(struct soc_database *database, uint64_t line, struct soc_past *past,
                            bool *is_found, struct soc_detail *detail);

/* Writes what has changed of a past that is tracked to the edge, and forgets the changes. */
int soc_snapshots_write_edge(struct soc_database *database, struct soc_past *past,
                             struct soc_detail *detail);

#endif

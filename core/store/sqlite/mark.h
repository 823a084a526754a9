/* Mark: evidence, outside the database, of how much of it was durable.
 *
 * SQLite takes a damaged frame of its write-ahead log for the end of the log and
 * silently drops what follows. Worse, frames before it may be older than pages that
 * were copied back from after it. So the store keeps a small file beside the database
 * with the last batch and the part of the log that were durable, and compares at a
 * start.
 *
 *   1. After each commit the mark is written, not synced. After a kill it is exact;
 *      after a power loss it may be an older one, which requires less.
 *   2. Before the log is copied back, the log is synced and the mark says how much
 *      of it is needed.
 *   3. When all of it is copied back, the mark says so and is synced. From then on
 *      SQLite may restart the log; if it has not, the log must still be intact.
 *
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_SQLITE_MARK_H
#define SOC_STORE_SQLITE_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/sqlite/pages.h"
#include "store/tables/database.h"

/* The mark of an open store. */
struct soc_mark {
    struct soc_database *database; /* lent, as is `pages`; set before soc_mark_open */
    struct soc_pages *pages;
    bool is_read_only;
    sqlite3_file *file; /* owned; NULL: there is none */
    char *name;         /* its path, which SQLite uses while it is open */
    bool is_there;      /* a mark was read or written */
    bool is_empty;      /* the file was empty */
    bool is_copied;     /* the database contains the whole log */
    bool is_due;        /* `is_copied` is not written yet: the disk was full */
    uint32_t frames;    /* of the log */
    uint32_t salt[2];   /* distinguishes logs in the same file */
    uint64_t sequence;  /* of the last batch */
};

/* Opens and reads the mark of the database at `path`, if there is one. A missing one
 * requires nothing: people remove it to continue with what is left. */
int soc_mark_open(struct soc_mark *mark, const char *path, struct soc_detail *detail);

/* Compares the store with its mark. SOC_ECORRUPT: it has less than was durable, or the
 * mark is empty although batches were written, before which it is synced. Call it after
 * the database was read. */
int soc_mark_check(struct soc_mark *mark, uint64_t sequence, struct soc_detail *detail);

/* Tells whether the log that the mark requires is gone: another program has copied it
 * back, or it is lost. Call it before the database is opened. */
bool soc_mark_log_is_gone(struct soc_mark *mark);

/* Writes the position at a start, before anything is committed. A new mark is synced. */
int soc_mark_begin(struct soc_mark *mark, uint64_t sequence, struct soc_detail *detail);

/* Writes that everything committed so far is durable. */
int soc_mark_append(struct soc_mark *mark, uint64_t sequence, struct soc_detail *detail);

/* Called before a checkpoint, and after one that has copied the whole log. */
int soc_mark_need(struct soc_mark *mark, uint64_t sequence, struct soc_detail *detail);
int soc_mark_copied(struct soc_mark *mark, uint64_t sequence, struct soc_detail *detail);

/* Writes a mark that is due; SOC_EDISKFULL while there is no space. */
int soc_mark_settle(struct soc_mark *mark, struct soc_detail *detail);

/* Closes the file. If closing the database has properly removed its log, the mark says
 * so, so that the next start suspects no other program. */
void soc_mark_close(struct soc_mark *mark);

#endif

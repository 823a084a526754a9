/* Mark: evidence, outside the database, of how much of it was durable.
 *
 * SQLite takes a damaged frame of its write-ahead log for the end of the log, and what
 * comes behind it is gone without a word; worse, frames before it may be older than the
 * pages that were copied from behind it. So the store keeps beside the database a small
 * file with the last batch and the part of the log that were durable, and compares at
 * a start.
 *
 *   1. After each commit of batches the mark is written, not synced: after a kill it is
 *      exact, after a power loss it may be an older one, which asks for less.
 *   2. Before the log is copied into the database the mark says how much of the log is
 *      needed; the log is synced then.
 *   3. When all of it is copied the mark says so, synced: from there on the log may
 *      begin anew, but if it has not, it must still be whole.
 *
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_SQLITE_MARK_H
#define SOC_STORE_SQLITE_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/sqlite/pages.h"
#include "store/tables/database.h"

/* A mark that is kept while the store is open. */
struct soc_mark {
    struct soc_database *database; /* lent, as is `pages`; set before soc_mark_open */
    struct soc_pages *pages;
    bool is_read_only;
    sqlite3_file *file; /* owned; NULL: none is kept */
    char *name;         /* its path, which SQLite goes on using while it is open */
    bool is_there;      /* something was read or written */
    bool is_empty;      /* a file without a mark was read */
    bool is_copied;     /* the database has everything that is in the log */
    bool is_due;        /* that it is copied could not be written: the disk was full */
    uint32_t frames;    /* of the log */
    uint32_t salt[2];   /* tells one log from the next in the same file */
    uint64_t sequence;  /* the last batch */
};

/* Opens the mark of the database at `path`, if there is one, and reads it. One that is
 * missing asks for nothing: removing it is how people say to go on with what is there. */
int soc_mark_open(struct soc_mark *mark, const char *path, struct soc_detail *detail);

/* Compares the store with its mark: SOC_ECORRUPT if it has less than was durable, or if
 * the mark is empty although batches were written, before which it is synced. After the
 * database was read once. */
int soc_mark_check(struct soc_mark *mark, uint64_t sequence, struct soc_detail *detail);

/* Tells whether the log that the mark asks for is gone: somebody else has copied it into
 * the database, or it is lost. Before the database is opened. */
bool soc_mark_log_is_gone(struct soc_mark *mark);

/* Writes where the store stands at a start, before anything is appended; a mark that was
 * not there is made and synced. */
int soc_mark_begin(struct soc_mark *mark, uint64_t sequence, struct soc_detail *detail);

/* Writes that everything appended so far is durable. */
int soc_mark_append(struct soc_mark *mark, uint64_t sequence, struct soc_detail *detail);

/* Before and after a checkpoint, which has copied all of the log or not. */
int soc_mark_need(struct soc_mark *mark, uint64_t sequence, struct soc_detail *detail);
int soc_mark_copied(struct soc_mark *mark, uint64_t sequence, struct soc_detail *detail);

/* Writes what is due; SOC_EDISKFULL as long as there is no room. */
int soc_mark_settle(struct soc_mark *mark, struct soc_detail *detail);

/* Closes the file. If the database was closed before and its log went with it, in order,
 * the mark says so: nobody else has to be suspected at the next start. */
void soc_mark_close(struct soc_mark *mark);

#endif

/* Database: one connection to SQLite with its statements, and the inside of a
 * store, for the files of this folder only.
 *
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_DATABASE_H
#define SOC_STORE_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/buf.h"
#include "base/err.h"
#include "store/directory.h"
#include "store/mark.h"
#include "store/statements.h"
#include "store/store.h"

/* A write-ahead log this long is copied back before the next commit returns; it
 * is also the room on disk that is kept for it. */
#define SOC_WAL_PAGES_MAX 4096

/* One this long is copied back in a quiet moment. */
#define SOC_WAL_PAGES_QUIET 512

struct soc_fold;
struct soc_pages;

/* Batches of a store in memory that nobody has asked a question yet. */
struct soc_held {
    struct soc_buf *batches; /* in order, from sequence 1 */
    size_t count;
    size_t capacity;
};

/* A store, opened. */
struct soc_store {
    sqlite3 *db;                                   /* NULL in memory until the tables are wanted */
    sqlite3_stmt *statements[SOC_STATEMENT_COUNT]; /* NULL in a read-only store */
    struct soc_fold *fold;                         /* owned; NULL until the first fold */
    bool is_read_only;
    bool is_memory;
    struct soc_held held;    /* owned; empty once there is a database */
    struct soc_disk *disk;   /* lent; NULL: memory or files */
    struct soc_buf *blank;   /* lent; NULL: none */
    struct soc_pages *pages; /* owned; NULL in memory */
    struct soc_mark mark;
    const char *sync_sql; /* how an append is made durable */
    bool has_failed;      /* an I/O error: what is in the files is not known */
    struct soc_directory_lock lock;
    uint64_t sequence;    /* last batch appended */
    uint64_t folded;      /* last batch folded */
    uint64_t lines;       /* of the activity log that were folded */
    uint64_t backlog;     /* bytes of the batches between */
    int wal_pages;        /* in the write-ahead log after the last commit */
    int wal_pages_copied; /* of those, how many a checkpoint has done */
};

/* Opens `path` (":memory:" or "" for a private one) with sqlite3_open_v2's
 * `flags` and sets it up. On an error the caller still closes. */
int soc_database_open(struct soc_store *store, const char *path, int flags,
                      struct soc_detail *detail);

/* Makes the tables, in one transaction. */
int soc_database_create(struct soc_store *store, struct soc_detail *detail);

/* The same in memory: the tables come from `blank`, or go there if it is empty. Reading
 * them costs a third of making them. */
int soc_database_create_from(struct soc_store *store, struct soc_buf *blank,
                             struct soc_detail *detail);

/* Makes an older database one of this version. SOC_EOLDER if it may not write. */
int soc_database_upgrade(struct soc_store *store, struct soc_detail *detail);

/* Finalizes and closes. After an I/O error nothing is copied back from the
 * write-ahead log: what its pages hold is known only when they are read anew. */
void soc_database_close(struct soc_store *store);

/* Reads where journal and folding stand. SOC_ECORRUPT if batches are missing. */
int soc_database_position(struct soc_store *store, struct soc_detail *detail);

/* Has SQLite look at the whole structure of the database: SOC_ECORRUPT if it is not as
 * it should be. */
int soc_database_check(struct soc_store *store, struct soc_detail *detail);

/* Runs SQL without results. */
int soc_database_exec(struct soc_store *store, const char *sql, struct soc_detail *detail);

/* Turns a result of SQLite into one of ours, with a sentence. */
int soc_database_fail(struct soc_store *store, int sqlite_rc, struct soc_detail *detail);

/* Lends a prepared statement. It is prepared when it is wanted first: all of them take
 * longer than the rest of a start. NULL if that fails, which running it will tell. */
sqlite3_stmt *soc_database_statement(struct soc_store *store, enum soc_statement which);

/* Runs a statement that has no rows and resets it. Returns SQLite's result. */
int soc_database_run(struct soc_store *store, enum soc_statement which);

/* Begins a writing transaction, commits it, or takes it back. */
int soc_database_begin(struct soc_store *store, struct soc_detail *detail);
int soc_database_commit(struct soc_store *store, struct soc_detail *detail);
void soc_database_rollback(struct soc_store *store);

/* Copies the write-ahead log back into the database if it has `pages_min` pages
 * or more that are not. A reader elsewhere may hold some of it up. */
int soc_database_checkpoint(struct soc_store *store, int pages_min, struct soc_detail *detail);

/* Copies all of it back and tells if that fails, before a close, which does not. */
int soc_database_settle(struct soc_store *store, struct soc_detail *detail);

/* Appends batches from sequence `first` on in one transaction. As
 * soc_store_append otherwise. */
int soc_store_append_all(struct soc_store *store, uint64_t first, const struct soc_slice *batches,
                         size_t count, struct soc_detail *detail);

/* Makes the database of a store in memory, if there is none yet, with the batches
 * held so far in its journal. A society that lives and dies without being asked
 * needs no SQLite at all. */
int soc_store_materialise(struct soc_store *store, struct soc_detail *detail);

/* Makes `to`, which is in memory and has no database, a private copy of `from` in a
 * temporary file, in which the rest of the journal is folded. It costs the reading
 * and writing of the whole database. On an error the caller still closes. */
int soc_store_copy(struct soc_store *from, struct soc_store *to, struct soc_detail *detail);

/* Answers a query from the tables as they are, without folding. */
int soc_store_answer(struct soc_store *store, const struct soc_query *query, struct soc_buf *out,
                     struct soc_detail *detail);

/* Binds a text, NULL where it is absent. The text must outlive the run. */
int soc_bind_text(sqlite3_stmt *statement, int index, struct soc_slice text);

/* Binds a number, 0 as NULL. */
void soc_bind_positive(sqlite3_stmt *statement, int index, uint64_t number);

/* Checks the checksum of a journal row (sequence, checksum, batch) and lends its
 * batch. `expected` is the sequence that has to come. */
int soc_journal_row(sqlite3_stmt *row, uint64_t expected, struct soc_slice *batch,
                    struct soc_detail *detail);

/* Frees what folding keeps between its runs. NULL is allowed. */
void soc_fold_free(struct soc_fold *fold);

#endif

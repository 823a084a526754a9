/* Database: one connection to SQLite with its prepared statements.
 *
 * It knows the tables (schema.h) and how to run statements, report errors and refuse to
 * write on top of damage; what is stored in the tables is the business of the modules
 * above it.
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_TABLES_DATABASE_H
#define SOC_STORE_TABLES_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/buf.h"
#include "base/err.h"
#include "env/calendar.h"
#include "store/tables/statements.h"

struct soc_tails;

/* A connection. Zeroed: closed. */
struct soc_database {
    sqlite3 *db;        /* owned; NULL: closed */
    const char *vfs;    /* lent; how SQLite gets at files; NULL: its default */
    const char *damage; /* lent; names a damaged page once one was read, empty before; NULL:
                         * nobody checks pages */
    sqlite3_stmt *statements[SOC_STATEMENT_COUNT]; /* owned; NULL: not prepared yet */
    struct soc_calendar calendar;                  /* for date_ms() in SQL; read for each query */
    struct soc_tails *tails; /* owned by the store; batches kept between looks; NULL: none */
    bool has_failed;         /* an I/O error: it is unknown what the files hold */
    int wal_pages;           /* in the write-ahead log after the last commit */
    int wal_pages_copied;    /* of those, how many a checkpoint has copied back */
};

/* Opens `path` (":memory:", or "" for a private temporary file) with sqlite3_open_v2's
 * `flags` and sets it up. On an error the caller still closes. */
int soc_database_open(struct soc_database *database, const char *path, int flags,
                      struct soc_detail *detail);

/* Finalizes and closes. After an I/O error the write-ahead log is not copied back: its
 * pages can be trusted only when they are read again. */
void soc_database_close(struct soc_database *database);

/* Creates the tables, in one transaction. */
int soc_database_create(struct soc_database *database, struct soc_detail *detail);

/* The same in memory: copies the tables from `blank`, or leaves a copy there if it is
 * empty. A copy costs a third of creating them. NULL: none is kept. */
int soc_database_create_from(struct soc_database *database, struct soc_buf *blank,
                             struct soc_detail *detail);

/* Upgrades an older database to the current version; SOC_EOLDER unless `may_write`. `fill`
 * does what SQL cannot for versions without the table `lines`, in the same transaction, when
 * the tables have their new form. */
int soc_database_upgrade(struct soc_database *database, bool may_write,
                         int (*fill)(struct soc_database *database, struct soc_detail *detail),
                         struct soc_detail *detail);

/* Has SQLite check the whole structure of the database; SOC_ECORRUPT if it is damaged. */
int soc_database_check(struct soc_database *database, struct soc_detail *detail);

/* Runs SQL that has no results. */
int soc_database_exec(struct soc_database *database, const char *sql, struct soc_detail *detail);

/* Prepares SQL, in which records in braces stand for columns (columns.h), for one use. The
 * caller finalizes, also after an error. The first returns SQLite's result code. */
int soc_database_compile(struct soc_database *database, const char *sql, sqlite3_stmt **out);
int soc_database_prepare(struct soc_database *database, const char *sql, sqlite3_stmt **out,
                         struct soc_detail *detail);

/* Turns a result code of SQLite into an error with a message. */
int soc_database_fail(struct soc_database *database, int sqlite_rc, struct soc_detail *detail);

/* Lends a prepared statement. Statements are prepared on first use: preparing all of them
 * takes longer than the rest of a start. NULL on an error, which running it will report. */
sqlite3_stmt *soc_database_statement(struct soc_database *database, enum soc_statement which);

/* Runs a statement that has no rows and resets it. Returns SQLite's result code. */
int soc_database_run(struct soc_database *database, enum soc_statement which);

/* Begins a write transaction, commits it, or rolls it back. */
int soc_database_begin(struct soc_database *database, struct soc_detail *detail);
int soc_database_commit(struct soc_database *database, struct soc_detail *detail);
void soc_database_rollback(struct soc_database *database);

/* Copies the write-ahead log back into the database; `*is_all`: all of it. A reader or
 * a full disk may delay some of it, which is no error. */
int soc_database_checkpoint(struct soc_database *database, bool *is_all, struct soc_detail *detail);

/* Pages of the write-ahead log that are not copied back. */
int soc_database_wal_pages(const struct soc_database *database);

/* Binds a text, NULL if it is absent. The text must outlive the run. */
int soc_database_bind_text(sqlite3_stmt *statement, int index, struct soc_slice text);

/* Binds a number, 0 as NULL. */
void soc_database_bind_positive(sqlite3_stmt *statement, int index, uint64_t number);

/* Lends the text of a column, absent if it is NULL. */
struct soc_slice soc_database_text(sqlite3_stmt *row, int column);

#endif

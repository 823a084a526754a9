/* Store SQL: how the tests of the store read and change a database from outside.
 *
 * Layer: tests. Thread: one. */
#ifndef SOC_TESTS_STORE_SQL_H
#define SOC_TESTS_STORE_SQL_H

#include <sqlite3.h>

#include "store/sqlite/pages.h"
#include "store_world.h"

/* Runs SQL through a connection of another program, with or without checksums, and
 * returns the last value of the last row, lent until the next call. */
static inline const char *run_sql_in(struct world *world, const char *sql, const char *vfs)
{
    static char result[4096];
    sqlite3 *db;
    sqlite3_stmt *statement = NULL;
    const char *rest = sql;
    result[0] = '\0';
    CHECK_INT(sqlite3_open_v2(world_path(world, "society.db"), &db, SQLITE_OPEN_READWRITE, vfs),
              SQLITE_OK);
    while (*rest != '\0') {
        if (!CHECK_INT(sqlite3_prepare_v2(db, rest, -1, &statement, &rest), SQLITE_OK)) {
            printf("# %s\n", sqlite3_errmsg(db));
            break;
        }
        int rc;
        while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
            const char *text =
                (const char *)sqlite3_column_text(statement, sqlite3_column_count(statement) - 1);
            snprintf(result, sizeof(result), "%s", text == NULL ? "NULL" : text);
        }
        CHECK_INT(rc, SQLITE_DONE);
        sqlite3_finalize(statement);
    }
    sqlite3_close(db);
    return result;
}

/* The same as a program that knows nothing of checksums. */
static inline const char *run_sql(struct world *world, const char *sql)
{
    return run_sql_in(world, sql, NULL);
}

/* Changes the database and keeps its checksums right. */
static inline void set_sql(struct world *world, const char *sql)
{
    struct soc_pages *pages = soc_pages_new(NULL);
    run_sql_in(world, sql, soc_pages_vfs(pages));
    soc_pages_free(pages);
}

#endif

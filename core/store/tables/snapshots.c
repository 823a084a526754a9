#include "store/tables/snapshots.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "store/tables/past_rows.h"
#include "store/tables/schema.h"

#define PART_BYTES (256u << 10) /* written in about a millisecond */

int soc_snapshots_need_tables(struct soc_database *database, struct soc_detail *detail)
{
    return soc_database_exec(database, soc_schema_snapshots_sql(), detail);
}

bool soc_snapshot_is_due(const struct soc_past *past)
{
    uint64_t lines = past->line - past->kept;
    return !past->is_partial && past->line % SOC_SNAPSHOT_LINES == 0 &&
           lines >= SOC_SNAPSHOT_LINES && lines * SOC_SNAPSHOT_LINE_BYTES >= past->bytes;
}

struct soc_snapshot *soc_snapshot_take(struct soc_past *past)
{
    struct soc_snapshot *snapshot = soc_alloc_zero(sizeof(*snapshot));
    snapshot->line = past->line;
    snapshot->latest_ms = past->latest_ms;
    soc_past_rows_write(past, &snapshot->bytes);
    past->kept = past->line;
    past->bytes = snapshot->bytes.length;
    return snapshot;
}

void soc_snapshots_free(struct soc_snapshot *snapshots)
{
    while (snapshots != NULL) {
        struct soc_snapshot *next = snapshots->next;
        soc_buf_fini(&snapshots->bytes);
        free(snapshots);
        snapshots = next;
    }
}

/* Runs a statement that has no rows, and finalizes it. */
static int run(struct soc_database *database, sqlite3_stmt *statement, struct soc_detail *detail)
{
    int rc = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return rc == SQLITE_DONE ? SOC_OK : soc_database_fail(database, rc, detail);
}

/* Removes what is left of one that was not stored to its end. */
static int clear(struct soc_database *database, uint64_t line, struct soc_detail *detail)
{
    sqlite3_stmt *removal = NULL;
    int rc =
        soc_database_prepare(database, "DELETE FROM snapshots WHERE line = ?1", &removal, detail);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(removal, 1, (int64_t)line);
    return run(database, removal, detail);
}

/* Stores part `part`, counted from 0. */
static int store_part(struct soc_database *database, const struct soc_snapshot *snapshot,
                      uint64_t part, uint64_t count, struct soc_detail *detail)
{
    sqlite3_stmt *insert = NULL;
    size_t start = (size_t)part * PART_BYTES;
    size_t left = snapshot->bytes.length - start;
    int rc = soc_database_prepare(database,
                                  "INSERT OR REPLACE INTO snapshots(line, part, latest_ms, bytes)"
                                  " VALUES(?1, ?2, ?3, ?4)",
                                  &insert, detail);
    if (rc < 0) {
        sqlite3_finalize(insert);
        return rc;
    }
    sqlite3_bind_int64(insert, 1, (int64_t)snapshot->line);
    sqlite3_bind_int64(insert, 2, part == 0 ? -(int64_t)count : (int64_t)part);
    sqlite3_bind_int64(insert, 3, snapshot->latest_ms);
    sqlite3_bind_blob64(insert, 4, snapshot->bytes.data + start,
                        left < PART_BYTES ? left : PART_BYTES, SQLITE_STATIC);
    return run(database, insert, detail);
}

int soc_snapshots_store(struct soc_database *database, struct soc_snapshot *snapshot,
                        struct soc_detail *detail)
{
    uint64_t count = (snapshot->bytes.length + PART_BYTES - 1) / PART_BYTES;
    int rc = soc_database_begin(database, detail);
    if (rc < 0)
        return rc;
    if (snapshot->stored == 0)
        rc = soc_snapshots_need_tables(database, detail);
    if (rc == SOC_OK && snapshot->stored == 0)
        rc = clear(database, snapshot->line, detail);
    if (rc == SOC_OK)
        rc = store_part(database, snapshot, count - 1 - snapshot->stored, count, detail);
    if (rc == SOC_OK)
        rc = soc_database_commit(database, detail);
    else
        soc_database_rollback(database);
    return rc < 0 ? rc : ++snapshot->stored < count;
}

/* Prepares a question about the tables of snapshots; NULL: an older database, which is only
 * read, has none. */
static int ask(struct soc_database *database, const char *sql, sqlite3_stmt **out,
               struct soc_detail *detail)
{
    int rc = soc_database_compile(database, sql, out);
    if ((rc & 0xff) == SQLITE_ERROR)
        return SOC_OK;
    return rc == SQLITE_OK ? SOC_OK : soc_database_fail(database, rc, detail);
}

/* Reads the rest of the parts of a snapshot behind the first one. */
static int read_parts(struct soc_database *database, int64_t line, int64_t count,
                      struct soc_buf *bytes, struct soc_detail *detail)
{
    sqlite3_stmt *parts = NULL;
    int sqlite_rc;
    int rc = soc_database_prepare(database,
                                  "SELECT bytes FROM snapshots WHERE line = ?1"
                                  " AND part > 0 AND part < ?2 ORDER BY part",
                                  &parts, detail);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(parts, 1, line);
    sqlite3_bind_int64(parts, 2, count);
    while ((sqlite_rc = sqlite3_step(parts)) == SQLITE_ROW)
        soc_buf_put(bytes, sqlite3_column_blob(parts, 0), (size_t)sqlite3_column_bytes(parts, 0));
    sqlite3_finalize(parts);
    return sqlite_rc == SQLITE_DONE ? SOC_OK : soc_database_fail(database, sqlite_rc, detail);
}

/* Fills a past with the snapshot that the row names. It stays empty if that is damaged. */
static int read_snapshot(struct soc_database *database, sqlite3_stmt *row, struct soc_past *past,
                         struct soc_detail *detail)
{
    struct soc_buf bytes = {0};
    int64_t line = sqlite3_column_int64(row, 0);
    soc_buf_put(&bytes, sqlite3_column_blob(row, 2), (size_t)sqlite3_column_bytes(row, 2));
    int rc = read_parts(database, line, -sqlite3_column_int64(row, 1), &bytes, detail);
    if (rc == SOC_OK &&
        (!soc_past_rows_read(past, soc_buf_slice(&bytes)) || past->line != (uint64_t)line))
        soc_past_empty(past);
    past->bytes = bytes.length;
    soc_buf_fini(&bytes);
    return rc;
}

int soc_snapshots_begin(struct soc_database *database, const struct soc_snapshots_span *span,
                        struct soc_past *past, struct soc_detail *detail)
{
    sqlite3_stmt *row = NULL;
    int sqlite_rc = SQLITE_DONE;
    bool is_found = false;
    int rc = ask(database,
                 "SELECT line, part, bytes FROM snapshots WHERE line <= ?1 AND line >= ?2 - 1"
                 " AND part < 0 AND latest_ms < ?3 ORDER BY line DESC",
                 &row, detail);
    if (rc == SOC_OK && row != NULL) {
        sqlite3_bind_int64(row, 1, span->until < INT64_MAX ? (int64_t)span->until : INT64_MAX);
        sqlite3_bind_int64(row, 2, (int64_t)span->first);
        sqlite3_bind_int64(row, 3, span->until_ms > 0 ? span->until_ms : INT64_MAX);
        while (rc == SOC_OK && past->line == 0 && (sqlite_rc = sqlite3_step(row)) == SQLITE_ROW)
            rc = read_snapshot(database, row, past, detail);
        if (rc == SOC_OK && sqlite_rc != SQLITE_ROW && sqlite_rc != SQLITE_DONE)
            rc = soc_database_fail(database, sqlite_rc, detail);
    }
    sqlite3_finalize(row);
    if (rc < 0 || past->line != 0 || span->first == 1 || span->until + 1 < span->first)
        return rc;
    rc = soc_snapshots_read_edge(database, span->first - 1, past, &is_found, detail);
    if (span->until_ms > 0 && past->latest_ms >= span->until_ms)
        soc_past_empty(past);
    return rc;
}

int soc_snapshots_forget(struct soc_database *database, uint64_t first, struct soc_detail *detail)
{
    sqlite3_stmt *forget = NULL;
    int rc =
        soc_database_prepare(database, "DELETE FROM snapshots WHERE line < ?1", &forget, detail);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(forget, 1, (int64_t)first);
    return run(database, forget, detail);
}

int soc_snapshots_read_edge(struct soc_database *database, uint64_t line, struct soc_past *past,
                            bool *is_found, struct soc_detail *detail)
{
    sqlite3_stmt *rows = NULL;
    int sqlite_rc = SQLITE_DONE;
    bool is_whole = true;
    *is_found = false;
    int rc = ask(database, "SELECT number, row FROM edge ORDER BY number", &rows, detail);
    while (rows != NULL && is_whole && (sqlite_rc = sqlite3_step(rows)) == SQLITE_ROW) {
        struct soc_slice row = {sqlite3_column_blob(rows, 1),
                                (size_t)sqlite3_column_bytes(rows, 1)};
        is_whole = soc_past_rows_take(past, (uint64_t)sqlite3_column_int64(rows, 0), row);
    }
    sqlite3_finalize(rows);
    if (rc == SOC_OK && sqlite_rc != SQLITE_ROW && sqlite_rc != SQLITE_DONE)
        rc = soc_database_fail(database, sqlite_rc, detail);
    *is_found = rc == SOC_OK && is_whole && past->line == line && line > 0;
    if (!*is_found)
        soc_past_empty(past);
    return rc;
}

/* Writes the row of one thing, or removes it. */
static int write_row(struct soc_database *database, sqlite3_stmt *put, sqlite3_stmt *removal,
                     const struct soc_past *past, const struct soc_past_change *change,
                     struct soc_detail *detail)
{
    struct soc_buf bytes = {0};
    sqlite3_stmt *statement = change->thing == NULL ? removal : put;
    sqlite3_bind_int64(statement, 1, (int64_t)change->number);
    if (change->thing != NULL) {
        soc_past_rows_put(past, change, &bytes);
        sqlite3_bind_blob64(statement, 2, bytes.data, bytes.length, SQLITE_STATIC);
    }
    int rc = sqlite3_step(statement);
    sqlite3_reset(statement);
    soc_buf_fini(&bytes);
    return rc == SQLITE_DONE ? SOC_OK : soc_database_fail(database, rc, detail);
}

int soc_snapshots_write_edge(struct soc_database *database, struct soc_past *past,
                             struct soc_detail *detail)
{
    sqlite3_stmt *put = NULL;
    sqlite3_stmt *removal = NULL;
    const struct soc_past_change *change;
    struct soc_past_change head = {.kind = SOC_PAST_HEAD, .thing = past};
    int rc = soc_database_prepare(
        database, "INSERT OR REPLACE INTO edge(number, row) VALUES(?1, ?2)", &put, detail);
    if (rc == SOC_OK)
        rc = soc_database_prepare(database, "DELETE FROM edge WHERE number = ?1", &removal, detail);
    if (rc == SOC_OK)
        rc = write_row(database, put, removal, past, &head, detail);
    for (size_t cursor = 0;
         rc == SOC_OK && (change = soc_map_each(&past->changes, &cursor)) != NULL;)
        rc = write_row(database, put, removal, past, change, detail);
    sqlite3_finalize(put);
    sqlite3_finalize(removal);
    soc_past_clear_changes(past);
    return rc;
}

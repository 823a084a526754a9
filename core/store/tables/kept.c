#include "store/tables/kept.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"

#define ROWS_AT_A_TIME "64"

static struct soc_history_row read_row(sqlite3_stmt *row)
{
    struct soc_history_row out = {
        .number = sqlite3_column_int64(row, 0),
        .time_ms = sqlite3_column_int64(row, 1),
        .what = soc_database_text(row, 3),
        .agent = soc_database_text(row, 4),
        .detail = soc_database_text(row, 5),
    };
    uint64_t checksum = soc_hash(out.detail.data, out.detail.length, 0) & INT64_MAX;
    out.is_damaged = (uint64_t)sqlite3_column_int64(row, 2) != checksum;
    return out;
}

/* Walks a few rows after `*last`. Returns their number. */
static int read_some(struct soc_database *database, sqlite3_stmt *statement, int64_t *last,
                     soc_history_cb *cb, void *user, struct soc_detail *detail)
{
    int rc = SOC_OK;
    int count = 0;
    int sqlite_rc = sqlite3_bind_int64(statement, 1, *last);
    while (rc >= 0 && (sqlite_rc = sqlite3_step(statement)) == SQLITE_ROW) {
        struct soc_history_row row = read_row(statement);
        *last = row.number;
        count++;
        rc = cb(user, &row);
    }
    sqlite3_reset(statement);
    if (rc >= 0 && sqlite_rc != SQLITE_DONE)
        return soc_database_fail(database, sqlite_rc, detail);
    return rc < 0 ? rc : count;
}

int soc_kept_history(struct soc_database *database, soc_history_cb *cb, void *user,
                     struct soc_detail *detail)
{
    sqlite3_stmt *statement;
    int64_t last = 0;
    int rc = sqlite3_prepare_v2(database->db,
                                "SELECT number, time_ms, checksum, what, agent, detail"
                                " FROM history WHERE number > ?1 ORDER BY number"
                                " LIMIT " ROWS_AT_A_TIME,
                                -1, &statement, NULL);
    if (rc != SQLITE_OK)
        return soc_database_fail(database, rc, detail);
    do
        rc = read_some(database, statement, &last, cb, user, detail);
    while (rc > 0);
    sqlite3_finalize(statement);
    return rc;
}

int soc_kept_history_count(struct soc_database *database, int64_t *count, struct soc_detail *detail)
{
    sqlite3_stmt *statement;
    int rc = sqlite3_prepare_v2(database->db, "SELECT count(*) FROM history", -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *count = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return rc == SQLITE_ROW ? SOC_OK : soc_database_fail(database, rc, detail);
}

int soc_kept_source(struct soc_database *database, struct soc_slice hash, struct soc_buf *out,
                    struct soc_detail *detail)
{
    sqlite3_stmt *statement;
    char found[17] = "";
    int rc = sqlite3_prepare_v2(database->db, "SELECT text FROM sources WHERE hash = ?1", -1,
                                &statement, NULL);
    if (rc != SQLITE_OK)
        return soc_database_fail(database, rc, detail);
    soc_database_bind_text(statement, 1, hash);
    int sqlite_rc = sqlite3_step(statement);
    if (sqlite_rc == SQLITE_ROW) {
        struct soc_slice text = soc_database_text(statement, 0);
        snprintf(found, sizeof(found), "%016" PRIx64, soc_hash(text.data, text.length, 0));
        soc_buf_put_slice(out, text);
    }
    sqlite3_finalize(statement);
    if (sqlite_rc == SQLITE_DONE)
        return soc_fail(detail, SOC_ENOFILE, "the source text %.*s was not kept", (int)hash.length,
                        hash.data);
    if (sqlite_rc != SQLITE_ROW)
        return soc_database_fail(database, sqlite_rc, detail);
    if (!soc_slice_equal(soc_slice_text(found), hash))
        return soc_fail(detail, SOC_ECORRUPT, "the source text %.*s is damaged: its hash differs",
                        (int)hash.length, hash.data);
    return SOC_OK;
}

int soc_kept_memories(struct soc_database *database, soc_memory_cb *cb, void *user,
                      struct soc_detail *detail)
{
    sqlite3_stmt *statement;
    int rc = sqlite3_prepare_v2(database->db,
                                "SELECT number, time_ms, agent, entry FROM memories"
                                " ORDER BY agent, number",
                                -1, &statement, NULL);
    if (rc != SQLITE_OK)
        return soc_database_fail(database, rc, detail);
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        struct soc_record_memory entry = {
            .number = (uint64_t)sqlite3_column_int64(statement, 0),
            .time_ms = (uint64_t)sqlite3_column_int64(statement, 1),
            .agent = soc_database_text(statement, 2),
            .entry = soc_database_text(statement, 3),
        };
        cb(user, &entry);
    }
    sqlite3_finalize(statement);
    return rc == SQLITE_DONE ? SOC_OK : soc_database_fail(database, rc, detail);
}

#include "store/tables/batches.h"

#include <assert.h>
#include <inttypes.h>

#include "base/hash.h"
#include "store/line.h"

int soc_batches_position(struct soc_database *database, struct soc_store_position *at,
                         struct soc_detail *detail)
{
    sqlite3_stmt *statement;
    int rc = sqlite3_prepare_v2(database->db,
                                "SELECT (SELECT folded FROM progress), min(sequence),"
                                " max(sequence), count(*), total(length(batch)),"
                                " (SELECT lines FROM progress) FROM journal",
                                -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc != SQLITE_ROW) {
        sqlite3_finalize(statement);
        return soc_database_fail(database, rc, detail);
    }
    uint64_t folded = (uint64_t)sqlite3_column_int64(statement, 0);
    uint64_t first = (uint64_t)sqlite3_column_int64(statement, 1);
    uint64_t last = (uint64_t)sqlite3_column_int64(statement, 2);
    uint64_t count = (uint64_t)sqlite3_column_int64(statement, 3);
    at->backlog = (uint64_t)sqlite3_column_double(statement, 4);
    at->lines = (uint64_t)sqlite3_column_int64(statement, 5);
    sqlite3_finalize(statement);
    at->folded = folded;
    at->sequence = count == 0 ? folded : last;
    if (count > 0 && (first != folded + 1 || last - first + 1 != count))
        return soc_fail(detail, SOC_ECORRUPT,
                        "the journal has %" PRIu64 " batches from %" PRIu64 " to %" PRIu64
                        ", but %" PRIu64 " is the next one needed",
                        count, first, last, folded + 1);
    return SOC_OK;
}

int soc_batches_last_line(struct soc_database *database, struct soc_store_position *at,
                          struct soc_detail *detail)
{
    sqlite3_stmt *statement = soc_database_statement(database, SOC_STATEMENT_LAST_LINE);
    int rc = statement == NULL ? SQLITE_ERROR : sqlite3_step(statement);
    if (rc == SQLITE_ROW) {
        at->last_line = (uint64_t)sqlite3_column_int64(statement, 0);
        at->last_key = (uint64_t)sqlite3_column_int64(statement, 1);
    }
    sqlite3_reset(statement);
    return rc == SQLITE_ROW ? SOC_OK : soc_database_fail(database, rc, detail);
}

static int append_row(struct soc_database *database, const struct soc_store_position *at,
                      struct soc_slice batch)
{
    sqlite3_stmt *statement = soc_database_statement(database, SOC_STATEMENT_APPEND);
    uint64_t checksum = soc_hash(batch.data, batch.length, at->sequence);
    sqlite3_bind_int64(statement, 1, (int64_t)at->sequence);
    sqlite3_bind_int64(statement, 2, (int64_t)checksum);
    sqlite3_bind_int64(statement, 4, (int64_t)at->last_line);
    sqlite3_bind_int64(statement, 5, (int64_t)at->last_key);
    int rc = sqlite3_bind_blob64(statement, 3, batch.data, batch.length, SQLITE_STATIC);
    return rc == SQLITE_OK ? soc_database_run(database, SOC_STATEMENT_APPEND) : rc;
}

void soc_batches_pass(struct soc_store_position *at, struct soc_slice batch)
{
    at->sequence++;
    at->backlog += batch.length;
    at->last_line += soc_line_count(batch, &at->last_key);
}

int soc_batches_append(struct soc_database *database, struct soc_store_position *at,
                       const struct soc_slice *batches, size_t count, struct soc_detail *detail)
{
    struct soc_store_position after = *at;
    int rc = soc_database_begin(database, detail);
    for (size_t i = 0; rc == SOC_OK && i < count; i++) {
        soc_batches_pass(&after, batches[i]);
        int sqlite_rc = append_row(database, &after, batches[i]);
        if (sqlite_rc == SQLITE_OK)
            continue;
        rc = soc_database_fail(database, sqlite_rc, detail);
        soc_database_rollback(database);
    }
    if (rc == SOC_OK)
        rc = soc_database_commit(database, detail);
    if (rc == SOC_OK)
        *at = after;
    return rc;
}

/* Checks a row (sequence, checksum, batch) and lends its batch. */
static int read_row(sqlite3_stmt *row, uint64_t expected, struct soc_slice *batch,
                    struct soc_detail *detail)
{
    uint64_t sequence = (uint64_t)sqlite3_column_int64(row, 0);
    uint64_t checksum = (uint64_t)sqlite3_column_int64(row, 1);
    const char *bytes = sqlite3_column_blob(row, 2);
    *batch = soc_slice(bytes, (size_t)sqlite3_column_bytes(row, 2));
    if (sequence != expected)
        return soc_fail(detail, SOC_ECORRUPT,
                        "batch %" PRIu64 " of the journal is missing; the next is %" PRIu64,
                        expected, sequence);
    if (soc_hash(batch->data, batch->length, sequence) != checksum)
        return soc_fail(detail, SOC_ECORRUPT,
                        "batch %" PRIu64 " of the journal is damaged: its checksum differs",
                        sequence);
    return SOC_OK;
}

int soc_batches_read(void *user, uint64_t *last, uint64_t until, size_t bytes_max,
                     struct soc_buf *out, struct soc_detail *detail)
{
    struct soc_database *database = user;
    sqlite3_stmt *statement = soc_database_statement(database, SOC_STATEMENT_READ);
    int rc = SOC_OK;
    int sqlite_rc = SQLITE_ROW;
    assert(*last < until);
    sqlite3_bind_int64(statement, 1, (int64_t)*last);
    while (rc == SOC_OK && *last < until && out->length < bytes_max) {
        struct soc_slice batch;
        sqlite_rc = sqlite3_step(statement);
        if (sqlite_rc != SQLITE_ROW)
            break;
        rc = read_row(statement, *last + 1, &batch, detail);
        if (rc == SOC_OK) {
            soc_buf_put_slice(out, batch);
            (*last)++;
        }
    }
    sqlite3_reset(statement);
    if (sqlite_rc == SQLITE_DONE)
        return soc_fail(detail, SOC_ECORRUPT, "batch %" PRIu64 " of the journal is missing",
                        *last + 1);
    return sqlite_rc == SQLITE_ROW ? rc : soc_database_fail(database, sqlite_rc, detail);
}

int soc_batches_load(struct soc_database *database, uint64_t folded, soc_record_cb *cb, void *user,
                     struct soc_detail *detail)
{
    sqlite3_stmt *statement;
    uint64_t sequence = folded;
    int rc = SOC_OK;
    int sqlite_rc = sqlite3_prepare_v2(
        database->db, "SELECT sequence, checksum, batch FROM journal ORDER BY sequence", -1,
        &statement, NULL);
    while (rc == SOC_OK && (sqlite_rc == SQLITE_OK || sqlite_rc == SQLITE_ROW)) {
        sqlite_rc = sqlite3_step(statement);
        struct soc_slice batch;
        if (sqlite_rc != SQLITE_ROW)
            break;
        rc = read_row(statement, ++sequence, &batch, detail);
        if (rc == SOC_OK)
            rc = soc_store_load_batch(batch, sequence, cb, user, detail);
    }
    if (rc == SOC_OK && sqlite_rc != SQLITE_DONE)
        rc = soc_database_fail(database, sqlite_rc, detail);
    sqlite3_finalize(statement);
    return rc;
}

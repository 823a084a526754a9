#include "store/tables/lines.h"

/* A line is coded as 0 for a row of `events`; otherwise as the difference of the key to
 * the one before it in the block, with the sign and whether it is an end in the lowest
 * bits, plus 1. Codes are varints. */
static uint64_t code_of(struct soc_lines_entry entry, uint64_t previous)
{
    if (entry.kind == SOC_LINES_EVENT)
        return 0;
    bool is_lower = entry.key < previous;
    uint64_t distance = is_lower ? previous - entry.key : entry.key - previous;
    return (distance << 2 | (uint64_t)is_lower << 1 | (entry.kind == SOC_LINES_END)) + 1;
}

static void put_varint(struct soc_buf *out, uint64_t number)
{
    char bytes[10];
    size_t length = 0;
    for (; number >= 0x80; number >>= 7)
        bytes[length++] = (char)(number | 0x80);
    bytes[length++] = (char)number;
    soc_buf_put(out, bytes, length);
}

int soc_lines_add(struct soc_lines *lines, struct soc_database *database, uint64_t number,
                  struct soc_lines_entry entry, int64_t time_ms)
{
    put_varint(&lines->bytes, code_of(entry, lines->key));
    if (entry.kind != SOC_LINES_EVENT)
        lines->key = entry.key;
    if (lines->count == 0 || time_ms < lines->since_ms)
        lines->since_ms = time_ms;
    if (lines->count == 0 || time_ms > lines->until_ms)
        lines->until_ms = time_ms;
    return ++lines->count < SOC_LINES_BLOCK_MAX ? SQLITE_OK
                                                : soc_lines_flush(lines, database, number);
}

int soc_lines_flush(struct soc_lines *lines, struct soc_database *database, uint64_t last)
{
    if (lines->count == 0)
        return SQLITE_OK;
    sqlite3_stmt *statement = soc_database_statement(database, SOC_STATEMENT_LINES);
    sqlite3_bind_int64(statement, 1, (int64_t)last);
    sqlite3_bind_int64(statement, 2, (int64_t)lines->count);
    sqlite3_bind_int64(statement, 3, lines->since_ms);
    sqlite3_bind_int64(statement, 4, lines->until_ms);
    sqlite3_bind_blob64(statement, 5, lines->bytes.data, lines->bytes.length, SQLITE_STATIC);
    int rc = soc_database_run(database, SOC_STATEMENT_LINES);
    lines->bytes.length = 0;
    lines->count = lines->key = 0;
    return rc;
}

void soc_lines_fini(struct soc_lines *lines)
{
    soc_buf_fini(&lines->bytes);
}

/* Reads the entries of a block; false if its bytes are damaged. */
static bool read_entries(struct soc_slice bytes, struct soc_lines_block *block)
{
    const unsigned char *at = (const unsigned char *)bytes.data;
    const unsigned char *end = at + bytes.length;
    uint64_t key = 0;
    for (uint64_t i = 0; i < block->count; i++) {
        uint64_t code = 0;
        unsigned shift = 0;
        do {
            if (at == end || shift > 63)
                return false;
            code |= (uint64_t)(*at & 0x7f) << shift;
            shift += 7;
        } while (*at++ >= 0x80);
        struct soc_lines_entry *entry = &block->entries[i];
        *entry = (struct soc_lines_entry){.kind = SOC_LINES_EVENT};
        if (code == 0)
            continue;
        code--;
        key = (code & 2) != 0 ? key - (code >> 2) : key + (code >> 2);
        *entry = (struct soc_lines_entry){(code & 1) != 0 ? SOC_LINES_END : SOC_LINES_SENT, key};
    }
    return at == end;
}

static int take_block(struct soc_database *database, sqlite3_stmt *row,
                      struct soc_lines_block *block, struct soc_detail *detail)
{
    uint64_t last = (uint64_t)sqlite3_column_int64(row, 0);
    uint64_t count = (uint64_t)sqlite3_column_int64(row, 1);
    const char *bytes = sqlite3_column_blob(row, 2);
    block->count = count;
    block->first = last - count + 1;
    if (count > 0 && count <= SOC_LINES_BLOCK_MAX && count <= last &&
        read_entries(soc_slice(bytes, (size_t)sqlite3_column_bytes(row, 2)), block))
        return SOC_OK;
    block->first = block->count = 0;
    (void)database;
    return soc_fail(detail, SOC_ECORRUPT,
                    "society.db is damaged: the table of lines does not hold line %llu",
                    (unsigned long long)last);
}

int soc_lines_read(struct soc_database *database, const struct soc_lines_span *span,
                   struct soc_lines_block *block, struct soc_detail *detail)
{
    enum soc_statement which =
        span->is_backwards ? SOC_STATEMENT_LINES_BACK : SOC_STATEMENT_LINES_READ;
    sqlite3_stmt *statement = soc_database_statement(database, which);
    block->first = block->count = 0;
    sqlite3_bind_int64(statement, 1, (int64_t)span->after);
    sqlite3_bind_int64(statement, 2, (int64_t)span->until);
    sqlite3_bind_int64(statement, 3, span->since_ms > 0 ? span->since_ms : INT64_MIN);
    sqlite3_bind_int64(statement, 4, span->until_ms > 0 ? span->until_ms : INT64_MAX);
    int sqlite_rc = statement == NULL ? SQLITE_ERROR : sqlite3_step(statement);
    int rc = SOC_OK;
    if (sqlite_rc == SQLITE_ROW)
        rc = take_block(database, statement, block, detail);
    else if (sqlite_rc != SQLITE_DONE)
        rc = soc_database_fail(database, sqlite_rc, detail);
    sqlite3_reset(statement);
    return rc;
}

/* The lines of older versions come from three sorted sources, which are merged. */
struct source {
    sqlite3_stmt *rows; /* number, key, time */
    enum soc_lines_kind kind;
    int rc;
};

static int fill(struct soc_database *database, struct source *sources, struct soc_lines *lines)
{
    uint64_t last = 0;
    int rc = SQLITE_OK;
    for (;;) {
        struct source *next = NULL;
        for (int i = 0; i < 3; i++) {
            if (sources[i].rc != SQLITE_ROW && sources[i].rc != SQLITE_DONE)
                return sources[i].rc;
            if (sources[i].rc == SQLITE_ROW &&
                (next == NULL ||
                 sqlite3_column_int64(sources[i].rows, 0) < sqlite3_column_int64(next->rows, 0)))
                next = &sources[i];
        }
        if (next == NULL || rc != SQLITE_OK)
            break;
        uint64_t number = (uint64_t)sqlite3_column_int64(next->rows, 0);
        int64_t time_ms = sqlite3_column_int64(next->rows, 2);
        for (; rc == SQLITE_OK && last + 1 < number; last++) /* one that has no row */
            rc = soc_lines_add(lines, database, last + 1, (struct soc_lines_entry){0}, time_ms);
        struct soc_lines_entry entry = {next->kind, (uint64_t)sqlite3_column_int64(next->rows, 1)};
        if (rc == SQLITE_OK && number == last + 1)
            rc = soc_lines_add(lines, database, number, entry, time_ms);
        last = number;
        next->rc = sqlite3_step(next->rows);
    }
    return rc == SQLITE_OK ? soc_lines_flush(lines, database, last) : rc;
}

static int fill_table(struct soc_database *database, struct soc_detail *detail)
{
    static const char *const sql[] = {
        "SELECT place, key, time_ms FROM message_entries ORDER BY key",
        "SELECT end_place, key, finished_ms FROM message_entries WHERE end_place > 0 ORDER BY 1",
        "SELECT number, 0, time_ms FROM events ORDER BY number",
    };
    static const enum soc_lines_kind kinds[] = {SOC_LINES_SENT, SOC_LINES_END, SOC_LINES_EVENT};
    struct source sources[3] = {{0}};
    struct soc_lines lines = {0};
    int rc = SOC_OK;
    for (int i = 0; rc == SOC_OK && i < 3; i++) {
        sources[i].kind = kinds[i];
        rc = soc_database_prepare(database, sql[i], &sources[i].rows, detail);
        if (rc == SOC_OK)
            sources[i].rc = sqlite3_step(sources[i].rows);
    }
    if (rc == SOC_OK) {
        int sqlite_rc = fill(database, sources, &lines);
        if (sqlite_rc != SQLITE_OK)
            rc = soc_database_fail(database, sqlite_rc, detail);
    }
    for (int i = 0; i < 3; i++)
        sqlite3_finalize(sources[i].rows);
    soc_lines_fini(&lines);
    return rc;
}

/* Numbers the batches that are not folded. */
static int number_journal(struct soc_database *database, struct soc_detail *detail)
{
    sqlite3_stmt *rows = NULL;
    sqlite3_stmt *update = NULL;
    uint64_t lines = 0;
    uint64_t key = 0;
    int sqlite_rc = SQLITE_DONE;
    int rc = soc_database_prepare(
        database,
        "SELECT sequence, batch, (SELECT lines FROM progress),"
        " (SELECT max(key) FROM message_entries) FROM journal ORDER BY sequence",
        &rows, detail);
    if (rc == SOC_OK)
        rc = soc_database_prepare(database,
                                  "UPDATE journal SET lines = ?2, key = ?3 WHERE sequence = ?1",
                                  &update, detail);
    while (rc == SOC_OK && (sqlite_rc = sqlite3_step(rows)) == SQLITE_ROW) {
        if (lines == 0) {
            lines = (uint64_t)sqlite3_column_int64(rows, 2);
            key = (uint64_t)sqlite3_column_int64(rows, 3);
        }
        const char *bytes = sqlite3_column_blob(rows, 1);
        lines += soc_line_count(soc_slice(bytes, (size_t)sqlite3_column_bytes(rows, 1)), &key);
        sqlite3_bind_int64(update, 1, sqlite3_column_int64(rows, 0));
        sqlite3_bind_int64(update, 2, (int64_t)lines);
        sqlite3_bind_int64(update, 3, (int64_t)key);
        sqlite_rc = sqlite3_step(update);
        sqlite3_reset(update);
        if (sqlite_rc != SQLITE_DONE)
            break;
    }
    if (rc == SOC_OK && sqlite_rc != SQLITE_DONE)
        rc = soc_database_fail(database, sqlite_rc, detail);
    sqlite3_finalize(rows);
    sqlite3_finalize(update);
    return rc;
}

int soc_lines_upgrade(struct soc_database *database, struct soc_detail *detail)
{
    int rc = fill_table(database, detail);
    return rc == SOC_OK ? number_journal(database, detail) : rc;
}

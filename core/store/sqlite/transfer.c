#include "store/sqlite/transfer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "store/directory.h"
#include "store/sqlite/sqlite.h"
#include "store/tables/database.h"
#include "store/tables/schema.h"

#define COLUMNS_MAX 64

/* The tables in which rows are stored; those of the journal are folded into the others, and
 * snapshots are made again. */
#define TABLES_SQL                                                                                 \
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%'"           \
    " ESCAPE '\\' AND name NOT IN ('journal', 'snapshots') ORDER BY name"

/* Rows on their way into one table; zeroed: no table yet. */
struct target {
    sqlite3_stmt *insert; /* owned */
    struct soc_buf name;
    struct soc_buf columns[COLUMNS_MAX];
    int column_count;
};

static void put_hex(struct soc_buf *out, const char *kind, const void *data, size_t length)
{
    const unsigned char *bytes = data;
    soc_buf_printf(out, "{\"%s\":\"", kind);
    for (size_t i = 0; i < length; i++)
        soc_buf_printf(out, "%02x", bytes[i]);
    soc_buf_put_text(out, "\"}");
}

static void put_value(struct soc_buf *out, sqlite3_stmt *row, int column)
{
    int type = sqlite3_column_type(row, column);
    if (type == SQLITE_INTEGER) {
        soc_json_put_integer(out, sqlite3_column_int64(row, column));
        return;
    }
    if (type == SQLITE_FLOAT) {
        soc_buf_printf(out, "{\"real\":\"%.17g\"}", sqlite3_column_double(row, column));
        return;
    }
    const void *data = type == SQLITE_TEXT ? (const void *)sqlite3_column_text(row, column)
                                           : sqlite3_column_blob(row, column);
    size_t length = (size_t)sqlite3_column_bytes(row, column);
    if (type == SQLITE_BLOB)
        put_hex(out, "blob", data, length);
    else if (soc_json_put_checked_string(out, soc_slice(data, length)) >= 0)
        put_hex(out, "text", data, length);
}

static void put_row(struct soc_buf *out, const char *table, sqlite3_stmt *row)
{
    out->length = 0;
    soc_buf_printf(out, "{\"stored\":\"%s\",\"row\":{", table);
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        if (sqlite3_column_type(row, i) == SQLITE_NULL)
            continue;
        soc_json_put_name(out, sqlite3_column_name(row, i));
        put_value(out, row, i);
    }
    soc_buf_put_text(out, "}}");
}

static int write_table(struct soc_database *database, const char *table, soc_transfer_take_cb *take,
                       void *user, struct soc_detail *detail)
{
    struct soc_buf sql = {0};
    struct soc_buf line = {0};
    sqlite3_stmt *rows = NULL;
    int step = SQLITE_ERROR;
    soc_buf_printf(&sql, "SELECT * FROM \"%s\"", table);
    int rc = soc_database_prepare(database, soc_buf_text(&sql), &rows, detail);
    while (rc == SOC_OK && (step = sqlite3_step(rows)) == SQLITE_ROW) {
        put_row(&line, table, rows);
        rc = take(soc_buf_slice(&line), user);
    }
    if (rc == SOC_OK && step != SQLITE_DONE)
        rc = soc_database_fail(database, step, detail);
    sqlite3_finalize(rows);
    soc_buf_fini(&sql);
    soc_buf_fini(&line);
    return rc;
}

static int write_tables(struct soc_database *database, soc_transfer_take_cb *take, void *user,
                        struct soc_detail *detail)
{
    struct soc_buf head = {0};
    sqlite3_stmt *tables = NULL;
    int step = SQLITE_ERROR;
    soc_buf_printf(&head, "{\"stored\":\"schema\",\"row\":{\"version\":%d}}", SOC_SCHEMA_VERSION);
    int rc = take(soc_buf_slice(&head), user);
    soc_buf_fini(&head);
    if (rc == SOC_OK)
        rc = soc_database_prepare(database, TABLES_SQL, &tables, detail);
    while (rc == SOC_OK && (step = sqlite3_step(tables)) == SQLITE_ROW)
        rc =
            write_table(database, (const char *)sqlite3_column_text(tables, 0), take, user, detail);
    if (rc == SOC_OK && step != SQLITE_DONE)
        rc = soc_database_fail(database, step, detail);
    sqlite3_finalize(tables);
    return rc;
}

int soc_transfer_write(const char *directory, const char *table, soc_transfer_take_cb *take,
                       void *user, struct soc_detail *detail)
{
    struct soc_store *store;
    assert(directory != NULL && take != NULL);
    struct soc_sqlite_options options = {.directory = directory, .access = SOC_SQLITE_SNAPSHOT};
    int rc = soc_sqlite_open(&store, &options, detail);
    if (rc < 0)
        return rc;
    struct soc_database *database = soc_sqlite_lend(store, NULL);
    rc = soc_database_exec(database, "BEGIN", detail);
    if (rc == SOC_OK)
        rc = table != NULL ? write_table(database, table, take, user, detail)
                           : write_tables(database, take, user, detail);
    soc_database_rollback(database);
    soc_store_close(store);
    return rc;
}

static void clear_target(struct target *target)
{
    sqlite3_finalize(target->insert);
    soc_buf_fini(&target->name);
    for (int i = 0; i < target->column_count; i++)
        soc_buf_fini(&target->columns[i]);
    *target = (struct target){0};
}

/* Prepares the insertion of rows with all columns that the table has. */
static int prepare_target(struct soc_database *database, struct target *target,
                          struct soc_detail *detail)
{
    sqlite3_stmt *info = NULL;
    struct soc_buf sql = {0};
    int rc = soc_database_prepare(database,
                                  "SELECT name FROM pragma_table_info(?1)"
                                  " WHERE ?1 IN (" TABLES_SQL ")",
                                  &info, detail);
    if (rc == SOC_OK)
        sqlite3_bind_text(info, 1, target->name.data, (int)target->name.length, SQLITE_STATIC);
    while (rc == SOC_OK && sqlite3_step(info) == SQLITE_ROW && target->column_count < COLUMNS_MAX)
        soc_buf_put_slice(&target->columns[target->column_count++], soc_database_text(info, 0));
    sqlite3_finalize(info);
    if (rc == SOC_OK && target->column_count == 0)
        rc = soc_fail(detail, SOC_EINVAL, "there is no table '%s'", soc_buf_text(&target->name));
    if (rc == SOC_OK) {
        soc_buf_printf(&sql, "INSERT INTO \"%s\" VALUES(?", soc_buf_text(&target->name));
        for (int i = 1; i < target->column_count; i++)
            soc_buf_put_text(&sql, ",?");
        soc_buf_put_byte(&sql, ')');
        rc = soc_database_prepare(database, soc_buf_text(&sql), &target->insert, detail);
    }
    soc_buf_fini(&sql);
    return rc;
}

static int find_column(const struct target *target, struct soc_slice name)
{
    for (int i = 0; i < target->column_count; i++)
        if (soc_slice_equal(soc_buf_slice(&target->columns[i]), name))
            return i;
    return -1;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(struct soc_slice hex, struct soc_buf *out)
{
    for (size_t i = 0; i + 1 < hex.length; i += 2) {
        int high = hex_digit(hex.data[i]);
        int low = hex_digit(hex.data[i + 1]);
        if (high < 0 || low < 0)
            return false;
        soc_buf_put_byte(out, (char)(high << 4 | low));
    }
    return hex.data != NULL && hex.length % 2 == 0;
}

/* Binds a value that JSON has no form for. */
static bool bind_object(sqlite3_stmt *insert, int index, struct soc_slice value,
                        struct soc_buf *scratch)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, value);
    if (!soc_json_next(&walk))
        return false;
    struct soc_slice text = soc_json_plain_string(walk.value);
    if (soc_json_name_is(walk.name, soc_slice_text("real")) && text.data != NULL) {
        soc_buf_put_slice(scratch, text);
        sqlite3_bind_double(insert, index, strtod(soc_buf_text(scratch), NULL));
        return true;
    }
    if (!read_hex(text, scratch))
        return false;
    const char *data = soc_buf_text(scratch);
    if (soc_json_name_is(walk.name, soc_slice_text("blob")))
        sqlite3_bind_blob(insert, index, data, (int)scratch->length, SQLITE_TRANSIENT);
    else
        sqlite3_bind_text(insert, index, data, (int)scratch->length, SQLITE_TRANSIENT);
    return true;
}

static bool bind_value(sqlite3_stmt *insert, int index, struct soc_slice value)
{
    struct soc_buf scratch = {0};
    int64_t number;
    bool is_bound = true;
    if (soc_json_integer(value, &number)) {
        sqlite3_bind_int64(insert, index, number);
    } else if (soc_json_string(value, &scratch)) {
        sqlite3_bind_text(insert, index, soc_buf_text(&scratch), (int)scratch.length,
                          SQLITE_TRANSIENT);
    } else {
        is_bound = bind_object(insert, index, value, &scratch);
    }
    soc_buf_fini(&scratch);
    return is_bound;
}

static int insert_row(struct soc_database *database, struct target *target, struct soc_slice row,
                      struct soc_detail *detail)
{
    struct soc_json_walk walk;
    sqlite3_reset(target->insert);
    sqlite3_clear_bindings(target->insert);
    soc_json_walk(&walk, row);
    while (soc_json_next(&walk)) {
        int column = find_column(target, walk.name);
        if (column < 0 || !bind_value(target->insert, column + 1, walk.value))
            return soc_fail(detail, SOC_EINVAL, "'%.*s' is no column of '%s', or has a bad value",
                            (int)walk.name.length, walk.name.data, soc_buf_text(&target->name));
    }
    int step = sqlite3_step(target->insert);
    if ((step & 0xff) == SQLITE_CONSTRAINT) /* whatever its extended code */
        return soc_fail(detail, SOC_EINVAL, "a row of '%s' is there twice, or is not complete",
                        soc_buf_text(&target->name));
    return step == SQLITE_DONE ? SOC_OK : soc_database_fail(database, step, detail);
}

static int check_version(struct soc_slice row, bool *has_version, struct soc_detail *detail)
{
    int64_t version = 0;
    soc_json_integer(soc_json_member(row, "version"), &version);
    if (version != SOC_SCHEMA_VERSION)
        return soc_fail(detail, SOC_EINVAL,
                        "the rows are those of version %d of the tables, this program has "
                        "version %d; import them with the program that wrote them, and then run "
                        "the society with this one",
                        (int)version, SOC_SCHEMA_VERSION);
    *has_version = true;
    return SOC_OK;
}

/* Takes one line, in which `target` is the table of the line before. */
static int read_line(struct soc_database *database, struct target *target, struct soc_slice line,
                     bool *has_version, struct soc_detail *detail)
{
    struct soc_slice table = {0};
    struct soc_slice row = {0};
    if (soc_json_check(line, NULL) == SOC_OK) {
        table = soc_json_plain_string(soc_json_member(line, "stored"));
        row = soc_json_member(line, "row");
    }
    if (table.data == NULL || row.data == NULL || soc_json_kind(row) != SOC_JSON_OBJECT)
        return soc_fail(detail, SOC_EINVAL, "the line is not a stored row");
    if (soc_slice_equal(table, soc_slice_text("schema")))
        return check_version(row, has_version, detail);
    if (!*has_version)
        return soc_fail(detail, SOC_EINVAL, "the version of the tables does not come first");
    int rc = SOC_OK;
    if (!soc_slice_equal(soc_buf_slice(&target->name), table)) {
        clear_target(target);
        soc_buf_put_slice(&target->name, table);
        rc = prepare_target(database, target, detail);
    }
    return rc == SOC_OK ? insert_row(database, target, row, detail) : rc;
}

/* Empties the tables of a new society: even those have rows. */
static int empty_tables(struct soc_database *database, struct soc_detail *detail)
{
    struct soc_buf sql = {0};
    sqlite3_stmt *tables = NULL;
    int rc = soc_database_prepare(database, TABLES_SQL, &tables, detail);
    while (rc == SOC_OK && sqlite3_step(tables) == SQLITE_ROW)
        soc_buf_printf(&sql, "DELETE FROM \"%s\";", sqlite3_column_text(tables, 0));
    sqlite3_finalize(tables);
    if (rc == SOC_OK)
        rc = soc_database_exec(database, soc_buf_text(&sql), detail);
    soc_buf_fini(&sql);
    return rc;
}

static int read_lines(struct soc_database *database, soc_transfer_next_cb *next, void *user,
                      struct soc_detail *detail)
{
    struct target target = {0};
    struct soc_slice line = {0};
    bool has_version = false;
    int rc = soc_database_begin(database, detail);
    if (rc == SOC_OK)
        rc = empty_tables(database, detail);
    while (rc == SOC_OK && (rc = next(&line, user)) == SOC_OK && line.data != NULL)
        rc = read_line(database, &target, line, &has_version, detail);
    if (rc == SOC_OK && !has_version)
        rc = soc_fail(detail, SOC_EINVAL,
                      "it has no stored rows; write it with `society export jsonl`");
    clear_target(&target);
    if (rc == SOC_OK)
        rc = soc_database_commit(database, detail);
    if (rc < 0)
        soc_database_rollback(database);
    return rc;
}

int soc_transfer_read(const char *directory, soc_transfer_next_cb *next, void *user,
                      struct soc_detail *detail)
{
    struct soc_store *store;
    assert(directory != NULL && next != NULL);
    int rc = soc_directory_make(directory, detail);
    if (rc == SOC_OK && soc_directory_check(directory, detail) != SOC_ENOFILE)
        rc = soc_fail(detail, SOC_EEXISTS, "%s has a society already", directory);
    if (rc < 0)
        return rc;
    struct soc_sqlite_options options = {.directory = directory, .access = SOC_SQLITE_WRITE};
    rc = soc_sqlite_open(&store, &options, detail);
    if (rc < 0)
        return rc;
    rc = read_lines(soc_sqlite_lend(store, NULL), next, user, detail);
    soc_store_close(store);
    return rc;
}

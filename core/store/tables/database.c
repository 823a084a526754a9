#include "store/tables/database.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "env/ids.h"
#include "store/directory.h"
#include "store/tables/columns.h"
#include "store/tables/schema.h"

/* How long to wait for another program that writes here although it must not. */
#define BUSY_MS_MAX 60000

/* The page cache holds what is appended until it is folded soon after. */
#define SETTINGS                                                                                   \
    "PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768;"          \
    "PRAGMA cell_size_check = ON;"

/* Offset of the big-endian page count in SQLite's file header. */
#define PAGE_COUNT_OFFSET 28

/* Notes the length of the write-ahead log. With this hook SQLite itself copies nothing
 * back. */
static int note_wal_pages(void *user, sqlite3 *db, const char *name, int pages)
{
    struct soc_database *database = user;
    (void)db;
    (void)name;
    if (pages < database->wal_pages)
        database->wal_pages_copied = 0;
    database->wal_pages = pages;
    return SQLITE_OK;
}

/* message_id(time_ms, key) in SQL: much faster than the expression of the views. */
static void format_message_id(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    char id[SOC_MESSAGE_ID_BYTES];
    uint64_t key = (uint64_t)sqlite3_value_int64(values[1]);
    if (sqlite3_value_type(values[0]) == SQLITE_NULL || key == 0 ||
        soc_message_id_host(key) >= SOC_HOSTS_MAX)
        return;
    soc_message_id_format(id, sqlite3_value_int64(values[0]), key);
    sqlite3_result_text(context, id, sizeof(id), SQLITE_TRANSIENT);
}

/* date_ms(time_ms) in SQL: the date at a time of the society (env/calendar.h). */
static void find_date(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    const struct soc_calendar *calendar = sqlite3_user_data(context);
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    sqlite3_result_int64(context, soc_calendar_date(calendar, sqlite3_value_int64(values[0])));
}

int soc_database_open(struct soc_database *database, const char *path, int flags,
                      struct soc_detail *detail)
{
    assert(database->db == NULL);
    int rc = sqlite3_open_v2(path, &database->db, flags | SQLITE_OPEN_NOMUTEX, database->vfs);
    if (rc != SQLITE_OK)
        return soc_database_fail(database, rc, detail);
    sqlite3_extended_result_codes(database->db, 1);
    sqlite3_busy_timeout(database->db, BUSY_MS_MAX);
    sqlite3_wal_hook(database->db, note_wal_pages, database);
    sqlite3_create_function(database->db, "message_id", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                            format_message_id, NULL, NULL);
    sqlite3_create_function(database->db, "date_ms", 1, SQLITE_UTF8, &database->calendar, find_date,
                            NULL, NULL);
    return soc_database_exec(database, SETTINGS, detail);
}

int soc_database_create(struct soc_database *database, struct soc_detail *detail)
{
    struct soc_buf sql = {0};
    soc_buf_printf(&sql,
                   "PRAGMA page_size = %d; BEGIN; PRAGMA application_id = %d;"
                   "PRAGMA user_version = %d; %s %s COMMIT;",
                   SOC_SCHEMA_PAGE_BYTES, SOC_SCHEMA_APPLICATION, SOC_SCHEMA_VERSION,
                   soc_schema_tables_sql(), soc_schema_views_sql());
    int rc = soc_database_exec(database, soc_buf_text(&sql), detail);
    soc_buf_fini(&sql);
    return rc;
}

int soc_database_create_from(struct soc_database *database, struct soc_buf *blank,
                             struct soc_detail *detail)
{
    sqlite3_int64 size;
    if (blank == NULL || blank->length == 0) {
        int rc = soc_database_create(database, detail);
        unsigned char *image =
            rc < 0 || blank == NULL ? NULL : sqlite3_serialize(database->db, "main", &size, 0);
        if (image != NULL)
            soc_buf_put(blank, image, (size_t)size);
        sqlite3_free(image);
        return rc;
    }
    size = (sqlite3_int64)blank->length;
    unsigned char *image = sqlite3_malloc64(blank->length);
    if (image == NULL)
        return soc_database_fail(database, SQLITE_NOMEM, detail);
    memcpy(image, blank->data, blank->length);
    int rc = sqlite3_deserialize(database->db, "main", image, size, size,
                                 SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
    return rc == SQLITE_OK ? soc_database_exec(database, SETTINGS, detail)
                           : soc_database_fail(database, rc, detail);
}

static int read_version(struct soc_database *database, int *version, struct soc_detail *detail)
{
    sqlite3_stmt *statement;
    int rc = sqlite3_prepare_v2(database->db, "PRAGMA user_version", -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *version = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return rc == SQLITE_ROW ? SOC_OK : soc_database_fail(database, rc, detail);
}

int soc_database_upgrade(struct soc_database *database, bool may_write,
                         int (*fill)(struct soc_database *database, struct soc_detail *detail),
                         struct soc_detail *detail)
{
    int version = 0;
    int rc = read_version(database, &version, detail);
    if (rc < 0 || version >= SOC_SCHEMA_VERSION)
        return rc;
    if (version < 1)
        return soc_fail(detail, SOC_ECORRUPT, "society.db has no version");
    if (!may_write)
        return soc_fail(
            detail, SOC_EOLDER,
            "the state has version %d; run its app once with this program to upgrade it", version);
    bool has_lines = version >= SOC_SCHEMA_LINES;
    struct soc_buf sql = {0};
    soc_buf_printf(&sql, "BEGIN IMMEDIATE; %s", soc_schema_drop_sql());
    while (version < SOC_SCHEMA_VERSION)
        soc_buf_put_text(&sql, soc_schema_upgrade_sql(version++));
    rc = soc_database_exec(database, soc_buf_text(&sql), detail);
    if (rc == SOC_OK && fill != NULL && !has_lines)
        rc = fill(database, detail);
    if (rc < 0) {
        soc_database_rollback(database);
        soc_buf_fini(&sql);
        return rc;
    }
    sql.length = 0;
    soc_buf_printf(&sql, "%s PRAGMA user_version = %d; COMMIT; PRAGMA wal_checkpoint(TRUNCATE);",
                   soc_schema_views_sql(), SOC_SCHEMA_VERSION);
    rc = soc_database_exec(database, soc_buf_text(&sql), detail);
    soc_buf_fini(&sql);
    return rc;
}

static int compile(struct soc_database *database, const char *sql, unsigned flags,
                   sqlite3_stmt **out)
{
    struct soc_buf text = {0};
    soc_columns_expand(&text, sql);
    int rc = sqlite3_prepare_v3(database->db, soc_buf_text(&text), -1, flags, out, NULL);
    soc_buf_fini(&text);
    return rc;
}

sqlite3_stmt *soc_database_statement(struct soc_database *database, enum soc_statement which)
{
    if (database->statements[which] == NULL)
        compile(database, soc_statement_sql(which), SQLITE_PREPARE_PERSISTENT,
                &database->statements[which]);
    return database->statements[which];
}

void soc_database_close(struct soc_database *database)
{
    for (int i = 0; i < SOC_STATEMENT_COUNT; i++)
        sqlite3_finalize(database->statements[i]);
    memset(database->statements, 0, sizeof(database->statements));
    if (database->has_failed && database->db != NULL)
        sqlite3_db_config(database->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    int rc = sqlite3_close(database->db);
    assert(rc == SQLITE_OK);
    (void)rc;
    database->db = NULL;
}

static bool has_damage(const struct soc_database *database)
{
    return database->damage != NULL && database->damage[0] != '\0';
}

int soc_database_check(struct soc_database *database, struct soc_detail *detail)
{
    sqlite3_stmt *statement;
    int rc = SOC_OK;
    int sqlite_rc =
        sqlite3_prepare_v2(database->db, "PRAGMA integrity_check(1)", -1, &statement, NULL);
    if (sqlite_rc == SQLITE_OK)
        sqlite_rc = sqlite3_step(statement);
    if (sqlite_rc != SQLITE_ROW)
        rc = soc_database_fail(database, sqlite_rc, detail);
    else if (has_damage(database)) /* which page it is says more than what SQLite found there */
        rc = soc_database_fail(database, SQLITE_CORRUPT, detail);
    else if (strcmp((const char *)sqlite3_column_text(statement, 0), "ok") != 0)
        rc = soc_fail(detail, SOC_ECORRUPT, "society.db is damaged: %s",
                      (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return rc;
}

int soc_database_exec(struct soc_database *database, const char *sql, struct soc_detail *detail)
{
    int rc = sqlite3_exec(database->db, sql, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        return SOC_OK;
    rc = soc_database_fail(database, rc, detail);
    soc_database_rollback(database);
    return rc;
}

static int map_result(int sqlite_rc)
{
    /* The index of the write-ahead log could not grow: the disk is full. */
    if (sqlite_rc == SQLITE_IOERR_SHMSIZE)
        return SOC_EDISKFULL;
    switch (sqlite_rc & 0xff) {
    case SQLITE_FULL:
        return SOC_EDISKFULL;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CONSTRAINT: /* the row exists: two records with one key */
    case SQLITE_ERROR:      /* a table or column is missing */
        return SOC_ECORRUPT;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
        return SOC_EACCESS;
    default:
        return SOC_EIO;
    }
}

/* Describes a database whose structure SQLite cannot follow. */
static int fail_structure(struct soc_database *database, int rc, const char *text,
                          struct soc_detail *detail)
{
    unsigned char count[4] = {0};
    sqlite3_int64 length = 0;
    sqlite3_file *file = NULL;
    if (database->db != NULL)
        sqlite3_file_control(database->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    bool is_read =
        file != NULL && file->pMethods != NULL &&
        file->pMethods->xFileSize(file, &length) == SQLITE_OK &&
        file->pMethods->xRead(file, count, sizeof(count), PAGE_COUNT_OFFSET) == SQLITE_OK;
    uint32_t pages = (uint32_t)count[0] << 24 | (uint32_t)count[1] << 16 | (uint32_t)count[2] << 8 |
                     (uint32_t)count[3];
    if (is_read && length / SOC_SCHEMA_PAGE_BYTES < pages)
        return soc_fail(detail, rc,
                        "society.db was cut off: %lld of its %" PRIu32
                        " pages are left" SOC_DIRECTORY_REMEDY,
                        (long long)(length / SOC_SCHEMA_PAGE_BYTES), pages);
    return soc_fail(detail, rc, "society.db is damaged: %s" SOC_DIRECTORY_REMEDY, text);
}

/* Lends a message for the error: SQLite's last one, unless that is about something else
 * because a file was written or synced without SQLite. */
static const char *text_of(const struct soc_database *database, int sqlite_rc)
{
    bool is_last =
        database->db != NULL && (sqlite3_errcode(database->db) & 0xff) == (sqlite_rc & 0xff);
    return is_last ? sqlite3_errmsg(database->db) : sqlite3_errstr(sqlite_rc);
}

int soc_database_fail(struct soc_database *database, int sqlite_rc, struct soc_detail *detail)
{
    const char *text = text_of(database, sqlite_rc);
    bool is_damaged = has_damage(database);
    int rc = !is_damaged ? map_result(sqlite_rc) : SOC_ECORRUPT;
    database->has_failed |= rc != SOC_EDISKFULL && (sqlite_rc & 0xff) != SQLITE_BUSY;
    if (is_damaged)
        return soc_fail(detail, rc, "%s" SOC_DIRECTORY_REMEDY, database->damage);
    if (rc == SOC_EDISKFULL)
        return soc_fail(detail, rc, "%s", SOC_DIRECTORY_FULL);
    if ((sqlite_rc & 0xff) == SQLITE_CORRUPT || (sqlite_rc & 0xff) == SQLITE_NOTADB)
        return fail_structure(database, rc, text, detail);
    if ((sqlite_rc & 0xff) == SQLITE_BUSY)
        return soc_fail(detail, rc,
                        "society.db is locked by another program (a sqlite3 shell, a backup); end "
                        "that program and start again");
    if ((sqlite_rc & 0xff) == SQLITE_CANTOPEN && database->db != NULL &&
        sqlite3_system_errno(database->db) != 0)
        return soc_fail(detail, rc, "society.db: %s: %s (%d)", text,
                        strerror(sqlite3_system_errno(database->db)), sqlite_rc);
    return soc_fail(detail, rc, "society.db: %s (%d)", text, sqlite_rc);
}

int soc_database_compile(struct soc_database *database, const char *sql, sqlite3_stmt **out)
{
    return compile(database, sql, 0, out);
}

int soc_database_prepare(struct soc_database *database, const char *sql, sqlite3_stmt **out,
                         struct soc_detail *detail)
{
    int rc = soc_database_compile(database, sql, out);
    return rc == SQLITE_OK ? SOC_OK : soc_database_fail(database, rc, detail);
}

int soc_database_run(struct soc_database *database, enum soc_statement which)
{
    sqlite3_stmt *statement = soc_database_statement(database, which);
    if (statement == NULL)
        return sqlite3_extended_errcode(database->db);
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_DONE)
        return sqlite3_reset(statement);
    sqlite3_reset(statement);
    return rc;
}

/* Runs it, unless damage was found: nothing is written on top of that, even if SQLite
 * could do without the damaged page. */
static int run_if_whole(struct soc_database *database, enum soc_statement which)
{
    return has_damage(database) ? SQLITE_IOERR_DATA : soc_database_run(database, which);
}

int soc_database_begin(struct soc_database *database, struct soc_detail *detail)
{
    int rc = run_if_whole(database, SOC_STATEMENT_BEGIN);
    return rc == SQLITE_OK ? SOC_OK : soc_database_fail(database, rc, detail);
}

int soc_database_commit(struct soc_database *database, struct soc_detail *detail)
{
    int rc = run_if_whole(database, SOC_STATEMENT_COMMIT);
    if (rc == SQLITE_OK)
        return SOC_OK;
    rc = soc_database_fail(database, rc, detail);
    soc_database_rollback(database);
    return rc;
}

void soc_database_rollback(struct soc_database *database)
{
    if (!sqlite3_get_autocommit(database->db))
        sqlite3_exec(database->db, "ROLLBACK", NULL, NULL, NULL);
}

/* A full disk or a reader only delays a checkpoint. */
static int end_checkpoint(struct soc_database *database, int sqlite_rc, struct soc_detail *detail)
{
    int rc = sqlite_rc == SQLITE_OK ? SOC_OK : soc_database_fail(database, sqlite_rc, detail);
    bool is_later = rc == SOC_EDISKFULL || (sqlite_rc & 0xff) == SQLITE_BUSY;
    return is_later ? SOC_OK : rc;
}

int soc_database_checkpoint(struct soc_database *database, bool *is_all, struct soc_detail *detail)
{
    int pages = 0;
    int copied = 0;
    int rc =
        sqlite3_wal_checkpoint_v2(database->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &copied);
    database->wal_pages_copied = database->wal_pages;
    *is_all = rc == SQLITE_OK && pages == copied;
    return end_checkpoint(database, rc, detail);
}

int soc_database_wal_pages(const struct soc_database *database)
{
    assert(database->wal_pages_copied <= database->wal_pages);
    return database->wal_pages - database->wal_pages_copied;
}

void soc_database_bind_positive(sqlite3_stmt *statement, int index, uint64_t number)
{
    if (number == 0)
        sqlite3_bind_null(statement, index);
    else
        sqlite3_bind_int64(statement, index, (int64_t)number);
}

int soc_database_bind_text(sqlite3_stmt *statement, int index, struct soc_slice text)
{
    if (text.data == NULL)
        return sqlite3_bind_null(statement, index);
    return sqlite3_bind_text64(statement, index, text.data, text.length, SQLITE_STATIC,
                               SQLITE_UTF8);
}

struct soc_slice soc_database_text(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text == NULL ? (struct soc_slice){0}
                        : soc_slice(text, (size_t)sqlite3_column_bytes(row, column));
}

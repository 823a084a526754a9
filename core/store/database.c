#include "store/database.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "env/ids.h"
#include "store/directory.h"
#include "store/pages.h"
#include "store/schema.h"

/* How long to wait for another program that writes here, against the rules. */
#define BUSY_MS_MAX 60000

/* Pages are kept in memory up to here: enough for what is appended and folded
 * soon after. */
#define SETTINGS                                                                                   \
    "PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768;"          \
    "PRAGMA cell_size_check = ON;"

/* Where SQLite's file header says how many pages there are, big-endian. */
#define PAGE_COUNT_OFFSET 28

#define ALIVE " AND ended_ms IS NULL"

/* A line of the activity log. Of a message it has the key, and the view the rest. */
#define LINE(columns) "INSERT INTO events(place, time_ms, event, " columns ")"

/* Parameters that belong to a record stand in the order of its fields. */
static const char *const texts[SOC_STATEMENT_COUNT] = {
    [SOC_STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
    [SOC_STATEMENT_COMMIT] = "COMMIT",
    [SOC_STATEMENT_ROLLBACK] = "ROLLBACK",
    [SOC_STATEMENT_APPEND] = "INSERT INTO journal(sequence, checksum, batch) VALUES(?1, ?2, ?3)",
    [SOC_STATEMENT_READ] = "SELECT sequence, checksum, batch FROM journal"
                           " WHERE sequence > ?1 ORDER BY sequence",
    [SOC_STATEMENT_FORGET] = "DELETE FROM journal WHERE sequence <= ?1",
    [SOC_STATEMENT_PROGRESS] = "UPDATE progress SET folded = ?1, lines = ?2",
    [SOC_STATEMENT_ROLE] =
        "INSERT INTO roles(created_ms, id, name, prompt, behaviour, interface_spec, creator)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT(id) DO UPDATE SET"
        " created_ms = ?1, name = ?3, prompt = ?4, behaviour = ?5, interface_spec = ?6,"
        " creator = ?7",
    [SOC_STATEMENT_ROLE_LINE] = LINE("agent, detail") " VALUES(?8, ?1, 'role_created', ?7, ?2)",
    [SOC_STATEMENT_AGENT] =
        "INSERT INTO agents(created_ms, id, role, parent, brief, is_adopted, since, is_external)"
        " VALUES(?1, ?2, ?3, ?4, ?5, nullif(?6, 0), ?7, nullif(?8, 0))"
        " ON CONFLICT(id) WHERE ended_ms IS NULL DO UPDATE SET role = ?3, parent = ?4, brief = ?5",
    [SOC_STATEMENT_AGENT_LINE] =
        LINE("agent, other, detail") " VALUES(?9, ?1, 'spawned', ?2, ?4, ?3)",
    [SOC_STATEMENT_AGENT_ENDING] =
        "UPDATE agents SET ending_ms = ?1, end_reason = ?3 WHERE id = ?2" ALIVE,
    [SOC_STATEMENT_AGENT_PARENT] =
        "UPDATE agents SET parent = ?3, is_adopted = 1 WHERE id = ?2" ALIVE,
    [SOC_STATEMENT_STANDING] =
        "UPDATE agents SET hold = nullif(?2, 0), guards = nullif(?3, 0) WHERE id = ?5" ALIVE,
    [SOC_STATEMENT_BIRTH] =
        "UPDATE agents SET births = coalesce(births, 0) + 1 WHERE id = ?1" ALIVE,
    [SOC_STATEMENT_AGENT_END] =
        "UPDATE agents SET ended_ms = ?1, end_reason = ?3 WHERE id = ?2" ALIVE,
    [SOC_STATEMENT_AGENT_END_LINE] =
        LINE("agent, other, detail") " SELECT ?4, ?1, 'stopped', id, parent, ?3 FROM agents"
                                     " WHERE id = ?2" ALIVE,
    [SOC_STATEMENT_AGENT_CONTACTS_END] = "DELETE FROM contact_entries WHERE owner = ?1",
    [SOC_STATEMENT_PARENT_CONTACT_END] =
        "DELETE FROM contact_entries WHERE id = ?1"
        " AND owner = (SELECT parent FROM agents WHERE id = ?1" ALIVE ")",
    [SOC_STATEMENT_STATE] = "UPDATE agents SET state = ?2 WHERE id = ?1" ALIVE,
    [SOC_STATEMENT_CONTACT] =
        "INSERT INTO contact_entries(added_ms, source, owner, id, role, interface_spec,"
        " introduced_by, via, reason, born) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
        " (SELECT max(number) FROM agents))"
        " ON CONFLICT(owner, id) DO UPDATE SET added_ms = ?1, source = ?2, role = ?5,"
        " interface_spec = ?6, introduced_by = ?7, via = ?8, reason = ?9",
    [SOC_STATEMENT_CONTACT_LINE] =
        LINE("agent, other, detail") " SELECT ?10, ?1, 'contact_added', ?3, ?4,"
                                     " ?4 || ' (' || " SOC_SQL_SOURCE " || ')'"
                                     " FROM (SELECT ?2 AS source)",
    [SOC_STATEMENT_CONTACT_FREE] =
        "DELETE FROM contact_entries WHERE owner = ?1 AND id = ?2 AND source IS NULL",
    [SOC_STATEMENT_CONTACT_DELETE] = "DELETE FROM contact_entries WHERE owner = ?1 AND id = ?2",
    [SOC_STATEMENT_CONTACT_FORGOTTEN] =
        "INSERT INTO contact_entries(owner, id, born)"
        " SELECT ?1, ?2, (SELECT max(number) FROM agents)"
        " WHERE EXISTS(SELECT 1 FROM agents WHERE id = ?1 AND parent = ?2" ALIVE ")"
        " OR EXISTS(SELECT 1 FROM agents WHERE id = ?2 AND parent = ?1" ALIVE ")"
        " OR (?1 = 'root' AND ?2 = 'user') OR (?1 = 'user' AND ?2 = 'root')",
    [SOC_STATEMENT_MESSAGE] =
        "INSERT INTO message_entries(" SOC_SQL_MESSAGE_COLUMNS ","
        " status, finished_ms, reason, ack, place, end_place) VALUES("
        "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,"
        " ?20, ?21, ?22, ?23, ?24, ?25, ?26)",
    [SOC_STATEMENT_MESSAGE_END] =
        "UPDATE message_entries SET finished_ms = ?2, status = ?3, reason = ?4, end_place = ?5"
        " WHERE key = ?1",
    [SOC_STATEMENT_MESSAGE_AGAIN] =
        "UPDATE message_entries SET attempt = ?3, deliver_at_ms = ?4, status = 0,"
        " finished_ms = NULL, end_place = NULL, reason = NULL, expires_ms = 0, ack = NULL"
        " WHERE key = ?1",
    [SOC_STATEMENT_AGAIN_LINE] =
        LINE("key, detail") " VALUES(?5, ?2, 'sent_again', ?1, 'attempt ' || ?3)",
    [SOC_STATEMENT_END_LINE] = LINE("key, detail") " SELECT ?5, ?2, " SOC_SQL_STATUS ", ?1, ?4"
                                                   " FROM (SELECT ?3 AS status) m",
    [SOC_STATEMENT_STORED_END_LINE] =
        LINE("key, detail") " SELECT coalesce(end_place, -3), finished_ms, " SOC_SQL_STATUS
                            ", key, reason"
                            " FROM message_entries m WHERE key = ?1 AND status <> 0",
    [SOC_STATEMENT_TAKE] = "INSERT INTO takes(key, agent) VALUES(?1, ?2)",
    [SOC_STATEMENT_TAKE_END] = "DELETE FROM takes WHERE key = ?1",
    [SOC_STATEMENT_TAKES_END] = "DELETE FROM takes WHERE agent = ?1",
    [SOC_STATEMENT_ACTIVATION] =
        "INSERT INTO activations(key, time_ms, retries, agent) VALUES(?1, ?2, ?3, ?4)"
        " ON CONFLICT(agent) DO UPDATE SET key = ?1, time_ms = ?2, retries = ?3",
    [SOC_STATEMENT_ACTIVATION_END] = "DELETE FROM activations WHERE agent = ?1",
    [SOC_STATEMENT_EFFECT] = "INSERT OR REPLACE INTO effects(idx, hash, agent, kind, answer, wait,"
                             " arguments) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [SOC_STATEMENT_EFFECTS_END] = "DELETE FROM effects WHERE agent = ?1",
    [SOC_STATEMENT_ANSWER] = "UPDATE effects SET answer = ?3 WHERE agent = ?2 AND idx = ?1",
    [SOC_STATEMENT_OUTPUT] =
        "INSERT INTO outputs(key, time_ms, agent, stream, text) VALUES(?1, ?2, ?3, ?4, ?5)",
    [SOC_STATEMENT_OUTPUT_END] = "DELETE FROM outputs WHERE key <= ?1",
    [SOC_STATEMENT_EVENT] =
        LINE("agent, task_id, correlation_id, detail") " VALUES(?7, ?1, ?2, ?3, ?4, ?5, ?6)",
    [SOC_STATEMENT_META] = "INSERT OR REPLACE INTO meta(name, value) VALUES(?1, ?2)",
    [SOC_STATEMENT_INTRODUCTION] =
        "INSERT OR REPLACE INTO introductions(" SOC_SQL_INTRODUCTION_COLUMNS ")"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    [SOC_STATEMENT_INTRODUCTION_END] = "DELETE FROM introductions WHERE key = ?1",
    [SOC_STATEMENT_ITEM] = "INSERT OR REPLACE INTO inbox_entries(" SOC_SQL_ITEM_COLUMNS ")"
                           " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    [SOC_STATEMENT_ITEM_END] = "UPDATE inbox_entries SET decided_ms = ?2, decision = ?3,"
                               " changes = ?4, comment = ?5 WHERE key = ?1",
    [SOC_STATEMENT_TASK] =
        "INSERT OR REPLACE INTO task_entries(" SOC_SQL_TASK_COLUMNS ")"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
    [SOC_STATEMENT_BROADCAST_END] =
        "INSERT OR REPLACE INTO broadcast_ends(key, time_ms, outcome, agent)"
        " VALUES(?1, ?2, ?3, ?4)",
    [SOC_STATEMENT_READER_LINE] = LINE("agent, key") " SELECT ?5, ?2, " SOC_SQL_STATUS ", ?4, ?1"
                                                     " FROM (SELECT ?3 AS status) m",
    [SOC_STATEMENT_BROADCAST_TAKE_END] = "DELETE FROM takes WHERE key = ?1 AND agent = ?2",
    [SOC_STATEMENT_BROADCAST_OVER] = "DELETE FROM broadcast_ends WHERE key = ?1",
    [SOC_STATEMENT_BARRIER] = "INSERT OR REPLACE INTO barriers(key, time_ms, deadline_ms, owner)"
                              " VALUES(?1, ?2, ?3, ?4)",
    [SOC_STATEMENT_SEAT] = "INSERT INTO seats(key, question, asked_ms, state, agent, payload)"
                           " VALUES(?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT(key, agent) DO UPDATE"
                           " SET question = ?2, asked_ms = ?3, state = ?4, payload = ?6",
    [SOC_STATEMENT_BARRIER_END] = "DELETE FROM barriers WHERE key = ?1",
    [SOC_STATEMENT_SEATS_END] = "DELETE FROM seats WHERE key = ?1",
    [SOC_STATEMENT_SENT_KEY] = "INSERT OR REPLACE INTO sent_keys(since_ms, key, sent_ms, text)"
                               " VALUES(?1, ?2, ?3, ?4)",
    [SOC_STATEMENT_RECEIPT] = "UPDATE message_entries SET attempt = ?3, ack = nullif(?4, 0)"
                              " WHERE key = ?1 AND ?2 IS NOT NULL",
    [SOC_STATEMENT_POSITION] = "INSERT OR REPLACE INTO positions(name, value) VALUES(?1, ?2)",
    [SOC_STATEMENT_SENT_KEYS_END] = "DELETE FROM sent_keys WHERE since_ms <= ?1",
    [SOC_STATEMENT_MEMORY] = "INSERT OR REPLACE INTO memories(number, time_ms, agent, entry)"
                             " VALUES(?1, ?2, ?3, ?4)",
    [SOC_STATEMENT_USAGE] =
        "INSERT OR REPLACE INTO usage(calls, input_tokens, output_tokens, cost_micros, agent,"
        " task_id, model) VALUES(?1, ?2, ?3, ?4, ?5, coalesce(?6, ''), ?7)",
    [SOC_STATEMENT_SOURCE] = "INSERT OR IGNORE INTO sources(hash, text) VALUES(?1, ?2)",
    [SOC_STATEMENT_HISTORY] = "INSERT INTO history(time_ms, key, checksum, what, agent, detail)"
                              " VALUES(?1, nullif(?2, 0), ?3, ?4, ?5, ?6)",
    /* From the front only, so that a missing row shows; what was in force stays. */
    [SOC_STATEMENT_HISTORY_END] =
        "DELETE FROM history WHERE number < (SELECT number FROM history WHERE time_ms >= ?1"
        " ORDER BY number LIMIT 1) AND what IN ('run', 'question')",
};

/* Notes how long the write-ahead log is; SQLite itself then copies nothing back. */
static int note_wal_pages(void *user, sqlite3 *db, const char *name, int pages)
{
    struct soc_store *store = user;
    (void)db;
    (void)name;
    if (pages < store->wal_pages)
        store->wal_pages_copied = 0;
    store->wal_pages = pages;
    return SQLITE_OK;
}

/* message_id(time_ms, key) in SQL: much faster than the views' own expression. */
static void give_message_id(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    char id[SOC_MESSAGE_ID_BYTES];
    uint64_t key = (uint64_t)sqlite3_value_int64(values[1]);
    if (sqlite3_value_type(values[0]) == SQLITE_NULL || key == 0 || key >> 40 != 0)
        return;
    soc_message_id_format(id, sqlite3_value_int64(values[0]), key);
    sqlite3_result_text(context, id, sizeof(id), SQLITE_TRANSIENT);
}

int soc_database_open(struct soc_store *store, const char *path, int flags,
                      struct soc_detail *detail)
{
    const char *vfs = store->pages == NULL ? NULL : soc_pages_vfs(store->pages);
    int rc = sqlite3_open_v2(path, &store->db, flags | SQLITE_OPEN_NOMUTEX, vfs);
    if (rc != SQLITE_OK)
        return soc_database_fail(store, rc, detail);
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, BUSY_MS_MAX);
    sqlite3_wal_hook(store->db, note_wal_pages, store);
    sqlite3_create_function(store->db, "message_id", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                            give_message_id, NULL, NULL);
    return soc_database_exec(store, SETTINGS, detail);
}

int soc_database_create(struct soc_store *store, struct soc_detail *detail)
{
    struct soc_buf sql = {0};
    soc_buf_printf(&sql,
                   "PRAGMA page_size = %d; BEGIN; PRAGMA application_id = %d;"
                   "PRAGMA user_version = %d; %s %s COMMIT;",
                   SOC_SCHEMA_PAGE_BYTES, SOC_SCHEMA_APPLICATION, SOC_SCHEMA_VERSION,
                   soc_schema_tables_sql(), soc_schema_views_sql());
    int rc = soc_database_exec(store, soc_buf_text(&sql), detail);
    soc_buf_fini(&sql);
    return rc;
}

int soc_database_create_from(struct soc_store *store, struct soc_buf *blank,
                             struct soc_detail *detail)
{
    sqlite3_int64 size;
    if (blank == NULL || blank->length == 0) {
        int rc = soc_database_create(store, detail);
        unsigned char *image =
            rc < 0 || blank == NULL ? NULL : sqlite3_serialize(store->db, "main", &size, 0);
        if (image != NULL)
            soc_buf_put(blank, image, (size_t)size);
        sqlite3_free(image);
        return rc;
    }
    size = (sqlite3_int64)blank->length;
    unsigned char *image = sqlite3_malloc64(blank->length);
    if (image == NULL)
        return soc_database_fail(store, SQLITE_NOMEM, detail);
    memcpy(image, blank->data, blank->length);
    int rc = sqlite3_deserialize(store->db, "main", image, size, size,
                                 SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
    return rc == SQLITE_OK ? soc_database_exec(store, SETTINGS, detail)
                           : soc_database_fail(store, rc, detail);
}

static int read_version(struct soc_store *store, int *version, struct soc_detail *detail)
{
    sqlite3_stmt *statement;
    int rc = sqlite3_prepare_v2(store->db, "PRAGMA user_version", -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *version = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return rc == SQLITE_ROW ? SOC_OK : soc_database_fail(store, rc, detail);
}

int soc_database_upgrade(struct soc_store *store, struct soc_detail *detail)
{
    int version = 0;
    int rc = read_version(store, &version, detail);
    if (rc < 0 || version >= SOC_SCHEMA_VERSION)
        return rc;
    if (version < 1)
        return soc_fail(detail, SOC_ECORRUPT, "society.db has no version");
    if (store->is_read_only)
        return soc_fail(detail, SOC_EOLDER,
                        "the state is of version %d; run its app once with this program", version);
    struct soc_buf sql = {0};
    soc_buf_printf(&sql, "BEGIN IMMEDIATE; %s", soc_schema_drop_sql());
    while (version < SOC_SCHEMA_VERSION)
        soc_buf_put_text(&sql, soc_schema_upgrade_sql(version++));
    soc_buf_printf(&sql, "%s PRAGMA user_version = %d; COMMIT; PRAGMA wal_checkpoint(TRUNCATE);",
                   soc_schema_views_sql(), SOC_SCHEMA_VERSION);
    rc = soc_database_exec(store, soc_buf_text(&sql), detail);
    soc_buf_fini(&sql);
    return rc;
}

sqlite3_stmt *soc_database_statement(struct soc_store *store, enum soc_statement which)
{
    if (store->statements[which] == NULL)
        sqlite3_prepare_v3(store->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT,
                           &store->statements[which], NULL);
    return store->statements[which];
}

void soc_database_close(struct soc_store *store)
{
    for (int i = 0; i < SOC_STATEMENT_COUNT; i++)
        sqlite3_finalize(store->statements[i]);
    if (store->has_failed && store->db != NULL)
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    int rc = sqlite3_close(store->db);
    assert(rc == SQLITE_OK);
    (void)rc;
    store->db = NULL;
}

int soc_database_position(struct soc_store *store, struct soc_detail *detail)
{
    sqlite3_stmt *statement;
    int rc = sqlite3_prepare_v2(store->db,
                                "SELECT (SELECT folded FROM progress), min(sequence),"
                                " max(sequence), count(*), total(length(batch)),"
                                " (SELECT lines FROM progress) FROM journal",
                                -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc != SQLITE_ROW) {
        sqlite3_finalize(statement);
        return soc_database_fail(store, rc, detail);
    }
    uint64_t folded = (uint64_t)sqlite3_column_int64(statement, 0);
    uint64_t first = (uint64_t)sqlite3_column_int64(statement, 1);
    uint64_t last = (uint64_t)sqlite3_column_int64(statement, 2);
    uint64_t count = (uint64_t)sqlite3_column_int64(statement, 3);
    store->backlog = (uint64_t)sqlite3_column_double(statement, 4);
    store->lines = (uint64_t)sqlite3_column_int64(statement, 5);
    sqlite3_finalize(statement);
    store->folded = folded;
    store->sequence = count == 0 ? folded : last;
    if (count > 0 && (first != folded + 1 || last - first + 1 != count))
        return soc_fail(detail, SOC_ECORRUPT,
                        "the journal has %" PRIu64 " batches from %" PRIu64 " to %" PRIu64
                        ", but %" PRIu64 " is the next one needed",
                        count, first, last, folded + 1);
    return SOC_OK;
}

int soc_database_check(struct soc_store *store, struct soc_detail *detail)
{
    sqlite3_stmt *statement;
    int rc = SOC_OK;
    int sqlite_rc =
        sqlite3_prepare_v2(store->db, "PRAGMA integrity_check(1)", -1, &statement, NULL);
    if (sqlite_rc == SQLITE_OK)
        sqlite_rc = sqlite3_step(statement);
    if (sqlite_rc != SQLITE_ROW)
        rc = soc_database_fail(store, sqlite_rc, detail);
    else if (strcmp((const char *)sqlite3_column_text(statement, 0), "ok") != 0)
        rc = soc_fail(detail, SOC_ECORRUPT, "society.db is damaged: %s",
                      (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return rc;
}

int soc_database_exec(struct soc_store *store, const char *sql, struct soc_detail *detail)
{
    int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        return SOC_OK;
    rc = soc_database_fail(store, rc, detail);
    soc_database_rollback(store);
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
    case SQLITE_CONSTRAINT: /* a row that is already there: two records of one key */
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

/* Says what is wrong with a database whose structure SQLite cannot follow. */
static int fail_structure(struct soc_store *store, int rc, const char *text,
                          struct soc_detail *detail)
{
    unsigned char count[4] = {0};
    sqlite3_int64 length = 0;
    sqlite3_file *file = NULL;
    if (store->db != NULL)
        sqlite3_file_control(store->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    bool is_read =
        file != NULL && file->pMethods != NULL &&
        file->pMethods->xFileSize(file, &length) == SQLITE_OK &&
        file->pMethods->xRead(file, count, sizeof(count), PAGE_COUNT_OFFSET) == SQLITE_OK;
    uint32_t pages = (uint32_t)count[0] << 24 | (uint32_t)count[1] << 16 | (uint32_t)count[2] << 8 |
                     (uint32_t)count[3];
    if (is_read && length / SOC_SCHEMA_PAGE_BYTES < pages)
        return soc_fail(detail, rc,
                        "society.db was cut off: %lld of its %" PRIu32
                        " pages are there" SOC_DIRECTORY_REMEDY,
                        (long long)(length / SOC_SCHEMA_PAGE_BYTES), pages);
    return soc_fail(detail, rc, "society.db is damaged: %s" SOC_DIRECTORY_REMEDY, text);
}

/* Lends a sentence for the error: SQLite's last one, unless that is another, because a file
 * was written or synced without it. */
static const char *text_of(const struct soc_store *store, int sqlite_rc)
{
    bool is_last = store->db != NULL && (sqlite3_errcode(store->db) & 0xff) == (sqlite_rc & 0xff);
    return is_last ? sqlite3_errmsg(store->db) : sqlite3_errstr(sqlite_rc);
}

int soc_database_fail(struct soc_store *store, int sqlite_rc, struct soc_detail *detail)
{
    const char *text = text_of(store, sqlite_rc);
    const char *damage = store->pages == NULL ? NULL : soc_pages_damage(store->pages);
    int rc = damage == NULL ? map_result(sqlite_rc) : SOC_ECORRUPT;
    store->has_failed |= rc != SOC_EDISKFULL && (sqlite_rc & 0xff) != SQLITE_BUSY;
    if (damage != NULL)
        return soc_fail(detail, rc, "%s" SOC_DIRECTORY_REMEDY, damage);
    if (rc == SOC_EDISKFULL)
        return soc_fail(detail, rc, "%s", SOC_DIRECTORY_FULL);
    if ((sqlite_rc & 0xff) == SQLITE_CORRUPT || (sqlite_rc & 0xff) == SQLITE_NOTADB)
        return fail_structure(store, rc, text, detail);
    return soc_fail(detail, rc, "society.db: %s (%d)", text, sqlite_rc);
}

int soc_database_run(struct soc_store *store, enum soc_statement which)
{
    sqlite3_stmt *statement = soc_database_statement(store, which);
    if (statement == NULL)
        return sqlite3_extended_errcode(store->db);
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_DONE)
        return sqlite3_reset(statement);
    sqlite3_reset(statement);
    return rc;
}

/* Runs it, unless damage was found: nothing is written on top of it, even if SQLite could
 * do without the page. */
static int run_if_whole(struct soc_store *store, enum soc_statement which)
{
    bool is_whole = store->pages == NULL || soc_pages_damage(store->pages) == NULL;
    return is_whole ? soc_database_run(store, which) : SQLITE_IOERR_DATA;
}

int soc_database_begin(struct soc_store *store, struct soc_detail *detail)
{
    int rc = run_if_whole(store, SOC_STATEMENT_BEGIN);
    return rc == SQLITE_OK ? SOC_OK : soc_database_fail(store, rc, detail);
}

int soc_database_commit(struct soc_store *store, struct soc_detail *detail)
{
    int rc = run_if_whole(store, SOC_STATEMENT_COMMIT);
    if (rc == SQLITE_OK)
        return SOC_OK;
    rc = soc_database_fail(store, rc, detail);
    soc_database_rollback(store);
    return rc;
}

void soc_database_rollback(struct soc_store *store)
{
    if (!sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

/* A full disk or a reader puts a checkpoint off. */
static int end_checkpoint(struct soc_store *store, int sqlite_rc, struct soc_detail *detail)
{
    int rc = sqlite_rc == SQLITE_OK ? SOC_OK : soc_database_fail(store, sqlite_rc, detail);
    bool is_later = rc == SOC_EDISKFULL || (sqlite_rc & 0xff) == SQLITE_BUSY;
    return is_later ? SOC_OK : rc;
}

int soc_database_checkpoint(struct soc_store *store, int pages_min, struct soc_detail *detail)
{
    if (store->is_memory || store->wal_pages - store->wal_pages_copied < pages_min)
        return SOC_OK;
    int pages = 0;
    int copied = 0;
    int code = soc_mark_need(store, detail);
    if (code < 0)
        return code;
    int rc = sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &copied);
    store->wal_pages_copied = store->wal_pages;
    code = end_checkpoint(store, rc, detail);
    return rc == SQLITE_OK && pages == copied ? soc_mark_copied(store, detail) : code;
}

int soc_database_settle(struct soc_store *store, struct soc_detail *detail)
{
    if (store->db == NULL || store->is_read_only || store->has_failed)
        return SOC_OK;
    /* Without a commit it is not known how long the log is that was found. */
    return soc_database_checkpoint(store, store->wal_pages == 0 ? 0 : 1, detail);
}

void soc_bind_positive(sqlite3_stmt *statement, int index, uint64_t number)
{
    if (number == 0)
        sqlite3_bind_null(statement, index);
    else
        sqlite3_bind_int64(statement, index, (int64_t)number);
}

int soc_bind_text(sqlite3_stmt *statement, int index, struct soc_slice text)
{
    if (text.data == NULL)
        return sqlite3_bind_null(statement, index);
    return sqlite3_bind_text64(statement, index, text.data, text.length, SQLITE_STATIC,
                               SQLITE_UTF8);
}

int soc_journal_row(sqlite3_stmt *row, uint64_t expected, struct soc_slice *batch,
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

#include "store/store.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "store/database.h"
#include "store/directory.h"
#include "store/disk/disk.h"
#include "store/pages.h"
#include "store/schema.h"
#include "store/wal.h"

#define DATABASE "society.db"
#define DRAFT    "society.db.new"

void soc_store_be_alone(void)
{
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* Makes the tables in a file that is empty or not there. */
static int fill_file(struct soc_store *store, const char *path, struct soc_detail *detail)
{
    int check_bytes = SOC_PAGES_CHECK_BYTES;
    soc_pages_begin(store->pages);
    int rc = soc_database_open(store, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, detail);
    if (rc == SOC_OK) {
        sqlite3_file_control(store->db, "main", SQLITE_FCNTL_RESERVE_BYTES, &check_bytes);
        rc = soc_database_create(store, detail);
    }
    if (rc == SOC_OK)
        rc = soc_database_exec(store, "PRAGMA journal_mode = WAL", detail);
    soc_database_close(store);
    return rc;
}

/* Makes society.db under another name and renames it when it is whole, so that
 * there is never half of one. */
static int create_file(struct soc_store *store, const char *directory, const char *path,
                       struct soc_detail *detail)
{
    struct soc_buf draft = {0};
    soc_directory_path(&draft, directory, DRAFT);
    int rc = soc_directory_make_file(draft.data, detail);
    if (rc == SOC_OK) {
        rc = fill_file(store, draft.data, detail);
        if (rc == SOC_OK)
            rc = soc_directory_rename(directory, draft.data, path, detail);
        else
            unlink(draft.data);
    }
    soc_buf_fini(&draft);
    return rc;
}

/* Another program has copied the log of a killed society into the database and removed
 * it, as SQLite does when the last connection closes: `sqlite3 society.db` is enough.
 * Its pages have no checksums of ours. If nothing durable is missing and SQLite finds
 * its structure whole they get them. */
static int take_over(struct soc_store *store, const char *path, struct soc_detail *detail)
{
    soc_pages_trust(store->pages, true);
    int rc = soc_database_open(store, path, SQLITE_OPEN_READWRITE, detail);
    if (rc == SOC_OK)
        rc = soc_database_position(store, detail);
    if (rc == SOC_OK)
        rc = soc_mark_check(store, detail);
    if (rc == SOC_OK)
        rc = soc_database_check(store, detail);
    soc_database_close(store);
    if (rc == SOC_OK) {
        int sqlite_rc = soc_pages_reseal(store->pages, path);
        rc = sqlite_rc == SQLITE_OK ? SOC_OK : soc_database_fail(store, sqlite_rc, detail);
    }
    soc_pages_trust(store->pages, false);
    return rc;
}

/* Opens the file that is there and reads where it stands. */
static int open_file(struct soc_store *store, const char *path, struct soc_detail *detail)
{
    int flags = store->is_read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    int rc = store->is_read_only ? SOC_OK : soc_wal_renew(store, path, detail);
    if (rc == SOC_OK)
        rc = soc_mark_open(store, path, detail);
    if (rc == SOC_OK && soc_mark_log_is_gone(store)) {
        if (store->is_read_only)
            soc_pages_trust(store->pages, true);
        else
            rc = take_over(store, path, detail);
    }
    if (rc == SOC_OK)
        rc = soc_database_open(store, path, flags, detail);
    if (rc == SOC_OK && !store->is_read_only)
        rc = soc_database_exec(store, store->sync_sql, detail);
    if (rc == SOC_OK)
        rc = soc_database_upgrade(store, detail);
    if (rc == SOC_OK)
        rc = soc_database_position(store, detail);
    if (rc == SOC_OK)
        rc = soc_mark_check(store, detail);
    if (rc == SOC_OK && !store->is_read_only)
        rc = soc_mark_begin(store, detail);
    store->has_failed |= rc < 0; /* what is there stays as it is */
    return rc;
}

static int open_directory(struct soc_store *store, const char *directory, struct soc_detail *detail)
{
    int rc = soc_directory_check(directory, detail);
    if (!store->is_read_only && (rc == SOC_OK || rc == SOC_ENOFILE)) {
        rc = soc_directory_make(directory, detail);
        if (rc == SOC_OK)
            rc = soc_directory_lock(directory, &store->lock, detail);
        if (rc == SOC_OK)
            rc = soc_directory_check(directory, detail);
    }
    struct soc_buf path = {0};
    soc_directory_path(&path, directory, DATABASE);
    if (rc == SOC_ENOFILE && store->lock.file >= 0)
        rc = create_file(store, directory, path.data, detail);
    if (rc == SOC_OK)
        rc = open_file(store, path.data, detail);
    if (rc == SOC_OK && !store->is_read_only) /* log and mark are there now */
        rc = soc_directory_sync(directory, detail);
    soc_buf_fini(&path);
    return rc;
}

/* The same on a simulated disk. */
static int open_disk(struct soc_store *store, struct soc_detail *detail)
{
    static const char *const rests[] = {DRAFT, DRAFT "-journal", DRAFT "-wal", DATABASE "-mark"};
    int rc = SOC_OK;
    if (!soc_disk_has(store->disk, DATABASE)) {
        for (int i = 0; rc == SOC_OK && i < 4; i++)
            rc = soc_disk_remove(store->disk, rests[i]);
        if (rc == SOC_OK)
            rc = fill_file(store, DRAFT, detail);
        if (rc == SOC_OK)
            rc = soc_disk_rename(store->disk, DRAFT, DATABASE);
    }
    return rc == SOC_OK ? open_file(store, DATABASE, detail) : rc;
}

static void hold(struct soc_held *held, struct soc_slice batch)
{
    if (held->count == held->capacity) {
        held->capacity = held->capacity == 0 ? 16 : held->capacity * 2;
        held->batches = soc_realloc(held->batches, held->capacity * sizeof(*held->batches));
    }
    struct soc_buf *copy = &held->batches[held->count++];
    *copy = (struct soc_buf){0};
    soc_buf_put_slice(copy, batch);
}

static void release(struct soc_held *held)
{
    for (size_t i = 0; i < held->count; i++)
        soc_buf_fini(&held->batches[i]);
    free(held->batches);
    *held = (struct soc_held){0};
}

int soc_store_open(struct soc_store **out, const struct soc_store_options *options,
                   struct soc_detail *detail)
{
    struct soc_store *store = soc_alloc_zero(sizeof(*store));
    store->lock = SOC_DIRECTORY_FREE;
    store->disk = options->disk;
    store->blank = options->blank;
    store->sync_sql = "PRAGMA synchronous = FULL";
    if (options->sync != NULL)
        store->sync_sql = strcmp(options->sync, "OFF") == 0 ? "PRAGMA synchronous = OFF"
                                                            : "PRAGMA synchronous = NORMAL";
    store->is_memory = options->directory == NULL && options->disk == NULL;
    store->is_read_only = options->is_read_only;
    assert(options->directory != NULL || !store->is_read_only);
    if (!store->is_memory)
        store->pages =
            soc_pages_new(store->disk == NULL ? NULL : sqlite3_vfs_find(soc_disk_vfs(store->disk)));
    if (detail != NULL)
        detail->text[0] = '\0';
    int rc = store->is_memory      ? SOC_OK
             : store->disk != NULL ? open_disk(store, detail)
                                   : open_directory(store, options->directory, detail);
    if (rc < 0) {
        soc_store_close(store);
        return rc;
    }
    if (detail != NULL)
        detail->text[0] = '\0';
    *out = store;
    return SOC_OK;
}

void soc_store_close(struct soc_store *store)
{
    if (store == NULL)
        return;
    soc_database_close(store);
    soc_mark_close(store);
    soc_pages_free(store->pages);
    soc_directory_unlock(store->lock);
    soc_fold_free(store->fold);
    release(&store->held);
    free(store);
}

uint64_t soc_store_sequence(const struct soc_store *store)
{
    return store->sequence;
}

static int append_row(struct soc_store *store, uint64_t sequence, struct soc_slice batch)
{
    sqlite3_stmt *statement = soc_database_statement(store, SOC_STATEMENT_APPEND);
    uint64_t checksum = soc_hash(batch.data, batch.length, sequence);
    sqlite3_bind_int64(statement, 1, (int64_t)sequence);
    sqlite3_bind_int64(statement, 2, (int64_t)checksum);
    int rc = sqlite3_bind_blob64(statement, 3, batch.data, batch.length, SQLITE_STATIC);
    return rc == SQLITE_OK ? soc_database_run(store, SOC_STATEMENT_APPEND) : rc;
}

int soc_store_materialise(struct soc_store *store, struct soc_detail *detail)
{
    struct soc_held held = store->held;
    if (store->db != NULL)
        return SOC_OK;
    int rc = soc_database_open(store, ":memory:", SQLITE_OPEN_READWRITE, detail);
    if (rc == SOC_OK)
        rc = soc_database_create_from(store, store->blank, detail);
    if (rc == SOC_OK)
        rc = soc_database_begin(store, detail);
    for (size_t i = 0; i < held.count && rc == SOC_OK; i++) {
        int sqlite_rc = append_row(store, i + 1, soc_buf_slice(&held.batches[i]));
        if (sqlite_rc != SQLITE_OK)
            rc = soc_database_fail(store, sqlite_rc, detail);
    }
    if (rc == SOC_OK)
        rc = soc_database_commit(store, detail);
    if (rc == SOC_OK)
        release(&store->held);
    else
        soc_database_close(store);
    return rc;
}

int soc_store_append_all(struct soc_store *store, uint64_t first, const struct soc_slice *batches,
                         size_t count, struct soc_detail *detail)
{
    assert(!store->is_read_only && first == store->sequence + 1);
    uint64_t bytes = 0;
    bool is_held = store->db == NULL;
    int rc = soc_mark_settle(store, detail);
    if (rc == SOC_OK && !is_held)
        rc = soc_database_begin(store, detail);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < count; i++) {
        int sqlite_rc = SQLITE_OK;
        if (is_held)
            hold(&store->held, batches[i]);
        else
            sqlite_rc = append_row(store, first + i, batches[i]);
        if (sqlite_rc != SQLITE_OK) {
            rc = soc_database_fail(store, sqlite_rc, detail);
            soc_database_rollback(store);
            return rc;
        }
        bytes += batches[i].length;
    }
    if (!is_held)
        rc = soc_database_commit(store, detail);
    if (rc < 0)
        return rc;
    store->sequence += count;
    store->backlog += bytes;
    rc = soc_mark_append(store, detail);
    return rc < 0 ? rc : soc_database_checkpoint(store, SOC_WAL_PAGES_MAX, detail);
}

int soc_store_append(struct soc_store *store, uint64_t sequence, struct soc_slice batch,
                     struct soc_detail *detail)
{
    return soc_store_append_all(store, sequence, &batch, 1, detail);
}

uint64_t soc_store_backlog(const struct soc_store *store)
{
    return store->backlog;
}

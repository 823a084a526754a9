#include "store/sqlite/sqlite.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "env/clock.h"
#include "store/directory.h"
#include "store/disk/disk.h"
#include "store/sqlite/mark.h"
#include "store/sqlite/pages.h"
#include "store/sqlite/presence.h"
#include "store/sqlite/wal.h"
#include "store/tables/batches.h"
#include "store/tables/copy.h"
#include "store/tables/database.h"
#include "store/tables/fold.h"
#include "store/tables/kept.h"
#include "store/tables/lines.h"
#include "store/tables/load.h"
#include "store/tables/page.h"
#include "store/tables/prune.h"
#include "store/tables/query.h"
#include "store/tables/schema.h"
#include "store/tables/snapshots.h"
#include "store/tables/tails.h"

#define DATABASE "society.db"
#define DRAFT    "society.db.new"

/* A write-ahead log this long is copied back before the next commit returns; it is also
 * the space on disk that is kept for it. */
#define WAL_PAGES_MAX 4096

#define WAL_FRAME_HEAD_BYTES 24 /* of each page in it */

/* One this long is copied back in a quiet moment. */
#define WAL_PAGES_QUIET 512

/* Lines that are removed at least after a fold, and when idle; how often an idle store
 * looks for old ones. */
#define PRUNE_LINES    1024
#define PRUNE_EVERY_US 10000000

struct soc_sqlite {
    struct soc_store store; /* first */
    struct soc_database database;
    struct soc_fold *fold;   /* owned; NULL in a reader */
    struct soc_pages *pages; /* owned */
    struct soc_mark mark;
    struct soc_presence presence; /* empty in a reader and on a simulated disk */
    struct soc_disk *disk;        /* lent; NULL: a directory */
    const char *sync_sql;         /* how a commit is made durable */
    struct soc_directory_lock lock;
    char *path; /* of the database in a directory; NULL: on a simulated disk */
    bool is_read_only;
    struct soc_prune prune;
    int64_t pruned_us; /* time of the last step */
    bool is_log_read;  /* a reader was in the way when the log was last copied back */
};

static struct soc_sqlite *sqlite_of(struct soc_store *store)
{
    return (struct soc_sqlite *)store;
}

void soc_sqlite_count_nothing(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

void soc_sqlite_be_alone(void)
{
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    soc_sqlite_count_nothing();
}

/* Creates the tables in a file that is empty or missing. */
static int fill_file(struct soc_sqlite *sqlite, const char *path, struct soc_detail *detail)
{
    int check_bytes = SOC_PAGES_CHECK_BYTES;
    char sql[80];
    snprintf(sql, sizeof(sql), "PRAGMA page_size = %d; PRAGMA auto_vacuum = INCREMENTAL",
             SOC_SCHEMA_PAGE_BYTES);
    soc_pages_begin(sqlite->pages);
    int rc = soc_database_open(&sqlite->database, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                               detail);
    if (rc == SOC_OK) {
        sqlite3_file_control(sqlite->database.db, "main", SQLITE_FCNTL_RESERVE_BYTES, &check_bytes);
        /* Only a new database can be told that its file may shrink. */
        rc = soc_database_exec(&sqlite->database, sql, detail);
    }
    if (rc == SOC_OK)
        rc = soc_database_create(&sqlite->database, detail);
    if (rc == SOC_OK)
        rc = soc_database_exec(&sqlite->database, "PRAGMA journal_mode = WAL", detail);
    soc_database_close(&sqlite->database);
    return rc;
}

/* Makes the names of files that were created or renamed durable. */
static int sync_names(struct soc_sqlite *sqlite, const char *directory, struct soc_detail *detail)
{
    if (sqlite->disk == NULL)
        return soc_directory_sync(directory, detail);
    int rc = soc_disk_sync(sqlite->disk);
    return rc < 0 ? soc_fail(detail, rc, "the simulated directory cannot be synced") : rc;
}

/* Creates society.db under another name and renames it when it is complete, so that a
 * half-made one never exists. */
static int create_file(struct soc_sqlite *sqlite, const char *directory, const char *path,
                       struct soc_detail *detail)
{
    struct soc_buf draft = {0};
    soc_directory_path(&draft, directory, DRAFT);
    int rc = soc_directory_make_file(draft.data, detail);
    if (rc == SOC_OK) {
        rc = fill_file(sqlite, draft.data, detail);
        if (rc == SOC_OK)
            rc = soc_directory_rename(draft.data, path, detail);
        else
            unlink(draft.data);
    }
    soc_buf_fini(&draft);
    return rc == SOC_OK ? sync_names(sqlite, directory, detail) : rc;
}

/* Another program has copied the log of a killed society back and removed it, as SQLite
 * does when the last connection closes: `sqlite3 society.db` is enough. The pages it
 * wrote lack our checksums. They get them, provided that nothing durable is missing and
 * SQLite finds the structure intact. */
static int take_over(struct soc_sqlite *sqlite, const char *path, struct soc_detail *detail)
{
    soc_pages_trust(sqlite->pages, true);
    int rc = soc_database_open(&sqlite->database, path, SQLITE_OPEN_READWRITE, detail);
    if (rc == SOC_OK)
        rc = soc_batches_position(&sqlite->database, &sqlite->store.at, detail);
    if (rc == SOC_OK)
        rc = soc_mark_check(&sqlite->mark, sqlite->store.at.sequence, detail);
    if (rc == SOC_OK)
        rc = soc_database_check(&sqlite->database, detail);
    soc_database_close(&sqlite->database);
    if (rc == SOC_OK) {
        int sqlite_rc = soc_pages_reseal(sqlite->pages, path);
        rc = sqlite_rc == SQLITE_OK ? SOC_OK
                                    : soc_database_fail(&sqlite->database, sqlite_rc, detail);
    }
    soc_pages_trust(sqlite->pages, false);
    return rc;
}

static int renew_log(struct soc_sqlite *sqlite, const char *path, struct soc_detail *detail)
{
    int rc = soc_wal_renew(soc_pages_below(sqlite->pages), path);
    return rc == SQLITE_OK ? SOC_OK : soc_database_fail(&sqlite->database, rc, detail);
}

/* Has SQLite cut the file of the log to its usual length when it begins the log anew. A
 * reader of another program may have made it much longer: what the reader has not seen
 * cannot be copied back before it ends. */
static int limit_log(struct soc_sqlite *sqlite, struct soc_detail *detail)
{
    char sql[64];
    snprintf(sql, sizeof(sql), "PRAGMA journal_size_limit = %lld",
             (long long)WAL_PAGES_MAX * (SOC_SCHEMA_PAGE_BYTES + WAL_FRAME_HEAD_BYTES));
    return soc_database_exec(&sqlite->database, sql, detail);
}

/* Opens an existing file, reads its position and makes the names of log and mark, which
 * exist by now, durable. */
static int open_file(struct soc_sqlite *sqlite, const char *directory, const char *path,
                     struct soc_detail *detail)
{
    int flags = sqlite->is_read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    int rc = sqlite->is_read_only ? SOC_OK : renew_log(sqlite, path, detail);
    if (rc == SOC_OK)
        rc = soc_mark_open(&sqlite->mark, path, detail);
    if (rc == SOC_OK && soc_mark_log_is_gone(&sqlite->mark)) {
        if (sqlite->is_read_only)
            soc_pages_trust(sqlite->pages, true);
        else
            rc = take_over(sqlite, path, detail);
    }
    if (rc == SOC_OK)
        rc = soc_database_open(&sqlite->database, path, flags, detail);
    if (rc == SOC_OK && !sqlite->is_read_only)
        rc = soc_database_exec(&sqlite->database, sqlite->sync_sql, detail);
    if (rc == SOC_OK && !sqlite->is_read_only)
        rc = limit_log(sqlite, detail);
    if (rc == SOC_OK)
        rc = soc_database_upgrade(&sqlite->database, !sqlite->is_read_only, soc_lines_upgrade,
                                  detail);
    if (rc == SOC_OK)
        rc = soc_batches_position(&sqlite->database, &sqlite->store.at, detail);
    if (rc == SOC_OK)
        rc = soc_batches_last_line(&sqlite->database, &sqlite->store.at, detail);
    if (rc == SOC_OK)
        rc = soc_mark_check(&sqlite->mark, sqlite->store.at.sequence, detail);
    if (rc == SOC_OK && !sqlite->is_read_only)
        rc = soc_mark_begin(&sqlite->mark, sqlite->store.at.sequence, detail);
    if (rc == SOC_OK && !sqlite->is_read_only)
        rc = sync_names(sqlite, directory, detail);
    sqlite->database.has_failed |= rc < 0; /* leave the files as they are */
    return rc;
}

static int open_directory(struct soc_sqlite *sqlite, const char *directory,
                          struct soc_detail *detail)
{
    int rc = soc_directory_check(directory, detail);
    if (!sqlite->is_read_only && (rc == SOC_OK || rc == SOC_ENOFILE)) {
        rc = soc_directory_make(directory, detail);
        if (rc == SOC_OK)
            rc = soc_directory_lock(directory, &sqlite->lock, detail);
        if (rc == SOC_OK)
            rc = soc_directory_check(directory, detail);
    }
    struct soc_buf path = {0};
    soc_directory_path(&path, directory, DATABASE);
    if (rc == SOC_ENOFILE && sqlite->lock.file >= 0)
        rc = create_file(sqlite, directory, path.data, detail);
    if (rc == SOC_OK)
        rc = open_file(sqlite, directory, path.data, detail);
    if (rc == SOC_OK && !sqlite->is_read_only) /* log and mark exist by now */
        rc = soc_presence_note(&sqlite->presence, directory, detail);
    sqlite->path = soc_copy_text(path.data, strlen(path.data));
    soc_buf_fini(&path);
    return rc;
}

/* The same on a simulated disk. */
static int open_disk(struct soc_sqlite *sqlite, struct soc_detail *detail)
{
    static const char *const rests[] = {DRAFT, DRAFT "-journal", DRAFT "-wal", DATABASE "-mark"};
    int rc = SOC_OK;
    if (!soc_disk_has(sqlite->disk, DATABASE)) {
        for (int i = 0; rc == SOC_OK && i < 4; i++)
            rc = soc_disk_remove(sqlite->disk, rests[i]);
        if (rc == SOC_OK)
            rc = fill_file(sqlite, DRAFT, detail);
        if (rc == SOC_OK)
            rc = soc_disk_rename(sqlite->disk, DRAFT, DATABASE);
        if (rc == SOC_OK)
            rc = sync_names(sqlite, NULL, detail);
    }
    return rc == SOC_OK ? open_file(sqlite, NULL, DATABASE, detail) : rc;
}

/* Notes whether the log has grown enough to be copied back in a quiet moment, and whether
 * readers are in the way of copying back one that is much too long. */
static void note_log(struct soc_sqlite *sqlite)
{
    int pages = soc_database_wal_pages(&sqlite->database);
    sqlite->store.is_crowded =
        sqlite->is_log_read && sqlite->database.wal_pages >= 2 * WAL_PAGES_MAX;
    sqlite->store.is_untidy =
        pages >= WAL_PAGES_QUIET || sqlite->store.is_crowded || sqlite->prune.has_more;
}

static bool has_retention(const struct soc_sqlite *sqlite)
{
    return sqlite->store.retention.days > 0 || sqlite->store.retention.bytes > 0;
}

/* Removes what is too old. As little as a full disk must not stop it, it is no reason to
 * stop: the next step tries again. */
static int prune(struct soc_sqlite *sqlite, uint64_t lines_max, struct soc_detail *detail)
{
    if (!has_retention(sqlite))
        return SOC_OK;
    sqlite->pruned_us = soc_clock_monotonic_us();
    int rc = soc_prune_step(&sqlite->prune, &sqlite->database, &sqlite->store.retention,
                            sqlite->store.at.backlog, lines_max, detail);
    return rc == SOC_EDISKFULL ? SOC_OK : rc;
}

/* Copies the log back if at least `pages_min` pages of it are not. */
static int checkpoint(struct soc_sqlite *sqlite, int pages_min, struct soc_detail *detail)
{
    bool is_all = false;
    if (soc_database_wal_pages(&sqlite->database) < pages_min && !sqlite->store.is_crowded) {
        note_log(sqlite);
        return SOC_OK;
    }
    int rc = soc_mark_need(&sqlite->mark, sqlite->store.at.sequence, detail);
    if (rc == SOC_OK)
        rc = soc_database_checkpoint(&sqlite->database, &is_all, detail);
    sqlite->is_log_read = rc == SOC_OK && !is_all;
    if (rc == SOC_OK && is_all)
        rc = soc_mark_copied(&sqlite->mark, sqlite->store.at.sequence, detail);
    note_log(sqlite);
    return rc;
}

/* After this has failed, the files that have the names now are left alone: they belong to
 * somebody else. */
static int check(struct soc_store *store, struct soc_detail *detail)
{
    struct soc_sqlite *sqlite = sqlite_of(store);
    int rc = soc_presence_check(&sqlite->presence, detail);
    sqlite->database.has_failed |= rc < 0;
    if (has_retention(sqlite) && soc_clock_monotonic_us() - sqlite->pruned_us > PRUNE_EVERY_US)
        sqlite->prune.has_more = store->is_untidy = true;
    return rc;
}

static int load(struct soc_store *store, soc_record_cb *cb, void *user, struct soc_detail *detail)
{
    struct soc_sqlite *sqlite = sqlite_of(store);
    /* In one transaction, so that tables and journal match. */
    int rc = soc_database_exec(&sqlite->database, "BEGIN", detail);
    if (rc == SOC_OK && sqlite->is_read_only)
        rc = soc_batches_position(&sqlite->database, &store->at, detail);
    if (rc == SOC_OK && store->at.folded > 0) /* until then the tables are empty */
        rc = soc_load_tables(&sqlite->database, cb, user, detail);
    if (rc == SOC_OK)
        rc = soc_batches_load(&sqlite->database, store->at.folded, cb, user, detail);
    soc_database_rollback(&sqlite->database);
    return rc;
}

static int commit(struct soc_store *store, const struct soc_slice *batches, size_t count,
                  struct soc_detail *detail)
{
    struct soc_sqlite *sqlite = sqlite_of(store);
    assert(!sqlite->is_read_only && sqlite->database.db != NULL);
    int rc = soc_mark_settle(&sqlite->mark, detail);
    if (rc == SOC_OK)
        rc = soc_batches_append(&sqlite->database, &store->at, batches, count, detail);
    if (rc < 0)
        return rc;
    rc = soc_mark_append(&sqlite->mark, store->at.sequence, detail);
    if (rc == SOC_OK)
        rc = check(store, detail);
    return rc < 0 ? rc : checkpoint(sqlite, WAL_PAGES_MAX, detail);
}

static int fold(struct soc_store *store, size_t bytes_max, struct soc_detail *detail)
{
    struct soc_sqlite *sqlite = sqlite_of(store);
    struct soc_fold_source source = {soc_batches_read, &sqlite->database};
    /* Without a sync: if it is lost, the journal still has everything. The next commit
     * syncs it. */
    int rc = soc_database_exec(&sqlite->database, "PRAGMA synchronous = NORMAL", detail);
    uint64_t lines = store->at.lines;
    if (rc == SOC_OK)
        rc = soc_fold_run(sqlite->fold, &source, &store->at, bytes_max, detail);
    if (rc == SOC_OK) /* faster than lines are added */
        rc = prune(sqlite, 2 * (store->at.lines - lines) + PRUNE_LINES, detail);
    int sync_rc = soc_database_exec(&sqlite->database, sqlite->sync_sql, rc < 0 ? NULL : detail);
    if (rc == SOC_OK)
        rc = sync_rc;
    return rc < 0 ? rc : checkpoint(sqlite, WAL_PAGES_MAX, detail);
}

static int look(struct soc_store *store, const struct soc_query *query, struct soc_page *page,
                struct soc_buf *out, struct soc_detail *detail)
{
    struct soc_database *database = &sqlite_of(store)->database;
    return soc_page_serves(query) ? soc_page_answer(database, query, page, out, detail)
                                  : soc_query_answer(database, query, out, detail);
}

/* From one snapshot, as far as it is folded. */
static int look_beside(struct soc_store *store, const struct soc_query *query,
                       struct soc_page *page, struct soc_buf *out, struct soc_detail *detail)
{
    struct soc_database *database = &sqlite_of(store)->database;
    int rc = soc_database_exec(database, "BEGIN", detail);
    if (rc == SOC_OK)
        rc = look(store, query, page, out, detail);
    soc_database_rollback(database);
    return rc;
}

/* Includes batches that are not folded by answering from a copy with all of them folded.
 * Without any, the store itself answers. */
static int look_through(struct soc_store *store, const struct soc_query *query,
                        struct soc_page *page, struct soc_buf *out, struct soc_detail *detail)
{
    struct soc_database *database = &sqlite_of(store)->database;
    struct soc_database copy = {0};
    int rc = soc_database_exec(database, "BEGIN", detail);
    if (rc < 0)
        return rc;
    rc = soc_batches_position(database, &store->at, detail);
    bool is_folded = store->at.folded == store->at.sequence;
    bool is_direct = is_folded || strcmp(query->what, "activity") == 0;
    if (rc == SOC_OK && is_direct)
        rc = look(store, query, page, out, detail);
    soc_database_rollback(database);
    if (rc < 0 || is_direct)
        return rc;
    struct soc_store_position at;
    rc = soc_copy_make(database, &copy, &at, detail);
    if (rc == SOC_OK)
        rc = soc_page_serves(query) ? soc_page_answer(&copy, query, page, out, detail)
                                    : soc_query_answer(&copy, query, out, detail);
    soc_database_close(&copy);
    return rc;
}

static int letter(struct soc_store *store, uint64_t key, soc_record_cb *cb, void *user,
                  struct soc_detail *detail)
{
    return soc_load_letter(&sqlite_of(store)->database, key, cb, user, detail);
}

static int history(struct soc_store *store, soc_history_cb *cb, void *user,
                   struct soc_detail *detail)
{
    return soc_kept_history(&sqlite_of(store)->database, cb, user, detail);
}

static int history_count(struct soc_store *store, int64_t *count, struct soc_detail *detail)
{
    return soc_kept_history_count(&sqlite_of(store)->database, count, detail);
}

static int source(struct soc_store *store, struct soc_slice hash, struct soc_buf *out,
                  struct soc_detail *detail)
{
    return soc_kept_source(&sqlite_of(store)->database, hash, out, detail);
}

static int memories(struct soc_store *store, soc_memory_cb *cb, void *user,
                    struct soc_detail *detail)
{
    return soc_kept_memories(&sqlite_of(store)->database, cb, user, detail);
}

/* Without a sync: it can be made again. */
static int keep(struct soc_store *store, struct soc_snapshot *snapshot, struct soc_detail *detail)
{
    struct soc_sqlite *sqlite = sqlite_of(store);
    int rc = check(store, detail);
    if (rc == SOC_OK)
        rc = soc_database_exec(&sqlite->database, "PRAGMA synchronous = NORMAL", detail);
    if (rc == SOC_OK)
        rc = soc_snapshots_store(&sqlite->database, snapshot, detail);
    int sync_rc = soc_database_exec(&sqlite->database, sqlite->sync_sql, rc < 0 ? NULL : detail);
    if (rc < 0 || sync_rc < 0)
        return rc < 0 ? rc : sync_rc;
    sync_rc = checkpoint(sqlite, WAL_PAGES_MAX, detail);
    return sync_rc < 0 ? sync_rc : rc;
}

static int tidy(struct soc_store *store, bool is_last, struct soc_detail *detail)
{
    struct soc_sqlite *sqlite = sqlite_of(store);
    int rc = check(store, detail);
    if (rc < 0)
        return rc;
    if (!is_last) {
        if (sqlite->prune.has_more)
            rc = prune(sqlite, PRUNE_LINES, detail);
        return rc < 0 ? rc : checkpoint(sqlite, WAL_PAGES_QUIET, detail);
    }
    if (sqlite->database.has_failed)
        return SOC_OK;
    /* Before the first commit the length of the log is unknown. */
    return checkpoint(sqlite, sqlite->database.wal_pages == 0 ? 0 : 1, detail);
}

static void close_store(struct soc_store *store)
{
    struct soc_sqlite *sqlite = sqlite_of(store);
    soc_database_close(&sqlite->database);
    soc_tails_free(sqlite->database.tails);
    soc_mark_close(&sqlite->mark);
    soc_presence_fini(&sqlite->presence);
    soc_pages_free(sqlite->pages);
    soc_directory_unlock(sqlite->lock);
    soc_fold_free(sqlite->fold);
    soc_prune_fini(&sqlite->prune);
    free(sqlite->path);
    free(sqlite);
}

static const struct soc_store_ops beside_ops = {.look = look_beside, .close = close_store};

/* The files belong to the writer, so only the connection is opened. */
static int open_beside(struct soc_store *store, struct soc_store **out, struct soc_detail *detail)
{
    struct soc_sqlite *writer = sqlite_of(store);
    if (writer->path == NULL)
        return soc_fail(detail, SOC_EINVAL, "a simulated disk has no readers");
    struct soc_sqlite *sqlite = soc_alloc_zero(sizeof(*sqlite));
    sqlite->store.ops = &beside_ops;
    sqlite->lock = SOC_DIRECTORY_FREE;
    sqlite->pages = soc_pages_new(NULL);
    sqlite->database.vfs = soc_pages_vfs(sqlite->pages);
    sqlite->database.damage = soc_pages_damage(sqlite->pages);
    sqlite->mark.is_read_only = sqlite->is_read_only = true;
    sqlite->database.tails = soc_tails_new();
    int rc = soc_database_open(&sqlite->database, writer->path, SQLITE_OPEN_READONLY, detail);
    if (rc < 0) {
        close_store(&sqlite->store);
        return rc;
    }
    *out = &sqlite->store;
    return SOC_OK;
}

static const struct soc_store_ops writer_ops = {
    .load = load,
    .commit = commit,
    .fold = fold,
    .look = look,
    .open_reader = open_beside,
    .letter = letter,
    .history = history,
    .history_count = history_count,
    .source = source,
    .memories = memories,
    .keep = keep,
    .tidy = tidy,
    .check = check,
    .close = close_store,
};

static const struct soc_store_ops reader_ops = {
    .load = load,
    .look = look_through,
    .letter = letter,
    .history = history,
    .history_count = history_count,
    .source = source,
    .memories = memories,
    .close = close_store,
};

/* Replaces the database by a private copy with everything folded, if it is not. */
static int take_snapshot(struct soc_sqlite *sqlite, struct soc_detail *detail)
{
    struct soc_database copy = {0};
    struct soc_store_position at;
    if (sqlite->store.at.folded == sqlite->store.at.sequence)
        return SOC_OK;
    int rc = soc_copy_make(&sqlite->database, &copy, &at, detail);
    if (rc < 0)
        return rc;
    soc_database_close(&sqlite->database);
    soc_mark_close(&sqlite->mark);
    sqlite->database = copy;
    sqlite->store.at = at;
    return SOC_OK;
}

static const char *sync_sql(const char *sync)
{
    if (sync == NULL)
        return "PRAGMA synchronous = FULL";
    return strcmp(sync, "OFF") == 0 ? "PRAGMA synchronous = OFF" : "PRAGMA synchronous = NORMAL";
}

static struct soc_sqlite *make(const struct soc_sqlite_options *options)
{
    struct soc_sqlite *sqlite = soc_alloc_zero(sizeof(*sqlite));
    sqlite->is_read_only = options->access != SOC_SQLITE_WRITE;
    sqlite->store.ops = sqlite->is_read_only ? &reader_ops : &writer_ops;
    sqlite->store.is_durable = true;
    sqlite->lock = SOC_DIRECTORY_FREE;
    sqlite->disk = options->disk;
    sqlite->sync_sql = sync_sql(options->sync);
    sqlite->pages =
        soc_pages_new(options->disk == NULL ? NULL : sqlite3_vfs_find(soc_disk_vfs(options->disk)));
    sqlite->database.vfs = soc_pages_vfs(sqlite->pages);
    sqlite->database.damage = soc_pages_damage(sqlite->pages);
    sqlite->mark.pages = sqlite->pages;
    sqlite->mark.database = &sqlite->database;
    sqlite->mark.is_read_only = sqlite->is_read_only;
    if (!sqlite->is_read_only)
        sqlite->fold = soc_fold_new(&sqlite->database);
    return sqlite;
}

int soc_sqlite_open(struct soc_store **out, const struct soc_sqlite_options *options,
                    struct soc_detail *detail)
{
    assert((options->directory == NULL) != (options->disk == NULL));
    assert(options->directory != NULL || options->access == SOC_SQLITE_WRITE);
    struct soc_sqlite *sqlite = make(options);
    if (detail != NULL)
        detail->text[0] = '\0';
    int rc = options->disk != NULL ? open_disk(sqlite, detail)
                                   : open_directory(sqlite, options->directory, detail);
    if (rc == SOC_OK && options->access == SOC_SQLITE_SNAPSHOT)
        rc = take_snapshot(sqlite, detail);
    if (rc < 0) {
        close_store(&sqlite->store);
        return rc;
    }
    if (detail != NULL)
        detail->text[0] = '\0';
    *out = &sqlite->store;
    return SOC_OK;
}

struct soc_database *soc_sqlite_lend(struct soc_store *store, bool *are_checked)
{
    assert(store->ops == &writer_ops || store->ops == &reader_ops);
    struct soc_sqlite *sqlite = sqlite_of(store);
    if (are_checked != NULL)
        *are_checked = soc_pages_are_checked(sqlite->pages);
    return &sqlite->database;
}

#include "store/sqlite/backup.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "store/directory.h"
#include "store/sqlite/pages.h"
#include "store/sqlite/sqlite.h"
#include "store/tables/batches.h"
#include "store/tables/copy.h"
#include "store/tables/database.h"
#include "store/tables/load.h"
#include "store/tables/schema.h"

#define DATABASE  "society.db"
#define RESTORING "society.db.restored"
#define PART      ".part" /* behind the name of a backup that is being made */

/* In the head of an SQLite file. */
#define VERSIONS_AT 18
#define WITH_LOG    2

#define OTHER_TOOLS                                                                                \
    "; a copy of a running society made by another program (cp, rsync, sqlite3) is not taken: "    \
    "make it with `society backup`"

/* A database file outside a state directory, with the layer that checks its pages. */
struct copy {
    struct soc_pages *pages;
    struct soc_database database;
};

static void open_pages(struct copy *copy)
{
    *copy = (struct copy){.pages = soc_pages_new(NULL)};
    copy->database.vfs = soc_pages_vfs(copy->pages);
    copy->database.damage = soc_pages_damage(copy->pages);
}

static void close_copy(struct copy *copy)
{
    soc_database_close(&copy->database);
    soc_pages_free(copy->pages);
}

/* Notes a host that has answered this one, once. */
static void note_peer(struct soc_backup_report *report, struct soc_slice peer)
{
    struct soc_buf name = {0};
    size_t length = strlen(report->peers);
    soc_buf_printf(&name, ",%.*s,", (int)peer.length, peer.data);
    bool is_first = strncmp(report->peers, soc_buf_text(&name) + 1, name.length - 1) == 0;
    if (!is_first && strstr(report->peers, soc_buf_text(&name)) == NULL &&
        name.length <= sizeof(report->peers) - length)
        memcpy(report->peers + length, soc_buf_text(&name) + 1, name.length);
    soc_buf_fini(&name);
}

static int note_record(const struct soc_record *record, void *user)
{
    struct soc_backup_report *report = user;
    report->records++;
    if (record->type == SOC_RECORD_LINK && record->link.peer_id.length > 0)
        note_peer(report, record->link.peer);
    if (record->type == SOC_RECORD_META && soc_slice_equal(record->meta.name, SOC_SLICE("host"))) {
        snprintf(report->host, sizeof(report->host), "%.*s", (int)record->meta.value.length,
                 record->meta.value.data);
        report->host[strcspn(report->host, " ")] = '\0'; /* its number follows, once it has one */
    }
    return SOC_OK;
}

static int read_size(struct soc_database *database, uint64_t *bytes, struct soc_detail *detail)
{
    sqlite3_stmt *statement = NULL;
    int rc = soc_database_prepare(database, "PRAGMA page_count", &statement, detail);
    if (rc == SOC_OK && sqlite3_step(statement) == SQLITE_ROW)
        *bytes = (uint64_t)sqlite3_column_int64(statement, 0) * SOC_SCHEMA_PAGE_BYTES;
    sqlite3_finalize(statement);
    return rc;
}

/* Checks the structure, for which every page in use is read, and loads what a start would,
 * in one snapshot. */
static int inspect(struct soc_database *database, struct soc_backup_report *report,
                   struct soc_detail *detail)
{
    struct soc_store_position at = {0};
    *report = (struct soc_backup_report){0};
    int rc = soc_database_exec(database, "BEGIN", detail);
    if (rc == SOC_OK)
        rc = soc_database_check(database, detail);
    if (rc == SOC_OK)
        rc = soc_batches_position(database, &at, detail);
    if (rc == SOC_OK)
        rc = soc_batches_last_line(database, &at, detail);
    if (rc == SOC_OK && at.folded > 0)
        rc = soc_load_tables(database, note_record, report, detail);
    if (rc == SOC_OK)
        rc = soc_batches_load(database, at.folded, note_record, report, detail);
    if (rc == SOC_OK)
        rc = read_size(database, &report->bytes, detail);
    soc_database_rollback(database);
    report->sequence = at.sequence;
    report->line = at.last_line;
    return rc;
}

static int fail_errno(struct soc_detail *detail, const char *path)
{
    int error = errno;
    int code = error == ENOENT                      ? SOC_ENOFILE
               : error == EACCES || error == EPERM  ? SOC_EACCESS
               : error == ENOSPC || error == EDQUOT ? SOC_EDISKFULL
                                                    : SOC_EIO;
    return soc_fail(detail, code, "%s: %s", path, strerror(error));
}

/* Puts the name of the file before what was found about `society.db`. */
static int fail_file(struct soc_detail *detail, int rc, const char *file, const char *more)
{
    struct soc_detail found = *detail;
    char *end = strstr(found.text, SOC_DIRECTORY_REMEDY);
    if (end != NULL)
        *end = '\0';
    bool is_named = strncmp(found.text, file, strlen(file)) == 0;
    return soc_fail(detail, rc, "%s%s%s%s", is_named ? "" : file, is_named ? "" : ": ", found.text,
                    rc == SOC_ECORRUPT ? more : "");
}

/* A backup is a single file. The database of a state directory keeps the latest pages in a log
 * beside it, and without that log passes for an older or an empty society. */
static int check_is_single(const char *file, struct soc_detail *detail)
{
    unsigned char versions[2] = {0}; /* of the file's format: for writing, for reading */
    int descriptor = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t count = descriptor < 0 ? 0 : pread(descriptor, versions, sizeof(versions), VERSIONS_AT);
    if (descriptor >= 0)
        close(descriptor);
    if (count == sizeof(versions) && (versions[0] == WITH_LOG || versions[1] == WITH_LOG))
        return soc_fail(detail, SOC_ECORRUPT,
                        "it is the database of a state directory, whose latest changes are in a "
                        "log beside it");
    return SOC_OK;
}

static int open_backup(struct copy *copy, const char *file, struct soc_detail *detail)
{
    struct soc_database *database = &copy->database;
    int rc = soc_directory_check_file(file, detail);
    if (rc == SOC_OK)
        rc = check_is_single(file, detail);
    if (rc == SOC_OK)
        rc = soc_database_open(database, file, SQLITE_OPEN_READONLY, detail);
    if (rc == SOC_OK)
        rc = soc_database_upgrade(database, false, NULL, detail);
    return rc;
}

/* Copies all pages from one snapshot; the pages written get checksums. */
static int copy_to(struct soc_database *from, bool are_checked, const char *path,
                   struct soc_detail *detail)
{
    struct copy to;
    open_pages(&to);
    if (are_checked)
        soc_pages_begin(to.pages);
    int rc = soc_directory_make_file(path, detail);
    if (rc == SOC_OK)
        rc = soc_database_open(&to.database, path, SQLITE_OPEN_READWRITE, detail);
    if (rc == SOC_OK)
        rc = soc_copy_pages(from, &to.database, detail);
    /* A single file, which other programs can read without writing anything beside it. */
    if (rc == SOC_OK)
        rc = soc_database_exec(&to.database, "PRAGMA journal_mode = DELETE", detail);
    close_copy(&to);
    return rc;
}

static int sync_file(const char *path, struct soc_detail *detail)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    int rc = file < 0 || fsync(file) < 0 ? fail_errno(detail, path) : SOC_OK;
    if (file >= 0)
        close(file);
    return rc;
}

static int sync_directory_of(const char *path, struct soc_detail *detail)
{
    struct soc_buf copy = {0};
    soc_buf_put_text(&copy, path);
    soc_buf_put_byte(&copy, '\0');
    int rc = soc_directory_sync(dirname(copy.data), detail);
    soc_buf_fini(&copy);
    return rc;
}

/* Gives a verified draft its name. */
static int publish(const char *draft, const char *path, struct soc_detail *detail)
{
    int rc = sync_file(draft, detail);
    if (rc == SOC_OK && rename(draft, path) < 0)
        rc = fail_errno(detail, path);
    return rc == SOC_OK ? sync_directory_of(path, detail) : rc;
}

int soc_backup_verify_file(const char *file, struct soc_backup_report *report,
                           struct soc_detail *detail)
{
    struct copy copy;
    struct stat status;
    if (stat(file, &status) < 0)
        return fail_errno(detail, file);
    if (!S_ISREG(status.st_mode))
        return soc_fail(detail, SOC_EINVAL, "%s is no regular file", file);
    open_pages(&copy);
    int rc = open_backup(&copy, file, detail);
    if (rc == SOC_OK && soc_pages_are_checked(copy.pages)) {
        int sqlite_rc = soc_pages_check_all(copy.pages, file);
        rc = sqlite_rc == SQLITE_OK ? SOC_OK : soc_database_fail(&copy.database, sqlite_rc, detail);
    }
    if (rc == SOC_OK)
        rc = inspect(&copy.database, report, detail);
    close_copy(&copy);
    return rc < 0 ? fail_file(detail, rc, file, OTHER_TOOLS) : rc;
}

int soc_backup_make(const char *directory, const char *file, int may_replace,
                    struct soc_backup_report *report, struct soc_detail *detail)
{
    struct soc_store *store;
    struct soc_buf draft = {0};
    assert(directory != NULL && file != NULL);
    if (!may_replace && access(file, F_OK) == 0)
        return soc_fail(detail, SOC_EEXISTS, "%s exists; --replace overwrites it", file);
    struct soc_sqlite_options options = {.directory = directory, .access = SOC_SQLITE_READ};
    int rc = soc_sqlite_open(&store, &options, detail);
    if (rc < 0)
        return rc;
    soc_buf_printf(&draft, "%s%s", file, PART);
    bool are_checked = false;
    struct soc_database *database = soc_sqlite_lend(store, &are_checked);
    rc = copy_to(database, are_checked, soc_buf_text(&draft), detail);
    soc_store_close(store);
    if (rc == SOC_OK)
        rc = soc_backup_verify_file(soc_buf_text(&draft), report, detail);
    if (rc == SOC_OK)
        rc = publish(soc_buf_text(&draft), file, detail);
    if (rc < 0)
        unlink(soc_buf_text(&draft));
    soc_buf_fini(&draft);
    return rc;
}

/* Copies a verified backup into a directory whose lock is held. */
static int restore_into(const char *file, const char *directory, struct soc_detail *detail)
{
    struct copy from;
    struct soc_buf draft = {0};
    struct soc_buf path = {0};
    soc_directory_path(&draft, directory, RESTORING);
    soc_directory_path(&path, directory, DATABASE);
    open_pages(&from);
    int rc = open_backup(&from, file, detail);
    if (rc == SOC_OK)
        rc = copy_to(&from.database, soc_pages_are_checked(from.pages), draft.data, detail);
    close_copy(&from);
    if (rc == SOC_OK) {
        struct copy to;
        open_pages(&to);
        rc = soc_database_open(&to.database, draft.data, SQLITE_OPEN_READWRITE, detail);
        if (rc == SOC_OK)
            rc = soc_database_exec(&to.database, "PRAGMA journal_mode = WAL", detail);
        close_copy(&to);
    }
    if (rc == SOC_OK)
        rc = publish(draft.data, path.data, detail);
    if (rc < 0)
        unlink(draft.data);
    soc_buf_fini(&draft);
    soc_buf_fini(&path);
    return rc;
}

int soc_backup_restore(const char *file, const char *directory, struct soc_backup_report *report,
                       struct soc_detail *detail)
{
    struct soc_directory_lock lock = SOC_DIRECTORY_FREE;
    int rc = soc_backup_verify_file(file, report, detail);
    if (rc == SOC_OK)
        rc = soc_directory_make(directory, detail);
    if (rc == SOC_OK)
        rc = soc_directory_lock(directory, &lock, detail);
    if (rc < 0)
        return rc;
    rc = soc_directory_check(directory, detail);
    if (rc == SOC_ENOFILE)
        rc = restore_into(file, directory, detail);
    else
        rc = soc_fail(detail, SOC_EEXISTS,
                      "%s has a society already, or what is left of one; move it away, or name "
                      "another directory with --state",
                      directory);
    soc_directory_unlock(lock);
    return rc == SOC_OK ? soc_backup_verify_state(directory, report, detail) : rc;
}

int soc_backup_verify_state(const char *directory, struct soc_backup_report *report,
                            struct soc_detail *detail)
{
    struct soc_store *store;
    struct soc_sqlite_options options = {.directory = directory, .access = SOC_SQLITE_READ};
    int rc = soc_sqlite_open(&store, &options, detail);
    if (rc < 0)
        return rc;
    struct soc_database *database = soc_sqlite_lend(store, NULL);
    rc = inspect(database, report, detail);
    soc_store_close(store);
    return rc;
}

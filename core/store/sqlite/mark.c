#include "store/sqlite/mark.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"

#define MAGIC      "socmark1"
#define MARK_BYTES 48

/* Offsets in SQLite's index of the log. */
#define INDEX_BYTES         32768
#define INDEX_FRAMES_OFFSET 16
#define INDEX_SALT_OFFSET   32

#define REMEDY                                                                                     \
    "; restore a backup (`society restore`), or remove society.db-mark to use what is left"

#define CREATE_FLAGS (SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)

static void put_number(unsigned char *at, uint64_t number)
{
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(number >> (8 * i));
}

static uint64_t read_number(const unsigned char *at)
{
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number |= (uint64_t)at[i] << (8 * i);
    return number;
}

static int decode(struct soc_mark *mark, const unsigned char *bytes, struct soc_detail *detail)
{
    static const unsigned char nothing[MARK_BYTES];
    mark->is_empty = memcmp(bytes, nothing, MARK_BYTES) == 0;
    if (mark->is_empty)
        return SOC_OK;
    if (memcmp(bytes, MAGIC, 8) != 0 || soc_hash(bytes, 40, 0) != read_number(bytes + 40))
        return soc_fail(detail, SOC_ECORRUPT,
                        "society.db-mark is damaged; remove it to start without this check");
    mark->is_there = true;
    mark->sequence = read_number(bytes + 8);
    mark->salt[0] = (uint32_t)read_number(bytes + 16);
    mark->salt[1] = (uint32_t)(read_number(bytes + 16) >> 32);
    mark->frames = (uint32_t)read_number(bytes + 24);
    mark->is_copied = read_number(bytes + 32) != 0;
    return SOC_OK;
}

static int read_mark(struct soc_mark *mark, struct soc_detail *detail)
{
    unsigned char bytes[MARK_BYTES] = {0};
    int rc = mark->file->pMethods->xRead(mark->file, bytes, MARK_BYTES, 0);
    if (rc != SQLITE_OK && rc != SQLITE_IOERR_SHORT_READ)
        return soc_database_fail(mark->database, rc, detail);
    return decode(mark, bytes, detail); /* missing bytes are read as zeros */
}

/* Opened as a log, it gets the mode of the database. */
static int open_file(struct soc_mark *mark, int flags)
{
    sqlite3_vfs *vfs = soc_pages_below(mark->pages);
    mark->file = soc_alloc_zero((size_t)vfs->szOsFile);
    int rc = vfs->xOpen(vfs, mark->name, mark->file, SQLITE_OPEN_WAL | flags, NULL);
    if (rc == SQLITE_OK)
        return rc;
    free(mark->file);
    mark->file = NULL;
    return rc;
}

int soc_mark_open(struct soc_mark *mark, const char *path, struct soc_detail *detail)
{
    assert(mark->database != NULL && mark->file == NULL);
    sqlite3_vfs *vfs = soc_pages_below(mark->pages);
    struct soc_buf name = {0};
    soc_buf_printf(&name, "%s-mark", path);
    soc_buf_put_byte(&name, '\0');
    int is_there = 0;
    int rc = vfs->xAccess(vfs, name.data, SQLITE_ACCESS_EXISTS, &is_there);
    mark->name = name.data;
    if (rc == SQLITE_OK)
        rc = open_file(mark, mark->is_read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
    /* SQLite says that an empty file does not exist, but can open it. A missing one is
     * created by a writer, once everything else has been found intact. */
    if ((rc & 0xff) == SQLITE_CANTOPEN && !is_there)
        return SOC_OK;
    return rc == SQLITE_OK ? read_mark(mark, detail)
                           : soc_database_fail(mark->database, rc, detail);
}

/* An empty file does not exist to SQLite. */
static bool has_log(struct soc_mark *mark)
{
    sqlite3_vfs *vfs = soc_pages_below(mark->pages);
    struct soc_buf name = {0};
    int is_there = 0;
    assert(mark->name != NULL);
    soc_buf_put(&name, mark->name, strlen(mark->name) - strlen("-mark"));
    soc_buf_put_text(&name, "-wal");
    int rc = vfs->xAccess(vfs, soc_buf_text(&name), SQLITE_ACCESS_EXISTS, &is_there);
    soc_buf_fini(&name);
    return rc != SQLITE_OK || is_there;
}

bool soc_mark_log_is_gone(struct soc_mark *mark)
{
    return mark->is_there && !mark->is_copied && mark->frames > 0 && !has_log(mark);
}

/* The current state of the log, according to SQLite. */
struct log {
    uint32_t frames;
    uint32_t salt[2];
    bool is_empty; /* it has no bytes */
};

static sqlite3_file *file_of(struct soc_mark *mark, int which)
{
    sqlite3_file *file = NULL;
    sqlite3_file_control(mark->database->db, "main", which, &file);
    return file != NULL && file->pMethods != NULL ? file : NULL;
}

static void inspect_log(struct soc_mark *mark, struct log *log)
{
    *log = (struct log){.is_empty = true};
    sqlite3_file *database = file_of(mark, SQLITE_FCNTL_FILE_POINTER);
    sqlite3_file *file = file_of(mark, SQLITE_FCNTL_JOURNAL_POINTER);
    sqlite3_int64 length = 0;
    void volatile *index = NULL;
    if (file == NULL || database == NULL)
        return;
    file->pMethods->xFileSize(file, &length);
    log->is_empty = length == 0;
    if (database->pMethods->xShmMap(database, 0, INDEX_BYTES, 0, &index) != SQLITE_OK ||
        index == NULL)
        return;
    memcpy(&log->frames, (const char *)index + INDEX_FRAMES_OFFSET, sizeof(log->frames));
    memcpy(log->salt, (const char *)index + INDEX_SALT_OFFSET, sizeof(log->salt));
}

int soc_mark_check(struct soc_mark *mark, uint64_t sequence, struct soc_detail *detail)
{
    /* It is written before the first batch. A reader may have come just before that. */
    bool is_expected = sequence > 0 && soc_pages_are_checked(mark->pages);
    int rc = mark->is_empty && is_expected ? read_mark(mark, detail) : SOC_OK;
    if (rc == SOC_OK && mark->is_empty && is_expected)
        rc = soc_fail(detail, SOC_ECORRUPT, "society.db-mark is damaged: it is empty" REMEDY);
    if (rc < 0 || !mark->is_there)
        return rc;
    if (sequence < mark->sequence)
        return soc_fail(detail, SOC_ECORRUPT,
                        "the journal ends with batch %" PRIu64 ", but batch %" PRIu64
                        " was durable" REMEDY,
                        sequence, mark->sequence);
    if (mark->is_read_only) /* the log of a running society moves on meanwhile */
        return SOC_OK;
    struct log log;
    inspect_log(mark, &log);
    bool is_same = memcmp(log.salt, mark->salt, sizeof(log.salt)) == 0;
    bool is_needed = mark->is_copied ? log.frames > 0 && is_same : mark->frames > 0;
    if (!is_needed || log.is_empty || (is_same && log.frames >= mark->frames))
        return SOC_OK;
    return soc_fail(detail, SOC_ECORRUPT,
                    "society.db-wal is damaged: %" PRIu32 " of its frames can be read, but %" PRIu32
                    " were durable" REMEDY,
                    is_same ? log.frames : 0, mark->frames);
}

static int write_mark(struct soc_mark *mark, bool is_synced)
{
    unsigned char bytes[MARK_BYTES];
    memcpy(bytes, MAGIC, 8);
    put_number(bytes + 8, mark->sequence);
    put_number(bytes + 16, (uint64_t)mark->salt[1] << 32 | mark->salt[0]);
    put_number(bytes + 24, mark->frames);
    put_number(bytes + 32, mark->is_copied);
    put_number(bytes + 40, soc_hash(bytes, 40, 0));
    mark->is_there = true;
    mark->is_empty = false;
    int rc = mark->file->pMethods->xWrite(mark->file, bytes, MARK_BYTES, 0);
    if (rc == SQLITE_OK && is_synced)
        rc = mark->file->pMethods->xSync(mark->file, SQLITE_SYNC_NORMAL);
    return rc;
}

static void set_mark(struct soc_mark *mark, uint64_t sequence, bool is_copied)
{
    struct log log;
    inspect_log(mark, &log);
    mark->sequence = sequence;
    mark->frames = log.frames;
    memcpy(mark->salt, log.salt, sizeof(log.salt));
    mark->is_copied = is_copied;
}

/* Writes a mark that requires more than the last one. Without space that one stays, and
 * still holds. */
static int raise_mark(struct soc_mark *mark, uint64_t sequence, struct soc_detail *detail)
{
    assert(mark->file != NULL);
    set_mark(mark, sequence, false);
    int rc = write_mark(mark, false);
    return rc == SQLITE_OK || rc == SQLITE_FULL ? SOC_OK
                                                : soc_database_fail(mark->database, rc, detail);
}

/* Writes and syncs a mark. Without space for it, nothing is committed until there is
 * some. */
static int put_synced(struct soc_mark *mark, uint64_t sequence, bool is_copied,
                      struct soc_detail *detail)
{
    set_mark(mark, sequence, is_copied);
    mark->is_due = true;
    int rc = soc_mark_settle(mark, detail);
    return rc == SOC_EDISKFULL ? SOC_OK : rc;
}

int soc_mark_begin(struct soc_mark *mark, uint64_t sequence, struct soc_detail *detail)
{
    struct log log;
    bool was_there = mark->is_there;
    int rc = mark->file == NULL ? open_file(mark, CREATE_FLAGS) : SQLITE_OK;
    if (rc != SQLITE_OK)
        return soc_database_fail(mark->database, rc, detail);
    inspect_log(mark, &log);
    if (was_there && log.frames > 0)
        return raise_mark(mark, sequence, detail);
    return put_synced(mark, sequence, log.frames == 0, detail);
}

int soc_mark_append(struct soc_mark *mark, uint64_t sequence, struct soc_detail *detail)
{
    return raise_mark(mark, sequence, detail);
}

int soc_mark_need(struct soc_mark *mark, uint64_t sequence, struct soc_detail *detail)
{
    sqlite3_file *file = file_of(mark, SQLITE_FCNTL_JOURNAL_POINTER);
    int rc = file == NULL ? SQLITE_OK : file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
    return rc == SQLITE_OK ? raise_mark(mark, sequence, detail)
                           : soc_database_fail(mark->database, rc, detail);
}

int soc_mark_copied(struct soc_mark *mark, uint64_t sequence, struct soc_detail *detail)
{
    assert(mark->file != NULL);
    return put_synced(mark, sequence, true, detail);
}

int soc_mark_settle(struct soc_mark *mark, struct soc_detail *detail)
{
    if (!mark->is_due)
        return SOC_OK;
    int rc = write_mark(mark, true);
    mark->is_due = rc != SQLITE_OK;
    return rc == SQLITE_OK ? SOC_OK : soc_database_fail(mark->database, rc, detail);
}

void soc_mark_close(struct soc_mark *mark)
{
    bool is_open = mark->file != NULL && mark->file->pMethods != NULL;
    if (is_open && !mark->is_read_only && !mark->database->has_failed &&
        soc_mark_log_is_gone(mark)) {
        mark->is_copied = true;
        write_mark(mark, false);
    }
    if (is_open)
        mark->file->pMethods->xClose(mark->file);
    free(mark->file);
    free(mark->name);
    mark->file = NULL;
    mark->name = NULL;
}

#include "store/sqlite/pages.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "store/tables/schema.h"

#define PAGE_BYTES     SOC_SCHEMA_PAGE_BYTES
#define CHECKED_BYTES  (PAGE_BYTES - SOC_PAGES_CHECK_BYTES)
#define SIZE_OFFSET    16 /* page size, in the file header */
#define RESERVE_OFFSET 20 /* reserved bytes of a page */

struct soc_pages {
    char name[40];
    sqlite3_vfs vfs;
    sqlite3_vfs *below; /* lent */
    bool are_checked;
    bool are_trusted; /* read without checks */
    struct soc_detail damage;
    unsigned char page[PAGE_BYTES]; /* being written */
};

/* The file of the database, followed in memory by that of the layer below. Other files
 * belong to the layer below alone. */
struct file {
    sqlite3_file base; /* first */
    struct soc_pages *pages;
};

#define FILE_BYTES ((sizeof(struct file) + 15) / 16 * 16)

static sqlite3_file *below(sqlite3_file *base)
{
    return (sqlite3_file *)(void *)((char *)base + FILE_BYTES);
}

static struct soc_pages *pages_of(sqlite3_file *base)
{
    return ((struct file *)(void *)base)->pages;
}

static uint64_t checksum(const unsigned char *page, sqlite3_int64 number)
{
    return soc_hash(page, CHECKED_BYTES, (uint64_t)number);
}

static void put_checksum(unsigned char *page, sqlite3_int64 number)
{
    uint64_t sum = checksum(page, number);
    for (int i = 0; i < SOC_PAGES_CHECK_BYTES; i++)
        page[CHECKED_BYTES + i] = (unsigned char)(sum >> (8 * i));
}

static bool is_whole(const unsigned char *page, sqlite3_int64 number)
{
    uint64_t sum = checksum(page, number);
    for (int i = 0; i < SOC_PAGES_CHECK_BYTES; i++)
        if (page[CHECKED_BYTES + i] != (unsigned char)(sum >> (8 * i)))
            return false;
    return true;
}

static int report(struct soc_pages *pages, sqlite3_int64 number, const char *what)
{
    if (pages->damage.text[0] == '\0')
        soc_fail(&pages->damage, SOC_ECORRUPT, "page %lld of society.db is damaged: %s",
                 (long long)number, what);
    return SQLITE_IOERR_DATA;
}

static bool is_page(int count, sqlite3_int64 at)
{
    return count == PAGE_BYTES && at % PAGE_BYTES == 0;
}

static int read_page(sqlite3_file *base, void *out, int count, sqlite3_int64 at)
{
    struct soc_pages *pages = pages_of(base);
    int rc = below(base)->pMethods->xRead(below(base), out, count, at);
    if (!pages->are_checked || pages->are_trusted || !is_page(count, at))
        return rc;
    sqlite3_int64 number = at / PAGE_BYTES + 1;
    if (rc == SQLITE_IOERR_SHORT_READ)
        return report(pages, number, "the file is too short");
    if (rc == SQLITE_OK && !is_whole(out, number))
        return report(pages, number, "its checksum differs");
    return rc;
}

static int write_page(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 at)
{
    struct soc_pages *pages = pages_of(base);
    if (pages->are_checked && is_page(count, at)) {
        memcpy(pages->page, bytes, PAGE_BYTES);
        put_checksum(pages->page, at / PAGE_BYTES + 1);
        bytes = pages->page;
    }
    return below(base)->pMethods->xWrite(below(base), bytes, count, at);
}

static int close_file(sqlite3_file *base)
{
    int rc = below(base)->pMethods->xClose(below(base));
    base->pMethods = NULL;
    return rc;
}

static int cut_file(sqlite3_file *base, sqlite3_int64 length)
{
    return below(base)->pMethods->xTruncate(below(base), length);
}

static int sync_file(sqlite3_file *base, int flags)
{
    return below(base)->pMethods->xSync(below(base), flags);
}

static int measure_file(sqlite3_file *base, sqlite3_int64 *length)
{
    return below(base)->pMethods->xFileSize(below(base), length);
}

static int lock_file(sqlite3_file *base, int level)
{
    return below(base)->pMethods->xLock(below(base), level);
}

static int unlock_file(sqlite3_file *base, int level)
{
    return below(base)->pMethods->xUnlock(below(base), level);
}

static int check_lock(sqlite3_file *base, int *is_locked)
{
    return below(base)->pMethods->xCheckReservedLock(below(base), is_locked);
}

static int control_file(sqlite3_file *base, int what, void *argument)
{
    return below(base)->pMethods->xFileControl(below(base), what, argument);
}

static int get_sector_size(sqlite3_file *base)
{
    return below(base)->pMethods->xSectorSize(below(base));
}

static int get_device_traits(sqlite3_file *base)
{
    return below(base)->pMethods->xDeviceCharacteristics(below(base));
}

static int map_shared(sqlite3_file *base, int region, int size, int may_extend, void volatile **out)
{
    return below(base)->pMethods->xShmMap(below(base), region, size, may_extend, out);
}

static int lock_shared(sqlite3_file *base, int offset, int count, int flags)
{
    return below(base)->pMethods->xShmLock(below(base), offset, count, flags);
}

static void fence_shared(sqlite3_file *base)
{
    below(base)->pMethods->xShmBarrier(below(base));
}

static int unmap_shared(sqlite3_file *base, int is_deleted)
{
    return below(base)->pMethods->xShmUnmap(below(base), is_deleted);
}

/* Version 2: no memory mapping, which would bypass the checks. */
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_page,
    .xWrite = write_page,
    .xTruncate = cut_file,
    .xSync = sync_file,
    .xFileSize = measure_file,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_lock,
    .xFileControl = control_file,
    .xSectorSize = get_sector_size,
    .xDeviceCharacteristics = get_device_traits,
    .xShmMap = map_shared,
    .xShmLock = lock_shared,
    .xShmBarrier = fence_shared,
    .xShmUnmap = unmap_shared,
};

/* Reads from the first page, if there is one, whether pages have checksums. One byte of
 * its header tells; if that byte was flipped, the checksum still matches when it is
 * flipped back. Whether the page is intact is not checked here: a process that ended
 * while it copied the log back may have left half of it, and the log still has it. */
static int inspect_first_page(struct soc_pages *pages, sqlite3_file *file)
{
    unsigned char *page = pages->page;
    int rc = file->pMethods->xRead(file, page, PAGE_BYTES, 0);
    if (rc != SQLITE_OK) /* empty, or too short to be ours: reported elsewhere */
        return rc == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : rc;
    pages->are_checked = page[RESERVE_OFFSET] == SOC_PAGES_CHECK_BYTES;
    page[RESERVE_OFFSET] = SOC_PAGES_CHECK_BYTES;
    if (!pages->are_checked && is_whole(page, 1))
        return report(pages, 1, "its checksum differs");
    /* Pages of another size would not be checked. */
    bool is_our_size = page[SIZE_OFFSET] << 8 == PAGE_BYTES && page[SIZE_OFFSET + 1] == 0;
    if (pages->are_checked && !is_our_size)
        return report(pages, 1, "its page size differs");
    return SQLITE_OK;
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
                     int *flags_out)
{
    struct soc_pages *pages = vfs->pAppData;
    base->pMethods = NULL;
    if ((flags & SQLITE_OPEN_MAIN_DB) == 0)
        return pages->below->xOpen(pages->below, name, base, flags, flags_out);
    sqlite3_file *file = below(base);
    int rc = pages->below->xOpen(pages->below, name, file, flags, flags_out);
    if (rc == SQLITE_OK)
        rc = inspect_first_page(pages, file);
    if (rc == SQLITE_OK) {
        *(struct file *)(void *)base = (struct file){{&methods}, pages};
    } else if (file->pMethods != NULL) {
        file->pMethods->xClose(file);
    }
    return rc;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int is_synced)
{
    sqlite3_vfs *real = ((struct soc_pages *)vfs->pAppData)->below;
    return real->xDelete(real, name, is_synced);
}

static int check_file(sqlite3_vfs *vfs, const char *name, int flags, int *is_there)
{
    sqlite3_vfs *real = ((struct soc_pages *)vfs->pAppData)->below;
    return real->xAccess(real, name, flags, is_there);
}

static int resolve_name(sqlite3_vfs *vfs, const char *name, int room, char *out)
{
    sqlite3_vfs *real = ((struct soc_pages *)vfs->pAppData)->below;
    return real->xFullPathname(real, name, room, out);
}

static int fill_random(sqlite3_vfs *vfs, int count, char *out)
{
    sqlite3_vfs *real = ((struct soc_pages *)vfs->pAppData)->below;
    return real->xRandomness(real, count, out);
}

static int sleep_for(sqlite3_vfs *vfs, int microseconds)
{
    sqlite3_vfs *real = ((struct soc_pages *)vfs->pAppData)->below;
    return real->xSleep(real, microseconds);
}

static int get_time(sqlite3_vfs *vfs, double *days)
{
    sqlite3_vfs *real = ((struct soc_pages *)vfs->pAppData)->below;
    return real->xCurrentTime(real, days);
}

static int get_last_error(sqlite3_vfs *vfs, int room, char *out)
{
    sqlite3_vfs *real = ((struct soc_pages *)vfs->pAppData)->below;
    return real->xGetLastError(real, room, out);
}

struct soc_pages *soc_pages_new(sqlite3_vfs *below_vfs)
{
    struct soc_pages *pages = soc_alloc_zero(sizeof(*pages));
    sqlite3_initialize();
    pages->below = below_vfs != NULL ? below_vfs : sqlite3_vfs_find(NULL);
    snprintf(pages->name, sizeof(pages->name), "society-pages-%p", (void *)pages);
    pages->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = (int)FILE_BYTES + pages->below->szOsFile,
        .mxPathname = pages->below->mxPathname,
        .zName = pages->name,
        .pAppData = pages,
        .xOpen = open_file,
        .xDelete = delete_file,
        .xAccess = check_file,
        .xFullPathname = resolve_name,
        .xRandomness = fill_random,
        .xSleep = sleep_for,
        .xCurrentTime = get_time,
        .xGetLastError = get_last_error,
    };
    int rc = sqlite3_vfs_register(&pages->vfs, 0);
    assert(rc == SQLITE_OK);
    (void)rc;
    return pages;
}

void soc_pages_free(struct soc_pages *pages)
{
    if (pages == NULL)
        return;
    sqlite3_vfs_unregister(&pages->vfs);
    free(pages);
}

const char *soc_pages_vfs(const struct soc_pages *pages)
{
    return pages->name;
}

sqlite3_vfs *soc_pages_below(const struct soc_pages *pages)
{
    return pages->below;
}

void soc_pages_begin(struct soc_pages *pages)
{
    pages->are_checked = true;
}

bool soc_pages_are_checked(const struct soc_pages *pages)
{
    return pages->are_checked;
}

const char *soc_pages_damage(const struct soc_pages *pages)
{
    return pages->damage.text;
}

void soc_pages_trust(struct soc_pages *pages, bool is_trusted)
{
    pages->are_trusted = is_trusted;
}

static int reseal_file(struct soc_pages *pages, sqlite3_file *file)
{
    sqlite3_int64 length = 0;
    int rc = file->pMethods->xFileSize(file, &length);
    for (sqlite3_int64 at = 0; rc == SQLITE_OK && at + PAGE_BYTES <= length; at += PAGE_BYTES) {
        rc = file->pMethods->xRead(file, pages->page, PAGE_BYTES, at);
        if (rc != SQLITE_OK || is_whole(pages->page, at / PAGE_BYTES + 1))
            continue;
        put_checksum(pages->page, at / PAGE_BYTES + 1);
        rc = file->pMethods->xWrite(file, pages->page, PAGE_BYTES, at);
    }
    return rc == SQLITE_OK ? file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) : rc;
}

static int check_file_pages(struct soc_pages *pages, sqlite3_file *file)
{
    sqlite3_int64 length = 0;
    int rc = file->pMethods->xFileSize(file, &length);
    for (sqlite3_int64 at = 0; rc == SQLITE_OK && at < length; at += PAGE_BYTES) {
        sqlite3_int64 number = at / PAGE_BYTES + 1;
        rc = file->pMethods->xRead(file, pages->page, PAGE_BYTES, at);
        if (rc == SQLITE_IOERR_SHORT_READ)
            rc = report(pages, number, "the file is too short");
        else if (rc == SQLITE_OK && !is_whole(pages->page, number))
            rc = report(pages, number, "its checksum differs");
    }
    return rc;
}

/* Opens the file below the layer and hands it to `act`. */
static int with_file(struct soc_pages *pages, const char *path, int flags,
                     int (*act)(struct soc_pages *pages, sqlite3_file *file))
{
    sqlite3_vfs *vfs = pages->below;
    sqlite3_file *file = soc_alloc_zero((size_t)vfs->szOsFile);
    /* SQLite expects names that end with two NULs. */
    struct soc_buf name = {0};
    soc_buf_put_text(&name, path);
    soc_buf_put(&name, "\0", 2);
    int rc = vfs->xOpen(vfs, name.data, file, SQLITE_OPEN_MAIN_DB | flags, NULL);
    if (rc == SQLITE_OK)
        rc = act(pages, file);
    if (file->pMethods != NULL)
        file->pMethods->xClose(file);
    soc_buf_fini(&name);
    free(file);
    return rc;
}

int soc_pages_reseal(struct soc_pages *pages, const char *path)
{
    return with_file(pages, path, SQLITE_OPEN_READWRITE, reseal_file);
}

int soc_pages_check_all(struct soc_pages *pages, const char *path)
{
    return with_file(pages, path, SQLITE_OPEN_READONLY, check_file_pages);
}

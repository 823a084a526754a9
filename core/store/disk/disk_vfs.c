#include "store/disk/disk_vfs.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define SECTOR_BYTES  4096 /* what SQLite assumes of a real disk */
#define PATH_BYTES    64
#define DAY_MS        86400000
#define JULIAN_DAY_MS 210866760000000 /* 1970-01-01 */

struct soc_disk_file *soc_disk_vfs_find(struct soc_disk *disk, const char *name)
{
    for (int i = 0; i < SOC_DISK_FILES_MAX; i++)
        if (disk->files[i].is_there && strcmp(disk->files[i].name, name) == 0)
            return &disk->files[i];
    return NULL;
}

struct soc_disk_file *soc_disk_vfs_slot(struct soc_disk *disk, const char *name)
{
    for (int i = 0; i < SOC_DISK_FILES_MAX; i++)
        if (strcmp(disk->files[i].name, name) == 0)
            return &disk->files[i];
    return NULL;
}

struct soc_disk_file *soc_disk_vfs_make(struct soc_disk *disk, const char *name)
{
    struct soc_disk_file *file = soc_disk_vfs_slot(disk, name);
    if (file == NULL) {
        file = soc_disk_vfs_slot(disk, "");
        assert(file != NULL && strlen(name) < sizeof(file->name));
        snprintf(file->name, sizeof(file->name), "%s", name);
    }
    soc_disk_file_make(file);
    return file;
}

void soc_disk_vfs_enter_all(struct soc_disk *disk)
{
    for (int i = 0; i < SOC_DISK_FILES_MAX; i++)
        if (disk->files[i].name[0] != '\0')
            soc_disk_file_enter(&disk->files[i]);
}

/* SQLite's handle of an open file. */
struct handle {
    sqlite3_file base; /* first */
    struct soc_disk *disk;
    struct soc_disk_file *file;
    bool is_removed_at_close;
};

static struct handle *handle_of(sqlite3_file *base)
{
    return (struct handle *)(void *)base;
}

static int close_file(sqlite3_file *base)
{
    struct handle *handle = handle_of(base);
    handle->disk->open_count--;
    if (handle->is_removed_at_close && !handle->disk->faults.is_dead)
        soc_disk_file_hide(handle->file, true);
    base->pMethods = NULL;
    return SQLITE_OK;
}

static int read_file(sqlite3_file *base, void *out, int count, sqlite3_int64 at)
{
    struct handle *handle = handle_of(base);
    enum soc_disk_fault fault = soc_disk_faults_call(&handle->disk->faults, SOC_DISK_READS);
    if (fault == SOC_DISK_CRASH || fault == SOC_DISK_READ_ERROR)
        return SQLITE_IOERR_READ;
    const struct soc_buf *bytes = &handle->file->now;
    size_t wanted = (size_t)count;
    size_t start = (size_t)at;
    size_t there = start >= bytes->length ? 0 : bytes->length - start;
    size_t length = there < wanted ? there : wanted;
    if (length > 0)
        memcpy(out, bytes->data + start, length);
    memset((char *)out + length, 0, wanted - length);
    return length == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

/* A failing write may be partly done, also the one a process ends in. */
static int write_file(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 at)
{
    struct handle *handle = handle_of(base);
    struct soc_disk *disk = handle->disk;
    bool was_dead = disk->faults.is_dead;
    enum soc_disk_fault fault = soc_disk_faults_call(&disk->faults, SOC_DISK_WRITES);
    if (fault == SOC_DISK_FULL && (uint64_t)at + (uint64_t)count <= handle->file->now.length &&
        soc_rng_below(&disk->rng, 2) == 0)
        fault = SOC_DISK_NONE; /* overwriting needs no new space */
    size_t length = (size_t)count;
    if (fault != SOC_DISK_NONE)
        length = was_dead ? 0 : soc_disk_file_part(length, &disk->rng);
    if (length > 0)
        soc_disk_file_write(handle->file, bytes, length, (uint64_t)at);
    switch (fault) {
    case SOC_DISK_NONE:
        return SQLITE_OK;
    case SOC_DISK_FULL:
        return SQLITE_FULL;
    default:
        return SQLITE_IOERR_WRITE;
    }
}

static int cut_file(sqlite3_file *base, sqlite3_int64 length)
{
    struct handle *handle = handle_of(base);
    if (soc_disk_faults_call(&handle->disk->faults, SOC_DISK_OTHERS) == SOC_DISK_CRASH)
        return SQLITE_IOERR_TRUNCATE;
    soc_disk_file_cut(handle->file, (uint64_t)length);
    return SQLITE_OK;
}

static int sync_file(sqlite3_file *base, int flags)
{
    struct handle *handle = handle_of(base);
    struct soc_disk *disk = handle->disk;
    bool was_dead = disk->faults.is_dead;
    (void)flags;
    enum soc_disk_fault fault = soc_disk_faults_call(&disk->faults, SOC_DISK_SYNCS);
    if (fault == SOC_DISK_SYNC_ERROR) {
        soc_disk_file_doom(handle->file, &disk->rng);
        return SQLITE_IOERR_FSYNC;
    }
    bool is_cut_off = fault == SOC_DISK_CRASH;
    if (!is_cut_off || (!was_dead && soc_rng_below(&disk->rng, 2) == 0))
        soc_disk_file_sync(handle->file);
    return is_cut_off ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int measure_file(sqlite3_file *base, sqlite3_int64 *length)
{
    *length = (sqlite3_int64)handle_of(base)->file->now.length;
    return SQLITE_OK;
}

/* Only one store is open on a disk at a time, so locks are free. */
static int lock_file(sqlite3_file *base, int level)
{
    (void)base;
    (void)level;
    return SQLITE_OK;
}

static int check_lock(sqlite3_file *base, int *is_locked)
{
    (void)base;
    *is_locked = 0;
    return SQLITE_OK;
}

static int control_file(sqlite3_file *base, int what, void *argument)
{
    (void)base;
    (void)what;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int get_sector_size(sqlite3_file *base)
{
    (void)base;
    return SECTOR_BYTES;
}

static int get_device_traits(sqlite3_file *base)
{
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int map_shared(sqlite3_file *base, int region, int size, int may_extend, void volatile **out)
{
    struct soc_disk_file *file = handle_of(base)->file;
    *out = NULL;
    if (region >= SOC_DISK_SHARED_MAX)
        return SQLITE_IOERR_SHMSIZE;
    if (file->shared[region] == NULL && may_extend)
        file->shared[region] = soc_alloc_zero((size_t)size);
    *out = file->shared[region];
    return SQLITE_OK;
}

static int lock_shared(sqlite3_file *base, int offset, int count, int flags)
{
    (void)base;
    (void)offset;
    (void)count;
    (void)flags;
    return SQLITE_OK;
}

static void fence_shared(sqlite3_file *base)
{
    (void)base;
}

static int unmap_shared(sqlite3_file *base, int is_deleted)
{
    (void)is_deleted;
    soc_disk_file_unshare(handle_of(base)->file);
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = cut_file,
    .xSync = sync_file,
    .xFileSize = measure_file,
    .xLock = lock_file,
    .xUnlock = lock_file,
    .xCheckReservedLock = check_lock,
    .xFileControl = control_file,
    .xSectorSize = get_sector_size,
    .xDeviceCharacteristics = get_device_traits,
    .xShmMap = map_shared,
    .xShmLock = lock_shared,
    .xShmBarrier = fence_shared,
    .xShmUnmap = unmap_shared,
};

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
                     int *flags_out)
{
    struct soc_disk *disk = vfs->pAppData;
    struct handle *handle = handle_of(base);
    base->pMethods = NULL;
    if (name == NULL || soc_disk_faults_call(&disk->faults, SOC_DISK_OTHERS) == SOC_DISK_CRASH)
        return SQLITE_CANTOPEN;
    struct soc_disk_file *file = soc_disk_vfs_find(disk, name);
    if (file == NULL && (flags & SQLITE_OPEN_CREATE) == 0)
        return SQLITE_CANTOPEN;
    if (file == NULL)
        file = soc_disk_vfs_make(disk, name);
    *handle = (struct handle){{&methods}, disk, file, (flags & SQLITE_OPEN_DELETEONCLOSE) != 0};
    disk->open_count++;
    if (flags_out != NULL)
        *flags_out = flags;
    return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int is_synced)
{
    struct soc_disk *disk = vfs->pAppData;
    if (soc_disk_faults_call(&disk->faults, SOC_DISK_OTHERS) == SOC_DISK_CRASH)
        return SQLITE_IOERR_DELETE;
    struct soc_disk_file *file = soc_disk_vfs_find(disk, name);
    if (file == NULL)
        return SQLITE_IOERR_DELETE_NOENT;
    soc_disk_file_hide(file, is_synced != 0);
    return SQLITE_OK;
}

static int check_file(sqlite3_vfs *vfs, const char *name, int flags, int *is_there)
{
    (void)flags;
    *is_there = soc_disk_vfs_find(vfs->pAppData, name) != NULL;
    return SQLITE_OK;
}

static int resolve_name(sqlite3_vfs *vfs, const char *name, int room, char *out)
{
    (void)vfs;
    return snprintf(out, (size_t)room, "%s", name) < room ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int fill_random(sqlite3_vfs *vfs, int count, char *out)
{
    struct soc_disk *disk = vfs->pAppData;
    for (int i = 0; i < count; i++)
        out[i] = (char)soc_rng_next(&disk->rng);
    return count;
}

static int skip_sleep(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return microseconds;
}

static int get_time(sqlite3_vfs *vfs, double *days)
{
    (void)vfs;
    *days = (double)JULIAN_DAY_MS / DAY_MS;
    return SQLITE_OK;
}

static int get_last_error(sqlite3_vfs *vfs, int room, char *out)
{
    (void)vfs;
    (void)room;
    (void)out;
    return 0;
}

void soc_disk_vfs_register(struct soc_disk *disk)
{
    snprintf(disk->vfs_name, sizeof(disk->vfs_name), "society-disk-%p", (void *)disk);
    disk->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = sizeof(struct handle),
        .mxPathname = PATH_BYTES,
        .zName = disk->vfs_name,
        .pAppData = disk,
        .xOpen = open_file,
        .xDelete = delete_file,
        .xAccess = check_file,
        .xFullPathname = resolve_name,
        .xRandomness = fill_random,
        .xSleep = skip_sleep,
        .xCurrentTime = get_time,
        .xGetLastError = get_last_error,
    };
    int rc = sqlite3_vfs_register(&disk->vfs, 0);
    assert(rc == SQLITE_OK);
    (void)rc;
}

void soc_disk_vfs_unregister(struct soc_disk *disk)
{
    assert(disk->open_count == 0);
    sqlite3_vfs_unregister(&disk->vfs);
}

/* Switched disk: a disk that fills up or fails on command.
 *
 * SQLite's own VFS with switches in front of writing and syncing.
 * Layer: tests. Thread: any; the switches are atomic. */
#ifndef SOC_TESTS_SWITCHED_DISK_H
#define SOC_TESTS_SWITCHED_DISK_H

#include <stdatomic.h>
#include <stddef.h>

#include <sqlite3.h>

#include "check.h"

/* SQLite's methods for one kind of file with ours in front. */
struct disk_file_kind {
    sqlite3_io_methods methods; /* first: a file points to it */
    const sqlite3_io_methods *real;
};

/* The switches, and what is behind them. */
struct disk {
    atomic_bool is_full;     /* writes fail with SQLITE_FULL */
    atomic_bool write_fails; /* writes fail with SQLITE_IOERR_WRITE */
    atomic_bool sync_fails;  /* syncs fail with SQLITE_IOERR_FSYNC */
    struct disk_file_kind kinds[8];
    sqlite3_vfs *real_vfs;
    sqlite3_vfs vfs;
};

static struct disk disk;

/* Lends the methods behind the switch. */
static inline const sqlite3_io_methods *disk_real(sqlite3_file *file)
{
    return ((const struct disk_file_kind *)(const void *)file->pMethods)->real;
}

/* Writes unless the disk is full or fails. */
static inline int disk_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
    if (atomic_load(&disk.write_fails))
        return SQLITE_IOERR_WRITE;
    return atomic_load(&disk.is_full) ? SQLITE_FULL
                                      : disk_real(file)->xWrite(file, bytes, count, at);
}

/* Syncs unless that is to fail. */
static inline int disk_sync(sqlite3_file *file, int flags)
{
    return atomic_load(&disk.sync_fails) ? SQLITE_IOERR_FSYNC : disk_real(file)->xSync(file, flags);
}

/* Opens a file with the switch in front. */
static inline int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                            int *flags_out)
{
    (void)vfs;
    int rc = disk.real_vfs->xOpen(disk.real_vfs, name, file, flags, flags_out);
    if (rc != SQLITE_OK || file->pMethods == NULL)
        return rc;
    struct disk_file_kind *kind = disk.kinds;
    while (kind->real != NULL && kind->real != file->pMethods)
        kind++;
    if (kind->real == NULL) {
        kind->real = file->pMethods;
        kind->methods = *file->pMethods;
        kind->methods.xWrite = disk_write;
        kind->methods.xSync = disk_sync;
    }
    file->pMethods = &kind->methods;
    return rc;
}

/* Puts the switch in front of the disk for every store opened afterwards. */
static inline void disk_install(void)
{
    disk.real_vfs = sqlite3_vfs_find(NULL);
    disk.vfs = *disk.real_vfs;
    disk.vfs.zName = "switched";
    disk.vfs.xOpen = disk_open;
    CHECK_INT(sqlite3_vfs_register(&disk.vfs, 1), SQLITE_OK);
}

#endif

/* Disk VFS: the simulated disk as SQLite sees it, files in memory behind faults.
 *
 * Layer: store. Thread: one at a time. */
#ifndef SOC_STORE_DISK_DISK_VFS_H
#define SOC_STORE_DISK_DISK_VFS_H

#include <sqlite3.h>

#include "env/rng.h"
#include "store/disk/disk_faults.h"
#include "store/disk/disk_file.h"

#define SOC_DISK_FILES_MAX 12

/* A simulated disk. */
struct soc_disk {
    struct soc_disk_file files[SOC_DISK_FILES_MAX];
    struct soc_disk_faults faults;
    struct soc_rng rng;
    int open_count; /* handles that SQLite has */
    char vfs_name[40];
    sqlite3_vfs vfs;
};

/* Finds a file that is there; NULL if there is none. */
struct soc_disk_file *soc_disk_vfs_find(struct soc_disk *disk, const char *name);

/* Finds the slot of a name, whether or not the file is there, or a free one for "".
 * NULL if there is none. */
struct soc_disk_file *soc_disk_vfs_slot(struct soc_disk *disk, const char *name);

/* Finds a file or creates an empty one. */
struct soc_disk_file *soc_disk_vfs_make(struct soc_disk *disk, const char *name);

/* Makes the names of all files durable. */
void soc_disk_vfs_enter_all(struct soc_disk *disk);

/* Registers the disk with SQLite under `vfs_name`, and removes it. */
void soc_disk_vfs_register(struct soc_disk *disk);
void soc_disk_vfs_unregister(struct soc_disk *disk);

#endif

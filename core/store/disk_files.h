/* Disk files: the inside of the simulated disk, for disk.c and disk_vfs.c only.
 *
 * Layer: store. Thread: one at a time. */
#ifndef SOC_STORE_DISK_FILES_H
#define SOC_STORE_DISK_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/buf.h"
#include "env/rng.h"
#include "store/disk.h"

#define SOC_DISK_FILES_MAX      12
#define SOC_DISK_NAME_BYTES_MAX 40
#define SOC_DISK_SECTOR_BYTES   512
#define SOC_DISK_SHARED_MAX     64 /* regions of the write-ahead log's index */

/* One change that is not synced. */
struct soc_disk_change {
    uint64_t at;     /* where it begins; of a cut: the length left */
    size_t length;   /* of a write */
    size_t bytes_at; /* of a write, in `bytes` of its file */
    bool is_cut;
    bool is_doomed; /* a sync failed: no later one brings it to the disk */
};

/* One file. */
struct soc_disk_file {
    char name[SOC_DISK_NAME_BYTES_MAX]; /* empty: this place is free */
    struct soc_buf now;                 /* what a reader sees */
    struct soc_buf synced;              /* what no power loss takes away */
    struct soc_disk_change *changes;    /* from the one to the other, in order */
    size_t change_count;
    size_t change_capacity;
    struct soc_buf bytes; /* of the writes among them */
    bool is_there;        /* for a reader */
    bool is_entered;      /* its name in the directory is synced */
    char *shared[SOC_DISK_SHARED_MAX];
};

/* What a call does, as far as faults care. */
enum soc_disk_call {
    SOC_DISK_READS,
    SOC_DISK_WRITES,
    SOC_DISK_SYNCS,
    SOC_DISK_OTHERS, /* open, delete, rename, cut */
};

/* All files of a simulated disk, and what is to befall them. */
struct soc_disk {
    struct soc_disk_file files[SOC_DISK_FILES_MAX];
    struct soc_rng rng;
    uint64_t calls;
    uint64_t armed_at; /* the call at which the armed fault strikes */
    enum soc_disk_fault armed;
    enum soc_disk_fault struck;
    bool is_full;
    bool is_dead;
    int open_count;
    char vfs_name[40];
    sqlite3_vfs vfs;
};

/* Counts a call and says what becomes of it. */
enum soc_disk_fault soc_disk_call(struct soc_disk *disk, enum soc_disk_call call);

/* Finds a file that is there, NULL if there is none. */
struct soc_disk_file *soc_disk_find(struct soc_disk *disk, const char *name);

/* Finds a file or makes an empty one. */
struct soc_disk_file *soc_disk_make(struct soc_disk *disk, const char *name);

/* Changes a file, not synced. */
void soc_disk_write(struct soc_disk_file *file, const void *bytes, size_t length, uint64_t at);
void soc_disk_cut(struct soc_disk_file *file, uint64_t length);
void soc_disk_hide(struct soc_disk_file *file, bool is_synced);

/* Syncs a file with its name. */
void soc_disk_sync(struct soc_disk_file *file);

/* What a failed sync leaves: some of it will never come to the disk, and may even
 * be gone for readers. */
void soc_disk_doom(struct soc_disk *disk, struct soc_disk_file *file);

/* How many bytes of a write that is broken off are written: whole sectors. */
size_t soc_disk_part(struct soc_disk *disk, size_t length);

/* Frees the index of the write-ahead log, which no process leaves behind. */
void soc_disk_unshare(struct soc_disk_file *file);

/* Makes `disk->vfs` and tells SQLite of it. */
void soc_disk_register(struct soc_disk *disk);

#endif

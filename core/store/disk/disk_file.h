/* Disk file: one file of the simulated disk.
 *
 * It knows what a reader sees, what is synced, and each change in between, so that
 * a power loss can keep any part of what is not synced.
 * Layer: store. Thread: one at a time. */
#ifndef SOC_STORE_DISK_DISK_FILE_H
#define SOC_STORE_DISK_DISK_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "env/rng.h"

#define SOC_DISK_NAME_BYTES_MAX 40
#define SOC_DISK_SHARED_MAX     64 /* regions of the write-ahead log's index */

/* One change that is not synced. */
struct soc_disk_change {
    uint64_t at;     /* offset of a write; of a truncation: the new length */
    size_t length;   /* of a write */
    size_t bytes_at; /* of a write: offset in `bytes` of its file */
    bool is_cut;     /* a truncation */
    bool is_doomed;  /* a sync failed: no later one writes it to the disk */
};

/* One file. */
struct soc_disk_file {
    char name[SOC_DISK_NAME_BYTES_MAX]; /* empty: the slot is free */
    struct soc_buf now;                 /* what a reader sees */
    struct soc_buf synced;              /* what survives a power loss */
    struct soc_disk_change *changes;    /* from `synced` to `now`, in order */
    size_t change_count;
    size_t change_capacity;
    struct soc_buf bytes; /* of the writes among them */
    bool is_there;        /* to a reader */
    bool is_entered;      /* the directory was synced while it was there, as `entered` */
    char entered[SOC_DISK_NAME_BYTES_MAX];
    char *shared[SOC_DISK_SHARED_MAX];
};

/* Makes the file an empty one that is there, under its name. */
void soc_disk_file_make(struct soc_disk_file *file);

/* Frees the slot. */
void soc_disk_file_clear(struct soc_disk_file *file);

/* Changes the file without syncing it. Rewriting bytes with themselves, as a start does
 * with a log, is no change. */
void soc_disk_file_write(struct soc_disk_file *file, const void *bytes, size_t length, uint64_t at);
void soc_disk_file_cut(struct soc_disk_file *file, uint64_t length);

/* Deletes the file. Unless `is_synced`, a power loss may bring it back. */
void soc_disk_file_hide(struct soc_disk_file *file, bool is_synced);

/* Syncs the bytes of the file, not its name. */
void soc_disk_file_sync(struct soc_disk_file *file);

/* The directory is synced: the name of the file, or its absence, survives a power loss.
 * Frees the slot of a deleted file. */
void soc_disk_file_enter(struct soc_disk_file *file);

/* A sync has failed: some of the changes will never be on the disk, and readers may
 * no longer see them. */
void soc_disk_file_doom(struct soc_disk_file *file, struct soc_rng *rng);

/* Leaves what survives a power loss: any sectors of what was not synced, or none. Whether a
 * file that was created, renamed or deleted since the directory was synced is there, and
 * under which name, is left to chance. */
void soc_disk_file_lose_power(struct soc_disk_file *file, struct soc_rng *rng);

/* Returns how many bytes of an interrupted write are done: whole sectors. */
size_t soc_disk_file_part(size_t length, struct soc_rng *rng);

/* Frees the index of the write-ahead log, which does not outlive a process. */
void soc_disk_file_unshare(struct soc_disk_file *file);

#endif

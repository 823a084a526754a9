/* Disk: a simulated disk for a store, which fails on command.
 *
 * It holds the few files of one store in memory: what a reader sees, what is synced,
 * and each change in between. The store uses it through SQLite just like real files.
 * So a test or a simulation can end a process between any two I/O calls, cut the power,
 * fill the disk or fail a call, all by seed.
 *
 *     soc_disk_arm(disk, SOC_DISK_CRASH, 17);   the 17th call from now
 *     ... the host reports that its disk failed ...
 *     soc_host_crash(host); soc_store_close(store);
 *     soc_disk_restart(disk, SOC_DISK_POWER_LOSS);
 *     ... open the store again and recover ...
 *
 * To end a process between calls, use soc_disk_kill before closing: otherwise the
 * closing store would tidy up.
 * Layer: store. Thread: one at a time. */
#ifndef SOC_STORE_DISK_DISK_H
#define SOC_STORE_DISK_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "store/disk/disk_faults.h"

struct soc_disk;

/* How a process ended. */
enum soc_disk_end {
    SOC_DISK_KILL,       /* everything written survives */
    SOC_DISK_POWER_LOSS, /* of what was not synced, any sectors survive or none */
};

/* Returns an empty disk with random choices from `seed`. Release with soc_disk_free()
 * when no store is open on it. */
struct soc_disk *soc_disk_new(uint64_t seed);

/* Returns a disk with the same files, all of them synced, and a seed of its own: copying
 * a prepared store is cheaper than making one. */
struct soc_disk *soc_disk_copy(const struct soc_disk *disk, uint64_t seed);

/* Frees it. NULL is allowed. */
void soc_disk_free(struct soc_disk *disk);

/* Returns the number of I/O calls so far. */
uint64_t soc_disk_calls(const struct soc_disk *disk);

/* Makes `fault` strike at the `calls`-th call from now (1: the next), or at the first one
 * after it that fits. One fault can be armed at a time. */
void soc_disk_arm(struct soc_disk *disk, enum soc_disk_fault fault, uint64_t calls);

/* Disarms, and frees a full disk. */
void soc_disk_clear(struct soc_disk *disk);

/* Returns the last fault that has struck since arming, or SOC_DISK_NONE. */
enum soc_disk_fault soc_disk_struck(const struct soc_disk *disk);

/* Tells whether writes find no space. */
bool soc_disk_is_full(const struct soc_disk *disk);

/* Ends the process now: calls do nothing until soc_disk_restart. */
void soc_disk_kill(struct soc_disk *disk);

/* Tells whether the process has ended. */
bool soc_disk_is_dead(const struct soc_disk *disk);

/* Prepares the disk for the next process. No store may be open on it. */
void soc_disk_restart(struct soc_disk *disk, enum soc_disk_end how);

/* Lends the bytes of a file as a reader sees them, to be inspected or damaged while no
 * store is open; NULL if there is none. */
struct soc_buf *soc_disk_bytes(struct soc_disk *disk, const char *name);

/* Returns the name of a file, in order of creation; NULL after the last. */
const char *soc_disk_name(const struct soc_disk *disk, int index);

/* For the store: the name of the disk in SQLite; whether a file exists; delete and rename
 * a file; sync the directory. A file that was created, renamed or deleted since the last
 * such sync may vanish, have its old name or come back when the power fails. What SQLite
 * does for that by itself does not count: it ignores errors there. */
const char *soc_disk_vfs(const struct soc_disk *disk);
bool soc_disk_has(const struct soc_disk *disk, const char *name);
int soc_disk_remove(struct soc_disk *disk, const char *name);
int soc_disk_rename(struct soc_disk *disk, const char *from, const char *to);
int soc_disk_sync(struct soc_disk *disk);

#endif

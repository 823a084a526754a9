/* Disk: a simulated disk that a store can lie on, and that fails on command.
 *
 * It holds the few files of one store in memory: what a reader sees, what is
 * synced, and each change between the two. The store runs on it through SQLite
 * as it runs on files, so that a test or a simulation can end a process between
 * any two of its I/O calls, take the power away, fill the disk or let a call fail,
 * all by seed.
 *
 *     soc_disk_arm(disk, SOC_DISK_CRASH, 17);   the 17th call from now
 *     ... the host reports that its disk failed ...
 *     soc_host_crash(host); soc_store_close(store);
 *     soc_disk_restart(disk, SOC_DISK_POWER_LOSS);
 *     ... open the store again and recover ...
 *
 * A process that ends in between, at no call, is soc_disk_kill before the host is
 * let go: without it the closing store would tidy up.
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
    SOC_DISK_KILL,       /* what was written is there */
    SOC_DISK_POWER_LOSS, /* of what was not synced any sectors are there, or none */
};

/* Returns an empty disk whose chances come from `seed`. Release with
 * soc_disk_free() when no store is open on it. */
struct soc_disk *soc_disk_new(uint64_t seed);

/* Returns a disk with the same files, all of them synced, and chances of its own:
 * a prepared store is cheaper to copy than to make. */
struct soc_disk *soc_disk_copy(const struct soc_disk *disk, uint64_t seed);

/* Frees it. NULL is allowed. */
void soc_disk_free(struct soc_disk *disk);

/* The I/O calls so far. */
uint64_t soc_disk_calls(const struct soc_disk *disk);

/* Lets `fault` strike at the `calls`-th call from now (1: the next), or at the
 * first one behind it that fits. One fault is armed at a time. */
void soc_disk_arm(struct soc_disk *disk, enum soc_disk_fault fault, uint64_t calls);

/* Takes back an armed fault and a full disk. */
void soc_disk_clear(struct soc_disk *disk);

/* The last fault that has struck since arming, SOC_DISK_NONE if none has. */
enum soc_disk_fault soc_disk_struck(const struct soc_disk *disk);

/* Writes find no room at the moment. */
bool soc_disk_is_full(const struct soc_disk *disk);

/* Ends the process now: no call does anything until soc_disk_restart. */
void soc_disk_kill(struct soc_disk *disk);

/* The process has ended in some way. */
bool soc_disk_is_dead(const struct soc_disk *disk);

/* Makes the disk what the next process finds. No store may be open on it. */
void soc_disk_restart(struct soc_disk *disk, enum soc_disk_end how);

/* Lends the bytes of a file as a reader sees them, to be looked at or damaged
 * while no store is open; NULL if there is none. */
struct soc_buf *soc_disk_bytes(struct soc_disk *disk, const char *name);

/* The names of the files, in the order they were made; NULL behind the last. */
const char *soc_disk_name(const struct soc_disk *disk, int index);

/* For the store: the name under which SQLite knows the disk, whether a file is there,
 * taking one away, and giving one another name, all of it durable. */
const char *soc_disk_vfs(const struct soc_disk *disk);
bool soc_disk_has(const struct soc_disk *disk, const char *name);
int soc_disk_remove(struct soc_disk *disk, const char *name);
int soc_disk_rename(struct soc_disk *disk, const char *from, const char *to);

#endif

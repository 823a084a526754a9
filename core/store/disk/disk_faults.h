/* Disk faults: what can go wrong on a simulated disk, and when.
 *
 * Every I/O call is counted. A fault is armed for a call ahead and strikes at the
 * first one from there on that it fits.
 * Layer: store. Thread: one at a time. */
#ifndef SOC_STORE_DISK_DISK_FAULTS_H
#define SOC_STORE_DISK_DISK_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

/* What can go wrong at a call. */
enum soc_disk_fault {
    SOC_DISK_NONE,
    SOC_DISK_CRASH,       /* the process ends in this call: it and all later ones do nothing */
    SOC_DISK_FULL,        /* from now on writes find no space, until soc_disk_faults_clear */
    SOC_DISK_READ_ERROR,  /* the next read fails once */
    SOC_DISK_WRITE_ERROR, /* the next write fails once */
    SOC_DISK_SYNC_ERROR,  /* the next sync fails once; what it should have synced may be lost */
};

/* Kinds of calls, as far as faults are concerned. */
enum soc_disk_call {
    SOC_DISK_READS,
    SOC_DISK_WRITES,
    SOC_DISK_SYNCS,
    SOC_DISK_OTHERS, /* open, delete, rename, truncate */
};

/* The fault that is armed, and what has struck. All zero: a healthy disk. */
struct soc_disk_faults {
    uint64_t calls;
    uint64_t armed_at; /* the call at which the armed fault strikes */
    enum soc_disk_fault armed;
    enum soc_disk_fault struck; /* last one since arming */
    bool is_full;
    bool is_dead; /* the process has ended */
};

/* Arms `fault` for the `calls`-th call from now (1: the next). Replaces an armed one. */
void soc_disk_faults_arm(struct soc_disk_faults *faults, enum soc_disk_fault fault, uint64_t calls);

/* Disarms, and frees a full disk. */
void soc_disk_faults_clear(struct soc_disk_faults *faults);

/* Counts a call and returns what happens to it. */
enum soc_disk_fault soc_disk_faults_call(struct soc_disk_faults *faults, enum soc_disk_call call);

#endif

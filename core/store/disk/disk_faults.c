#include "store/disk/disk_faults.h"

#include <assert.h>

void soc_disk_faults_arm(struct soc_disk_faults *faults, enum soc_disk_fault fault, uint64_t calls)
{
    assert(calls > 0);
    faults->armed = fault;
    faults->armed_at = faults->calls + calls;
    faults->struck = SOC_DISK_NONE;
}

void soc_disk_faults_clear(struct soc_disk_faults *faults)
{
    faults->armed = SOC_DISK_NONE;
    faults->is_full = false;
}

static bool fits(enum soc_disk_fault fault, enum soc_disk_call call)
{
    switch (fault) {
    case SOC_DISK_CRASH:
        return true;
    case SOC_DISK_FULL:
    case SOC_DISK_WRITE_ERROR:
        return call == SOC_DISK_WRITES;
    case SOC_DISK_READ_ERROR:
        return call == SOC_DISK_READS;
    case SOC_DISK_SYNC_ERROR:
        return call == SOC_DISK_SYNCS;
    default:
        return false;
    }
}

enum soc_disk_fault soc_disk_faults_call(struct soc_disk_faults *faults, enum soc_disk_call call)
{
    faults->calls++;
    if (faults->is_dead)
        return SOC_DISK_CRASH;
    if (faults->armed != SOC_DISK_NONE && faults->calls >= faults->armed_at &&
        fits(faults->armed, call)) {
        faults->struck = faults->armed;
        faults->armed = SOC_DISK_NONE;
        faults->is_dead = faults->struck == SOC_DISK_CRASH;
        faults->is_full |= faults->struck == SOC_DISK_FULL;
        return faults->struck;
    }
    return faults->is_full && call == SOC_DISK_WRITES ? SOC_DISK_FULL : SOC_DISK_NONE;
}

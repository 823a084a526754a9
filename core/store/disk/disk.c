#include "store/disk/disk.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "store/disk/disk_vfs.h"

struct soc_disk *soc_disk_new(uint64_t seed)
{
    struct soc_disk *disk = soc_alloc_zero(sizeof(*disk));
    soc_rng_init(&disk->rng, seed);
    soc_disk_vfs_register(disk);
    return disk;
}

struct soc_disk *soc_disk_copy(const struct soc_disk *disk, uint64_t seed)
{
    struct soc_disk *copy = soc_disk_new(seed);
    for (int i = 0; i < SOC_DISK_FILES_MAX; i++) {
        const struct soc_disk_file *file = &disk->files[i];
        if (!file->is_there)
            continue;
        struct soc_disk_file *same = soc_disk_vfs_make(copy, file->name);
        soc_buf_put_slice(&same->now, soc_buf_slice(&file->now));
        soc_buf_put_slice(&same->synced, soc_buf_slice(&file->now));
        soc_disk_file_enter(same);
    }
    return copy;
}

void soc_disk_free(struct soc_disk *disk)
{
    if (disk == NULL)
        return;
    soc_disk_vfs_unregister(disk);
    for (int i = 0; i < SOC_DISK_FILES_MAX; i++)
        soc_disk_file_clear(&disk->files[i]);
    free(disk);
}

uint64_t soc_disk_calls(const struct soc_disk *disk)
{
    return disk->faults.calls;
}

void soc_disk_arm(struct soc_disk *disk, enum soc_disk_fault fault, uint64_t calls)
{
    soc_disk_faults_arm(&disk->faults, fault, calls);
}

void soc_disk_clear(struct soc_disk *disk)
{
    soc_disk_faults_clear(&disk->faults);
}

enum soc_disk_fault soc_disk_struck(const struct soc_disk *disk)
{
    return disk->faults.struck;
}

bool soc_disk_is_full(const struct soc_disk *disk)
{
    return disk->faults.is_full;
}

void soc_disk_kill(struct soc_disk *disk)
{
    disk->faults.is_dead = true;
}

bool soc_disk_is_dead(const struct soc_disk *disk)
{
    return disk->faults.is_dead;
}

void soc_disk_restart(struct soc_disk *disk, enum soc_disk_end how)
{
    assert(disk->open_count == 0);
    for (int i = 0; i < SOC_DISK_FILES_MAX; i++) {
        struct soc_disk_file *file = &disk->files[i];
        if (file->name[0] == '\0')
            continue;
        soc_disk_file_unshare(file);
        if (how == SOC_DISK_POWER_LOSS)
            soc_disk_file_lose_power(file, &disk->rng);
        if (!file->is_there && !file->is_entered)
            soc_disk_file_clear(file);
    }
    soc_disk_clear(disk);
    disk->faults.struck = SOC_DISK_NONE;
    disk->faults.is_dead = false;
}

struct soc_buf *soc_disk_bytes(struct soc_disk *disk, const char *name)
{
    struct soc_disk_file *file = soc_disk_vfs_find(disk, name);
    return file == NULL ? NULL : &file->now;
}

const char *soc_disk_name(const struct soc_disk *disk, int index)
{
    for (int i = 0; i < SOC_DISK_FILES_MAX; i++)
        if (disk->files[i].is_there && index-- == 0)
            return disk->files[i].name;
    return NULL;
}

const char *soc_disk_vfs(const struct soc_disk *disk)
{
    return disk->vfs_name;
}

bool soc_disk_has(const struct soc_disk *disk, const char *name)
{
    return soc_disk_vfs_find((struct soc_disk *)disk, name) != NULL;
}

int soc_disk_remove(struct soc_disk *disk, const char *name)
{
    if (soc_disk_faults_call(&disk->faults, SOC_DISK_OTHERS) == SOC_DISK_CRASH)
        return SOC_EIO;
    struct soc_disk_file *file = soc_disk_vfs_find(disk, name);
    if (file != NULL)
        soc_disk_file_hide(file, false);
    return SOC_OK;
}

int soc_disk_rename(struct soc_disk *disk, const char *from, const char *to)
{
    if (soc_disk_faults_call(&disk->faults, SOC_DISK_OTHERS) == SOC_DISK_CRASH)
        return SOC_EIO;
    struct soc_disk_file *file = soc_disk_vfs_find(disk, from);
    struct soc_disk_file *old = soc_disk_vfs_slot(disk, to);
    assert(file != NULL && strlen(to) < sizeof(file->name));
    if (old != NULL)
        soc_disk_file_clear(old);
    snprintf(file->name, sizeof(file->name), "%s", to);
    return SOC_OK;
}

int soc_disk_sync(struct soc_disk *disk)
{
    if (soc_disk_faults_call(&disk->faults, SOC_DISK_SYNCS) != SOC_DISK_NONE)
        return SOC_EIO;
    soc_disk_vfs_enter_all(disk);
    return SOC_OK;
}

#include "store/disk.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "store/disk_files.h"

struct soc_disk *soc_disk_new(uint64_t seed)
{
    struct soc_disk *disk = soc_alloc_zero(sizeof(*disk));
    soc_rng_init(&disk->rng, seed);
    soc_disk_register(disk);
    return disk;
}

struct soc_disk *soc_disk_copy(const struct soc_disk *disk, uint64_t seed)
{
    struct soc_disk *copy = soc_disk_new(seed);
    for (int i = 0; i < SOC_DISK_FILES_MAX; i++) {
        const struct soc_disk_file *file = &disk->files[i];
        if (!file->is_there)
            continue;
        struct soc_disk_file *same = soc_disk_make(copy, file->name);
        soc_buf_put_slice(&same->now, soc_buf_slice(&file->now));
        soc_buf_put_slice(&same->synced, soc_buf_slice(&file->now));
        same->is_entered = true;
    }
    return copy;
}

void soc_disk_unshare(struct soc_disk_file *file)
{
    for (int i = 0; i < SOC_DISK_SHARED_MAX; i++) {
        free(file->shared[i]);
        file->shared[i] = NULL;
    }
}

/* Makes a place free. */
static void clear_file(struct soc_disk_file *file)
{
    soc_buf_fini(&file->now);
    soc_buf_fini(&file->synced);
    soc_buf_fini(&file->bytes);
    free(file->changes);
    soc_disk_unshare(file);
    *file = (struct soc_disk_file){0};
}

void soc_disk_free(struct soc_disk *disk)
{
    if (disk == NULL)
        return;
    assert(disk->open_count == 0);
    sqlite3_vfs_unregister(&disk->vfs);
    for (int i = 0; i < SOC_DISK_FILES_MAX; i++)
        clear_file(&disk->files[i]);
    free(disk);
}

uint64_t soc_disk_calls(const struct soc_disk *disk)
{
    return disk->calls;
}

void soc_disk_arm(struct soc_disk *disk, enum soc_disk_fault fault, uint64_t calls)
{
    assert(calls > 0);
    disk->armed = fault;
    disk->armed_at = disk->calls + calls;
    disk->struck = SOC_DISK_NONE;
}

void soc_disk_clear(struct soc_disk *disk)
{
    disk->armed = SOC_DISK_NONE;
    disk->is_full = false;
}

enum soc_disk_fault soc_disk_struck(const struct soc_disk *disk)
{
    return disk->struck;
}

bool soc_disk_is_full(const struct soc_disk *disk)
{
    return disk->is_full;
}

void soc_disk_kill(struct soc_disk *disk)
{
    disk->is_dead = true;
}

bool soc_disk_is_dead(const struct soc_disk *disk)
{
    return disk->is_dead;
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

enum soc_disk_fault soc_disk_call(struct soc_disk *disk, enum soc_disk_call call)
{
    disk->calls++;
    if (disk->is_dead)
        return SOC_DISK_CRASH;
    if (disk->armed != SOC_DISK_NONE && disk->calls >= disk->armed_at && fits(disk->armed, call)) {
        disk->struck = disk->armed;
        disk->armed = SOC_DISK_NONE;
        disk->is_dead = disk->struck == SOC_DISK_CRASH;
        disk->is_full |= disk->struck == SOC_DISK_FULL;
        return disk->struck;
    }
    return disk->is_full && call == SOC_DISK_WRITES ? SOC_DISK_FULL : SOC_DISK_NONE;
}

struct soc_disk_file *soc_disk_find(struct soc_disk *disk, const char *name)
{
    for (int i = 0; i < SOC_DISK_FILES_MAX; i++)
        if (disk->files[i].is_there && strcmp(disk->files[i].name, name) == 0)
            return &disk->files[i];
    return NULL;
}

/* Finds the place of a name, there or not; NULL if it never had one. */
static struct soc_disk_file *find_place(struct soc_disk *disk, const char *name)
{
    for (int i = 0; i < SOC_DISK_FILES_MAX; i++)
        if (strcmp(disk->files[i].name, name) == 0)
            return &disk->files[i];
    return NULL;
}

struct soc_disk_file *soc_disk_make(struct soc_disk *disk, const char *name)
{
    struct soc_disk_file *file = find_place(disk, name);
    if (file == NULL) {
        file = find_place(disk, "");
        assert(file != NULL && strlen(name) < sizeof(file->name));
        snprintf(file->name, sizeof(file->name), "%s", name);
    }
    if (!file->is_there && file->is_entered) { /* another file with that name */
        file->synced.length = 0;
        file->is_entered = false;
    }
    file->is_there = true;
    return file;
}

static struct soc_disk_change *add_change(struct soc_disk_file *file)
{
    if (file->change_count == file->change_capacity) {
        file->change_capacity = file->change_capacity == 0 ? 64 : file->change_capacity * 2;
        file->changes = soc_realloc(file->changes, file->change_capacity * sizeof(*file->changes));
    }
    struct soc_disk_change *change = &file->changes[file->change_count++];
    *change = (struct soc_disk_change){0};
    return change;
}

/* Puts bytes at a place, with zeros before it where there was nothing. */
static void put_at(struct soc_buf *buf, uint64_t at, const void *bytes, size_t length)
{
    if (at + length > buf->length) {
        char *extra = soc_buf_reserve(buf, (size_t)at + length - buf->length);
        if (at > buf->length)
            memset(extra, 0, (size_t)at - buf->length);
        buf->length = (size_t)at + length;
    }
    if (length > 0)
        memcpy(buf->data + at, bytes, length);
}

/* Tells whether the bytes stand there already, for a reader and after a power loss. */
static bool is_written(const struct soc_disk_file *file, const void *bytes, size_t length,
                       uint64_t at)
{
    return file->change_count == 0 && at + length <= file->now.length &&
           at + length <= file->synced.length && memcmp(file->now.data + at, bytes, length) == 0 &&
           memcmp(file->synced.data + at, bytes, length) == 0;
}

/* What is written anew as it was, as a start does with a log, changes nothing. */
void soc_disk_write(struct soc_disk_file *file, const void *bytes, size_t length, uint64_t at)
{
    if (is_written(file, bytes, length, at))
        return;
    struct soc_disk_change *change = add_change(file);
    change->at = at;
    change->length = length;
    change->bytes_at = file->bytes.length;
    soc_buf_put(&file->bytes, bytes, length);
    put_at(&file->now, at, bytes, length);
}

void soc_disk_cut(struct soc_disk_file *file, uint64_t length)
{
    struct soc_disk_change *change = add_change(file);
    change->at = length;
    change->is_cut = true;
    if (length < file->now.length)
        file->now.length = (size_t)length;
}

static void forget_changes(struct soc_disk_file *file)
{
    file->change_count = 0;
    file->bytes.length = 0;
}

/* One that was synced may come back by a power loss if that its name is gone is
 * not synced. */
void soc_disk_hide(struct soc_disk_file *file, bool is_synced)
{
    if (is_synced || !file->is_entered) {
        clear_file(file);
        return;
    }
    forget_changes(file);
    file->now.length = 0;
    file->is_there = false;
}

static void cut_synced(struct soc_disk_file *file, uint64_t length)
{
    if (length < file->synced.length)
        file->synced.length = (size_t)length;
}

void soc_disk_sync(struct soc_disk_file *file)
{
    for (size_t i = 0; i < file->change_count; i++) {
        const struct soc_disk_change *change = &file->changes[i];
        if (change->is_doomed)
            continue;
        if (change->is_cut)
            cut_synced(file, change->at);
        else
            put_at(&file->synced, change->at, file->bytes.data + change->bytes_at, change->length);
    }
    forget_changes(file);
    file->is_entered = file->is_there;
}

void soc_disk_doom(struct soc_disk *disk, struct soc_disk_file *file)
{
    bool is_read_back = soc_rng_below(&disk->rng, 2) == 0;
    for (size_t i = 0; i < file->change_count; i++) {
        struct soc_disk_change *change = &file->changes[i];
        if (change->is_cut || soc_rng_below(&disk->rng, 2) == 0)
            continue;
        change->is_doomed = true;
        if (!is_read_back)
            continue;
        /* The system forgot what it could not write; a reader sees the old bytes. */
        for (size_t k = 0; k < change->length && change->at + k < file->now.length; k++) {
            size_t at = (size_t)change->at + k;
            file->now.data[at] = at < file->synced.length ? file->synced.data[at] : 0;
        }
    }
}

size_t soc_disk_part(struct soc_disk *disk, size_t length)
{
    return (size_t)soc_rng_below(&disk->rng, length / SOC_DISK_SECTOR_BYTES + 1) *
           SOC_DISK_SECTOR_BYTES;
}

/* How much of what is not synced a power loss leaves, in sixteenths: often nothing
 * or all of it, so that every kind of cut is met. */
static uint64_t choose_odds(struct soc_disk *disk)
{
    uint64_t choice = soc_rng_below(&disk->rng, 8);
    return choice < 2 ? 0 : choice < 4 ? 16 : soc_rng_below(&disk->rng, 17);
}

/* Brings those sectors of a write to the disk that chance leaves. */
static void keep_sectors(struct soc_disk *disk, struct soc_disk_file *file,
                         const struct soc_disk_change *change, uint64_t odds)
{
    size_t done = 0;
    while (done < change->length) {
        uint64_t at = change->at + done;
        size_t part = SOC_DISK_SECTOR_BYTES - (size_t)(at % SOC_DISK_SECTOR_BYTES);
        if (part > change->length - done)
            part = change->length - done;
        if (soc_rng_below(&disk->rng, 16) < odds)
            put_at(&file->synced, at, file->bytes.data + change->bytes_at + done, part);
        done += part;
    }
}

static void lose_power(struct soc_disk *disk, struct soc_disk_file *file)
{
    uint64_t odds = choose_odds(disk);
    for (size_t i = 0; i < file->change_count; i++) {
        const struct soc_disk_change *change = &file->changes[i];
        if (change->is_doomed)
            continue;
        if (!change->is_cut)
            keep_sectors(disk, file, change, odds);
        else if (soc_rng_below(&disk->rng, 16) < odds)
            cut_synced(file, change->at);
    }
    forget_changes(file);
    bool may_stay = soc_rng_below(&disk->rng, 2) == 0;
    file->is_there =
        (file->is_entered && file->is_there) || (file->is_entered != file->is_there && may_stay);
    file->is_entered = file->is_there;
    file->now.length = 0;
    soc_buf_put_slice(&file->now, soc_buf_slice(&file->synced));
}

void soc_disk_restart(struct soc_disk *disk, enum soc_disk_end how)
{
    assert(disk->open_count == 0);
    for (int i = 0; i < SOC_DISK_FILES_MAX; i++) {
        struct soc_disk_file *file = &disk->files[i];
        if (file->name[0] == '\0')
            continue;
        soc_disk_unshare(file);
        if (how == SOC_DISK_POWER_LOSS)
            lose_power(disk, file);
        if (!file->is_there && !file->is_entered)
            clear_file(file);
    }
    soc_disk_clear(disk);
    disk->struck = SOC_DISK_NONE;
    disk->is_dead = false;
}

struct soc_buf *soc_disk_bytes(struct soc_disk *disk, const char *name)
{
    struct soc_disk_file *file = soc_disk_find(disk, name);
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
    return soc_disk_find((struct soc_disk *)disk, name) != NULL;
}

int soc_disk_remove(struct soc_disk *disk, const char *name)
{
    if (soc_disk_call(disk, SOC_DISK_OTHERS) == SOC_DISK_CRASH)
        return SOC_EIO;
    struct soc_disk_file *file = find_place(disk, name);
    if (file != NULL)
        clear_file(file);
    return SOC_OK;
}

int soc_disk_rename(struct soc_disk *disk, const char *from, const char *to)
{
    if (soc_disk_call(disk, SOC_DISK_OTHERS) == SOC_DISK_CRASH)
        return SOC_EIO;
    struct soc_disk_file *file = soc_disk_find(disk, from);
    struct soc_disk_file *old = find_place(disk, to);
    assert(file != NULL && strlen(to) < sizeof(file->name));
    if (old != NULL)
        clear_file(old);
    snprintf(file->name, sizeof(file->name), "%s", to);
    file->is_entered = true;
    return SOC_OK;
}

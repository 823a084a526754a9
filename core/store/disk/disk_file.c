#include "store/disk/disk_file.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SECTOR_BYTES 512

void soc_disk_file_make(struct soc_disk_file *file)
{
    assert(file->name[0] != '\0');
    if (!file->is_there && file->is_entered) { /* the file that was deleted was another one */
        file->synced.length = 0;
        file->is_entered = false;
    }
    file->is_there = true;
}

void soc_disk_file_unshare(struct soc_disk_file *file)
{
    for (int i = 0; i < SOC_DISK_SHARED_MAX; i++) {
        free(file->shared[i]);
        file->shared[i] = NULL;
    }
}

void soc_disk_file_clear(struct soc_disk_file *file)
{
    soc_buf_fini(&file->now);
    soc_buf_fini(&file->synced);
    soc_buf_fini(&file->bytes);
    free(file->changes);
    soc_disk_file_unshare(file);
    *file = (struct soc_disk_file){0};
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

/* Writes bytes at an offset, and zeros before it where there was nothing. */
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

/* Tells whether the bytes are already there, synced. */
static bool is_written(const struct soc_disk_file *file, const void *bytes, size_t length,
                       uint64_t at)
{
    return file->change_count == 0 && at + length <= file->now.length &&
           at + length <= file->synced.length && memcmp(file->now.data + at, bytes, length) == 0 &&
           memcmp(file->synced.data + at, bytes, length) == 0;
}

/* Rewriting bytes with themselves, as a start does with a log, changes nothing. */
void soc_disk_file_write(struct soc_disk_file *file, const void *bytes, size_t length, uint64_t at)
{
    if (is_written(file, bytes, length, at))
        return;
    assert(file->is_there && length > 0);
    struct soc_disk_change *change = add_change(file);
    change->at = at;
    change->length = length;
    change->bytes_at = file->bytes.length;
    soc_buf_put(&file->bytes, bytes, length);
    put_at(&file->now, at, bytes, length);
}

void soc_disk_file_cut(struct soc_disk_file *file, uint64_t length)
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

/* Unless the deletion is synced, a power loss may bring a synced file back. */
void soc_disk_file_hide(struct soc_disk_file *file, bool is_synced)
{
    if (is_synced || !file->is_entered) {
        soc_disk_file_clear(file);
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

void soc_disk_file_sync(struct soc_disk_file *file)
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
}

void soc_disk_file_enter(struct soc_disk_file *file)
{
    if (!file->is_there) {
        soc_disk_file_clear(file);
        return;
    }
    file->is_entered = true;
    memcpy(file->entered, file->name, sizeof(file->entered));
}

void soc_disk_file_doom(struct soc_disk_file *file, struct soc_rng *rng)
{
    bool is_read_back = soc_rng_below(rng, 2) == 0;
    for (size_t i = 0; i < file->change_count; i++) {
        struct soc_disk_change *change = &file->changes[i];
        if (change->is_cut || soc_rng_below(rng, 2) == 0)
            continue;
        change->is_doomed = true;
        if (!is_read_back)
            continue;
        /* The kernel has dropped what it could not write; a reader sees the old bytes. */
        for (size_t k = 0; k < change->length && change->at + k < file->now.length; k++) {
            size_t at = (size_t)change->at + k;
            file->now.data[at] = at < file->synced.length ? file->synced.data[at] : 0;
        }
    }
}

size_t soc_disk_file_part(size_t length, struct soc_rng *rng)
{
    return (size_t)soc_rng_below(rng, length / SECTOR_BYTES + 1) * SECTOR_BYTES;
}

/* How much of the unsynced data survives a power loss, in sixteenths: often none or all
 * of it, so that all kinds of loss occur. */
static uint64_t choose_odds(struct soc_rng *rng)
{
    uint64_t choice = soc_rng_below(rng, 8);
    return choice < 2 ? 0 : choice < 4 ? 16 : soc_rng_below(rng, 17);
}

/* Keeps a random choice of the sectors of a write. */
static void keep_sectors(struct soc_disk_file *file, struct soc_rng *rng,
                         const struct soc_disk_change *change, uint64_t odds)
{
    size_t done = 0;
    while (done < change->length) {
        uint64_t at = change->at + done;
        size_t part = SECTOR_BYTES - (size_t)(at % SECTOR_BYTES);
        if (part > change->length - done)
            part = change->length - done;
        if (soc_rng_below(rng, 16) < odds)
            put_at(&file->synced, at, file->bytes.data + change->bytes_at + done, part);
        done += part;
    }
}

void soc_disk_file_lose_power(struct soc_disk_file *file, struct soc_rng *rng)
{
    uint64_t odds = choose_odds(rng);
    for (size_t i = 0; i < file->change_count; i++) {
        const struct soc_disk_change *change = &file->changes[i];
        if (change->is_doomed)
            continue;
        if (!change->is_cut)
            keep_sectors(file, rng, change, odds);
        else if (soc_rng_below(rng, 16) < odds)
            cut_synced(file, change->at);
    }
    forget_changes(file);
    bool may_stay = soc_rng_below(rng, 2) == 0;
    if (file->is_entered && !may_stay) /* it has its old name again */
        memcpy(file->name, file->entered, sizeof(file->name));
    file->is_there =
        (file->is_entered && file->is_there) || (file->is_entered != file->is_there && may_stay);
    file->is_entered = file->is_there;
    memcpy(file->entered, file->name, sizeof(file->entered));
    file->now.length = 0;
    soc_buf_put_slice(&file->now, soc_buf_slice(&file->synced));
}

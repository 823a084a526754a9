#include "bridge/files/outlet.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"

#define FILE_BYTES_MAX (1u << 30)

/* Limit of a file that somebody else has changed while we run: a larger one is put aside
 * unread, because reading it would block the loop. */
#define CHANGED_BYTES_MAX (4 << 20)

/* A line of the file, lent. */
struct entry {
    struct soc_slice line; /* with its newline */
    uint64_t key;          /* 0: not a message */
    uint16_t attempt;
    bool is_ack;
};

static void remember(struct soc_outlet *outlet, uint64_t key, uint16_t attempt)
{
    assert(key != 0);
    uintptr_t known = (uintptr_t)soc_map_find_number(&outlet->written, key);
    if (attempt > known)
        soc_map_put_number(&outlet->written, key, (void *)(uintptr_t)attempt);
}

/* Records the time of one more line. */
static void add_line(struct soc_outlet *outlet, int64_t time_ms)
{
    if (outlet->lines == outlet->times_max) {
        outlet->times_max = outlet->times_max == 0 ? 64 : 2 * outlet->times_max;
        outlet->times = soc_realloc(outlet->times, outlet->times_max * sizeof(*outlet->times));
    }
    outlet->times[outlet->lines++] = time_ms;
}

/* Parses the key and the attempt of a line. */
static void read_entry(struct entry *entry)
{
    struct soc_slice text = soc_slice(entry->line.data, entry->line.length - 1);
    int64_t attempt = 1;
    entry->key = 0;
    entry->attempt = 1;
    entry->is_ack = false;
    if (soc_json_check(text, NULL) < 0)
        return;
    entry->is_ack = soc_json_member(text, "ack_for").data != NULL;
    struct soc_slice id = soc_json_plain_string(soc_json_member(text, "id"));
    if (id.data == NULL || !soc_message_id_parse(id, &entry->key))
        return;
    if (soc_json_integer(soc_json_member(text, "attempt"), &attempt) && attempt > 0 &&
        attempt <= UINT16_MAX)
        entry->attempt = (uint16_t)attempt;
}

/* Advances to the next complete line of `*text`. Returns false if there is none. */
static bool next_entry(struct soc_slice *text, struct entry *entry)
{
    const char *end = text->length == 0 ? NULL : memchr(text->data, '\n', text->length);
    if (end == NULL)
        return false;
    size_t length = (size_t)(end - text->data) + 1;
    entry->line = soc_slice(text->data, length);
    *text = soc_slice(text->data + length, text->length - length);
    return true;
}

/* Replaces what is remembered by `next`. */
static void take_over(struct soc_outlet *outlet, struct soc_outlet *next)
{
    soc_map_fini(&outlet->written);
    free(outlet->times);
    outlet->written = next->written;
    outlet->times = next->times;
    outlet->times_max = next->times_max;
    outlet->lines = next->lines;
    outlet->left = next->left;
    outlet->old = 0;
    outlet->size = next->size;
    outlet->inode = next->inode;
    outlet->is_torn = next->is_torn;
    *next = (struct soc_outlet){0};
}

static int stat_file(const struct soc_outlet *outlet, struct stat *info)
{
    int folder = outlet->dir->folders[outlet->place];
    return fstatat(folder, outlet->name, info, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

/* Reads the file. On an error nothing changes. */
static int read_file(struct soc_outlet *outlet, int64_t now_ms)
{
    struct soc_buf bytes = {0};
    struct soc_outlet next = {0};
    struct entry entry;
    struct stat info;
    int code = stat_file(outlet, &info);
    if (code == 0)
        code = soc_workdir_read(outlet->dir, outlet->place, outlet->name, FILE_BYTES_MAX, &bytes);
    struct soc_slice rest = soc_buf_slice(&bytes);
    while (code == 0 && next_entry(&rest, &entry)) {
        read_entry(&entry);
        add_line(&next, now_ms);
        if (entry.key != 0)
            remember(&next, entry.key, entry.attempt);
    }
    if (code == 0) {
        next.is_torn = rest.length > 0;
        next.size = (int64_t)bytes.length;
        next.inode = info.st_ino;
        take_over(outlet, &next);
    }
    soc_buf_fini(&bytes);
    return code;
}

int soc_outlet_open(struct soc_outlet *outlet, const struct soc_workdir *dir, enum soc_place place,
                    const char *name, int64_t now_ms)
{
    assert(dir != NULL && name != NULL);
    *outlet = (struct soc_outlet){.dir = dir, .place = place, .size = -1};
    outlet->name = soc_copy_text(name, strlen(name));
    soc_workdir_take_back(dir, place, name); /* if a rotation was interrupted */
    int code = soc_workdir_append(dir, place, name, SOC_SLICE(""));
    return code < 0 ? code : read_file(outlet, now_ms);
}

void soc_outlet_close(struct soc_outlet *outlet)
{
    soc_map_fini(&outlet->written);
    free(outlet->times);
    free(outlet->name);
    *outlet = (struct soc_outlet){0};
}

bool soc_outlet_has(const struct soc_outlet *outlet, uint64_t key, uint16_t attempt)
{
    return (uintptr_t)soc_map_find_number(&outlet->written, key) >= attempt;
}

/* Writes one line with one call; -EIO if it was written in part. */
static int write_line(struct soc_outlet *outlet, int file, struct soc_slice json, int64_t now_ms)
{
    size_t first = outlet->is_torn ? 0 : 1;
    struct iovec parts[3] = {
        {.iov_base = (void *)"\n", .iov_len = 1},
        {.iov_base = (void *)(uintptr_t)json.data, .iov_len = json.length},
        {.iov_base = (void *)"\n", .iov_len = 1},
    };
    size_t length = json.length + 2 - first;
    ssize_t count;
    do
        count = writev(file, parts + first, (int)(3 - first));
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return -errno;
    if (count == 0)
        return -EIO;
    outlet->is_torn = (size_t)count < length;
    outlet->size += count;
    add_line(outlet, now_ms);
    return outlet->is_torn ? -ENOSPC : 0;
}

/* Moves a spoilt file next to the queue and puts an empty one in its place. */
static int put_aside(struct soc_outlet *outlet, int64_t now_ms)
{
    struct soc_buf name = {0};
    int folder = outlet->dir->folders[outlet->place];
    int archive = outlet->dir->folders[SOC_PLACE_ARCHIVE];
    soc_buf_printf(&name, "%s.spoilt", outlet->name);
    int code = renameat(folder, outlet->name, archive, soc_buf_text(&name)) < 0 ? -errno : 0;
    soc_buf_fini(&name);
    if (code == 0)
        code = soc_workdir_append(outlet->dir, outlet->place, outlet->name, SOC_SLICE(""));
    return code < 0 ? code : read_file(outlet, now_ms);
}

/* Compares the file with what we left. */
static int compare(struct soc_outlet *outlet, const struct stat *info, int64_t now_ms)
{
    bool is_other = info->st_ino != outlet->inode;
    if (!is_other && info->st_size == outlet->size)
        return 0;
    bool is_known = outlet->size >= 0;
    bool is_shorter = info->st_size < outlet->size;
    int code = is_known && info->st_size > CHANGED_BYTES_MAX ? put_aside(outlet, now_ms)
                                                             : read_file(outlet, now_ms);
    if (code == 0 && is_known)
        outlet->change = is_shorter && !is_other ? SOC_OUTLET_TRUNCATED : SOC_OUTLET_REPLACED;
    return code;
}

int soc_outlet_check(struct soc_outlet *outlet, int64_t now_ms)
{
    struct stat info;
    int code = stat_file(outlet, &info);
    bool is_gone = code == -ENOENT && outlet->size >= 0;
    if (!is_gone)
        return code < 0 ? code : compare(outlet, &info, now_ms);
    code = soc_workdir_append(outlet->dir, outlet->place, outlet->name, SOC_SLICE(""));
    if (code == 0)
        code = read_file(outlet, now_ms);
    if (code == 0)
        outlet->change = SOC_OUTLET_REPLACED;
    return code;
}

static int open_to_append(const struct soc_outlet *outlet)
{
    return soc_workdir_open_file(outlet->dir, outlet->place, outlet->name,
                                 O_WRONLY | O_APPEND | O_CREAT);
}

int soc_outlet_put(struct soc_outlet *outlet, uint64_t key, uint16_t attempt, struct soc_slice json,
                   int64_t now_ms)
{
    assert(outlet->name != NULL && json.length > 0);
    int file = open_to_append(outlet);
    if (file < 0)
        return file;
    struct stat info;
    int code = fstat(file, &info) < 0 ? -errno : compare(outlet, &info, now_ms);
    if (code == 0 && outlet->inode != info.st_ino) { /* it was put aside */
        close(file);
        file = open_to_append(outlet);
        if (file < 0)
            return file;
    }
    if (code == 0)
        code = write_line(outlet, file, json, now_ms);
    close(file);
    if (code == 0 && key != 0)
        remember(outlet, key, attempt);
    return code;
}

uint64_t soc_outlet_count_old(struct soc_outlet *outlet, int64_t since_ms)
{
    assert(outlet->old <= outlet->lines);
    while (outlet->old < outlet->lines && outlet->times[outlet->old] < since_ms)
        outlet->old++;
    while (outlet->old > 0 && outlet->times[outlet->old - 1] >= since_ms)
        outlet->old--;
    return outlet->old;
}

/* Links the old file into the archive, or moves it where the file system has no links. */
static int put_away(const struct soc_outlet *outlet, const char *stamp)
{
    char name[SOC_ID_BYTES_MAX + 96];
    int from = outlet->dir->folders[outlet->place];
    int to = outlet->dir->folders[SOC_PLACE_ARCHIVE];
    size_t length = strlen(outlet->name) - strlen(SOC_QUEUE_SUFFIX);
    snprintf(name, sizeof(name), "%.*s.%s" SOC_QUEUE_SUFFIX, (int)length, outlet->name, stamp);
    if (linkat(from, outlet->name, to, name, 0) == 0)
        return 0;
    if (errno == EEXIST)
        return -EEXIST;
    return renameat(from, outlet->name, to, name) < 0 ? -errno : 0;
}

int soc_outlet_rotate(struct soc_outlet *outlet, const char *stamp, uint64_t newest,
                      bool (*is_pending)(void *user, uint64_t key), void *user)
{
    assert(outlet->name != NULL && stamp != NULL && is_pending != NULL);
    struct soc_buf bytes = {0};
    struct soc_buf kept = {0};
    struct entry entry;
    struct soc_outlet next = {0};
    struct soc_left left;
    int code = soc_workdir_read(outlet->dir, outlet->place, outlet->name, FILE_BYTES_MAX, &bytes);
    struct soc_slice rest = soc_buf_slice(&bytes);
    for (uint64_t number = 0; code == 0 && next_entry(&rest, &entry); number++) {
        bool is_known = number < outlet->lines; /* else somebody else added lines */
        bool is_new = number + newest >= outlet->lines;
        read_entry(&entry);
        if (entry.key == 0 ? !entry.is_ack || !is_new : !is_new && !is_pending(user, entry.key))
            continue;
        soc_buf_put_slice(&kept, entry.line);
        if (entry.key != 0)
            remember(&next, entry.key, entry.attempt);
        add_line(&next,
                 outlet->lines == 0 ? 0 : outlet->times[is_known ? number : outlet->lines - 1]);
    }
    if (code == 0)
        code = put_away(outlet, stamp);
    bool is_put_away = code == 0;
    if (code == 0)
        code = soc_workdir_replace(outlet->dir, outlet->place, outlet->name,
                                   kept.data == NULL ? SOC_SLICE("") : soc_buf_slice(&kept), &left);
    if (code < 0 && is_put_away)
        soc_workdir_take_back(outlet->dir, outlet->place, outlet->name);
    if (code == 0) {
        next.left = next.lines;
        next.size = left.size;
        next.inode = left.inode;
        take_over(outlet, &next);
    }
    soc_map_fini(&next.written);
    free(next.times);
    soc_buf_fini(&bytes);
    soc_buf_fini(&kept);
    return code;
}

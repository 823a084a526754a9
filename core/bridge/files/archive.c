#include "bridge/files/archive.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define LEVELS_MAX   4 /* archive/WORKFLOW.TIME/channel/agents, and its files */

/* A file of the archive. */
struct entry {
    char *path; /* from the archive, owned */
    int64_t time_ms;
    int64_t bytes;
};

/* What was found. */
struct finds {
    int archive;
    struct entry *entries; /* owned */
    size_t count;
    size_t capacity;
    int64_t bytes; /* of all */
};

static void add_file(struct finds *finds, const char *path, const struct stat *info)
{
    if (!S_ISREG(info->st_mode) || info->st_nlink != 1)
        return;
    if (finds->count == finds->capacity) {
        finds->capacity = finds->capacity == 0 ? 64 : finds->capacity * 2;
        finds->entries = soc_realloc(finds->entries, finds->capacity * sizeof(*finds->entries));
    }
    finds->entries[finds->count++] = (struct entry){.path = soc_copy_text(path, strlen(path)),
                                                    .time_ms = (int64_t)info->st_mtim.tv_sec * 1000,
                                                    .bytes = info->st_size};
    finds->bytes += info->st_size;
}

/* Finds the files of a folder, "" for the archive, and of those in it. */
static void find_files(struct finds *finds, const char *folder, int level)
{
    struct stat info;
    const struct dirent *entry;
    int opened = openat(finds->archive, folder[0] == '\0' ? "." : folder, FOLDER_FLAGS);
    DIR *list = opened < 0 ? NULL : fdopendir(opened);
    if (list == NULL && opened >= 0)
        close(opened);
    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        struct soc_buf path = {0};
        soc_buf_printf(&path, "%s%s%s", folder, folder[0] == '\0' ? "" : "/", entry->d_name);
        const char *name = soc_buf_text(&path);
        if (fstatat(finds->archive, name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
            if (S_ISDIR(info.st_mode) && level < LEVELS_MAX)
                find_files(finds, name, level + 1);
            else
                add_file(finds, name, &info);
        }
        soc_buf_fini(&path);
    }
    if (list != NULL)
        closedir(list);
}

static int compare_age(const void *a, const void *b)
{
    const struct entry *one = a;
    const struct entry *other = b;
    if (one->time_ms != other->time_ms)
        return one->time_ms < other->time_ms ? -1 : 1;
    return strcmp(one->path, other->path);
}

/* Removes the file, and the folders above it that are empty now. */
static bool remove_file(int archive, char *path)
{
    if (unlinkat(archive, path, 0) < 0)
        return false;
    char *slash;
    bool is_empty = true;
    while (is_empty && (slash = strrchr(path, '/')) != NULL) {
        *slash = '\0';
        is_empty = unlinkat(archive, path, AT_REMOVEDIR) == 0;
    }
    return true;
}

int soc_archive_prune(const struct soc_workdir *dir, const struct soc_archive_limits *limits)
{
    struct finds finds = {.archive = dir->folders[SOC_PLACE_ARCHIVE]};
    int removed = 0;
    assert(limits->bytes_max >= 0);
    if (finds.archive < 0)
        return 0;
    find_files(&finds, "", 1);
    if (finds.count > 1)
        qsort(finds.entries, finds.count, sizeof(*finds.entries), compare_age);
    for (size_t i = 0; i < finds.count; i++) {
        struct entry *entry = &finds.entries[i];
        bool is_due = entry->time_ms < limits->oldest_ms ||
                      (limits->bytes_max > 0 && finds.bytes > limits->bytes_max);
        if (is_due && removed < SOC_ARCHIVE_REMOVALS_MAX &&
            remove_file(finds.archive, entry->path)) {
            finds.bytes -= entry->bytes;
            removed++;
        }
        free(entry->path);
    }
    free(finds.entries);
    return removed;
}

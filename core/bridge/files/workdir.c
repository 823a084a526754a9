#include "bridge/files/workdir.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "env/clock.h"
#include "env/ids.h"

#define FOLDER_FLAGS        (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define LOCK_NAME           ".lock"
#define LOCK_TEXT_BYTES_MAX 128

/* Each is inside an earlier one. */
static const struct {
    enum soc_place parent;
    const char *name;
    const char *path;
} places[SOC_PLACE_COUNT] = {
    [SOC_PLACE_ROOT] = {SOC_PLACE_ROOT, NULL, ""},
    [SOC_PLACE_CHANNEL] = {SOC_PLACE_ROOT, "channel", "channel"},
    [SOC_PLACE_AGENTS] = {SOC_PLACE_CHANNEL, "agents", "channel/agents"},
    [SOC_PLACE_STATE] = {SOC_PLACE_ROOT, "state", "state"},
    [SOC_PLACE_HEARTBEAT] = {SOC_PLACE_STATE, "heartbeat", "state/heartbeat"},
    [SOC_PLACE_LOGS] = {SOC_PLACE_ROOT, "logs", "logs"},
    [SOC_PLACE_ARCHIVE] = {SOC_PLACE_ROOT, "archive", "archive"},
};

const char *soc_place_path(enum soc_place place)
{
    assert(place < SOC_PLACE_COUNT);
    return places[place].path;
}

/* Opens a folder in `parent` and creates it if `makes`. Returns a negative errno on failure. */
static int open_folder(int parent, const char *name, bool makes, mode_t mode)
{
    bool is_new = makes && mkdirat(parent, name, mode) == 0;
    if (makes && !is_new && errno != EEXIST)
        return -errno;
    int folder = openat(parent, name, FOLDER_FLAGS);
    if (folder < 0)
        return -errno;
    if (is_new && fchmod(folder, mode) < 0) {
        int code = -errno;
        close(folder);
        return code;
    }
    return folder;
}

/* Creates the folders above the workflow's. Links are allowed there. */
static int make_above(const char *path, mode_t mode)
{
    char *copy = soc_copy_text(path, strlen(path));
    int code = 0;
    for (char *slash = strchr(copy + 1, '/'); slash != NULL && code == 0;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, mode) < 0 && errno != EEXIST)
            code = -errno;
        *slash = '/';
    }
    free(copy);
    return code;
}

/* Writes "PID since TIME" into the lock file, for people. */
static void sign_lock(int lock)
{
    struct soc_clock clock;
    char time[SOC_TIME_BYTES];
    char text[LOCK_TEXT_BYTES_MAX];
    soc_clock_init(&clock, false);
    soc_time_format(time, soc_clock_now(&clock));
    int length =
        snprintf(text, sizeof(text), "%ld since %.*s\n", (long)getpid(), SOC_TIME_BYTES, time);
    if (ftruncate(lock, 0) == 0)
        length -= (int)pwrite(lock, text, (size_t)length, 0);
}

/* A file with a second name may be anybody's: what is written to a queue would reach it, and
 * what it holds would be read as mail. */
static int check_kind(const struct stat *info)
{
    if (!S_ISREG(info->st_mode))
        return -EINVAL;
    return info->st_nlink > 1 ? -EMLINK : 0;
}

const char *soc_workdir_reason(int code)
{
    assert(code < 0);
    return code == -ELOOP    ? "a link; links are not followed"
           : code == -EINVAL ? "not a regular file"
           : code == -EMLINK ? "it has a second name (a hard link); remove one of the two"
                             : strerror(-code);
}

/* Locks the workflow's folder. Returns the descriptor or a negative errno: -EBUSY if another
 * society holds it. Closing the descriptor, also by the end of the process, unlocks it. */
static int lock_folder(int folder)
{
    struct stat info;
    int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int lock = openat(folder, LOCK_NAME, flags, 0600);
    if (lock < 0)
        return -errno;
    int code = fstat(lock, &info) < 0 ? -errno : check_kind(&info);
    if (code == 0 && flock(lock, LOCK_EX | LOCK_NB) < 0)
        code = errno == EWOULDBLOCK ? -EBUSY : -errno;
    if (code < 0) {
        close(lock);
        return code;
    }
    sign_lock(lock);
    return lock;
}

/* The file stays, empty: removing it would let two processes lock two files. */
static void unlock(int lock)
{
    if (lock < 0)
        return;
    int rc = ftruncate(lock, 0);
    (void)rc;
    close(lock);
}

/* Reads from the lock file who holds the lock. */
static void read_holder(int folder, char out[LOCK_TEXT_BYTES_MAX])
{
    char text[LOCK_TEXT_BYTES_MAX] = {0};
    int lock = openat(folder, LOCK_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is_read = lock >= 0 && pread(lock, text, sizeof(text) - 1, 0) > 0;
    size_t length = strspn(text, "0123456789-:.TZ since");
    if (lock >= 0)
        close(lock);
    snprintf(out, LOCK_TEXT_BYTES_MAX, "%s%.*s", is_read ? "process " : "another process",
             (int)length < 64 ? (int)length : 64, text);
}

static int fail_lock(struct soc_workdir *dir, int code, struct soc_detail *detail)
{
    char holder[LOCK_TEXT_BYTES_MAX];
    read_holder(dir->folders[SOC_PLACE_ROOT], holder);
    if (code == -EBUSY)
        soc_fail(detail, 0,
                 "files: %s: another society uses it (%s); choose another directory by "
                 "files.dir or files.workflow_id",
                 dir->path, holder);
    else
        soc_fail(detail, 0, "files: %s/" LOCK_NAME ": %s", dir->path,
                 code == -ELOOP || code == -EINVAL ? "not a regular file"
                                                   : soc_workdir_reason(code));
    soc_workdir_close(dir);
    return SOC_EACCESS;
}

static int fail(struct soc_workdir *dir, int code, enum soc_place place, struct soc_detail *detail)
{
    const char *below = places[place].path;
    soc_fail(detail, 0, "files: %s%s%s: %s", dir->path, below[0] == '\0' ? "" : "/", below,
             code == -ELOOP || code == -ENOTDIR ? "a link or a file, not a directory"
                                                : strerror(-code));
    soc_workdir_close(dir);
    return code == -ENOENT ? SOC_ENOFILE : SOC_EACCESS;
}

int soc_workdir_open(struct soc_workdir *dir, const char *path, bool makes, mode_t folder_mode,
                     mode_t file_mode, struct soc_detail *detail)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    *dir = (struct soc_workdir){.lock = -1, .folder_mode = folder_mode, .file_mode = file_mode};
    dir->path = soc_copy_text(path, length);
    for (int i = 0; i < SOC_PLACE_COUNT; i++)
        dir->folders[i] = -1;
    int code = makes ? make_above(dir->path, folder_mode) : 0;
    if (code == 0)
        code = open_folder(AT_FDCWD, dir->path, makes, folder_mode);
    if (code < 0)
        return fail(dir, code, SOC_PLACE_ROOT, detail);
    dir->folders[SOC_PLACE_ROOT] = code;
    if (makes && (dir->lock = lock_folder(code)) < 0)
        return fail_lock(dir, dir->lock, detail);
    for (int i = SOC_PLACE_ROOT + 1; i < SOC_PLACE_COUNT; i++) {
        code = open_folder(dir->folders[places[i].parent], places[i].name, makes, folder_mode);
        if (code < 0)
            return fail(dir, code, (enum soc_place)i, detail);
        dir->folders[i] = code;
    }
    return SOC_OK;
}

static bool is_same_file(const struct stat *one, const struct stat *other)
{
    return one->st_ino == other->st_ino && one->st_dev == other->st_dev;
}

/* Locks `folder` instead of the one held, or again if its lock file was removed. Returns 0,
 * or a negative errno and keeps the old lock. */
static int renew_lock(struct soc_workdir *dir, int folder)
{
    struct stat held;
    struct stat there;
    if (dir->lock < 0 || (fstat(dir->lock, &held) == 0 &&
                          fstatat(folder, LOCK_NAME, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                          is_same_file(&held, &there)))
        return 0;
    int lock = lock_folder(folder);
    if (lock < 0)
        return lock;
    unlock(dir->lock);
    dir->lock = lock;
    return 0;
}

int soc_workdir_renew(struct soc_workdir *dir, enum soc_place place)
{
    assert(place < SOC_PLACE_COUNT);
    struct stat held;
    struct stat there;
    int parent = place == SOC_PLACE_ROOT ? AT_FDCWD : dir->folders[places[place].parent];
    const char *name = place == SOC_PLACE_ROOT ? dir->path : places[place].name;
    if (fstat(dir->folders[place], &held) == 0 &&
        fstatat(parent, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && is_same_file(&held, &there))
        return place == SOC_PLACE_ROOT ? renew_lock(dir, dir->folders[place]) : 0;
    int code = place == SOC_PLACE_ROOT ? make_above(dir->path, dir->folder_mode) : 0;
    int folder = code < 0 ? code : open_folder(parent, name, true, dir->folder_mode);
    if (folder < 0)
        return folder;
    code = place == SOC_PLACE_ROOT ? renew_lock(dir, folder) : 0;
    if (code < 0) {
        close(folder);
        return code;
    }
    close(dir->folders[place]);
    dir->folders[place] = folder;
    return 1;
}

bool soc_workdir_is_open_to_others(const struct soc_workdir *dir, enum soc_place place,
                                   mode_t *mode)
{
    struct stat info;
    *mode = fstat(dir->folders[place], &info) < 0 ? 0 : info.st_mode & 0777;
    return (*mode & 0077 & ~dir->folder_mode) != 0;
}

void soc_workdir_close(struct soc_workdir *dir)
{
    if (dir->path == NULL)
        return;
    for (int i = 0; i < SOC_PLACE_COUNT; i++)
        if (dir->folders[i] >= 0)
            close(dir->folders[i]);
    unlock(dir->lock);
    free(dir->path);
    *dir = (struct soc_workdir){0};
}

int soc_workdir_open_file(const struct soc_workdir *dir, enum soc_place place, const char *name,
                          int flags)
{
    assert(place < SOC_PLACE_COUNT && name[0] != '\0' && strchr(name, '/') == NULL);
    struct stat info;
    int folder = dir->folders[place];
    int always = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int file = -1;
    bool is_new = false;
    if (flags & O_CREAT) {
        file = openat(folder, name, flags | O_EXCL | always, dir->file_mode);
        is_new = file >= 0;
    }
    if (!is_new && (!(flags & O_CREAT) || (errno == EEXIST && !(flags & O_EXCL))))
        file = openat(folder, name, (flags & ~O_CREAT) | always);
    if (file < 0)
        return -errno;
    int code = fstat(file, &info) < 0 ? -errno : check_kind(&info);
    if (code == 0 && is_new && fchmod(file, dir->file_mode) < 0)
        code = -errno;
    if (code == 0)
        return file;
    close(file);
    return code;
}

/* Writes, and removes what was written from `*text`. */
static int write_some(int file, struct soc_slice *text)
{
    while (text->length > 0) {
        ssize_t count = write(file, text->data, text->length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -errno;
        *text = soc_slice(text->data + count, text->length - (size_t)count);
    }
    return 0;
}

static int write_all(int file, struct soc_slice text)
{
    return write_some(file, &text);
}

int soc_workdir_append(const struct soc_workdir *dir, enum soc_place place, const char *name,
                       struct soc_slice text)
{
    int file = soc_workdir_open_file(dir, place, name, O_WRONLY | O_APPEND | O_CREAT);
    if (file < 0)
        return file;
    int code = write_all(file, text);
    close(file);
    return code;
}

static struct soc_left describe(const struct stat *info)
{
    return (struct soc_left){
        .inode = info->st_ino,
        .size = info->st_size,
        .time_ns = info->st_mtim.tv_sec * INT64_C(1000000000) + info->st_mtim.tv_nsec,
    };
}

/* Describes an open file. Before it has a name, nobody else can change it. */
static void note_left(int file, struct soc_left *left)
{
    struct stat info;
    *left = fstat(file, &info) < 0 ? (struct soc_left){0} : describe(&info);
}

struct soc_left soc_workdir_look(const struct soc_workdir *dir, enum soc_place place,
                                 const char *name)
{
    struct stat info;
    bool is_there = fstatat(dir->folders[place], name, &info, AT_SYMLINK_NOFOLLOW) == 0;
    return is_there ? describe(&info) : (struct soc_left){0};
}

/* Ends the last line of an open file with a newline. */
static int end_line(int file)
{
    struct stat info;
    char last = '\n';
    if (fstat(file, &info) < 0 || (info.st_size > 0 && pread(file, &last, 1, info.st_size - 1) < 0))
        return -errno;
    return last == '\n' ? 0 : write_all(file, SOC_SLICE("\n"));
}

int soc_workdir_append_lines(const struct soc_workdir *dir, enum soc_place place, const char *name,
                             struct soc_slice *text, struct soc_left *left)
{
    const char *start = text->data;
    int file = soc_workdir_open_file(dir, place, name, O_RDWR | O_APPEND | O_CREAT);
    *left = (struct soc_left){0};
    if (file < 0)
        return file;
    int code = end_line(file);
    if (code == 0)
        code = write_some(file, text);
    note_left(file, left);
    close(file);
    while (text->data > start && text->data[-1] != '\n')
        *text = soc_slice(text->data - 1, text->length + 1);
    return code;
}

int soc_workdir_end_line(const struct soc_workdir *dir, enum soc_place place, const char *name)
{
    int file = soc_workdir_open_file(dir, place, name, O_RDWR | O_APPEND);
    if (file < 0)
        return file == -ENOENT ? 0 : file;
    int code = end_line(file);
    close(file);
    return code;
}

int soc_workdir_replace(const struct soc_workdir *dir, enum soc_place place, const char *name,
                        struct soc_slice text, struct soc_left *left)
{
    assert(place < SOC_PLACE_COUNT && strchr(name, '/') == NULL);
    char draft[SOC_ID_BYTES_MAX + 32];
    int folder = dir->folders[place];
    snprintf(draft, sizeof(draft), ".%.*s.new", (int)sizeof(draft) - 6, name);
    unlinkat(folder, draft, 0);
    int file = soc_workdir_open_file(dir, place, draft, O_WRONLY | O_CREAT | O_EXCL);
    if (file < 0)
        return file;
    int code = write_all(file, text);
    if (left != NULL)
        note_left(file, left);
    close(file);
    if (code == 0 && renameat(folder, draft, folder, name) < 0)
        code = -errno;
    if (code < 0)
        unlinkat(folder, draft, 0);
    return code;
}

int soc_workdir_read(const struct soc_workdir *dir, enum soc_place place, const char *name,
                     size_t bytes_max, struct soc_buf *out)
{
    int file = soc_workdir_open_file(dir, place, name, O_RDONLY);
    size_t start = out->length;
    int code = file < 0 ? file : 0;
    while (code == 0 && out->length - start < bytes_max) {
        size_t left = bytes_max - (out->length - start);
        char *room = soc_buf_reserve(out, left < 65536 ? left : 65536);
        ssize_t count = read(file, room, left < 65536 ? left : 65536);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            code = -errno;
        if (count <= 0)
            break;
        out->length += (size_t)count;
    }
    if (file >= 0)
        close(file);
    return code;
}

void soc_workdir_take_back(const struct soc_workdir *dir, enum soc_place place, const char *name)
{
    struct stat file;
    struct stat found;
    struct dirent *entry;
    int archive = dir->folders[SOC_PLACE_ARCHIVE];
    if (fstatat(dir->folders[place], name, &file, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISREG(file.st_mode) || file.st_nlink < 2)
        return;
    int copy = openat(archive, ".", FOLDER_FLAGS);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    if (list == NULL) {
        if (copy >= 0)
            close(copy);
        return;
    }
    while ((entry = readdir(list)) != NULL)
        if (fstatat(archive, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
            is_same_file(&file, &found))
            unlinkat(archive, entry->d_name, 0);
    closedir(list);
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t length = strlen(name);
    size_t suffix_length = strlen(suffix);
    return length > suffix_length && strcmp(name + length - suffix_length, suffix) == 0;
}

/* Returns true for a queue of an agent: its removal tells the agent that the work is over. */
static bool is_queue(const char *name)
{
    return ends_with(name, SOC_QUEUE_SUFFIX) && !ends_with(name, SOC_OUT_SUFFIX);
}

/* Moves the non-empty files of a folder and removes empty queues of agents. With `to` < 0 it
 * only returns 1 if there is a file to move. */
static int move_files(int from, int to, bool is_of_agents)
{
    struct dirent *entry;
    struct stat info;
    int code = 0;
    int copy = openat(from, ".", FOLDER_FLAGS);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    if (list == NULL) {
        code = -errno;
        if (copy >= 0)
            close(copy);
        return code;
    }
    while (code == 0 && (entry = readdir(list)) != NULL) {
        if (fstatat(from, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(info.st_mode))
            continue;
        if (info.st_size == 0 && to >= 0 && is_of_agents && is_queue(entry->d_name))
            unlinkat(from, entry->d_name, 0);
        if (info.st_size == 0)
            continue;
        if (to < 0)
            code = 1;
        else if (renameat(from, entry->d_name, to, entry->d_name) < 0)
            code = -errno;
    }
    closedir(list);
    return code;
}

static bool holds_any(const struct soc_workdir *dir)
{
    for (int i = SOC_PLACE_ROOT + 1; i < SOC_PLACE_ARCHIVE; i++)
        if (move_files(dir->folders[i], -1, false) != 0)
            return true;
    return false;
}

int soc_workdir_archive(const struct soc_workdir *dir, const char *name)
{
    int folders[SOC_PLACE_COUNT];
    if (!holds_any(dir))
        return 0;
    int code = open_folder(dir->folders[SOC_PLACE_ARCHIVE], name, true, dir->folder_mode);
    if (code < 0)
        return code;
    for (int i = 0; i < SOC_PLACE_COUNT; i++)
        folders[i] = -1;
    folders[SOC_PLACE_ROOT] = code;
    code = 0;
    for (int i = SOC_PLACE_ROOT + 1; i < SOC_PLACE_ARCHIVE && code == 0; i++) {
        folders[i] = open_folder(folders[places[i].parent], places[i].name, true, dir->folder_mode);
        code = folders[i] < 0 ? folders[i]
                              : move_files(dir->folders[i], folders[i], i == SOC_PLACE_AGENTS);
    }
    for (int i = 0; i < SOC_PLACE_COUNT; i++)
        if (folders[i] >= 0)
            close(folders[i]);
    return code;
}

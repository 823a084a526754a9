#include "store/directory.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "env/clock.h"
#include "store/tables/schema.h"

/* Offsets of big-endian numbers in SQLite's file header. */
#define HEADER_BYTES        100
#define VERSION_OFFSET      60
#define APPLICATION_OFFSET  68
#define HEADER_MAGIC        "SQLite format 3"
#define LOCK_TEXT_BYTES_MAX 128

uint32_t soc_directory_seed(const char *directory)
{
    struct statx info = {0};
    if (statx(AT_FDCWD, directory, 0, STATX_INO | STATX_BTIME, &info) < 0)
        return 0;
    bool has_birth = (info.stx_mask & STATX_BTIME) != 0;
    uint64_t known[3] = {info.stx_ino, has_birth ? (uint64_t)info.stx_btime.tv_sec : 0,
                         has_birth ? info.stx_btime.tv_nsec : 0};
    uint32_t seed = (uint32_t)(soc_hash_number(soc_hash(known, sizeof(known), 0)) >> 32);
    return seed == 0 ? 1 : seed;
}

void soc_directory_path(struct soc_buf *out, const char *directory, const char *name)
{
    assert(directory != NULL && name != NULL);
    soc_buf_printf(out, "%s/%s", directory, name);
    soc_buf_put_byte(out, '\0');
}

static int fail_errno(struct soc_detail *detail, const char *path, int error)
{
    int code = SOC_EIO;
    if (error == EACCES || error == EPERM || error == EROFS)
        code = SOC_EACCESS;
    else if (error == ENOENT || error == ENOTDIR)
        code = SOC_ENOFILE;
    else if (error == ENOSPC || error == EDQUOT)
        return soc_fail(detail, SOC_EDISKFULL, "%s", SOC_DIRECTORY_FULL);
    return soc_fail(detail, code, "%s: %s", path, strerror(error));
}

static int fail_link(const char *path, struct soc_detail *detail)
{
    return soc_fail(detail, SOC_EACCESS, "%s is a link or not a regular file; remove it", path);
}

static uint32_t read_number(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
           (uint32_t)bytes[3];
}

static int check_header(const char *path, const unsigned char *header, ssize_t length,
                        struct soc_detail *detail)
{
    if (length < HEADER_BYTES)
        return soc_fail(detail, SOC_ECORRUPT,
                        "%s was cut off: it has only %zd bytes" SOC_DIRECTORY_REMEDY, path, length);
    if (memcmp(header, HEADER_MAGIC, sizeof(HEADER_MAGIC)) != 0 ||
        read_number(header + APPLICATION_OFFSET) != SOC_SCHEMA_APPLICATION)
        return soc_fail(detail, SOC_ECORRUPT, "%s is not the database of a society", path);
    uint32_t version = read_number(header + VERSION_OFFSET);
    if (version > SOC_SCHEMA_VERSION)
        return soc_fail(detail, SOC_ENEWER, "%s has version %u; this program supports up to %d",
                        path, version, SOC_SCHEMA_VERSION);
    if (version == 0)
        return soc_fail(detail, SOC_ECORRUPT, "%s has no version", path);
    return SOC_OK;
}

static bool has_bytes(const char *directory, const char *name)
{
    struct stat status;
    struct soc_buf path = {0};
    soc_directory_path(&path, directory, name);
    bool is_there = stat(path.data, &status) == 0 && status.st_size > 0;
    soc_buf_fini(&path);
    return is_there;
}

bool soc_directory_has_rest(const char *directory)
{
    return has_bytes(directory, "society.db-wal") || has_bytes(directory, "society.db-mark");
}

/* The database is missing. Files beside it are created after it, so it was there once. */
static int fail_missing(const char *directory, const char *path, int error,
                        struct soc_detail *detail)
{
    bool has_log = has_bytes(directory, "society.db-wal");
    bool has_mark = has_bytes(directory, "society.db-mark");
    if (error != ENOENT || (!has_log && !has_mark))
        return fail_errno(detail, path, error);
    return soc_fail(detail, SOC_ECORRUPT,
                    "%s is missing, but %s%s%s %s still there; put it back, or start over "
                    "with `society run --fresh`",
                    path, has_log ? "society.db-wal" : "", has_log && has_mark ? " and " : "",
                    has_mark ? "society.db-mark" : "", has_log && has_mark ? "are" : "is");
}

/* Checks the header of the open `file`. */
static int check_open(int file, const char *path, struct soc_detail *detail)
{
    unsigned char header[HEADER_BYTES];
    ssize_t length = pread(file, header, sizeof(header), 0);
    return length < 0 ? fail_errno(detail, path, errno)
                      : check_header(path, header, length, detail);
}

int soc_directory_check(const char *directory, struct soc_detail *detail)
{
    struct soc_buf path = {0};
    soc_directory_path(&path, directory, "society.db");
    int rc;
    int file = open(path.data, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0 && errno == ELOOP) {
        rc = fail_link(path.data, detail);
    } else if (file < 0) {
        rc = fail_missing(directory, path.data, errno, detail);
    } else {
        rc = check_open(file, path.data, detail);
        close(file);
    }
    soc_buf_fini(&path);
    return rc;
}

int soc_directory_check_file(const char *path, struct soc_detail *detail)
{
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return fail_errno(detail, path, errno);
    int rc = check_open(file, path, detail);
    close(file);
    return rc;
}

bool soc_directory_find_open(const char *directory, struct soc_buf *path)
{
    struct stat status;
    bool is_found = false;
    char *place = realpath(directory, NULL);
    char *slash = place == NULL ? NULL : strrchr(place, '/');
    while (slash != NULL && !is_found) {
        slash[slash == place] = '\0'; /* the root keeps its slash */
        is_found = stat(place, &status) == 0 && (status.st_mode & S_IWOTH) != 0 &&
                   (status.st_mode & S_ISVTX) == 0;
        slash = slash == place ? NULL : strrchr(place, '/');
    }
    if (is_found)
        soc_buf_put_text(path, place);
    free(place);
    return is_found;
}

int soc_directory_sync(const char *path, struct soc_detail *detail)
{
    int file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return fail_errno(detail, path, errno);
    int rc = fsync(file) == 0 ? SOC_OK : fail_errno(detail, path, errno);
    close(file);
    return rc;
}

int soc_directory_make(const char *directory, struct soc_detail *detail)
{
    if (mkdir(directory, 0700) == 0) {
        struct soc_buf parent = {0};
        soc_directory_path(&parent, directory, "..");
        int rc = soc_directory_sync(parent.data, detail);
        soc_buf_fini(&parent);
        return rc;
    }
    if (errno != EEXIST)
        return fail_errno(detail, directory, errno);
    return SOC_OK;
}

/* Names the holder of the lock, if the file tells. */
static int fail_locked(int file, const char *directory, struct soc_detail *detail)
{
    char text[LOCK_TEXT_BYTES_MAX];
    ssize_t length = pread(file, text, sizeof(text) - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    char *end = strchr(text, '\n');
    if (end == NULL)
        return soc_fail(detail, SOC_ELOCKED, "another process holds %s", directory);
    *end = '\0';
    return soc_fail(detail, SOC_ELOCKED, "process %s holds %s", text, directory);
}

/* Writes "PID since TIME" into the lock file. */
static int sign_lock(int file, const char *path, struct soc_detail *detail)
{
    struct soc_clock clock;
    char time[SOC_TIME_BYTES];
    char text[LOCK_TEXT_BYTES_MAX];
    soc_clock_init(&clock, false);
    soc_time_format(time, soc_clock_now(&clock));
    int length =
        snprintf(text, sizeof(text), "%ld since %.*s\n", (long)getpid(), SOC_TIME_BYTES, time);
    if (ftruncate(file, 0) < 0 || pwrite(file, text, (size_t)length, 0) != length)
        return fail_errno(detail, path, errno);
    return SOC_OK;
}

/* Locks the directory itself: returns its descriptor or SOC_ELOCKED. Some file systems
 * cannot lock directories: then the lock file has to do, and this returns -1. */
static int hold_directory(const char *directory)
{
    int held = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (held >= 0 && flock(held, LOCK_EX | LOCK_NB) == 0)
        return held;
    int error = errno;
    if (held >= 0)
        close(held);
    return error == EWOULDBLOCK ? SOC_ELOCKED : -1;
}

/* Opens `lock`, which is emptied and written: a link there would empty another file. */
static int open_lock(const char *path, struct soc_detail *detail)
{
    struct stat status;
    int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (file < 0 && errno != ELOOP)
        return fail_errno(detail, path, errno);
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink <= 1)
        return file;
    if (file >= 0)
        close(file);
    return fail_link(path, detail);
}

static int hold_file(const char *directory, const char *path, int *out, struct soc_detail *detail)
{
    int rc;
    int file = open_lock(path, detail);
    if (file < 0)
        return file;
    if (flock(file, LOCK_EX | LOCK_NB) < 0)
        rc = errno == EWOULDBLOCK ? fail_locked(file, directory, detail)
                                  : fail_errno(detail, path, errno);
    else
        rc = sign_lock(file, path, detail);
    if (rc == SOC_OK)
        *out = file;
    else
        close(file);
    return rc;
}

/* Whoever can write to the directory can replace the files in it. */
static int check_mode(const char *directory, struct soc_detail *detail)
{
    struct stat status;
    if (stat(directory, &status) < 0)
        return fail_errno(detail, directory, errno);
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return SOC_OK;
    return soc_fail(detail, SOC_EACCESS,
                    "%s can be written by other users, who could replace the state; "
                    "use: chmod go-w %s",
                    directory, directory);
}

/* The files are opened by SQLite, which follows links. */
static int check_links(const char *directory, struct soc_detail *detail)
{
    static const char *const names[] = {"society.db", "society.db-wal", "society.db-shm",
                                        "society.db-mark", "society.db.new"};
    int rc = SOC_OK;
    for (size_t i = 0; rc == SOC_OK && i < sizeof(names) / sizeof(names[0]); i++) {
        struct soc_buf path = {0};
        struct stat status;
        soc_directory_path(&path, directory, names[i]);
        if (lstat(path.data, &status) == 0 && !S_ISREG(status.st_mode))
            rc = fail_link(path.data, detail);
        soc_buf_fini(&path);
    }
    return rc;
}

int soc_directory_lock(const char *directory, struct soc_directory_lock *lock,
                       struct soc_detail *detail)
{
    struct soc_buf path = {0};
    assert(lock->file < 0 && lock->directory < 0);
    int rc = check_mode(directory, detail);
    if (rc == SOC_OK)
        rc = check_links(directory, detail);
    if (rc < 0)
        return rc;
    soc_directory_path(&path, directory, "lock");
    int held = hold_directory(directory);
    if (held == SOC_ELOCKED) {
        int file = open(path.data, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        rc = fail_locked(file, directory, detail);
        if (file >= 0)
            close(file);
    } else {
        rc = hold_file(directory, path.data, &lock->file, detail);
        lock->directory = rc == SOC_OK ? held : -1;
        if (rc < 0 && held >= 0)
            close(held);
    }
    soc_buf_fini(&path);
    return rc;
}

bool soc_directory_is_held(const char *directory)
{
    struct soc_buf path = {0};
    soc_directory_path(&path, directory, "lock");
    int file = open(path.data, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is_held = file >= 0 && flock(file, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (file >= 0)
        close(file);
    soc_buf_fini(&path);
    return is_held;
}

/* The file stays, empty: removing it would let two processes lock two files. */
void soc_directory_unlock(struct soc_directory_lock lock)
{
    if (lock.file >= 0) {
        int rc = ftruncate(lock.file, 0);
        (void)rc;
        close(lock.file);
    }
    if (lock.directory >= 0)
        close(lock.directory);
}

void soc_directory_clean(const char *path)
{
    static const char *const endings[] = {"-journal", "-wal", "-shm", "-mark"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        struct soc_buf side = {0};
        soc_buf_printf(&side, "%s%s", path, endings[i]);
        unlink(soc_buf_text(&side));
        soc_buf_fini(&side);
    }
}

int soc_directory_make_file(const char *path, struct soc_detail *detail)
{
    soc_directory_clean(path);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_made = file >= 0 && fchmod(file, 0600) == 0; /* an old one may have been for others */
    int error = errno;
    if (file >= 0)
        close(file);
    return is_made ? SOC_OK : fail_errno(detail, path, error);
}

int soc_directory_rename(const char *from, const char *to, struct soc_detail *detail)
{
    soc_directory_clean(to);
    return rename(from, to) < 0 ? fail_errno(detail, to, errno) : SOC_OK;
}

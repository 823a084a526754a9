/* Disk faults: a library put before the C library (LD_PRELOAD) that lets the I/O calls
 * of a real program on the files of one directory end it, or fail.
 *
 *     FAULT_DIR   calls on files below it count
 *     FAULT_KIND  kill: ends the process in the call, a write half done if it is more
 *                 than a sector
 *                 eio: that sync fails; only syncs are counted
 *                 enospc: that write and all that follow for FAULT_MS fail; only writes
 *                 are counted
 *     FAULT_WHEN  every write fails while there is a file of that path
 *     FAULT_SLOW  every sync takes until there is no file of that path
 *     FAULT_AT    at which call, from 1; 0: at none
 *     FAULT_OUT   where the number of calls is written at the end of the program
 *     FAULT_SEEN  where it is written which sync failed: the path of what it was of, and the
 *                 path of the program or library that called it
 *
 * Layer: tests. Thread: any. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECTOR_BYTES 512

/* What a call is. */
enum call { CALL_WRITE, CALL_SYNC, CALL_OTHER };

/* The fault to inject. */
enum fate { FATE_GO, FATE_KILL, FATE_FAIL };

static atomic_long calls;
static atomic_long full_until_ms;

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static long number_of(const char *name)
{
    const char *text = getenv(name);
    return text == NULL ? 0 : strtol(text, NULL, 10);
}

static bool is_below(const char *path)
{
    const char *directory = getenv("FAULT_DIR");
    return directory != NULL && strncmp(path, directory, strlen(directory)) == 0;
}

static bool is_file_below(int file)
{
    char link[64];
    char path[4096];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    if (length < 0)
        return false;
    path[length] = '\0';
    return is_below(path);
}

static enum fate fate_of(enum call call)
{
    const char *kind = getenv("FAULT_KIND");
    const char *when = getenv("FAULT_WHEN");
    if (when != NULL && call == CALL_WRITE && access(when, F_OK) == 0)
        return FATE_FAIL;
    if (kind == NULL || (strcmp(kind, "eio") == 0 && call != CALL_SYNC) ||
        (strcmp(kind, "enospc") == 0 && call != CALL_WRITE))
        return FATE_GO;
    if (call == CALL_WRITE && now_ms() < atomic_load(&full_until_ms))
        return FATE_FAIL;
    if (atomic_fetch_add(&calls, 1) + 1 != number_of("FAULT_AT"))
        return FATE_GO;
    if (strcmp(kind, "kill") == 0)
        return FATE_KILL;
    if (call == CALL_WRITE)
        atomic_store(&full_until_ms, now_ms() + number_of("FAULT_MS"));
    return FATE_FAIL;
}

static void end_process(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* The function that this one stands before. */
#define REAL(name)                                                                                 \
    __extension__ static __typeof__(name) *real;                                                   \
    if (real == NULL)                                                                              \
    real = __extension__(__typeof__(name) *) dlsym(RTLD_NEXT, #name)

/* Writes, or what comes instead; `put` does it for so many bytes. */
#define WRITE(file, count, put)                                                                    \
    enum fate fate = is_file_below(file) ? fate_of(CALL_WRITE) : FATE_GO;                          \
    if (fate == FATE_KILL) {                                                                       \
        size_t half = (count) > SECTOR_BYTES ? (count) / 2 : 0;                                    \
        ssize_t written = put(half);                                                               \
        (void)written;                                                                             \
        end_process();                                                                             \
    }                                                                                              \
    if (fate == FATE_FAIL) {                                                                       \
        errno = ENOSPC;                                                                            \
        return -1;                                                                                 \
    }                                                                                              \
    return put(count)

/* Any other call: it is not done if the process ends in it. */
#define OTHER(concerned, done)                                                                     \
    enum fate fate = (concerned) ? fate_of(CALL_OTHER) : FATE_GO;                                  \
    if (fate == FATE_KILL)                                                                         \
        end_process();                                                                             \
    if (fate == FATE_FAIL) {                                                                       \
        errno = EIO;                                                                               \
        return -1;                                                                                 \
    }                                                                                              \
    return done

ssize_t write(int file, const void *bytes, size_t count)
{
    REAL(write);
#define PUT(length) real(file, bytes, length)
    WRITE(file, count, PUT);
#undef PUT
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at)
{
    REAL(pwrite);
#define PUT(length) real(file, bytes, length, at)
    WRITE(file, count, PUT);
#undef PUT
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at)
{
    REAL(pwrite64);
#define PUT(length) real(file, bytes, length, at)
    WRITE(file, count, PUT);
#undef PUT
}

/* Tells which sync fails, and lets it. */
static int fail_sync(int file, const void *caller)
{
    char link[64];
    char path[4096];
    Dl_info info = {0};
    const char *seen = getenv("FAULT_SEEN");
    FILE *out = seen == NULL ? NULL : fopen(seen, "w");
    if (out != NULL) {
        snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
        ssize_t length = readlink(link, path, sizeof(path));
        dladdr(caller, &info);
        fprintf(out, "%.*s %s\n", (int)length, path, info.dli_fname);
        fclose(out);
    }
    errno = EIO;
    return -1;
}

/* Waits while syncs are held up. */
static void wait_while_slow(void)
{
    const char *slow = getenv("FAULT_SLOW");
    while (slow != NULL && access(slow, F_OK) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* Syncs, or what comes instead. */
#define SYNC(file)                                                                                 \
    enum fate fate = is_file_below(file) ? fate_of(CALL_SYNC) : FATE_GO;                           \
    if (fate == FATE_KILL)                                                                         \
        end_process();                                                                             \
    if (is_file_below(file))                                                                       \
        wait_while_slow();                                                                         \
    return fate == FATE_FAIL ? fail_sync(file, __builtin_return_address(0)) : real(file)

int fsync(int file)
{
    REAL(fsync);
    SYNC(file);
}

int fdatasync(int file)
{
    REAL(fdatasync);
    SYNC(file);
}

int ftruncate(int file, off_t length)
{
    REAL(ftruncate);
    OTHER(is_file_below(file), real(file, length));
}

int ftruncate64(int file, off64_t length)
{
    REAL(ftruncate64);
    OTHER(is_file_below(file), real(file, length));
}

int rename(const char *from, const char *to)
{
    REAL(rename);
    OTHER(is_below(from), real(from, to));
}

int unlink(const char *path)
{
    REAL(unlink);
    OTHER(is_below(path), real(path));
}

__attribute__((destructor)) static void tell_calls(void)
{
    const char *path = getenv("FAULT_OUT");
    FILE *out = path == NULL ? NULL : fopen(path, "w");
    if (out == NULL)
        return;
    fprintf(out, "%ld\n", atomic_load(&calls));
    fclose(out);
}

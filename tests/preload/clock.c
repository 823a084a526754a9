/* Clock: a library put before the C library (LD_PRELOAD) that sets the clocks of a real
 * program forward, so that specs need not wait for its timeouts.
 *
 *     CLOCK_DAYS  by so many days, from the start
 *     CLOCK_FILE  a file with a 64-bit number, little-endian: by so many milliseconds more,
 *                 from the moment it is written
 *
 * A program that sleeps in the kernel is not woken by this: the spec sends it something.
 * All clocks move, including the monotonic ones, as if the machine had been started long ago.
 * With a negative number only the date moves: a machine that was started a moment ago has no
 * earlier monotonic time.
 *
 * Layer: tests. Thread: any. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define MS_PER_DAY 86400000
#define NS_PER_MS  1000000
#define NS_PER_S   1000000000

static const _Atomic int64_t *ahead_ms; /* the file, or zero */
static pthread_once_t is_mapped = PTHREAD_ONCE_INIT;

static void map_file(void)
{
    static const _Atomic int64_t zero;
    const char *path = getenv("CLOCK_FILE");
    int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    void *found = MAP_FAILED;
    if (file >= 0)
        found = mmap(NULL, sizeof(*ahead_ms), PROT_READ, MAP_SHARED, file, 0);
    if (path != NULL && found == MAP_FAILED)
        abort();
    ahead_ms = found == MAP_FAILED ? &zero : found;
    if (file >= 0)
        close(file);
}

static int64_t shift_ms(void)
{
    const char *days = getenv("CLOCK_DAYS");
    pthread_once(&is_mapped, map_file);
    return atomic_load(ahead_ms) + (days == NULL ? 0 : atoll(days) * MS_PER_DAY);
}

/* By how much a monotonic clock moves. */
static int64_t steady_shift_ms(void)
{
    int64_t ms = shift_ms();
    return ms > 0 ? ms : 0;
}

static struct timespec moved(struct timespec time, int64_t ms)
{
    int64_t ns = time.tv_nsec + ms % 1000 * NS_PER_MS;
    time.tv_sec += ms / 1000 + (ns >= NS_PER_S) - (ns < 0);
    time.tv_nsec = (ns + NS_PER_S) % NS_PER_S;
    return time;
}

int clock_gettime(clockid_t id, struct timespec *out)
{
    int (*next)(clockid_t, struct timespec *);
    void *found = dlsym(RTLD_NEXT, "clock_gettime");
    memcpy(&next, &found, sizeof(next));
    int rc = next(id, out);
    if (rc == 0)
        *out = moved(*out, id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE ? shift_ms()
                                                                               : steady_shift_ms());
    return rc;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    int rc = clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return rc;
}

time_t time(time_t *out)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}

/* The kernel waits until `time`, which is monotonic, by its own clock, which is behind. */
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict time)
{
    int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    void *found = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    memcpy(&next, &found, sizeof(next));
    struct timespec real = moved(*time, -steady_shift_ms());
    return next(condition, mutex, &real);
}

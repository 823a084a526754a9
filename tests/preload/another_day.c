/* Another day: a library put before the C library (LD_PRELOAD) that has a real program
 * believe the clock is CLOCK_DAYS days further, and that the machine was started long ago.
 *
 * Layer: tests. Thread: any. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define SECONDS_PER_DAY 86400

static time_t shift(void)
{
    const char *days = getenv("CLOCK_DAYS");
    return days == NULL ? 0 : (time_t)atoll(days) * SECONDS_PER_DAY;
}

int clock_gettime(clockid_t id, struct timespec *out)
{
    int (*next)(clockid_t, struct timespec *);
    void *found = dlsym(RTLD_NEXT, "clock_gettime");
    memcpy(&next, &found, sizeof(next));
    int rc = next(id, out);
    if (rc == 0)
        out->tv_sec += shift();
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

#include "check.h"

#include "env/cpu_timer.h"

struct seen {
    volatile int ticks;
    volatile int64_t first_ns;
    volatile int64_t last_ns;
};

static void note(void *user, int64_t used_ns)
{
    struct seen *seen = user;
    if (seen->ticks++ == 0)
        seen->first_ns = used_ns;
    seen->last_ns = used_ns;
}

/* Works until so many ticks have come: only a timer that does not tick takes for ever. */
static void work(struct seen *seen, int ticks)
{
    while (seen->ticks < ticks) {
    }
}

static void a_timer_ticks_by_cpu_time(void)
{
    struct seen seen = {0};
    struct soc_cpu_timer *timer = soc_cpu_timer_new(2000, note, &seen);
    CHECK(timer != NULL);
    CHECK(soc_cpu_timer_is_mine(timer));
    work(&seen, 4);
    CHECK(seen.last_ns - seen.first_ns >= 3 * 1000 * 1000);
    soc_cpu_timer_free(timer);
    soc_cpu_timer_free(NULL);
}

static void a_timer_that_was_freed_does_not_tick(void)
{
    struct seen gone = {0};
    struct seen seen = {0};
    soc_cpu_timer_free(soc_cpu_timer_new(1000, note, &gone));
    int ticks = gone.ticks;
    struct soc_cpu_timer *timer = soc_cpu_timer_new(1000, note, &seen);
    work(&seen, 3);
    CHECK_INT(gone.ticks, ticks);
    soc_cpu_timer_free(timer);
}

int main(void)
{
    RUN(a_timer_ticks_by_cpu_time);
    RUN(a_timer_that_was_freed_does_not_tick);
    return check_done();
}

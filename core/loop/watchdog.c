#include "loop/watchdog.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "env/clock.h"

struct soc_watchdog {
    int64_t limit_us;
    soc_watchdog_cb *cb;
    void *user;
    const char *step; /* the name of the outermost step */
    int depth;        /* steps that have begun */
    int turn_depth;
    struct soc_watchdog_time began; /* the step */
    struct soc_watchdog_time turn_began;
    struct soc_watchdog_time excluded; /* turns of this step */
    struct soc_watchdog_worst worst;
};

static struct soc_watchdog_time now(void)
{
    return (struct soc_watchdog_time){soc_clock_thread_us(), soc_clock_monotonic_us()};
}

static struct soc_watchdog_time since(struct soc_watchdog_time began)
{
    struct soc_watchdog_time time = now();
    return (struct soc_watchdog_time){time.cpu_us - began.cpu_us, time.wall_us - began.wall_us};
}

struct soc_watchdog *soc_watchdog_new(int64_t limit_ms, soc_watchdog_cb *cb, void *user)
{
    assert(limit_ms > 0);
    struct soc_watchdog *dog = soc_alloc_zero(sizeof(*dog));
    dog->limit_us = limit_ms * 1000;
    dog->cb = cb;
    dog->user = user;
    return dog;
}

void soc_watchdog_free(struct soc_watchdog *dog)
{
    free(dog);
}

void soc_watchdog_begin(struct soc_watchdog *dog, const char *name)
{
    if (dog == NULL || dog->depth++ > 0)
        return;
    dog->step = name;
    dog->excluded = (struct soc_watchdog_time){0};
    dog->began = now();
}

void soc_watchdog_end(struct soc_watchdog *dog)
{
    if (dog == NULL || --dog->depth > 0)
        return;
    assert(dog->depth == 0);
    struct soc_watchdog_time time = since(dog->began);
    time.cpu_us -= dog->excluded.cpu_us;
    time.wall_us -= dog->excluded.wall_us;
    dog->worst.steps++;
    dog->worst.steps_long += time.cpu_us > dog->limit_us;
    if (dog->worst.step == NULL || time.cpu_us > dog->worst.step_time.cpu_us) {
        dog->worst.step = dog->step;
        dog->worst.step_time = time;
    }
    if (time.cpu_us > dog->limit_us || time.wall_us > dog->limit_us)
        dog->cb(dog->user, dog->step, time);
}

void soc_watchdog_begin_turn(struct soc_watchdog *dog)
{
    if (dog != NULL && dog->turn_depth++ == 0)
        dog->turn_began = now();
}

void soc_watchdog_end_turn(struct soc_watchdog *dog)
{
    if (dog == NULL || --dog->turn_depth > 0)
        return;
    assert(dog->turn_depth == 0);
    struct soc_watchdog_time time = since(dog->turn_began);
    dog->excluded.cpu_us += time.cpu_us;
    dog->excluded.wall_us += time.wall_us;
    if (time.cpu_us > dog->worst.turn_time.cpu_us)
        dog->worst.turn_time = time;
}

struct soc_watchdog_worst soc_watchdog_worst(const struct soc_watchdog *dog)
{
    return dog->worst;
}

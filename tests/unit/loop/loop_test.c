#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

#include <uv.h>

#include "env/clock.h"
#include "loop/loop.h"

struct world {
    struct soc_loop *loop;
    atomic_int ticks;  /* so far */
    int ticks_max;     /* then the loop is stopped */
    int64_t answer;    /* of each tick */
    int wakes;         /* of the first waker */
    int other_wakes;   /* of the second */
    int door_calls;    /* of a door's own timer */
    int signal_number; /* of the last interrupt */
    int64_t slow_us;   /* how long a tick works */
    uv_timer_t *door;  /* started by the first tick, if there is one */
};

static void call_door(uv_timer_t *timer)
{
    ((struct world *)timer->data)->door_calls++;
}

static int64_t tick(void *user)
{
    struct world *world = user;
    if (world->door != NULL && world->ticks == 0)
        uv_timer_start(world->door, call_door, 1, 0);
    int64_t until_us = soc_clock_monotonic_us() + world->slow_us;
    while (world->slow_us > 0 && soc_clock_monotonic_us() < until_us)
        continue;
    if (++world->ticks == world->ticks_max)
        soc_loop_stop(world->loop);
    return world->answer;
}

static void count_wake(void *user)
{
    ((struct world *)user)->wakes++;
}

static void count_other_wake(void *user)
{
    ((struct world *)user)->other_wakes++;
}

static int64_t elapsed_ms(int64_t started_us)
{
    return (soc_clock_monotonic_us() - started_us) / 1000;
}

static void a_tick_with_more_work_is_called_again_at_once(void)
{
    struct world world = {.loop = soc_loop_new(), .ticks_max = 1000, .answer = SOC_TICK_NOW};
    int64_t started_us = soc_clock_monotonic_us();
    soc_loop_run(world.loop, tick, &world);
    CHECK_INT(world.ticks, 1000);
    CHECK(elapsed_ms(started_us) < 500);
    soc_loop_free(world.loop);
}

static void a_tick_runs_again_when_its_time_has_come(void)
{
    struct world world = {.loop = soc_loop_new(), .ticks_max = 4, .answer = 10};
    int64_t started_us = soc_clock_monotonic_us();
    soc_loop_run(world.loop, tick, &world);
    CHECK(elapsed_ms(started_us) >= 29);
    CHECK(elapsed_ms(started_us) < 500);
    soc_loop_free(world.loop);
}

static void the_wait_counts_from_the_end_of_a_slow_tick(void)
{
    struct world world = {.loop = soc_loop_new(), .ticks_max = 2, .answer = 20, .slow_us = 30000};
    int64_t started_us = soc_clock_monotonic_us();
    soc_loop_run(world.loop, tick, &world);
    CHECK(elapsed_ms(started_us) >= 79);
    soc_loop_free(world.loop);
}

/* The loop has nothing to do after its first tick. */
static void *wake_from_elsewhere(void *user)
{
    struct world *world = user;
    while (atomic_load(&world->ticks) == 0)
        sched_yield();
    soc_loop_wake(world->loop);
    return NULL;
}

static void an_idle_loop_sleeps_until_it_is_woken(void)
{
    struct world world = {.loop = soc_loop_new(), .ticks_max = 2, .answer = SOC_TICK_IDLE};
    soc_loop_add_waker(world.loop, count_wake, &world);
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, wake_from_elsewhere, &world), 0);
    soc_loop_run(world.loop, tick, &world);
    CHECK_INT(world.ticks, 2);
    CHECK_INT(world.wakes, 1); /* a loop that does not sleep runs its two ticks without it */
    pthread_join(thread, NULL);
    soc_loop_free(world.loop);
}

static void a_wake_before_the_wait_is_not_lost(void)
{
    struct world world = {.loop = soc_loop_new(), .ticks_max = 2, .answer = SOC_TICK_IDLE};
    soc_loop_add_waker(world.loop, count_wake, &world);
    soc_loop_wake(world.loop);
    soc_loop_wake(world.loop);
    soc_loop_run(world.loop, tick, &world);
    CHECK_INT(world.wakes, 1);
    soc_loop_free(world.loop);
}

static void every_waker_is_called_until_it_is_removed(void)
{
    struct world world = {.loop = soc_loop_new()};
    int first = soc_loop_add_waker(world.loop, count_wake, &world);
    soc_loop_add_waker(world.loop, count_other_wake, &world);
    soc_loop_wake(world.loop);
    soc_loop_poll(world.loop, 1000);
    soc_loop_remove_waker(world.loop, first);
    soc_loop_wake(world.loop);
    soc_loop_poll(world.loop, 1000);
    CHECK_INT(world.wakes, 1);
    CHECK_INT(world.other_wakes, 2);
    CHECK_INT(soc_loop_add_waker(world.loop, count_wake, &world), first);
    soc_loop_free(world.loop);
}

static void a_poll_waits_no_longer_than_asked(void)
{
    struct soc_loop *loop = soc_loop_new();
    int64_t started_us = soc_clock_monotonic_us();
    soc_loop_poll(loop, 0);
    CHECK(elapsed_ms(started_us) < 10);
    soc_loop_poll(loop, 20);
    CHECK(elapsed_ms(started_us) >= 19);
    CHECK(elapsed_ms(started_us) < 500);
    soc_loop_free(loop);
}

static void doors_are_served_between_ticks_that_have_work(void)
{
    struct world world = {
        .loop = soc_loop_new(), .ticks_max = 50, .answer = SOC_TICK_NOW, .slow_us = 1000};
    uv_timer_t door = {.data = &world};
    uv_timer_init(soc_loop_uv(world.loop), &door);
    uv_timer_start(&door, call_door, 5, 0);
    soc_loop_run(world.loop, tick, &world);
    CHECK_INT(world.door_calls, 1);

    world.ticks = 0;
    world.ticks_max = 2;
    world.answer = SOC_TICK_IDLE;
    uv_timer_start(&door, call_door, 5, 0);
    soc_loop_run(world.loop, tick, &world);
    CHECK_INT(world.door_calls, 2);
    /* It is still open: the loop closes it. */
    soc_loop_free(world.loop);
}

static void a_callback_just_before_the_sleep_is_followed_by_a_tick(void)
{
    for (int64_t slow_us = 500; slow_us <= 5000; slow_us += 500) {
        struct world world = {
            .loop = soc_loop_new(), .ticks_max = 2, .answer = SOC_TICK_IDLE, .slow_us = slow_us};
        uv_timer_t door = {.data = &world};
        uv_timer_init(soc_loop_uv(world.loop), &door);
        world.door = &door;
        soc_loop_run(world.loop, tick, &world);
        CHECK_INT(world.door_calls, 1);
        soc_loop_free(world.loop);
    }
}

static void a_stop_outside_a_run_leaves_the_loop_usable(void)
{
    struct world world = {.loop = soc_loop_new(), .ticks_max = 2, .answer = 1};
    soc_loop_stop(world.loop);
    soc_loop_run(world.loop, tick, &world);
    CHECK_INT(world.ticks, 2);
    soc_loop_stop(world.loop);
    soc_loop_free(world.loop);
}

static void note_signal(int signal_number, void *user)
{
    ((struct world *)user)->signal_number = signal_number;
}

static void an_interrupt_is_reported_instead_of_ending_the_process(void)
{
    struct world world = {.loop = soc_loop_new()};
    soc_loop_on_interrupt(world.loop, note_signal, &world);
    raise(SIGTERM);
    soc_loop_poll(world.loop, 1000);
    CHECK_INT(world.signal_number, SIGTERM);
    raise(SIGINT);
    soc_loop_poll(world.loop, 1000);
    CHECK_INT(world.signal_number, SIGINT);
    soc_loop_free(world.loop);
}

int main(void)
{
    RUN(a_tick_with_more_work_is_called_again_at_once);
    RUN(a_tick_runs_again_when_its_time_has_come);
    RUN(the_wait_counts_from_the_end_of_a_slow_tick);
    RUN(an_idle_loop_sleeps_until_it_is_woken);
    RUN(a_wake_before_the_wait_is_not_lost);
    RUN(every_waker_is_called_until_it_is_removed);
    RUN(a_poll_waits_no_longer_than_asked);
    RUN(doors_are_served_between_ticks_that_have_work);
    RUN(a_callback_just_before_the_sleep_is_followed_by_a_tick);
    RUN(a_stop_outside_a_run_leaves_the_loop_usable);
    RUN(an_interrupt_is_reported_instead_of_ending_the_process);
    return check_done();
}

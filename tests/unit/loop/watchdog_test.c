#include "loop/watchdog.h"

#include "check.h"
#include "env/clock.h"
#include "loop/loop.h"

struct world {
    struct soc_watchdog *dog;
    struct soc_loop *loop;
    const char *name; /* of the last report */
    int reports;
};

static void report(void *user, const char *name, struct soc_watchdog_time time)
{
    struct world *world = user;
    CHECK(time.wall_us > 0);
    world->name = name;
    world->reports++;
}

/* Takes CPU time. */
static void work(int64_t us)
{
    int64_t until_us = soc_clock_thread_us() + us;
    while (soc_clock_thread_us() < until_us)
        continue;
}

static void open_world(struct world *world, int64_t limit_ms)
{
    *world = (struct world){0};
    world->dog = soc_watchdog_new(limit_ms, report, world);
}

static void a_step_that_takes_long_is_reported_by_its_name(void)
{
    struct world world;
    open_world(&world, 2);
    soc_watchdog_begin(world.dog, "long");
    work(3000);
    soc_watchdog_end(world.dog);
    CHECK_INT(world.reports, 1);
    CHECK_TEXT(world.name, "long");
    struct soc_watchdog_worst worst = soc_watchdog_worst(world.dog);
    CHECK_TEXT(worst.step, "long");
    CHECK(worst.step_time.cpu_us >= 3000);
    CHECK_INT(worst.steps, 1);
    CHECK_INT(worst.steps_long, 1);
    soc_watchdog_free(world.dog);
}

static void a_turn_is_measured_apart(void)
{
    struct world world;
    open_world(&world, 1000);
    soc_watchdog_begin(world.dog, "tick");
    soc_watchdog_begin_turn(world.dog);
    work(20000);
    soc_watchdog_end_turn(world.dog);
    soc_watchdog_end(world.dog);
    struct soc_watchdog_worst worst = soc_watchdog_worst(world.dog);
    CHECK(worst.turn_time.cpu_us >= 20000);
    CHECK(worst.step_time.cpu_us < 10000);
    soc_watchdog_free(world.dog);
}

static void a_step_inside_a_step_is_part_of_it(void)
{
    struct world world;
    open_world(&world, 1000);
    soc_watchdog_begin(world.dog, "outer");
    soc_watchdog_begin(world.dog, "inner");
    work(2000);
    soc_watchdog_end(world.dog);
    soc_watchdog_end(world.dog);
    struct soc_watchdog_worst worst = soc_watchdog_worst(world.dog);
    CHECK_TEXT(worst.step, "outer");
    CHECK_INT(worst.steps, 1);
    CHECK(worst.step_time.cpu_us >= 2000);
    soc_watchdog_free(world.dog);
}

static int64_t tick(void *user)
{
    struct world *world = user;
    work(3000);
    soc_loop_stop(world->loop);
    return SOC_TICK_IDLE;
}

static void a_loop_measures_its_ticks(void)
{
    struct world world;
    open_world(&world, 2);
    world.loop = soc_loop_new();
    soc_loop_run(world.loop, tick, &world);
    CHECK_INT(world.reports, 0);
    soc_loop_set_watchdog(world.loop, world.dog);
    soc_loop_run(world.loop, tick, &world);
    CHECK_INT(world.reports, 1);
    CHECK_TEXT(world.name, "tick");
    soc_loop_free(world.loop);
    soc_watchdog_free(world.dog);
}

static void without_a_watchdog_nothing_happens(void)
{
    soc_watchdog_begin(NULL, "step");
    soc_watchdog_begin_turn(NULL);
    soc_watchdog_end_turn(NULL);
    soc_watchdog_end(NULL);
    soc_watchdog_free(NULL);
}

int main(void)
{
    RUN(a_step_that_takes_long_is_reported_by_its_name);
    RUN(a_turn_is_measured_apart);
    RUN(a_step_inside_a_step_is_part_of_it);
    RUN(a_loop_measures_its_ticks);
    RUN(without_a_watchdog_nothing_happens);
    return check_done();
}

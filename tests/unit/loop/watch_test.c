#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

#include "env/clock.h"
#include "loop/watch.h"

#define WAIT_MS_MAX 5000
#define QUIET_MS    300 /* longer than the watch takes to settle */

struct world {
    struct soc_loop *loop;
    struct soc_watch *watch;
    int calls;
    char directory[64];
    char path[128];  /* the file that is watched */
    char other[128]; /* another one beside it */
};

static void count(void *user)
{
    ((struct world *)user)->calls++;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (!CHECK(file != NULL))
        return;
    fputs(text, file);
    fclose(file);
}

static void open_world(struct world *world)
{
    *world = (struct world){.directory = "/tmp/society_watch_XXXXXX"};
    CHECK(mkdtemp(world->directory) != NULL);
    snprintf(world->path, sizeof(world->path), "%s/in/one.lua", world->directory);
    snprintf(world->other, sizeof(world->other), "%s/in/other.lua", world->directory);
    char folder[128];
    snprintf(folder, sizeof(folder), "%s/in", world->directory);
    CHECK_INT(mkdir(folder, 0700), 0);
    write_file(world->path, "first");
    world->loop = soc_loop_new();
    world->watch = soc_watch_open(world->loop, count, world);
    const char *paths[] = {world->path};
    soc_watch_set(world->watch, paths, 1);
}

static void close_world(struct world *world)
{
    char command[128];
    soc_watch_close(world->watch);
    soc_loop_free(world->loop);
    snprintf(command, sizeof(command), "rm -rf %s", world->directory);
    CHECK_INT(system(command), 0);
}

/* Polls until that many calls have come, or for too long. */
static void wait_for(struct world *world, int calls)
{
    int64_t until_us = soc_clock_monotonic_us() + WAIT_MS_MAX * 1000;
    while (world->calls < calls && soc_clock_monotonic_us() < until_us)
        soc_loop_poll(world->loop, 20);
    CHECK_INT(world->calls, calls);
}

/* Polls for a while and expects nothing more. */
static void expect_quiet(struct world *world)
{
    int calls = world->calls;
    int64_t until_us = soc_clock_monotonic_us() + QUIET_MS * 1000;
    while (soc_clock_monotonic_us() < until_us)
        soc_loop_poll(world->loop, 20);
    CHECK_INT(world->calls, calls);
}

static void repeated_writes_are_reported_once(void)
{
    struct world world;
    open_world(&world);
    for (int i = 0; i < 20; i++)
        write_file(world.path, "second");
    wait_for(&world, 1);
    expect_quiet(&world);
    write_file(world.path, "third");
    wait_for(&world, 2);
    close_world(&world);
}

static void a_file_renamed_over_another_is_reported(void)
{
    struct world world;
    open_world(&world);
    write_file(world.other, "second");
    expect_quiet(&world);
    CHECK_INT(rename(world.other, world.path), 0);
    wait_for(&world, 1);
    CHECK_INT(unlink(world.path), 0);
    wait_for(&world, 2);
    write_file(world.path, "third");
    wait_for(&world, 3);
    close_world(&world);
}

static void other_files_and_files_of_a_former_list_are_ignored(void)
{
    struct world world;
    open_world(&world);
    write_file(world.other, "x");
    expect_quiet(&world);
    const char *paths[] = {world.other};
    soc_watch_set(world.watch, paths, 1);
    write_file(world.path, "second");
    expect_quiet(&world);
    write_file(world.other, "y");
    wait_for(&world, 1);
    soc_watch_set(world.watch, NULL, 0);
    write_file(world.other, "z");
    expect_quiet(&world);
    close_world(&world);
}

static void directories_that_appear_or_disappear_are_noticed(void)
{
    struct world world;
    open_world(&world);
    char folder[128];
    char moved[128];
    snprintf(folder, sizeof(folder), "%s/in", world.directory);
    snprintf(moved, sizeof(moved), "%s/away", world.directory);
    CHECK_INT(rename(folder, moved), 0);
    wait_for(&world, 1);
    const char *paths[] = {world.path};
    soc_watch_set(world.watch, paths, 1);
    wait_for(&world, 2); /* it polls, because it found nothing */
    CHECK_INT(rename(moved, folder), 0);
    soc_watch_set(world.watch, paths, 1);
    expect_quiet(&world);
    write_file(world.path, "second");
    wait_for(&world, 3);
    close_world(&world);
}

static void a_closed_watch_reports_and_leaks_nothing(void)
{
    struct world world;
    open_world(&world);
    write_file(world.path, "second");
    soc_watch_close(world.watch);
    world.watch = NULL;
    expect_quiet(&world);
    CHECK_INT(world.calls, 0);
    close_world(&world);
}

int main(void)
{
    RUN(repeated_writes_are_reported_once);
    RUN(a_file_renamed_over_another_is_reported);
    RUN(other_files_and_files_of_a_former_list_are_ignored);
    RUN(directories_that_appear_or_disappear_are_noticed);
    RUN(a_closed_watch_reports_and_leaks_nothing);
    return check_done();
}

#include "check.h"

#include <unistd.h>

#include "env/clock.h"
#include "loop/folder.h"

#define WAIT_MS_MAX 5000

struct world {
    struct soc_loop *loop;
    struct soc_folder *folder;
    char path[64];
    char last[64]; /* the last report */
    int calls;
};

static void note(void *user, const char *name)
{
    struct world *world = user;
    world->calls++;
    snprintf(world->last, sizeof(world->last), "%s", name == NULL ? "" : name);
}

static void open_world(struct world *world)
{
    *world = (struct world){.path = "/tmp/society_folder_XXXXXX"};
    CHECK(mkdtemp(world->path) != NULL);
    world->loop = soc_loop_new();
    world->folder = soc_folder_open(world->loop, world->path, note, world);
    CHECK(world->folder != NULL);
}

static void close_world(struct world *world)
{
    char command[128];
    soc_folder_close(world->folder);
    soc_loop_free(world->loop);
    snprintf(command, sizeof(command), "rm -rf '%s'", world->path);
    CHECK_INT(system(command), 0);
}

static void append(const struct world *world, const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", world->path, name);
    FILE *file = fopen(path, "a");
    if (!CHECK(file != NULL))
        return;
    fputs("line\n", file);
    fclose(file);
}

static void await(struct world *world, const char *name)
{
    int64_t end_us = soc_clock_monotonic_us() + WAIT_MS_MAX * 1000;
    while (strcmp(world->last, name) != 0 && soc_clock_monotonic_us() < end_us)
        soc_loop_poll(world->loop, 50);
    CHECK_TEXT(world->last, name);
}

static void every_change_is_reported_by_name(void)
{
    struct world world;
    open_world(&world);
    append(&world, "a");
    await(&world, "a");
    append(&world, "b");
    await(&world, "b");
    append(&world, "a");
    await(&world, "a");
    close_world(&world);
}

static void a_closed_folder_reports_nothing(void)
{
    struct world world;
    open_world(&world);
    append(&world, "a");
    soc_folder_close(world.folder);
    world.folder = NULL;
    soc_loop_poll(world.loop, 50);
    CHECK_INT(world.calls, 0);
    close_world(&world);
}

static void a_missing_folder_cannot_be_watched(void)
{
    struct soc_loop *loop = soc_loop_new();
    CHECK(soc_folder_open(loop, "/tmp/no/such/folder", note, NULL) == NULL);
    soc_folder_close(NULL);
    soc_loop_free(loop);
}

int main(void)
{
    RUN(every_change_is_reported_by_name);
    RUN(a_closed_folder_reports_nothing);
    RUN(a_missing_folder_cannot_be_watched);
    return check_done();
}

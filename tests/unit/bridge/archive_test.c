#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bridge/files/archive.h"

#define NONE INT64_MIN

struct world {
    char home[64];
    struct soc_workdir dir;
};

static void run(const struct world *world, const char *command)
{
    char line[512];
    snprintf(line, sizeof(line), "cd '%s' && %s", world->home, command);
    CHECK_INT(system(line), 0);
}

/* An archive with four files of 1000 bytes: the oldest in a folder of its own. */
static void open_world(struct world *world)
{
    struct soc_detail detail = {0};
    *world = (struct world){.home = "/tmp/society_archive_XXXXXX"};
    CHECK(mkdtemp(world->home) != NULL);
    CHECK_INT(soc_workdir_open(&world->dir, world->home, true, 0700, 0600, &detail), SOC_OK);
    run(world, "mkdir -p archive/flow.1/channel/agents && cd archive && "
               "for f in flow.1/channel/agents/a b c d; do head -c 1000 /dev/zero > $f; done && "
               "touch -d @1000 flow.1/channel/agents/a && touch -d @2000 b && "
               "touch -d @3000 c && touch -d @4000 d");
}

static void close_world(struct world *world)
{
    char command[128];
    soc_workdir_close(&world->dir);
    snprintf(command, sizeof(command), "rm -rf '%s'", world->home);
    CHECK_INT(system(command), 0);
}

static int prune(const struct world *world, int64_t oldest_ms, int64_t bytes_max)
{
    struct soc_archive_limits limits = {oldest_ms, bytes_max};
    return soc_archive_prune(&world->dir, &limits);
}

static bool has(const struct world *world, const char *name)
{
    struct stat info;
    return fstatat(world->dir.folders[SOC_PLACE_ARCHIVE], name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

static void files_are_removed_by_age_with_folders_that_become_empty(void)
{
    struct world world;
    open_world(&world);
    CHECK_INT(prune(&world, 1000000, 0), 0);
    CHECK_INT(prune(&world, 2000001, 0), 2);
    CHECK(!has(&world, "flow.1") && !has(&world, "b"));
    CHECK(has(&world, "c") && has(&world, "d"));
    close_world(&world);
}

static void the_oldest_are_removed_beyond_a_size(void)
{
    struct world world;
    open_world(&world);
    CHECK_INT(prune(&world, NONE, 4000), 0);
    CHECK_INT(prune(&world, NONE, 3999), 1);
    CHECK(!has(&world, "flow.1") && has(&world, "b"));
    CHECK_INT(prune(&world, NONE, 1), 3);
    close_world(&world);
}

static void without_limits_everything_stays(void)
{
    struct world world;
    open_world(&world);
    CHECK_INT(prune(&world, NONE, 0), 0);
    CHECK(has(&world, "flow.1/channel/agents/a"));
    close_world(&world);
}

static void links_and_files_with_two_names_stay(void)
{
    struct world world;
    open_world(&world);
    run(&world, "ln archive/b channel/b && mkdir elsewhere && echo x > elsewhere/x && "
                "ln -s ../elsewhere archive/link && ln -s ../elsewhere/x archive/x");
    CHECK_INT(prune(&world, INT64_MAX, 0), 3);
    CHECK(has(&world, "b") && has(&world, "link") && has(&world, "x"));
    run(&world, "test -f elsewhere/x");
    close_world(&world);
}

int main(void)
{
    RUN(files_are_removed_by_age_with_folders_that_become_empty);
    RUN(the_oldest_are_removed_beyond_a_size);
    RUN(without_limits_everything_stays);
    RUN(links_and_files_with_two_names_stay);
    return check_done();
}

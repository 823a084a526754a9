#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bridge/files/workdir.h"
#include "env/ids.h"

struct world {
    char home[64];
    char path[128];
    struct soc_workdir dir;
};

static void open_world(struct world *world)
{
    *world = (struct world){.home = "/tmp/society_workdir_XXXXXX"};
    CHECK(mkdtemp(world->home) != NULL);
    snprintf(world->path, sizeof(world->path), "%s/base/flow", world->home);
}

static void close_world(struct world *world)
{
    char command[128];
    soc_workdir_close(&world->dir);
    snprintf(command, sizeof(command), "rm -rf '%s'", world->home);
    CHECK_INT(system(command), 0);
}

static int open_dir(struct world *world, struct soc_detail *detail)
{
    return soc_workdir_open(&world->dir, world->path, true, 0700, 0600, detail);
}

static unsigned mode_of(const struct world *world, const char *name)
{
    char path[256];
    struct stat info;
    snprintf(path, sizeof(path), "%s/%s", world->path, name);
    return stat(path, &info) < 0 ? 0 : info.st_mode & 07777;
}

static void the_layout_is_private(void)
{
    static const char *const folders[] = {
        "", "channel", "channel/agents", "state", "state/heartbeat", "logs", "archive",
    };
    struct world world;
    struct soc_detail detail = {0};
    open_world(&world);
    mode_t mask = umask(0);
    CHECK_INT(open_dir(&world, &detail), SOC_OK);
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        CHECK_INT(mode_of(&world, folders[i]), 0700);
    CHECK_INT(
        soc_workdir_append(&world.dir, SOC_PLACE_CHANNEL, "broadcast.jsonl", SOC_SLICE("{}\n")), 0);
    CHECK_INT(mode_of(&world, "channel/broadcast.jsonl"), 0600);
    umask(mask);
    close_world(&world);
}

static void modes_are_as_set_whatever_the_umask(void)
{
    struct world world;
    struct soc_detail detail = {0};
    open_world(&world);
    mode_t mask = umask(077);
    CHECK_INT(soc_workdir_open(&world.dir, world.path, true, 0750, 0640, &detail), SOC_OK);
    CHECK_INT(mode_of(&world, "channel"), 0750);
    CHECK_INT(
        soc_workdir_replace(&world.dir, SOC_PLACE_STATE, "agents.json", SOC_SLICE("{}"), NULL), 0);
    CHECK_INT(mode_of(&world, "state/agents.json"), 0640);
    umask(mask);
    close_world(&world);
}

static void links_are_not_followed(void)
{
    struct world world;
    struct soc_detail detail = {0};
    struct soc_buf bytes = {0};
    open_world(&world);
    CHECK_INT(open_dir(&world, &detail), SOC_OK);
    int folder = world.dir.folders[SOC_PLACE_AGENTS];
    CHECK_INT(symlinkat("/etc/passwd", folder, "a.ack"), 0);
    CHECK_INT(symlinkat("nowhere", folder, "b.jsonl"), 0);
    CHECK_INT(mkdirat(folder, "c.ack", 0700), 0);
    CHECK_INT(mkfifoat(folder, "d.ack", 0600), 0);
    CHECK_INT(soc_workdir_read(&world.dir, SOC_PLACE_AGENTS, "a.ack", 100, &bytes), -ELOOP);
    CHECK_INT(soc_workdir_append(&world.dir, SOC_PLACE_AGENTS, "b.jsonl", SOC_SLICE("x")), -ELOOP);
    CHECK_INT(soc_workdir_read(&world.dir, SOC_PLACE_AGENTS, "c.ack", 100, &bytes), -EINVAL);
    CHECK_INT(soc_workdir_read(&world.dir, SOC_PLACE_AGENTS, "d.ack", 100, &bytes), -EINVAL);
    CHECK_INT(bytes.length, 0);
    CHECK_INT(faccessat(folder, "nowhere", F_OK, 0), -1);
    soc_buf_fini(&bytes);
    close_world(&world);
}

static void a_link_in_place_of_a_folder_is_refused(void)
{
    struct world world;
    struct soc_detail detail = {0};
    char command[512];
    open_world(&world);
    snprintf(command, sizeof(command), "mkdir -p '%s' '%s/far' && ln -s '%s/far' '%s/channel'",
             world.path, world.home, world.home, world.path);
    CHECK_INT(system(command), 0);
    CHECK_INT(open_dir(&world, &detail), SOC_EACCESS);
    CHECK(strstr(detail.text, "/channel: a link or a file, not a directory") != NULL);
    close_world(&world);
}

static void a_missing_directory_is_created_only_if_wanted(void)
{
    struct world world;
    struct soc_detail detail = {0};
    open_world(&world);
    CHECK_INT(soc_workdir_open(&world.dir, world.path, false, 0700, 0600, &detail), SOC_ENOFILE);
    CHECK_INT(access(world.path, F_OK), -1);
    close_world(&world);
}

static void one_society_locks_it_and_another_touches_nothing(void)
{
    struct world world;
    struct soc_workdir other;
    struct soc_detail detail = {0};
    open_world(&world);
    CHECK_INT(open_dir(&world, &detail), SOC_OK);
    CHECK_INT(mode_of(&world, ".lock"), 0600);
    CHECK_INT(unlinkat(world.dir.folders[SOC_PLACE_ROOT], "archive", AT_REMOVEDIR), 0);
    CHECK_INT(soc_workdir_open(&other, world.path, true, 0700, 0600, &detail), SOC_EACCESS);
    CHECK(strstr(detail.text, ": another society uses it (process ") != NULL);
    CHECK_INT(mode_of(&world, "archive"), 0);
    soc_workdir_close(&world.dir);
    CHECK_INT(soc_workdir_open(&other, world.path, true, 0700, 0600, &detail), SOC_OK);
    CHECK_INT(open_dir(&world, &detail), SOC_EACCESS);
    soc_workdir_close(&other);
    close_world(&world);
}

static void run(const struct world *world, const char *command)
{
    char text[512];
    snprintf(text, sizeof(text), "cd '%s' && %s", world->path, command);
    CHECK_INT(system(text), 0);
}

static void a_moved_or_removed_folder_is_created_again(void)
{
    struct world world;
    struct soc_detail detail = {0};
    open_world(&world);
    CHECK_INT(open_dir(&world, &detail), SOC_OK);
    for (int i = 0; i < SOC_PLACE_COUNT; i++)
        CHECK_INT(soc_workdir_renew(&world.dir, (enum soc_place)i), 0);
    run(&world, "mv channel/agents away");
    CHECK_INT(soc_workdir_renew(&world.dir, SOC_PLACE_CHANNEL), 0);
    CHECK_INT(soc_workdir_renew(&world.dir, SOC_PLACE_AGENTS), 1);
    CHECK_INT(soc_workdir_append(&world.dir, SOC_PLACE_AGENTS, "a.ack", SOC_SLICE("x")), 0);
    CHECK_INT(mode_of(&world, "channel/agents"), 0700);
    CHECK_INT(mode_of(&world, "channel/agents/a.ack"), 0600);
    run(&world, "rm -rf \"$PWD\"");
    for (int i = 0; i < SOC_PLACE_COUNT; i++)
        CHECK_INT(soc_workdir_renew(&world.dir, (enum soc_place)i), 1);
    CHECK_INT(mode_of(&world, "state/heartbeat"), 0700);
    close_world(&world);
}

static void a_link_does_not_become_a_folder(void)
{
    struct world world;
    struct soc_detail detail = {0};
    open_world(&world);
    CHECK_INT(open_dir(&world, &detail), SOC_OK);
    run(&world, "mv channel/agents away && ln -s ../away channel/agents");
    CHECK(soc_workdir_renew(&world.dir, SOC_PLACE_AGENTS) < 0);
    CHECK_INT(soc_workdir_append(&world.dir, SOC_PLACE_AGENTS, "a.ack", SOC_SLICE("x")), 0);
    CHECK_INT(mode_of(&world, "away/a.ack"), 0600); /* the one that is held still serves */
    close_world(&world);
}

static void permissions_that_let_others_in_are_detected(void)
{
    struct world world;
    struct soc_detail detail = {0};
    mode_t mode = 0;
    open_world(&world);
    CHECK_INT(open_dir(&world, &detail), SOC_OK);
    CHECK(!soc_workdir_is_open_to_others(&world.dir, SOC_PLACE_ROOT, &mode));
    CHECK_INT(mode, 0700);
    run(&world, "chmod 0701 .");
    CHECK(soc_workdir_is_open_to_others(&world.dir, SOC_PLACE_ROOT, &mode));
    CHECK_INT(mode, 0701);
    run(&world, "chmod 0500 .");
    CHECK(!soc_workdir_is_open_to_others(&world.dir, SOC_PLACE_ROOT, &mode));
    run(&world, "chmod 0700 .");
    close_world(&world);
}

static void ids_that_would_escape_or_collide_are_refused(void)
{
    CHECK(soc_id_is_for_outside(SOC_SLICE("a")));
    CHECK(soc_id_is_for_outside(SOC_SLICE("agent_architecture")));
    CHECK(soc_id_is_for_outside(SOC_SLICE("out")));
    CHECK(!soc_id_is_for_outside(SOC_SLICE("../a")));
    CHECK(!soc_id_is_for_outside(SOC_SLICE("a/b")));
    CHECK(!soc_id_is_for_outside(SOC_SLICE("..")));
    CHECK(!soc_id_is_for_outside(SOC_SLICE("")));
    CHECK(!soc_id_is_for_outside(SOC_SLICE(".a")));
    CHECK(!soc_id_is_for_outside(SOC_SLICE("a.out")));
}

static void files_with_content_are_archived_and_all_queues_removed(void)
{
    struct world world;
    struct soc_detail detail = {0};
    struct soc_buf bytes = {0};
    open_world(&world);
    CHECK_INT(open_dir(&world, &detail), SOC_OK);
    soc_workdir_append(&world.dir, SOC_PLACE_AGENTS, "a.jsonl", SOC_SLICE("one\n"));
    soc_workdir_append(&world.dir, SOC_PLACE_AGENTS, "b.jsonl", SOC_SLICE(""));
    soc_workdir_append(&world.dir, SOC_PLACE_AGENTS, "b.out.jsonl", SOC_SLICE(""));
    soc_workdir_append(&world.dir, SOC_PLACE_LOGS, "events.jsonl", SOC_SLICE("two\n"));
    CHECK_INT(soc_workdir_archive(&world.dir, "flow.1"), 0);
    CHECK_INT(soc_workdir_read(&world.dir, SOC_PLACE_AGENTS, "a.jsonl", 100, &bytes), -ENOENT);
    CHECK_INT(soc_workdir_read(&world.dir, SOC_PLACE_AGENTS, "b.jsonl", 100, &bytes), -ENOENT);
    CHECK_INT(soc_workdir_read(&world.dir, SOC_PLACE_AGENTS, "b.out.jsonl", 100, &bytes), 0);
    CHECK_INT(mode_of(&world, "archive/flow.1/channel/agents/a.jsonl"), 0600);
    CHECK_INT(mode_of(&world, "archive/flow.1/logs/events.jsonl"), 0600);
    soc_buf_fini(&bytes);
    close_world(&world);
}

static void lines_after_a_truncated_one_are_separate_lines(void)
{
    static const char first[] = "{1}\n{22}\n";
    struct soc_detail detail = {0};
    struct world world;
    open_world(&world);
    CHECK_INT(open_dir(&world, &detail), SOC_OK);
    for (size_t cut = 0; cut < sizeof(first); cut++) {
        struct soc_left left;
        struct soc_buf bytes = {0};
        struct soc_buf expected = {0};
        struct soc_slice text = SOC_SLICE("{3}\n{4}\n");
        unlinkat(world.dir.folders[SOC_PLACE_LOGS], "x.jsonl", 0);
        CHECK_INT(soc_workdir_append(&world.dir, SOC_PLACE_LOGS, "x.jsonl", soc_slice(first, cut)),
                  0);
        CHECK_INT(soc_workdir_append_lines(&world.dir, SOC_PLACE_LOGS, "x.jsonl", &text, &left), 0);
        soc_workdir_read(&world.dir, SOC_PLACE_LOGS, "x.jsonl", 100, &bytes);
        soc_buf_printf(&expected, "%.*s%s{3}\n{4}\n", (int)cut, first,
                       cut > 0 && first[cut - 1] != '\n' ? "\n" : "");
        CHECK_TEXT(soc_buf_text(&bytes), soc_buf_text(&expected));
        CHECK_INT(text.length, 0);
        CHECK_INT(left.size, bytes.length);
        soc_buf_fini(&expected);
        soc_buf_fini(&bytes);
    }
    close_world(&world);
}

static void incompletely_written_lines_are_kept_for_later(void)
{
    struct soc_detail detail = {0};
    struct rlimit before;
    struct world world;
    struct soc_left left;
    struct soc_buf bytes = {0};
    struct soc_slice text = SOC_SLICE("{1}\n{22}\n{333}\n");
    open_world(&world);
    CHECK_INT(open_dir(&world, &detail), SOC_OK);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {.rlim_cur = 7, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
    int code = soc_workdir_append_lines(&world.dir, SOC_PLACE_LOGS, "x.jsonl", &text, &left);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_INT(code, -EFBIG);
    CHECK(soc_slice_equal(text, SOC_SLICE("{22}\n{333}\n")));
    CHECK_INT(soc_workdir_append_lines(&world.dir, SOC_PLACE_LOGS, "x.jsonl", &text, &left), 0);
    soc_workdir_read(&world.dir, SOC_PLACE_LOGS, "x.jsonl", 100, &bytes);
    CHECK_TEXT(soc_buf_text(&bytes), "{1}\n{22\n{22}\n{333}\n");
    soc_buf_fini(&bytes);
    close_world(&world);
}

int main(void)
{
    RUN(the_layout_is_private);
    RUN(modes_are_as_set_whatever_the_umask);
    RUN(links_are_not_followed);
    RUN(a_link_in_place_of_a_folder_is_refused);
    RUN(a_missing_directory_is_created_only_if_wanted);
    RUN(one_society_locks_it_and_another_touches_nothing);
    RUN(a_moved_or_removed_folder_is_created_again);
    RUN(a_link_does_not_become_a_folder);
    RUN(permissions_that_let_others_in_are_detected);
    RUN(ids_that_would_escape_or_collide_are_refused);
    RUN(files_with_content_are_archived_and_all_queues_removed);
    RUN(lines_after_a_truncated_one_are_separate_lines);
    RUN(incompletely_written_lines_are_kept_for_later);
    return check_done();
}

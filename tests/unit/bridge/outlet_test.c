#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "bridge/files/outlet.h"
#include "env/ids.h"

#define NAME "a.jsonl"

struct world {
    char path[64];
    struct soc_workdir dir;
    struct soc_outlet outlet;
    struct soc_buf text; /* of the file, as last read */
};

static void open_world(struct world *world)
{
    struct soc_detail detail = {0};
    *world = (struct world){.path = "/tmp/society_outlet_XXXXXX"};
    CHECK(mkdtemp(world->path) != NULL);
    CHECK_INT(soc_workdir_open(&world->dir, world->path, true, 0700, 0600, &detail), SOC_OK);
    CHECK_INT(soc_outlet_open(&world->outlet, &world->dir, SOC_PLACE_AGENTS, NAME, 0), 0);
}

static void close_world(struct world *world)
{
    char command[128];
    soc_outlet_close(&world->outlet);
    soc_workdir_close(&world->dir);
    soc_buf_fini(&world->text);
    snprintf(command, sizeof(command), "rm -rf '%s'", world->path);
    CHECK_INT(system(command), 0);
}

static void reopen(struct world *world)
{
    soc_outlet_close(&world->outlet);
    CHECK_INT(soc_outlet_open(&world->outlet, &world->dir, SOC_PLACE_AGENTS, NAME, 0), 0);
}

static const char *text_of(struct world *world, enum soc_place place, const char *name)
{
    world->text.length = 0;
    if (soc_workdir_read(&world->dir, place, name, 1 << 20, &world->text) < 0)
        return NULL;
    return soc_buf_text(&world->text);
}

/* Writes message `key` as a line that says its attempt; the time is its number. */
static int put(struct world *world, uint64_t key, uint16_t attempt)
{
    char id[SOC_MESSAGE_ID_BYTES];
    char line[128];
    soc_message_id_format(id, (int64_t)key, key);
    snprintf(line, sizeof(line), "{\"attempt\":%d,\"id\":\"%.*s\"}", attempt, (int)sizeof(id), id);
    return soc_outlet_put(&world->outlet, key, attempt, soc_slice_text(line), (int64_t)key);
}

static int count_lines(const char *text)
{
    int count = 0;
    for (; text != NULL && *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

static void the_content_of_the_file_is_known_after_a_restart(void)
{
    struct world world;
    open_world(&world);
    CHECK(!soc_outlet_has(&world.outlet, 7, 1));
    CHECK_INT(put(&world, 7, 1), 0);
    CHECK_INT(put(&world, 8, 1), 0);
    CHECK_INT(put(&world, 7, 2), 0);
    for (int i = 0; i < 2; i++) {
        CHECK(soc_outlet_has(&world.outlet, 7, 2));
        CHECK(!soc_outlet_has(&world.outlet, 7, 3));
        CHECK(soc_outlet_has(&world.outlet, 8, 1));
        CHECK(!soc_outlet_has(&world.outlet, 8, 2));
        CHECK_INT(world.outlet.lines, 3);
        reopen(&world);
    }
    close_world(&world);
}

/* As a kill in the middle of a write leaves it: the piece does not count as written, and
 * does not spoil the next line. */
static void a_line_truncated_at_any_byte_is_written_again(void)
{
    struct world world;
    open_world(&world);
    CHECK_INT(put(&world, 1, 1), 0);
    size_t whole = strlen(text_of(&world, SOC_PLACE_AGENTS, NAME));
    CHECK_INT(put(&world, 2, 1), 0);
    size_t length = strlen(text_of(&world, SOC_PLACE_AGENTS, NAME));
    for (size_t cut = length - 1; cut > whole; cut--) {
        int file = soc_workdir_open_file(&world.dir, SOC_PLACE_AGENTS, NAME, O_WRONLY);
        CHECK_INT(ftruncate(file, (off_t)cut), 0);
        close(file);
        reopen(&world);
        CHECK(soc_outlet_has(&world.outlet, 1, 1));
        CHECK(!soc_outlet_has(&world.outlet, 2, 1));
        CHECK_INT(put(&world, 2, 1), 0);
        reopen(&world);
        CHECK(soc_outlet_has(&world.outlet, 2, 1));
        CHECK_INT(count_lines(text_of(&world, SOC_PLACE_AGENTS, NAME)), 3);
    }
    close_world(&world);
}

static bool is_third(void *user, uint64_t key)
{
    (void)user;
    return key % 3 == 0;
}

static void rotation_keeps_pending_and_recent_lines(void)
{
    struct world world;
    open_world(&world);
    for (uint64_t key = 1; key <= 12; key++)
        CHECK_INT(put(&world, key, 1), 0);
    CHECK_INT(soc_outlet_rotate(&world.outlet, "1", 4, is_third, NULL), 0);
    for (int i = 0; i < 2; i++) {
        for (uint64_t key = 1; key <= 12; key++)
            CHECK_INT(soc_outlet_has(&world.outlet, key, 1), key % 3 == 0 || key > 8);
        CHECK_INT(world.outlet.lines, 6); /* 3, 6 and 9 to 12 */
        reopen(&world);
    }
    CHECK_INT(count_lines(text_of(&world, SOC_PLACE_ARCHIVE, "a.1.jsonl")), 12);
    CHECK_INT(put(&world, 13, 1), 0);
    CHECK_INT(count_lines(text_of(&world, SOC_PLACE_AGENTS, NAME)), 7);
    CHECK_INT(count_lines(text_of(&world, SOC_PLACE_ARCHIVE, "a.1.jsonl")), 12);
    close_world(&world);
}

static void the_time_of_a_line_is_known_across_rotations(void)
{
    struct world world;
    open_world(&world);
    for (uint64_t key = 1; key <= 100; key++)
        CHECK_INT(put(&world, key, 1), 0);
    CHECK_INT(soc_outlet_count_old(&world.outlet, 0), 0);
    CHECK_INT(soc_outlet_count_old(&world.outlet, 71), 70);
    CHECK_INT(soc_outlet_count_old(&world.outlet, 21), 20); /* a clock that was set back */
    CHECK_INT(soc_outlet_rotate(&world.outlet, "1", 10, is_third, NULL), 0);
    CHECK_INT(world.outlet.lines, 40); /* 3, 6 to 90 and 91 to 100 */
    CHECK_INT(world.outlet.left, 40);
    CHECK_INT(soc_outlet_count_old(&world.outlet, 91), 30);
    CHECK_INT(soc_outlet_count_old(&world.outlet, 1000), 40);
    reopen(&world); /* at the time 0 */
    CHECK_INT(soc_outlet_count_old(&world.outlet, 0), 0);
    CHECK_INT(soc_outlet_count_old(&world.outlet, 1), 40);
    close_world(&world);
}

static void a_failed_rotation_changes_nothing(void)
{
    struct world world;
    open_world(&world);
    CHECK_INT(put(&world, 1, 1), 0);
    CHECK_INT(soc_workdir_append(&world.dir, SOC_PLACE_ARCHIVE, "a.1.jsonl", SOC_SLICE("x")), 0);
    CHECK_INT(soc_outlet_rotate(&world.outlet, "1", 0, is_third, NULL), -EEXIST);
    CHECK(soc_outlet_has(&world.outlet, 1, 1));
    CHECK_INT(count_lines(text_of(&world, SOC_PLACE_AGENTS, NAME)), 1);
    CHECK_TEXT(text_of(&world, SOC_PLACE_ARCHIVE, "a.1.jsonl"), "x");
    close_world(&world);
}

static void a_file_that_somebody_made_large_is_put_away_unread(void)
{
    struct world world;
    open_world(&world);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(put(&world, 1, 1), 0);
        CHECK_INT(world.outlet.change, SOC_OUTLET_SOUND);
        int file = soc_workdir_open_file(&world.dir, SOC_PLACE_AGENTS, NAME, O_WRONLY);
        CHECK_INT(ftruncate(file, (off_t)16 << 30), 0);
        close(file);
        CHECK_INT(i == 0 ? soc_outlet_check(&world.outlet, 0) : put(&world, 2, 1), 0);
        CHECK_INT(world.outlet.change, SOC_OUTLET_REPLACED);
        CHECK_INT(soc_outlet_has(&world.outlet, 1, 1), false);
        CHECK_INT(soc_outlet_has(&world.outlet, 2, 1), i == 1);
        CHECK_INT(count_lines(text_of(&world, SOC_PLACE_AGENTS, NAME)), i);
        world.outlet.change = SOC_OUTLET_SOUND;
    }
    close_world(&world);
}

static void a_truncated_file_is_read_again(void)
{
    struct world world;
    open_world(&world);
    for (uint64_t key = 1; key <= 3; key++)
        CHECK_INT(put(&world, key, 1), 0);
    CHECK_INT(soc_outlet_check(&world.outlet, 0), 0);
    CHECK_INT(world.outlet.change, SOC_OUTLET_SOUND);
    int file = soc_workdir_open_file(&world.dir, SOC_PLACE_AGENTS, NAME, O_WRONLY);
    CHECK_INT(ftruncate(file, world.outlet.size / 3 + 5), 0);
    close(file);
    CHECK_INT(put(&world, 4, 1), 0);
    CHECK_INT(world.outlet.change, SOC_OUTLET_TRUNCATED);
    for (uint64_t key = 1; key <= 4; key++)
        CHECK_INT(soc_outlet_has(&world.outlet, key, 1), key == 1 || key == 4);
    CHECK_INT(count_lines(text_of(&world, SOC_PLACE_AGENTS, NAME)), 3);
    world.outlet.change = SOC_OUTLET_SOUND;
    CHECK_INT(soc_outlet_rotate(&world.outlet, "1", 10, is_third, NULL), 0);
    CHECK_INT(soc_outlet_check(&world.outlet, 0), 0);
    CHECK_INT(world.outlet.change, SOC_OUTLET_SOUND);
    CHECK_INT(unlinkat(world.dir.folders[SOC_PLACE_AGENTS], NAME, 0), 0);
    CHECK_INT(soc_outlet_check(&world.outlet, 0), 0);
    CHECK_INT(world.outlet.change, SOC_OUTLET_REPLACED);
    CHECK(!soc_outlet_has(&world.outlet, 1, 1));
    close_world(&world);
}

/* As if the process had been killed between the two steps of a rotation. */
static void an_interrupted_rotation_is_taken_back(void)
{
    struct world world;
    open_world(&world);
    CHECK_INT(put(&world, 1, 1), 0);
    CHECK_INT(linkat(world.dir.folders[SOC_PLACE_AGENTS], NAME,
                     world.dir.folders[SOC_PLACE_ARCHIVE], "a.1.jsonl", 0),
              0);
    CHECK_INT(put(&world, 2, 1), -EMLINK);
    reopen(&world);
    CHECK_INT(put(&world, 2, 1), 0);
    CHECK_INT(count_lines(text_of(&world, SOC_PLACE_AGENTS, NAME)), 2);
    CHECK(text_of(&world, SOC_PLACE_ARCHIVE, "a.1.jsonl") == NULL);
    close_world(&world);
}

static void nothing_is_written_to_a_file_with_a_second_name(void)
{
    struct world world;
    open_world(&world);
    int root = world.dir.folders[SOC_PLACE_ROOT];
    CHECK_INT(soc_workdir_append(&world.dir, SOC_PLACE_ROOT, "other", SOC_SLICE("x")), 0);
    CHECK_INT(unlinkat(world.dir.folders[SOC_PLACE_AGENTS], NAME, 0), 0);
    CHECK_INT(linkat(root, "other", world.dir.folders[SOC_PLACE_AGENTS], NAME, 0), 0);
    CHECK_INT(put(&world, 1, 1), -EMLINK);
    CHECK_INT(unlinkat(world.dir.folders[SOC_PLACE_AGENTS], NAME, 0), 0);
    CHECK_TEXT(text_of(&world, SOC_PLACE_ROOT, "other"), "x");
    close_world(&world);
}

static void a_link_in_its_place_is_not_followed(void)
{
    struct world world;
    open_world(&world);
    int folder = world.dir.folders[SOC_PLACE_AGENTS];
    CHECK_INT(renameat(folder, NAME, folder, "far"), 0);
    CHECK_INT(symlinkat("far", folder, NAME), 0);
    CHECK_INT(put(&world, 1, 1), -ELOOP);
    CHECK(!soc_outlet_has(&world.outlet, 1, 1));
    CHECK_INT(unlinkat(folder, NAME, 0), 0);
    CHECK_INT(put(&world, 1, 1), 0);
    CHECK_TEXT(text_of(&world, SOC_PLACE_AGENTS, "far"), "");
    close_world(&world);
}

int main(void)
{
    RUN(the_content_of_the_file_is_known_after_a_restart);
    RUN(a_line_truncated_at_any_byte_is_written_again);
    RUN(rotation_keeps_pending_and_recent_lines);
    RUN(the_time_of_a_line_is_known_across_rotations);
    RUN(a_failed_rotation_changes_nothing);
    RUN(a_file_that_somebody_made_large_is_put_away_unread);
    RUN(a_truncated_file_is_read_again);
    RUN(an_interrupted_rotation_is_taken_back);
    RUN(nothing_is_written_to_a_file_with_a_second_name);
    RUN(a_link_in_its_place_is_not_followed);
    return check_done();
}

#include "lines_world.h"

/* More than one look reads of a file: it reads at least a line as long as it may be. */
#define LARGE_BYTES (4 << 20)

static void put_letters(struct world *world, size_t length)
{
    struct soc_buf text = {0};
    memset(soc_buf_reserve(&text, length), 'x', length);
    text.length = length;
    append(world, soc_buf_slice(&text));
    soc_buf_fini(&text);
}

/* Looks until there is no more; returns how often. */
static int look_often(struct world *world)
{
    int looks = 1;
    while (look(world))
        looks++;
    return looks;
}

static void a_look_reads_a_bounded_number_of_bytes(void)
{
    struct world world;
    open_world(&world);
    world.options.bytes_max = 1 << 20;
    put_letters(&world, LARGE_BYTES);
    put(&world, "\n{1}\n");
    CHECK(look(&world));
    CHECK_NOTES(&world, "");
    CHECK(look_often(&world) >= 3);
    CHECK_NOTES(&world, "L");
    CHECK_TAKEN(&world, "{1}\n");
    close_world(&world);
}

static void a_look_ends_in_time_and_makes_progress(void)
{
    struct world world;
    open_world(&world);
    world.options.until_us = 1; /* long ago */
    put(&world, "{1}\n\n\n{2}\n{3}\n");
    CHECK(look(&world));
    CHECK_TAKEN(&world, "{1}\n");
    CHECK(look_often(&world) >= 3);
    CHECK_TAKEN(&world, "{1}\n{2}\n{3}\n");
    put_letters(&world, LARGE_BYTES);
    CHECK(look_often(&world) > 8);
    CHECK_NOTES(&world, "L");
    close_world(&world);
}

static void empty_lines_count_as_bytes(void)
{
    struct world world;
    struct soc_buf text = {0};
    open_world(&world);
    world.options.bytes_max = 1 << 20;
    memset(soc_buf_reserve(&text, LARGE_BYTES), '\n', LARGE_BYTES);
    text.length = LARGE_BYTES;
    append(&world, soc_buf_slice(&text));
    put(&world, "{1}\n");
    CHECK(look_often(&world) >= 4);
    restart(&world);
    look(&world);
    CHECK_TAKEN(&world, "{1}\n");
    CHECK_NOTES(&world, "");
    soc_buf_fini(&text);
    close_world(&world);
}

static void a_hole_is_skipped(void)
{
    struct world world;
    open_world(&world);
    world.options.bytes_max = 1 << 20;
    put(&world, "{1}\n");
    truncate_to(&world, (size_t)1 << 34);
    put(&world, "\n{2}\n");
    CHECK(look_often(&world) < 10);
    CHECK_TAKEN(&world, "{1}\n{2}\n");
    CHECK_NOTES(&world, "L");
    restart(&world);
    look(&world);
    CHECK_TAKEN(&world, "{1}\n{2}\n");
    close_world(&world);
}

/* What was a hole may come back as bytes that are zero, and the other way round. */
static void a_copy_is_known_with_and_without_holes(void)
{
    static const char *const copies[] = {"never", "always"};
    for (size_t i = 0; i < 2; i++) {
        struct world world;
        char command[256];
        open_world(&world);
        world.options.bytes_max = 1 << 20;
        put(&world, "{1}\n");
        truncate_to(&world, LARGE_BYTES);
        put(&world, "\n{2}\n");
        look_often(&world);
        snprintf(command, sizeof(command),
                 "cd '%s/channel/agents' && cp --sparse=%s " NAME " c && mv c " NAME, world.path,
                 copies[i]);
        CHECK_INT(system(command), 0);
        int looks = look_often(&world);
        CHECK(i == 1 || looks >= 3);
        put(&world, "{3}\n");
        look_often(&world);
        CHECK_TAKEN(&world, "{1}\n{2}\n{3}\n");
        CHECK_NOTES(&world, "L");
        close_world(&world);
    }
}

static void another_file_is_noticed_over_several_looks(void)
{
    struct world world;
    struct soc_buf text = {0};
    open_world(&world);
    world.options.bytes_max = 1 << 20;
    put_letters(&world, LARGE_BYTES);
    put(&world, "\n{1}\n");
    look_often(&world);
    memset(soc_buf_reserve(&text, LARGE_BYTES), 'x', LARGE_BYTES);
    text.length = LARGE_BYTES;
    text.data[LARGE_BYTES / 2] = 'y';
    soc_buf_put_text(&text, "\n{1}\n{2}\n");
    replace_by(&world, soc_buf_text(&text));
    look_often(&world);
    CHECK_NOTES(&world, "LRL");
    CHECK_TAKEN(&world, "{1}\n{1}\n{2}\n");
    soc_buf_fini(&text);
    close_world(&world);
}

int main(void)
{
    RUN(a_look_reads_a_bounded_number_of_bytes);
    RUN(a_look_ends_in_time_and_makes_progress);
    RUN(empty_lines_count_as_bytes);
    RUN(a_hole_is_skipped);
    RUN(a_copy_is_known_with_and_without_holes);
    RUN(another_file_is_noticed_over_several_looks);
    return check_done();
}

#include "lines_world.h"

/* Lines that differ at their start only, in files of one length. */
static const char *long_line(char out[LINE_BYTES], const char *start)
{
    memset(out, 'y', LINE_BYTES - 1);
    memcpy(out, start, strlen(start));
    memcpy(out + LINE_BYTES - 3, "}\n", 3);
    return out;
}

static void a_file_that_differs_only_before_its_last_bytes_is_another_file(void)
{
    struct world world;
    char line[LINE_BYTES];
    open_world(&world);
    put(&world, "{1}\n");
    for (int i = 0; i < 4; i++)
        put(&world, long_line(line, "{2 "));
    look(&world);
    CHECK_INT(world.lines_taken, 5);
    truncate_to(&world, 0); /* the same file */
    put(&world, "{3}\n");
    for (int i = 0; i < 4; i++)
        put(&world, long_line(line, "{2 "));
    look(&world);
    CHECK_NOTES(&world, "R");
    CHECK_INT(world.lines_taken, 10);
    restart(&world);
    look(&world);
    CHECK_NOTES(&world, "R");
    CHECK_INT(world.lines_taken, 10);
    close_world(&world);
}

static void another_file_is_compared_completely_however_long(void)
{
    struct world world;
    char line[LINE_BYTES];
    struct soc_buf text = {0};
    open_world(&world);
    world.options.lines_max = 1000;
    soc_buf_put_text(&text, "{1}\n");
    for (int i = 0; i < 400; i++)
        soc_buf_put_text(&text, long_line(line, "{2 "));
    put(&world, soc_buf_text(&text));
    look(&world);
    replace_by(&world, soc_buf_text(&text)); /* it comes back as it was */
    look(&world);
    CHECK_NOTES(&world, "");
    CHECK_INT(world.lines_taken, 401);
    text.data[1] = '3';
    replace_by(&world, soc_buf_text(&text));
    look(&world);
    CHECK_NOTES(&world, "R");
    CHECK_INT(world.lines_taken, 802);
    soc_buf_fini(&text);
    close_world(&world);
}

static void a_position_without_a_checksum_is_accepted(void)
{
    struct world world;
    char position[SOC_LINES_POSITION_BYTES];
    open_world(&world);
    put(&world, "{1}\n{2}\n");
    look(&world);
    soc_lines_put_position(&world.lines, position);
    *strrchr(position, ' ') = '\0';
    world.lines = (struct soc_lines){0};
    CHECK(soc_lines_set_position(&world.lines, soc_slice_text(position)));
    put(&world, "{3}\n");
    look(&world);
    CHECK_TAKEN(&world, "{1}\n{2}\n{3}\n");
    CHECK_NOTES(&world, "");
    close_world(&world);
}

int main(void)
{
    RUN(a_file_that_differs_only_before_its_last_bytes_is_another_file);
    RUN(another_file_is_compared_completely_however_long);
    RUN(a_position_without_a_checksum_is_accepted);
    return check_done();
}

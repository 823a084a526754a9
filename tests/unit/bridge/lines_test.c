#include "lines_world.h"

static void each_line_is_read_once_and_an_incomplete_one_waits(void)
{
    struct world world;
    open_world(&world);
    look(&world);
    put(&world, "{1}\n{2");
    look(&world);
    CHECK_TAKEN(&world, "{1}\n");
    restart(&world);
    look(&world);
    put(&world, "2}\n\r\n{3}\r\n");
    look(&world);
    look(&world);
    restart(&world);
    look(&world);
    CHECK_TAKEN(&world, "{1}\n{22}\n{3}\n");
    CHECK_NOTES(&world, "");
    close_world(&world);
}

static void a_complete_last_line_needs_no_newline_after_a_while(void)
{
    struct world world;
    open_world(&world);
    put(&world, "{1}\n{2}");
    look(&world);
    world.options.now_ms += WAIT_MS - 1;
    look(&world);
    CHECK_TAKEN(&world, "{1}\n");
    world.options.now_ms += 1;
    look(&world);
    CHECK_TAKEN(&world, "{1}\n{2}\n");
    put(&world, "\n{3}\n");
    look(&world);
    CHECK_TAKEN(&world, "{1}\n{2}\n{3}\n");
    CHECK_NOTES(&world, "");
    close_world(&world);
}

static void an_incomplete_last_line_is_reported_once_and_keeps_waiting(void)
{
    struct world world;
    open_world(&world);
    put(&world, "{1");
    look(&world);
    for (int i = 0; i < 3; i++) {
        world.options.now_ms += WAIT_MS;
        look(&world);
    }
    CHECK_NOTES(&world, "U");
    put(&world, "}\n");
    look(&world);
    CHECK_TAKEN(&world, "{1}\n");
    close_world(&world);
}

static void at_the_end_nothing_waits(void)
{
    struct world world;
    open_world(&world);
    put(&world, "{1}\n{2}");
    look(&world);
    world.options.is_last = true;
    look(&world);
    CHECK_TAKEN(&world, "{1}\n{2}\n");
    close_world(&world);
}

static void lines_over_the_limit_are_skipped_completely(void)
{
    struct world world;
    char line[LINE_BYTES + 2];
    memset(line, 'x', sizeof(line));
    line[LINE_BYTES] = '\n';
    open_world(&world);
    append(&world, soc_slice(line, LINE_BYTES + 1)); /* as long as it may be */
    line[LINE_BYTES] = 'x';
    append(&world, soc_slice(line, LINE_BYTES + 1));
    look(&world);
    CHECK_INT(world.lines_taken, 1);
    CHECK_NOTES(&world, "L");
    for (int i = 0; i < 2000; i++) {
        append(&world, soc_slice(line, LINE_BYTES));
        if (i % 500 == 0)
            look(&world);
    }
    CHECK_NOTES(&world, "L"); /* once, and before its end has come */
    CHECK(!look(&world));
    put(&world, "\n{2}\n");
    look(&world);
    CHECK_INT(world.lines_taken, 2);
    CHECK_NOTES(&world, "Ll");
    restart(&world);
    put(&world, "{3}\n");
    look(&world);
    CHECK_INT(world.lines_taken, 3);
    close_world(&world);
}

static void a_look_reads_a_bounded_number_of_lines_and_reports_more(void)
{
    struct world world;
    open_world(&world);
    world.options.lines_max = 2;
    put(&world, "{1}\n{2}\n{3}\n{4}\n{5}\n");
    CHECK(look(&world));
    CHECK_TAKEN(&world, "{1}\n{2}\n");
    CHECK(look(&world));
    CHECK(!look(&world));
    CHECK_TAKEN(&world, "{1}\n{2}\n{3}\n{4}\n{5}\n");
    close_world(&world);
}

static void a_line_that_is_not_accepted_comes_again(void)
{
    struct world world;
    open_world(&world);
    put(&world, "{1}\n{2}\n");
    world.refuses = true;
    CHECK(!look(&world));
    CHECK_INT(world.lines.offset, 0);
    world.refuses = false;
    look(&world);
    CHECK_TAKEN(&world, "{1}\n{2}\n");
    close_world(&world);
}

static void a_file_rewritten_with_more_continues(void)
{
    struct world world;
    open_world(&world);
    put(&world, "{1}\n{2}\n");
    look(&world);
    replace_by(&world, "{1}\n{2}\n{3}\n");
    look(&world);
    CHECK_TAKEN(&world, "{1}\n{2}\n{3}\n");
    CHECK_NOTES(&world, "");
    close_world(&world);
}

static void a_replaced_file_is_reported_and_read_from_its_start(void)
{
    struct world world;
    open_world(&world);
    put(&world, "{1}\n{2}\n");
    look(&world);
    replace_by(&world, "{4}\n{5}\n{6}\n");
    restart(&world);
    look(&world);
    CHECK_TAKEN(&world, "{1}\n{2}\n{4}\n{5}\n{6}\n");
    CHECK_NOTES(&world, "R");
    close_world(&world);
}

static void remove_file(struct world *world)
{
    CHECK_INT(unlinkat(world->dir.folders[SOC_PLACE_AGENTS], NAME, 0), 0);
}

static void a_missing_file_is_reported_once_and_may_come_back(void)
{
    struct world world;
    open_world(&world);
    look(&world);
    CHECK_NOTES(&world, "");
    put(&world, "{1}\n");
    look(&world);
    remove_file(&world);
    look(&world);
    look(&world);
    restart(&world);
    look(&world);
    CHECK_NOTES(&world, "G");
    put(&world, "{1}\n{2}\n");
    look(&world);
    look(&world);
    CHECK_TAKEN(&world, "{1}\n{2}\n");
    CHECK_NOTES(&world, "GB");
    close_world(&world);
}

/* The one rule: the same bytes in the same place are the same line, whether the file was
 * emptied, removed or replaced in between, and whether that was seen. */
static void the_same_bytes_in_the_same_place_are_the_same_line(void)
{
    for (int way = 0; way < 12; way++) {
        struct world world;
        open_world(&world);
        world.knows_lines = true;
        put(&world, "{1}\n{2}\n");
        look(&world);
        if (way % 3 == 0)
            truncate_to(&world, 0);
        else if (way % 3 == 1)
            remove_file(&world);
        else
            replace_by(&world, "{3}\n");
        if (way / 3 & 1)
            look(&world);
        if (way / 6)
            restart(&world);
        if (way % 3 != 2)
            put(&world, "{1}\n");
        else
            replace_by(&world, "{1}\n");
        look(&world);
        put(&world, "{2}\n{4}\n");
        look(&world);
        CHECK_TAKEN(&world,
                    way % 3 == 2 && way / 3 & 1 ? "{1}\n{2}\n{3}\n{4}\n" : "{1}\n{2}\n{4}\n");
        CHECK(world.notes.length > 0);
        close_world(&world);
    }
}

static void an_archived_file_may_start_again_with_the_same_lines(void)
{
    struct world world;
    open_world(&world);
    world.knows_lines = true;
    put(&world, "{1}\n");
    look(&world);
    remove_file(&world);
    soc_lines_begin_anew(&world.lines);
    restart(&world);
    look(&world);
    put(&world, "{1}\n");
    look(&world);
    CHECK_TAKEN(&world, "{1}\n{1}\n");
    CHECK_NOTES(&world, "");
    close_world(&world);
}

static void a_zero_byte_is_part_of_a_line(void)
{
    struct world world;
    open_world(&world);
    append(&world, soc_slice("{1}\0\n", 5));
    look(&world);
    CHECK_INT(world.taken.length, 5);
    close_world(&world);
}

static void a_link_in_its_place_is_reported_once_and_not_read(void)
{
    struct world world;
    open_world(&world);
    CHECK_INT(symlinkat("/etc/passwd", world.dir.folders[SOC_PLACE_AGENTS], NAME), 0);
    look(&world);
    look(&world);
    CHECK_INT(world.lines_taken, 0);
    CHECK_NOTES(&world, "O");
    close_world(&world);
}

static const char corpus[] = "{\"msg_id\":\"m1\",\"status\":\"received\"}\n"
                             "{\"id\":\"x\",\"to\":\"orchestrator\"}\r\n"
                             "\n"
                             "{\"same\":1}\n"
                             "{\"same\":1}\n"
                             "no JSON at all\n"
                             "{\"text\":\"最后一行\"}\n";
static const char corpus_taken[] = "{\"msg_id\":\"m1\",\"status\":\"received\"}\n"
                                   "{\"id\":\"x\",\"to\":\"orchestrator\"}\n"
                                   "{\"same\":1}\n"
                                   "{\"same\":1}\n"
                                   "no JSON at all\n"
                                   "{\"text\":\"最后一行\"}\n";

static void a_file_truncated_at_any_byte_before_it_is_read_gives_every_line_once(void)
{
    for (size_t cut = 0; cut < sizeof(corpus); cut++) {
        struct world world;
        open_world(&world);
        append(&world, soc_slice(corpus, cut));
        look(&world);
        restart(&world);
        append(&world, soc_slice(corpus + cut, sizeof(corpus) - 1 - cut));
        look(&world);
        CHECK_TAKEN(&world, corpus_taken);
        CHECK_NOTES(&world, "");
        close_world(&world);
    }
}

/* Read whole or in part, cut, looked at or not, and written on: what came before the cut
 * is not taken again. */
static void a_file_truncated_at_any_byte_after_it_was_read_loses_and_repeats_nothing(void)
{
    for (size_t cut = 0; cut < sizeof(corpus) - 1; cut++) {
        for (int way = 0; way < 4; way++) {
            struct world world;
            open_world(&world);
            world.knows_lines = true;
            append(&world, soc_slice(corpus, sizeof(corpus) - 1));
            look(&world);
            truncate_to(&world, cut);
            if (way & 1)
                look(&world);
            if (way & 2)
                restart(&world);
            append(&world, soc_slice(corpus + cut, sizeof(corpus) - 1 - cut));
            look(&world);
            put(&world, "{\"new\":true}\n");
            look(&world);
            CHECK(world.taken.length > sizeof(corpus_taken) - 1);
            CHECK_BYTES(world.taken.data, sizeof(corpus_taken) - 1, corpus_taken);
            CHECK_TEXT(soc_buf_text(&world.taken) + sizeof(corpus_taken) - 1, "{\"new\":true}\n");
            CHECK_NOTES(&world, way & 1 ? "T" : "");
            close_world(&world);
        }
    }
}

static void a_look_reads_nothing_beyond_the_noted_end(void)
{
    static const char text[] = "{1}\n{22}\n{333}\n";
    struct soc_lines_end end;
    for (size_t noted = 0; noted < sizeof(text); noted++) {
        struct world world;
        open_world(&world);
        append(&world, soc_slice(text, noted));
        soc_lines_find_end(&world.dir, SOC_PLACE_AGENTS, NAME, &end);
        world.options.end = &end;
        put(&world, text + noted);
        CHECK_INT(look(&world), noted < sizeof(text) - 1);
        CHECK_TAKEN(&world, noted < 4    ? ""
                            : noted < 9  ? "{1}\n"
                            : noted < 15 ? "{1}\n{22}\n"
                                         : text);
        soc_lines_find_end(&world.dir, SOC_PLACE_AGENTS, NAME, &end);
        CHECK(!look(&world));
        CHECK_TAKEN(&world, text);
        CHECK(!world.lines.is_behind);
        close_world(&world);
    }
}

static void a_file_replaced_since_its_end_was_noted_is_left_for_the_next_look(void)
{
    struct world world;
    struct soc_lines_end end;
    open_world(&world);
    put(&world, "{1}\n");
    soc_lines_find_end(&world.dir, SOC_PLACE_AGENTS, NAME, &end);
    world.options.end = &end;
    replace_by(&world, "{2}\n");
    CHECK(look(&world));
    CHECK_TAKEN(&world, "");
    soc_lines_find_end(&world.dir, SOC_PLACE_AGENTS, NAME, &end);
    CHECK(!look(&world));
    CHECK_TAKEN(&world, "{2}\n");
    close_world(&world);
}

static void an_overlong_line_without_an_end_holds_nothing_up(void)
{
    struct world world;
    char text[2 * LINE_BYTES + 1];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    open_world(&world);
    put(&world, "{");
    look(&world);
    CHECK(world.lines.is_behind);
    put(&world, text);
    look(&world);
    CHECK_NOTES(&world, "L");
    CHECK(!world.lines.is_behind);
    close_world(&world);
}

static void a_line_without_newline_that_is_not_accepted_comes_again(void)
{
    struct world world;
    open_world(&world);
    put(&world, "{1}");
    world.refuses = true;
    look(&world);
    for (int i = 0; i < 2; i++) {
        world.options.now_ms += WAIT_MS;
        look(&world);
        CHECK(world.lines.is_behind);
    }
    world.refuses = false;
    look(&world);
    CHECK_TAKEN(&world, "{1}\n");
    CHECK(!world.lines.is_behind);
    close_world(&world);
}

static void a_waiting_line_counts_as_behind_until_it_is_accepted_or_dropped(void)
{
    struct world world;
    open_world(&world);
    put(&world, "{1}\n{2}");
    world.refuses = true;
    look(&world);
    CHECK(world.lines.is_behind);
    world.refuses = false;
    look(&world);
    CHECK(world.lines.is_behind); /* its newline may come */
    world.options.now_ms += WAIT_MS;
    look(&world);
    CHECK(!world.lines.is_behind);
    put(&world, "\n{3");
    look(&world);
    CHECK(world.lines.is_behind);
    world.options.now_ms += WAIT_MS;
    look(&world);
    CHECK(!world.lines.is_behind); /* a piece of a line holds nobody up */
    close_world(&world);
}

static void invalid_positions_are_refused(void)
{
    struct soc_lines lines = {0};
    CHECK(!soc_lines_set_position(&lines, (struct soc_slice){0}));
    CHECK(!soc_lines_set_position(&lines, SOC_SLICE("")));
    CHECK(!soc_lines_set_position(&lines, SOC_SLICE("-1 2 3 4")));
    CHECK(!soc_lines_set_position(&lines, SOC_SLICE("1 2")));
    CHECK(soc_lines_set_position(&lines, SOC_SLICE("7 8 ff 2")));
    CHECK_INT(lines.offset, 7);
    CHECK_INT(lines.hash, 255);
}

int main(void)
{
    RUN(each_line_is_read_once_and_an_incomplete_one_waits);
    RUN(a_complete_last_line_needs_no_newline_after_a_while);
    RUN(an_incomplete_last_line_is_reported_once_and_keeps_waiting);
    RUN(at_the_end_nothing_waits);
    RUN(lines_over_the_limit_are_skipped_completely);
    RUN(a_look_reads_a_bounded_number_of_lines_and_reports_more);
    RUN(a_line_that_is_not_accepted_comes_again);
    RUN(a_file_rewritten_with_more_continues);
    RUN(a_replaced_file_is_reported_and_read_from_its_start);
    RUN(a_missing_file_is_reported_once_and_may_come_back);
    RUN(the_same_bytes_in_the_same_place_are_the_same_line);
    RUN(an_archived_file_may_start_again_with_the_same_lines);
    RUN(a_zero_byte_is_part_of_a_line);
    RUN(a_link_in_its_place_is_reported_once_and_not_read);
    RUN(a_file_truncated_at_any_byte_before_it_is_read_gives_every_line_once);
    RUN(a_file_truncated_at_any_byte_after_it_was_read_loses_and_repeats_nothing);
    RUN(a_look_reads_nothing_beyond_the_noted_end);
    RUN(a_file_replaced_since_its_end_was_noted_is_left_for_the_next_look);
    RUN(an_overlong_line_without_an_end_holds_nothing_up);
    RUN(a_line_without_newline_that_is_not_accepted_comes_again);
    RUN(a_waiting_line_counts_as_behind_until_it_is_accepted_or_dropped);
    RUN(invalid_positions_are_refused);
    return check_done();
}

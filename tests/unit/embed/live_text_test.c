#include "embed/live_text.h"

#include <string.h>

#include "check.h"

static const char *line_of(struct soc_live_text *live, size_t columns, struct soc_buf *out)
{
    out->length = 0;
    soc_live_text_put(live, columns, out);
    return soc_buf_text(out);
}

static void say(struct soc_live_text *live, const char *text)
{
    soc_live_text_add(live, SOC_SLICE("ann"), soc_slice_text(text));
}

static void words_add_up_and_are_counted(void)
{
    struct soc_live_text live = {0};
    struct soc_buf out = {0};
    CHECK(strcmp(line_of(&live, 78, &out), "") == 0);
    say(&live, "one ");
    say(&live, "two");
    CHECK(strcmp(line_of(&live, 78, &out), "ann (7): one two") == 0);
    soc_buf_fini(&out);
    soc_live_text_fini(&live);
}

static void only_the_end_is_shown_if_there_is_no_room(void)
{
    struct soc_live_text live = {0};
    struct soc_buf out = {0};
    say(&live, "abcdefghij");
    CHECK(strcmp(line_of(&live, 16, &out), "ann (10): …ghij") == 0);
    /* Signs of East Asia take two columns, and are never cut. */
    say(&live, "一二三");
    CHECK(strcmp(line_of(&live, 16, &out), "ann (13): …二三") == 0);
    CHECK(strcmp(line_of(&live, 3, &out), "ann (13): …") == 0);
    soc_buf_fini(&out);
    soc_live_text_fini(&live);
}

static void nothing_in_it_moves_the_cursor(void)
{
    struct soc_live_text live = {0};
    struct soc_buf out = {0};
    say(&live, "a\x1b[2Jb\r\n\tc\x7f"
               "d\xc2\x9b"
               "e\xe2\x80\xae"
               "f");
    CHECK(strcmp(line_of(&live, 78, &out), "ann (16): a [2Jb c d e f") == 0);
    soc_buf_fini(&out);
    soc_live_text_fini(&live);
}

static void it_keeps_a_bounded_end_of_an_endless_text(void)
{
    struct soc_live_text live = {0};
    struct soc_buf out = {0};
    for (int i = 0; i < 10000; i++)
        say(&live, "语");
    CHECK(live.tail.length <= 1024);
    CHECK(live.tail.length % 3 == 0);
    CHECK(strncmp(line_of(&live, 30, &out), "ann (10000): …语", 19) == 0);
    soc_buf_fini(&out);
    soc_live_text_fini(&live);
}

int main(void)
{
    RUN(words_add_up_and_are_counted);
    RUN(only_the_end_is_shown_if_there_is_no_room);
    RUN(nothing_in_it_moves_the_cursor);
    RUN(it_keeps_a_bounded_end_of_an_endless_text);
    return check_done();
}

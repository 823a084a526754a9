#include "check.h"

#include "base/buf.h"
#include "env/rng.h"

static void an_empty_buffer_lends_an_empty_slice_that_is_present(void)
{
    struct soc_buf buf = {0};
    struct soc_slice slice = soc_buf_slice(&buf);
    CHECK(slice.data != NULL);
    CHECK_INT(slice.length, 0);
    CHECK_TEXT(soc_buf_text(&buf), "");
    CHECK_INT(buf.length, 0);
    soc_buf_fini(&buf);
}

static void every_kind_of_put_appends(void)
{
    struct soc_buf buf = {0};
    soc_buf_put(&buf, "abc", 2);
    soc_buf_put_slice(&buf, SOC_SLICE("cd"));
    soc_buf_put_byte(&buf, 'e');
    soc_buf_put_text(&buf, "fgh");
    soc_buf_printf(&buf, "-%d-%s", 42, "x");
    CHECK_TEXT(soc_buf_text(&buf), "abcdefgh-42-x");
    CHECK_INT(buf.length, 13);
    soc_buf_fini(&buf);
}

static void an_absent_slice_and_an_empty_format_append_nothing(void)
{
    struct soc_buf buf = {0};
    soc_buf_put_slice(&buf, soc_slice_text(NULL));
    soc_buf_printf(&buf, "%s", "");
    CHECK_INT(buf.length, 0);
    CHECK(buf.data == NULL);
    soc_buf_fini(&buf);
}

static void the_length_does_not_include_the_nul(void)
{
    struct soc_buf buf = {0};
    soc_buf_put_text(&buf, "ab");
    CHECK_TEXT(soc_buf_text(&buf), "ab");
    soc_buf_put_text(&buf, "cd");
    CHECK_TEXT(soc_buf_text(&buf), "abcd");
    soc_buf_fini(&buf);
}

static void a_formatted_text_may_exceed_the_capacity(void)
{
    struct soc_buf buf = {0};
    soc_buf_printf(&buf, "%063d", 7);
    soc_buf_printf(&buf, "%01000d", 8);
    CHECK_INT(buf.length, 1063);
    CHECK_INT(buf.data[62], '7');
    CHECK_INT(buf.data[1062], '8');
    soc_buf_fini(&buf);
}

static void bytes_survive_growth(void)
{
    struct soc_buf buf = {0};
    struct soc_rng rng;
    soc_rng_init(&rng, 1);
    size_t total = 0;
    while (total < 200000) {
        size_t count = soc_rng_below(&rng, 300);
        char *at = soc_buf_reserve(&buf, count);
        for (size_t i = 0; i < count; i++)
            at[i] = (char)((total + i) % 251);
        buf.length += count;
        total += count;
    }
    CHECK_INT(buf.length, total);
    CHECK(buf.capacity >= buf.length);
    size_t wrong = 0;
    for (size_t i = 0; i < total; i++)
        wrong += buf.data[i] != (char)(i % 251);
    CHECK_INT(wrong, 0);
    soc_buf_fini(&buf);
}

static void fini_leaves_a_buffer_that_can_be_used_again(void)
{
    struct soc_buf buf = {0};
    soc_buf_put_text(&buf, "old");
    soc_buf_fini(&buf);
    CHECK(buf.data == NULL);
    CHECK_INT(buf.capacity, 0);
    soc_buf_put_text(&buf, "new");
    CHECK_TEXT(soc_buf_text(&buf), "new");
    soc_buf_fini(&buf);
}

int main(void)
{
    RUN(an_empty_buffer_lends_an_empty_slice_that_is_present);
    RUN(every_kind_of_put_appends);
    RUN(an_absent_slice_and_an_empty_format_append_nothing);
    RUN(the_length_does_not_include_the_nul);
    RUN(a_formatted_text_may_exceed_the_capacity);
    RUN(bytes_survive_growth);
    RUN(fini_leaves_a_buffer_that_can_be_used_again);
    return check_done();
}

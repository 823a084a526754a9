#include "embed/live_talk.h"

#include <string.h>

#include "check.h"

static const char *draw(struct soc_live_talk *talk, struct soc_buf *out)
{
    out->length = 0;
    soc_live_talk_draw(talk, 78, out);
    return soc_buf_text(out);
}

static void say(struct soc_live_talk *talk, uint64_t call, const char *text)
{
    soc_live_talk_add(talk, call, call == 1 ? SOC_SLICE("ann") : SOC_SLICE("bob"),
                      soc_slice_text(text));
}

static bool is_not(void *user, uint64_t call)
{
    return call != *(const uint64_t *)user;
}

/* The call ends, and is noticed. */
static void end(struct soc_live_talk *talk, uint64_t call)
{
    soc_live_talk_sweep(talk, is_not, &call);
}

static void one_of_two_concurrent_speakers_stays_visible(void)
{
    struct soc_live_talk talk = {0};
    struct soc_buf out = {0};
    CHECK(strcmp(draw(&talk, &out), "") == 0);
    for (int i = 0; i < 100; i++) {
        say(&talk, 1, "a");
        say(&talk, 2, "b");
        CHECK(strncmp(draw(&talk, &out), "ann (", 5) == 0);
    }
    CHECK(strncmp(soc_buf_text(&out), "ann (100): …aaa", 17) == 0);
    soc_buf_fini(&out);
    soc_live_talk_fini(&talk);
}

static void the_other_becomes_visible_with_all_it_said_when_a_call_ends(void)
{
    struct soc_live_talk talk = {0};
    struct soc_buf out = {0};
    say(&talk, 1, "one");
    CHECK(strcmp(draw(&talk, &out), "ann (3): one") == 0);
    say(&talk, 2, "two ");
    say(&talk, 1, "!");
    say(&talk, 2, "three");
    CHECK(strcmp(draw(&talk, &out), "ann (4): one!") == 0);
    end(&talk, 1);
    CHECK(strcmp(draw(&talk, &out), "bob (9): two three") == 0);
    end(&talk, 2);
    CHECK(strcmp(draw(&talk, &out), "") == 0);
    soc_buf_fini(&out);
    soc_live_talk_fini(&talk);
}

static void the_other_becomes_visible_after_a_long_silence(void)
{
    struct soc_live_talk talk = {0};
    struct soc_buf out = {0};
    say(&talk, 1, "one");
    for (int i = 0; i < 2 * SOC_LIVE_SILENT_MAX; i++) /* nobody else speaks */
        CHECK(strcmp(draw(&talk, &out), "ann (3): one") == 0);
    say(&talk, 1, "!");
    for (int i = 0; i < SOC_LIVE_SILENT_MAX; i++) {
        say(&talk, 2, "b");
        CHECK(strcmp(draw(&talk, &out), "ann (4): one!") == 0);
    }
    say(&talk, 2, "b");
    CHECK(strncmp(draw(&talk, &out), "bob (21): ", 10) == 0);
    say(&talk, 1, "?");
    CHECK(strncmp(draw(&talk, &out), "bob (21): ", 10) == 0);
    soc_buf_fini(&out);
    soc_live_talk_fini(&talk);
}

static void many_can_speak(void)
{
    struct soc_live_talk talk = {0};
    struct soc_buf out = {0};
    for (uint64_t call = 2; call < 50; call++)
        say(&talk, call, "x");
    for (uint64_t call = 2; call < 49; call++)
        end(&talk, call);
    say(&talk, 49, "y");
    CHECK(talk.count == 1);
    CHECK(strcmp(draw(&talk, &out), "bob (2): xy") == 0);
    soc_buf_fini(&out);
    soc_live_talk_fini(&talk);
}

int main(void)
{
    RUN(one_of_two_concurrent_speakers_stays_visible);
    RUN(the_other_becomes_visible_with_all_it_said_when_a_call_ends);
    RUN(the_other_becomes_visible_after_a_long_silence);
    RUN(many_can_speak);
    return check_done();
}

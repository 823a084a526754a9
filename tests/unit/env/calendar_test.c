#include "env/calendar.h"

#include "check.h"

static struct soc_calendar make_calendar(void)
{
    struct soc_calendar calendar = {0};
    soc_calendar_add(&calendar, 1000, 600);
    soc_calendar_add(&calendar, 2000, 1500);
    soc_calendar_add(&calendar, 3000, 0);
    return calendar;
}

static void without_steps_a_date_is_a_time(void)
{
    struct soc_calendar calendar = {0};
    CHECK_INT(soc_calendar_behind(&calendar), 0);
    CHECK_INT(soc_calendar_date(&calendar, 77), 77);
    CHECK_INT(soc_calendar_until(&calendar, 77), 77);
}

static void every_time_has_the_date_of_its_step(void)
{
    struct soc_calendar calendar = make_calendar();
    CHECK_INT(soc_calendar_date(&calendar, 0), 0);
    CHECK_INT(soc_calendar_date(&calendar, 999), 999);
    CHECK_INT(soc_calendar_date(&calendar, 1000), 400);
    CHECK_INT(soc_calendar_date(&calendar, 1999), 1399);
    CHECK_INT(soc_calendar_date(&calendar, 2000), 500);
    CHECK_INT(soc_calendar_date(&calendar, 3000), 3000);
    CHECK_INT(soc_calendar_behind(&calendar), 0);
}

static void no_time_of_a_date_is_at_the_bound_or_above(void)
{
    struct soc_calendar calendar = make_calendar();
    int64_t until_ms = soc_calendar_until(&calendar, 600);
    size_t outside = 0;
    for (int64_t time_ms = 1; time_ms < 5000; time_ms++)
        outside += soc_calendar_date(&calendar, time_ms) < 600 && time_ms >= until_ms;
    CHECK_INT(outside, 0);
    CHECK_INT(soc_calendar_until(&calendar, INT64_MAX), INT64_MAX);
}

static void a_calendar_is_read_as_it_was_put(void)
{
    struct soc_calendar calendar = make_calendar();
    struct soc_calendar again;
    struct soc_buf json = {0};
    soc_calendar_put(&calendar, &json);
    CHECK_TEXT(soc_buf_text(&json), "[[1000,600],[2000,1500],[3000,0]]");
    CHECK(soc_calendar_read(&again, soc_buf_slice(&json)));
    CHECK_INT(again.count, 3);
    CHECK_INT(soc_calendar_date(&again, 2500), 1000);
    soc_buf_fini(&json);
}

static void what_is_no_calendar_is_refused(void)
{
    static const char *const bad[] = {
        "",          "{}",        "7",      "[7]",         "[[1]]",         "[[1,2,3]]",
        "[[1,-2]]",  "[[0,2]]",   "[[1,2]", "[[\"1\",2]]", "[[5,2],[5,3]]", "[[5,2],[4,3]]",
        "[[1,2],3]", "[[1.5,2]]",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct soc_calendar calendar = make_calendar();
        CHECK(!soc_calendar_read(&calendar, soc_slice_text(bad[i])));
        CHECK_INT(calendar.count, 0);
    }
}

static void when_there_is_no_room_the_least_step_is_forgotten(void)
{
    struct soc_calendar calendar = {0};
    int64_t behind_ms = 0;
    for (int i = 0; i < SOC_CALENDAR_STEPS_MAX; i++)
        soc_calendar_add(&calendar, 100 * (i + 1), behind_ms += i == 5 ? 10 : 1000);
    soc_calendar_add(&calendar, 1000000, behind_ms + 500);
    CHECK_INT(calendar.count, SOC_CALENDAR_STEPS_MAX);
    CHECK_INT(calendar.steps[5].from_ms, 700);
    CHECK_INT(calendar.steps[4].from_ms, 500);
    CHECK_INT(soc_calendar_behind(&calendar), behind_ms + 500);
}

int main(void)
{
    RUN(without_steps_a_date_is_a_time);
    RUN(every_time_has_the_date_of_its_step);
    RUN(no_time_of_a_date_is_at_the_bound_or_above);
    RUN(a_calendar_is_read_as_it_was_put);
    RUN(what_is_no_calendar_is_refused);
    RUN(when_there_is_no_room_the_least_step_is_forgotten);
    return check_done();
}

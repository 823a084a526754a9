#include "check.h"

#include <time.h>

#include "env/clock.h"
#include "env/rng.h"

static void a_virtual_clock_stands_still_until_it_is_moved(void)
{
    struct soc_clock clock;
    soc_clock_init(&clock, true);
    CHECK_INT(soc_clock_now(&clock), SOC_CLOCK_VIRTUAL_START_MS);
    CHECK_INT(soc_clock_now(&clock), SOC_CLOCK_VIRTUAL_START_MS);
    soc_clock_move(&clock, SOC_CLOCK_VIRTUAL_START_MS + 5);
    CHECK_INT(soc_clock_now(&clock), SOC_CLOCK_VIRTUAL_START_MS + 5);
    soc_clock_move(&clock, SOC_CLOCK_VIRTUAL_START_MS + 4);
    CHECK_INT(soc_clock_now(&clock), SOC_CLOCK_VIRTUAL_START_MS + 5);
}

static void stepping_the_wall_clock_changes_nothing(void)
{
    struct soc_clock clock;
    soc_clock_init(&clock, true);
    soc_clock_move(&clock, SOC_CLOCK_VIRTUAL_START_MS + 5);
    soc_clock_step(&clock, 3600000);
    CHECK_INT(soc_clock_now(&clock), SOC_CLOCK_VIRTUAL_START_MS + 5);
    soc_clock_step(&clock, -7200000);
    soc_clock_move(&clock, SOC_CLOCK_VIRTUAL_START_MS + 6);
    CHECK_INT(soc_clock_now(&clock), SOC_CLOCK_VIRTUAL_START_MS + 6);
}

static void a_real_clock_shows_the_wall_clock(void)
{
    struct soc_clock clock;
    soc_clock_init(&clock, false);
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    int64_t apart_ms = soc_clock_now(&clock) - (wall.tv_sec * 1000 + wall.tv_nsec / 1000000);
    CHECK(apart_ms > -1000 && apart_ms < 1000);
}

static void a_real_clock_runs_by_the_monotonic_one(void)
{
    struct soc_clock clock;
    soc_clock_init(&clock, false);
    int64_t from_ms = soc_clock_now(&clock);
    clock.monotonic_ms -= 60000; /* as if a minute had passed */
    int64_t passed_ms = soc_clock_now(&clock) - from_ms;
    CHECK(passed_ms >= 60000 && passed_ms < 61000);
    clock.monotonic_ms += 120000; /* and as if it had run backwards */
    CHECK(soc_clock_now(&clock) >= from_ms + 60000);
}

static void a_clock_that_was_set_back_gives_dates_and_keeps_its_time(void)
{
    const int64_t start_ms = 1800000000000;
    const int64_t year_ms = 365 * (int64_t)86400000;
    struct soc_clock clock;
    soc_clock_init(&clock, true);
    soc_clock_set(&clock, start_ms);
    CHECK(soc_clock_resume(&clock, start_ms + year_ms));
    CHECK_INT(soc_clock_now(&clock), start_ms + year_ms + 1);
    CHECK_INT(soc_clock_date(&clock), start_ms);
    soc_clock_move(&clock, start_ms + year_ms + 501);
    CHECK_INT(soc_clock_date(&clock), start_ms + 500);
    CHECK_INT(soc_clock_date_of(&clock, start_ms + year_ms), start_ms + year_ms);
    CHECK_INT(soc_clock_date_of(&clock, 0), 0);
    CHECK_INT(soc_clock_time_of(&clock, 0), 0);
    CHECK_INT(soc_clock_time_of(&clock, start_ms + 700), start_ms + year_ms + 701);

    /* The time spent down counts, by the same clock. */
    struct soc_calendar calendar = clock.calendar;
    soc_clock_init(&clock, true);
    clock.calendar = calendar;
    soc_clock_set(&clock, start_ms + 9000);
    CHECK(!soc_clock_resume(&clock, start_ms + year_ms + 501));
    CHECK_INT(soc_clock_now(&clock), start_ms + year_ms + 9001);
    CHECK_INT(soc_clock_date(&clock), start_ms + 9000);
}

static void a_clock_that_is_right_again_is_followed(void)
{
    const int64_t right_ms = 1800000000000;
    struct soc_clock clock;
    soc_clock_init(&clock, true);
    soc_clock_set(&clock, 86400000); /* a machine that has lost its clock */
    CHECK(soc_clock_resume(&clock, right_ms));
    CHECK_INT(soc_clock_now(&clock), right_ms + 1);
    CHECK_INT(soc_clock_date(&clock), 86400000);
    struct soc_calendar calendar = clock.calendar;
    soc_clock_init(&clock, true);
    clock.calendar = calendar;
    soc_clock_set(&clock, right_ms + 60000);
    CHECK(soc_clock_resume(&clock, right_ms + 5000));
    CHECK_INT(soc_clock_now(&clock), right_ms + 60000);
    CHECK_INT(soc_clock_date(&clock), right_ms + 60000);
    CHECK_INT(soc_clock_date_of(&clock, right_ms + 5000), 86400000 + 4999);
}

static void a_second_is_made_up_for_without_a_step(void)
{
    struct soc_clock clock;
    soc_clock_init(&clock, false);
    int64_t now_ms = soc_clock_now(&clock);
    CHECK(!soc_clock_resume(&clock, now_ms + 900));
    CHECK(soc_clock_now(&clock) >= now_ms + 900);
    CHECK_INT(soc_clock_date(&clock) - soc_clock_now(&clock), 0);
    CHECK(!soc_clock_resume(&clock, now_ms - 5000));
    CHECK(soc_clock_now(&clock) >= now_ms + 900);
    CHECK(soc_clock_resume(&clock, now_ms + 3600000));
    CHECK(soc_clock_now(&clock) > now_ms + 3600000);
    clock.monotonic_ms -= 500;
    CHECK(soc_clock_now(&clock) > now_ms + 3600500);
}

static void a_virtual_clock_that_was_not_set_continues(void)
{
    struct soc_clock clock;
    soc_clock_init(&clock, true);
    CHECK(!soc_clock_resume(&clock, SOC_CLOCK_VIRTUAL_START_MS + 90000));
    CHECK_INT(soc_clock_now(&clock), SOC_CLOCK_VIRTUAL_START_MS + 90000);
    CHECK_INT(soc_clock_date(&clock), SOC_CLOCK_VIRTUAL_START_MS + 90000);
    soc_clock_move(&clock, SOC_CLOCK_VIRTUAL_START_MS + 90001);
    CHECK_INT(soc_clock_now(&clock), SOC_CLOCK_VIRTUAL_START_MS + 90001);
}

static void monotonic_microseconds_never_decrease(void)
{
    int64_t last = soc_clock_monotonic_us();
    size_t wrong = 0;
    for (int i = 0; i < 10000; i++) {
        int64_t now = soc_clock_monotonic_us();
        wrong += now < last;
        last = now;
    }
    CHECK_INT(wrong, 0);
}

/* Tells whether `time_ms` is written as `expected`. */
static void check_format(int64_t time_ms, const char *expected)
{
    char text[SOC_TIME_BYTES];
    soc_time_format(text, time_ms);
    CHECK_BYTES(text, sizeof(text), expected);
}

static void times_are_written_as_rfc_3339(void)
{
    check_format(0, "1970-01-01T00:00:00.000Z");
    check_format(1767225600000, "2026-01-01T00:00:00.000Z");
    check_format(1709210096789, "2024-02-29T12:34:56.789Z");
    check_format(951868799999, "2000-02-29T23:59:59.999Z");
    check_format(4107542400000, "2100-03-01T00:00:00.000Z");
    check_format(253402300799999, "9999-12-31T23:59:59.999Z");
}

static void a_time_out_of_range_is_clamped(void)
{
    check_format(-1, "1970-01-01T00:00:00.000Z");
    check_format(INT64_MIN, "1970-01-01T00:00:00.000Z");
    check_format(INT64_MAX, "9999-12-31T23:59:59.999Z");
}

static void formatting_agrees_with_the_c_library_and_parses_back(void)
{
    struct soc_rng rng;
    size_t wrong = 0;
    soc_rng_init(&rng, 3);
    for (int i = 0; i < 200000; i++) {
        int64_t time_ms = (int64_t)soc_rng_below(&rng, 253402300800000);
        time_t seconds = time_ms / 1000;
        struct tm parts;
        char expected[64], text[SOC_TIME_BYTES];
        int64_t back;
        size_t length = strftime(expected, 32, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &parts));
        snprintf(expected + length, 32, ".%03dZ", (int)(time_ms % 1000));
        soc_time_format(text, time_ms);
        wrong += memcmp(text, expected, sizeof(text)) != 0;
        wrong += !soc_time_parse(soc_slice(text, sizeof(text)), &back) || back != time_ms;
    }
    CHECK_INT(wrong, 0);
}

/* Returns what a text reads as, or INT64_MIN. */
static int64_t parse(const char *text)
{
    int64_t time_ms;
    return soc_time_parse(soc_slice_text(text), &time_ms) ? time_ms : INT64_MIN;
}

static void any_rfc_3339_time_is_parsed(void)
{
    CHECK_INT(parse("2026-01-05T12:00:00Z"), 1767614400000);
    CHECK_INT(parse("2026-01-05t12:00:00z"), 1767614400000);
    CHECK_INT(parse("2026-01-05 12:00:00Z"), 1767614400000);
    CHECK_INT(parse("2026-01-05T12:00:00.5Z"), 1767614400500);
    CHECK_INT(parse("2026-01-05T12:00:00.123999999999Z"), 1767614400123);
    CHECK_INT(parse("2026-01-05T20:00:00+08:00"), 1767614400000);
    CHECK_INT(parse("2026-01-05T08:30:00.007-03:30"), 1767614400007);
    CHECK_INT(parse("2026-01-01T00:30:00+01:00"), 1767225600000 - 1800000);
    CHECK_INT(parse("1969-12-31T23:59:59.999Z"), -1);
    CHECK_INT(parse("0000-01-01T00:00:00Z"), -62167219200000);
    CHECK_INT(parse("2016-12-31T23:59:60Z"), 1483228800000);
    CHECK_INT(parse("2017-01-01T08:59:60.5+09:00"), 1483228800500);
}

static void other_texts_are_not_times(void)
{
    static const char *const texts[] = {
        "",
        "now",
        "2026-01-05",
        "2026-01-05T12:00Z",
        "2026-01-05T12:00:00",
        "2026-01-05T12:00:00.Z",
        "2026-01-05T12:00:00,5Z",
        "2026-01-05T12:00:00Zx",
        "2026-01-05T12:00:00+0800",
        "2026-01-05T12:00:00+08",
        "2026-01-05T12:00:00+24:00",
        "2026-01-05T12:00:00+08:60",
        "2026-01-05T24:00:00Z",
        "2026-01-05T12:60:00Z",
        "2026-01-05T12:00:61Z",
        "2026-01-05T12:00:60Z",
        "2026-1-05T12:00:00Z",
        "2026-00-05T12:00:00Z",
        "2026-13-05T12:00:00Z",
        "2026-01-00T12:00:00Z",
        "2026-01-32T12:00:00Z",
        "2026-02-29T12:00:00Z",
        "2100-02-29T12:00:00Z",
        "+026-01-05T12:00:00Z",
        "2026-01-05_12:00:00Z",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (!CHECK_INT(parse(texts[i]), INT64_MIN))
            printf("#   text:     %s\n", texts[i]);
    int64_t unused;
    CHECK(!soc_time_parse(soc_slice_text(NULL), &unused));
    CHECK(!soc_time_parse(soc_slice("2026-01-05T12:00:00\0Z", 21), &unused));
}

static void a_time_becomes_a_json_string(void)
{
    struct soc_buf buf = {0};
    soc_buf_put_byte(&buf, '[');
    soc_time_put_json(&buf, 1767614400123);
    CHECK_TEXT(soc_buf_text(&buf), "[\"2026-01-05T12:00:00.123Z\"");
    soc_buf_fini(&buf);
}

int main(void)
{
    RUN(a_virtual_clock_stands_still_until_it_is_moved);
    RUN(stepping_the_wall_clock_changes_nothing);
    RUN(a_real_clock_shows_the_wall_clock);
    RUN(a_real_clock_runs_by_the_monotonic_one);
    RUN(a_clock_that_was_set_back_gives_dates_and_keeps_its_time);
    RUN(a_clock_that_is_right_again_is_followed);
    RUN(a_second_is_made_up_for_without_a_step);
    RUN(a_virtual_clock_that_was_not_set_continues);
    RUN(monotonic_microseconds_never_decrease);
    RUN(times_are_written_as_rfc_3339);
    RUN(a_time_out_of_range_is_clamped);
    RUN(formatting_agrees_with_the_c_library_and_parses_back);
    RUN(any_rfc_3339_time_is_parsed);
    RUN(other_texts_are_not_times);
    RUN(a_time_becomes_a_json_string);
    return check_done();
}

/* Covers: core/env/log_detail.c */
#include "check.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "env/log.h"

#define NOON_MS 1767614400123 /* 2026-01-05T12:00:00.123Z */

static void keep_line(struct soc_slice line, void *user)
{
    soc_buf_put_slice(user, line);
}

/* Writes one line with `log` and compares it. */
static void check_line(struct soc_log log, struct soc_slice agent, struct soc_slice detail,
                       const char *expected)
{
    struct soc_buf lines = {0};
    log.write = keep_line;
    log.user = &lines;
    soc_log_line(&log, SOC_LOG_WARN, NOON_MS, "spawn_refused", agent, detail);
    CHECK_TEXT(soc_buf_text(&lines), expected);
    soc_buf_fini(&lines);
}

static void a_line_for_people_has_time_level_event_agent_and_detail(void)
{
    check_line((struct soc_log){0}, SOC_SLICE("root"), SOC_SLICE("no brief"),
               "12:00:00.123 warn spawn_refused root: no brief\n");
}

static void a_line_without_an_agent_has_no_agent_field(void)
{
    check_line((struct soc_log){0}, soc_slice_text(NULL), SOC_SLICE("no brief"),
               "12:00:00.123 warn spawn_refused: no brief\n");
    check_line((struct soc_log){.is_json = true}, soc_slice_text(NULL), soc_slice_text(NULL),
               "{\"timestamp\":\"2026-01-05T12:00:00.123Z\",\"level\":\"warn\","
               "\"event\":\"spawn_refused\",\"detail\":{}}\n");
}

static void a_json_line_is_one_object(void)
{
    check_line((struct soc_log){.is_json = true, .has_colour = true}, SOC_SLICE("root"),
               SOC_SLICE("say \"a\"\nb"),
               "{\"timestamp\":\"2026-01-05T12:00:00.123Z\",\"level\":\"warn\","
               "\"event\":\"spawn_refused\",\"agent\":\"root\","
               "\"detail\":{\"text\":\"say \\\"a\\\"\\nb\"}}\n");
}

/* Writes one event as a line of JSON and compares its detail. */
static void check_event(struct soc_slice detail, const char *expected)
{
    struct soc_buf lines = {0};
    struct soc_buf whole = {0};
    struct soc_log log = {.is_json = true, .write = keep_line, .user = &lines};
    soc_buf_printf(&whole,
                   "{\"timestamp\":\"2026-01-05T12:00:00.123Z\",\"level\":\"info\","
                   "\"event\":\"log\",\"agent\":\"root\",\"detail\":%s}\n",
                   expected);
    soc_log_event(&log, SOC_LOG_INFO, NOON_MS, "log", SOC_SLICE("root"), detail);
    CHECK_TEXT(soc_buf_text(&lines), soc_buf_text(&whole));
    soc_buf_fini(&whole);
    soc_buf_fini(&lines);
}

static void an_event_in_json_has_an_object_for_its_detail(void)
{
    check_event(SOC_SLICE("{\"text\":\"a\",\"fields\":{\"n\":1}}"),
                "{\"text\":\"a\",\"fields\":{\"n\":1}}");
    check_event(SOC_SLICE("{}"), "{}");
}

static void an_event_whose_detail_is_not_an_object_has_an_object_with_its_text(void)
{
    check_event(SOC_SLICE("{\"text\":"), "{\"text\":\"{\\\"text\\\":\"}");
    check_event(SOC_SLICE("{\n}"), "{\"text\":\"{\\n}\"}");
    check_event(SOC_SLICE("{}{}"), "{\"text\":\"{}{}\"}");
    check_event(SOC_SLICE("[1]"), "{\"text\":\"[1]\"}");
    check_event(soc_slice_text(NULL), "{}");
}

/* Writes one event with `detail` and lends the line, without its newline, in `lines`. */
static struct soc_slice write_event(struct soc_buf *lines, bool is_json, struct soc_slice detail)
{
    struct soc_log log = {.is_json = is_json, .write = keep_line, .user = lines};
    lines->length = 0;
    soc_log_event(&log, SOC_LOG_INFO, NOON_MS, "log", SOC_SLICE("root"), detail);
    CHECK(lines->length > 0 && lines->data[lines->length - 1] == '\n');
    return soc_slice(lines->data, lines->length - 1);
}

static void put_many(struct soc_buf *out, const char *text, int count)
{
    for (int i = 0; i < count; i++)
        soc_buf_put_text(out, text);
}

/* Writes one event for people and compares its text. */
static void check_sentence(struct soc_slice detail, const char *expected)
{
    struct soc_buf lines = {0};
    struct soc_buf whole = {0};
    soc_buf_printf(&whole, "12:00:00.123 info log root: %s\n", expected);
    write_event(&lines, false, detail);
    CHECK_TEXT(soc_buf_text(&lines), soc_buf_text(&whole));
    soc_buf_fini(&whole);
    soc_buf_fini(&lines);
}

static void an_event_for_people_shows_its_message_then_its_traceback(void)
{
    check_sentence(
        SOC_SLICE("{\"error\":\"script_error\",\"message\":\"app.lua:3: \\\"boom\\\"\","
                  "\"attempt\":2,\"traceback\":\"stack traceback:\\n\\tapp.lua:3: in f\"}"),
        "script_error: app.lua:3: \"boom\" {\"attempt\":2}\n"
        "    stack traceback:\n    \tapp.lua:3: in f");
    check_sentence(SOC_SLICE("{\"message\":\"only this\"}"), "only this");
    check_sentence(SOC_SLICE("{\"error\":{\"a\":1},\"message\":\"m\"}"), "m {\"error\":{\"a\":1}}");
}

static void an_event_for_people_shows_its_text_and_fields(void)
{
    check_sentence(SOC_SLICE("{\"text\":\"noted\\ntwice\"}"), "noted\n    twice");
    check_sentence(SOC_SLICE("{\"text\":\"noted\",\"fields\":{\"n\":1}}"), "noted {\"n\":1}");
    check_sentence(SOC_SLICE("{\"text\":\"noted\",\"fields\":[1],\"more\":null}"),
                   "noted [1] {\"more\":null}");
}

static void an_event_for_people_without_text_stays_json(void)
{
    check_sentence(SOC_SLICE("{\"from\":\"idle\",\"to\":\"paused\"}"),
                   "{\"from\":\"idle\",\"to\":\"paused\"}");
    check_sentence(SOC_SLICE("{\"message\":7}"), "{\"message\":7}");
    check_sentence(SOC_SLICE("[1]"), "[1]");
}

static void the_text_of_an_event_cannot_control_the_terminal(void)
{
    check_sentence(SOC_SLICE("{\"text\":\"a\\u001b[2J\\n12:00 error fake: b\"}"),
                   "a?[2J\n    12:00 error fake: b");
}

static void a_long_member_of_an_event_is_truncated_and_the_line_stays_an_object(void)
{
    struct soc_buf lines = {0};
    struct soc_buf detail = {0};
    struct soc_buf text = {0};
    soc_buf_put_text(&detail, "{\"error\":\"script_error\",\"message\":\"");
    put_many(&detail, "\xc3\xa9\\n", 1000000);
    soc_buf_put_text(&detail, "\",\"fields\":[");
    put_many(&detail, "1,", 1000000);
    soc_buf_put_text(&detail, "1],\"n\":7}");
    struct soc_slice line = write_event(&lines, true, soc_buf_slice(&detail));
    CHECK(line.length < 16384);
    CHECK_INT(soc_json_check(line, NULL), SOC_OK);
    struct soc_slice said = soc_json_member(line, "detail");
    CHECK(soc_slice_equal(soc_json_member(said, "error"), SOC_SLICE("\"script_error\"")));
    CHECK(soc_slice_equal(soc_json_member(said, "n"), SOC_SLICE("7")));
    CHECK(soc_json_string(soc_json_member(said, "message"), &text));
    CHECK(strstr(soc_buf_text(&text), "\n\xc3\xa9… (3000000 bytes)") != NULL);
    text.length = 0;
    CHECK(soc_json_string(soc_json_member(said, "fields"), &text));
    CHECK(strstr(soc_buf_text(&text), "1,1… (2000003 bytes)") != NULL);
    line = write_event(&lines, false, soc_buf_slice(&detail));
    CHECK(line.length < 16384);
    soc_buf_fini(&text);
    soc_buf_fini(&detail);
    soc_buf_fini(&lines);
}

static void an_event_with_too_many_members_counts_those_dropped(void)
{
    struct soc_buf lines = {0};
    struct soc_buf detail = {0};
    soc_buf_put_byte(&detail, '{');
    for (int i = 0; i < 10000; i++)
        soc_buf_printf(&detail, "%s\"m%d\":%d", i > 0 ? "," : "", i, i);
    soc_buf_put_byte(&detail, '}');
    struct soc_slice line = write_event(&lines, true, soc_buf_slice(&detail));
    CHECK(line.length < 16384);
    CHECK_INT(soc_json_check(line, NULL), SOC_OK);
    struct soc_slice said = soc_json_member(line, "detail");
    int64_t left_out = 0;
    int64_t shown = -1; /* the count of dropped members is a member itself */
    struct soc_json_walk walk;
    for (soc_json_walk(&walk, said); soc_json_next(&walk);)
        shown++;
    CHECK(soc_json_integer(soc_json_member(said, "members_left_out"), &left_out));
    CHECK_INT(shown + left_out, 10000);
    soc_buf_fini(&detail);
    soc_buf_fini(&lines);
}

static void a_long_text_is_truncated_and_shows_its_length(void)
{
    struct soc_buf lines = {0};
    struct soc_buf detail = {0};
    struct soc_log log = {.write = keep_line, .user = &lines};
    put_many(&detail, "\xc3\xa9", 1000000);
    soc_log_line(&log, SOC_LOG_INFO, NOON_MS, "print", SOC_SLICE("load"), soc_buf_slice(&detail));
    CHECK(lines.length < 16384);
    CHECK(strstr(soc_buf_text(&lines), "\xc3\xa9… (2000000 bytes)\n") != NULL);
    CHECK_INT(soc_utf8_fault(soc_buf_slice(&lines)), -1);
    soc_buf_fini(&detail);
    soc_buf_fini(&lines);
}

static void colour_is_only_around_the_level(void)
{
    check_line((struct soc_log){.has_colour = true}, SOC_SLICE("root"), SOC_SLICE("x"),
               "12:00:00.123 \x1b[33mwarn\x1b[0m spawn_refused root: x\n");
}

static void unicode_control_and_bidirectional_characters_are_replaced(void)
{
    check_line(
        (struct soc_log){0}, SOC_SLICE("root"),
        SOC_SLICE("a\xc2\x9b"
                  "31m\xc2\x80\xe2\x80\xae"
                  "b\xe2\x81\xa6\xe2\x80\xa8"
                  "c \xc2\xa0\xe2\x80\x94\xe4\xbd\xa0"),
        "12:00:00.123 warn spawn_refused root: a?31m??b??c \xc2\xa0\xe2\x80\x94\xe4\xbd\xa0\n");
}

static void a_detail_can_neither_forge_a_line_nor_control_the_terminal(void)
{
    check_line((struct soc_log){0}, soc_slice_text(NULL),
               SOC_SLICE("one\n12:00:00.000 error fake: two\r\x1b[2J\tend\x7f"),
               "12:00:00.123 warn spawn_refused: one\n"
               "    12:00:00.000 error fake: two??[2J\tend?\n");
}

static void lines_below_the_threshold_are_not_written(void)
{
    struct soc_buf lines = {0};
    struct soc_log log = {.level = SOC_LOG_WARN, .write = keep_line, .user = &lines};
    soc_log_line(&log, SOC_LOG_INFO, NOON_MS, "a", soc_slice_text(NULL), SOC_SLICE("x"));
    soc_log_printf(&log, SOC_LOG_DEBUG, NOON_MS, "b", soc_slice_text(NULL), "%d", 1);
    CHECK_INT(lines.length, 0);
    soc_log_line(&log, SOC_LOG_WARN, NOON_MS, "c", soc_slice_text(NULL), SOC_SLICE("x"));
    CHECK(lines.length > 0);
    lines.length = 0;
    log.level = SOC_LOG_NONE;
    soc_log_line(&log, SOC_LOG_ERROR, NOON_MS, "d", soc_slice_text(NULL), SOC_SLICE("x"));
    CHECK_INT(lines.length, 0);
    soc_buf_fini(&lines);
}

static void a_formatted_detail_may_be_long(void)
{
    struct soc_buf lines = {0};
    struct soc_log log = {.write = keep_line, .user = &lines};
    soc_log_printf(&log, SOC_LOG_ERROR, NOON_MS, "e", SOC_SLICE("a"), "%s %d", "n", 5);
    CHECK_TEXT(soc_buf_text(&lines), "12:00:00.123 error e a: n 5\n");
    lines.length = 0;
    soc_log_printf(&log, SOC_LOG_DEBUG, NOON_MS, "e", soc_slice_text(NULL), "%05000d", 5);
    CHECK_INT(lines.length, strlen("12:00:00.123 debug e: ") + 5000 + 1);
    soc_buf_fini(&lines);
}

static void level_names_are_parsed(void)
{
    static const char *const names[] = {"debug", "info", "warn", "error", "none"};
    enum soc_log_level level;
    for (int i = 0; i < 5; i++) {
        level = SOC_LOG_DEBUG;
        CHECK(soc_log_level_parse(soc_slice_text(names[i]), &level));
        CHECK_INT(level, i);
    }
    CHECK(!soc_log_level_parse(SOC_SLICE("warning"), &level));
    CHECK(!soc_log_level_parse(SOC_SLICE(""), &level));
}

int main(void)
{
    RUN(a_line_for_people_has_time_level_event_agent_and_detail);
    RUN(a_line_without_an_agent_has_no_agent_field);
    RUN(a_json_line_is_one_object);
    RUN(an_event_in_json_has_an_object_for_its_detail);
    RUN(an_event_whose_detail_is_not_an_object_has_an_object_with_its_text);
    RUN(an_event_for_people_shows_its_message_then_its_traceback);
    RUN(an_event_for_people_shows_its_text_and_fields);
    RUN(an_event_for_people_without_text_stays_json);
    RUN(the_text_of_an_event_cannot_control_the_terminal);
    RUN(a_long_member_of_an_event_is_truncated_and_the_line_stays_an_object);
    RUN(an_event_with_too_many_members_counts_those_dropped);
    RUN(a_long_text_is_truncated_and_shows_its_length);
    RUN(colour_is_only_around_the_level);
    RUN(a_detail_can_neither_forge_a_line_nor_control_the_terminal);
    RUN(unicode_control_and_bidirectional_characters_are_replaced);
    RUN(lines_below_the_threshold_are_not_written);
    RUN(a_formatted_detail_may_be_long);
    RUN(level_names_are_parsed);
    return check_done();
}

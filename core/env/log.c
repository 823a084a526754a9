#include "env/log.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/limits.h"
#include "env/clock.h"
#include "env/log_detail.h"

/* In the order of enum soc_log_level. */
static const struct {
    const char *name;
    const char *colour; /* escape sequence that starts it */
} levels[] = {
    {"debug", "\x1b[2m"},  {"info", "\x1b[36m"}, {"warn", "\x1b[33m"},
    {"error", "\x1b[31m"}, {"none", ""},
};

#define COLOUR_END "\x1b[0m"

/* One line. */
struct line {
    enum soc_log_level level;
    int64_t time_ms;
    const char *event;
    struct soc_slice agent;
    struct soc_slice detail;
    bool is_event; /* the detail is JSON */
};

/* Tells whether a line of JSON can contain the detail as an object. */
static bool has_object(const struct line *line)
{
    struct soc_slice detail = line->detail;
    return line->is_event && detail.length > 0 && detail.data[0] == '{' &&
           memchr(detail.data, '\n', detail.length) == NULL &&
           soc_json_check(detail, NULL) == SOC_OK;
}

/* Appends an object: the detail itself, or its text as a member. */
static void put_json_detail(struct soc_buf *out, const struct line *line)
{
    soc_json_put_name(out, "detail");
    if (has_object(line)) {
        soc_buf_put_slice(out, line->detail);
        return;
    }
    soc_buf_put_byte(out, '{');
    if (line->detail.length > 0)
        soc_json_put_text_member(out, "text", line->detail);
    soc_buf_put_byte(out, '}');
}

static void put_json_line(struct soc_buf *out, const struct line *line)
{
    soc_buf_put_byte(out, '{');
    soc_json_put_name(out, "timestamp");
    soc_time_put_json(out, line->time_ms);
    soc_json_put_text_member(out, "level", soc_slice_text(levels[line->level].name));
    soc_json_put_text_member(out, "event", soc_slice_text(line->event));
    soc_json_put_text_member(out, "agent", line->agent);
    put_json_detail(out, line);
    soc_buf_put_text(out, "}\n");
}

size_t soc_log_harm_at(struct soc_slice text, size_t at)
{
    const unsigned char *bytes = (const unsigned char *)text.data + at;
    size_t left = text.length - at;
    assert(at < text.length);
    if (bytes[0] < ' ' || bytes[0] == 0x7f)
        return 1;
    if (left >= 2 && bytes[0] == 0xc2 && bytes[1] >= 0x80 && bytes[1] < 0xa0)
        return 2;
    if (left >= 3 && bytes[0] == 0xe2 &&
        ((bytes[1] == 0x80 && bytes[2] >= 0xa8 && bytes[2] <= 0xae) ||
         (bytes[1] == 0x81 && bytes[2] >= 0xa6 && bytes[2] <= 0xa9)))
        return 3;
    return 0;
}

void soc_log_put_harmless(struct soc_buf *out, struct soc_slice text, const char *line_end,
                          char instead)
{
    for (size_t i = 0; i < text.length;) {
        size_t harm = soc_log_harm_at(text, i);
        char c = text.data[i];
        if (c == '\n')
            soc_buf_put_text(out, line_end);
        else
            soc_buf_put_byte(out, harm > 0 && c != '\t' ? instead : c);
        i += harm > 0 ? harm : 1;
    }
}

/* Escaped as the header says. */
static void put_visible(struct soc_buf *out, struct soc_slice text)
{
    soc_log_put_harmless(out, text, "\n    ", '?');
}

static void put_human_line(struct soc_buf *out, const struct line *line, bool has_colour)
{
    char stamp[SOC_TIME_BYTES];
    soc_time_format(stamp, line->time_ms);
    soc_buf_put(out, stamp + 11, 12); /* the time of day without the Z */
    soc_buf_put_byte(out, ' ');
    if (has_colour)
        soc_buf_put_text(out, levels[line->level].colour);
    soc_buf_put_text(out, levels[line->level].name);
    if (has_colour)
        soc_buf_put_text(out, COLOUR_END);
    soc_buf_put_byte(out, ' ');
    soc_buf_put_text(out, line->event);
    if (line->agent.data != NULL) {
        soc_buf_put_byte(out, ' ');
        put_visible(out, line->agent);
    }
    soc_buf_put_text(out, ": ");
    if (has_object(line)) {
        struct soc_buf sentence = {0};
        soc_log_put_sentence(&sentence, line->detail);
        put_visible(out, soc_buf_slice(&sentence));
        soc_buf_fini(&sentence);
    } else {
        put_visible(out, line->detail);
    }
    soc_buf_put_byte(out, '\n');
}

static void write_line(struct soc_log *log, struct line *line)
{
    assert(line->level < SOC_LOG_NONE && line->event != NULL);
    if (line->level < log->level)
        return;
    struct soc_buf out = {0};
    struct soc_buf cut = {0};
    if (line->detail.length > SOC_LOG_DETAIL_BYTES_MAX) {
        if (has_object(line))
            soc_log_put_object(&cut, line->detail);
        else
            soc_log_put_text(&cut, line->detail, SOC_LOG_DETAIL_BYTES_MAX);
        line->detail = soc_buf_slice(&cut);
    }
    if (log->is_json)
        put_json_line(&out, line);
    else
        put_human_line(&out, line, log->has_colour);
    if (log->write != NULL)
        log->write(soc_buf_slice(&out), log->user);
    else
        fwrite(out.data, 1, out.length, stderr);
    soc_buf_fini(&cut);
    soc_buf_fini(&out);
}

void soc_log_line(struct soc_log *log, enum soc_log_level level, int64_t time_ms, const char *event,
                  struct soc_slice agent, struct soc_slice detail)
{
    write_line(log, &(struct line){level, time_ms - log->behind_ms, event, agent, detail, false});
}

void soc_log_event(struct soc_log *log, enum soc_log_level level, int64_t time_ms,
                   const char *event, struct soc_slice agent, struct soc_slice detail)
{
    write_line(log, &(struct line){level, time_ms - log->behind_ms, event, agent, detail, true});
}

void soc_log_say(struct soc_log *log, enum soc_log_level level, int64_t time_ms, const char *event,
                 struct soc_slice agent, struct soc_slice detail, struct soc_slice sentence)
{
    if (log->is_json)
        soc_log_event(log, level, time_ms, event, agent, detail);
    else
        soc_log_line(log, level, time_ms, event, agent, sentence);
}

static void put_formatted(struct soc_buf *out, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length > 0) {
        vsnprintf(soc_buf_reserve(out, (size_t)length + 1), (size_t)length + 1, format, args);
        out->length = (size_t)length;
    }
}

void soc_log_printf(struct soc_log *log, enum soc_log_level level, int64_t time_ms,
                    const char *event, struct soc_slice agent, const char *format, ...)
{
    if (level < log->level)
        return;
    struct soc_buf detail = {0};
    va_list args;
    va_start(args, format);
    put_formatted(&detail, format, args);
    va_end(args);
    soc_log_line(log, level, time_ms, event, agent, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

void soc_log_say_printf(struct soc_log *log, enum soc_log_level level, int64_t time_ms,
                        const char *event, struct soc_slice agent, struct soc_slice detail,
                        const char *format, ...)
{
    if (level < log->level)
        return;
    struct soc_buf sentence = {0};
    va_list args;
    va_start(args, format);
    put_formatted(&sentence, format, args);
    va_end(args);
    soc_log_say(log, level, time_ms, event, agent, detail, soc_buf_slice(&sentence));
    soc_buf_fini(&sentence);
}

bool soc_log_level_parse(struct soc_slice text, enum soc_log_level *level)
{
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        if (soc_slice_equal(text, soc_slice_text(levels[i].name))) {
            *level = (enum soc_log_level)i;
            return true;
        }
    }
    return false;
}

/* Log: diagnostics to stderr, for people or as JSON lines.
 *
 * A line has a level, an event name and fields. Callers must never pass a secret, and a
 * payload only up to SOC_LOG_PAYLOAD_BYTES_MAX. Every line is truncated at
 * SOC_LOG_DETAIL_BYTES_MAX: errors and texts of scripts may have any length.
 * In lines for people control characters and bidirectional control characters are shown
 * as ? and continuation lines are indented, so that no text can control the terminal or
 * pass for a line of its own.
 * Layer: env. Thread: loop. */
#ifndef SOC_ENV_LOG_H
#define SOC_ENV_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

/* The severity of a line, or a threshold. */
enum soc_log_level {
    SOC_LOG_DEBUG,
    SOC_LOG_INFO,
    SOC_LOG_WARN,
    SOC_LOG_ERROR,
    SOC_LOG_NONE, /* as a threshold: write nothing */
};

/* The destination, threshold and form of lines. */
struct soc_log {
    enum soc_log_level level; /* lines below it are not written */
    bool is_json;             /* one JSON object per line */
    bool has_colour;          /* only on a terminal */
    int64_t behind_ms;        /* taken off the times of lines (env/calendar.h) */
    /* Where lines go; NULL is stderr. `line` ends with a newline. */
    void (*write)(struct soc_slice line, void *user);
    void *user;
};

/* Writes one line at society time `time_ms`, of which the date is shown. `detail` is text, which a
 * line of JSON has as `{"text":…}`; `agent` may be absent. */
void soc_log_line(struct soc_log *log, enum soc_log_level level, int64_t time_ms, const char *event,
                  struct soc_slice agent, struct soc_slice detail);

/* The same with a detail that is JSON: a line of JSON contains it as it is. */
void soc_log_event(struct soc_log *log, enum soc_log_level level, int64_t time_ms,
                   const char *event, struct soc_slice agent, struct soc_slice detail);

/* The same with a sentence for people in place of the object. */
void soc_log_say(struct soc_log *log, enum soc_log_level level, int64_t time_ms, const char *event,
                 struct soc_slice agent, struct soc_slice detail, struct soc_slice sentence);

/* As soc_log_say with the sentence formatted. */
void soc_log_say_printf(struct soc_log *log, enum soc_log_level level, int64_t time_ms,
                        const char *event, struct soc_slice agent, struct soc_slice detail,
                        const char *format, ...) __attribute__((format(printf, 7, 8)));

/* As soc_log_line with the detail formatted. */
void soc_log_printf(struct soc_log *log, enum soc_log_level level, int64_t time_ms,
                    const char *event, struct soc_slice agent, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Returns the length of the character at `at`, which is inside `text`, if it could
 * control a terminal, or reorder, hide or break a line: control characters, U+2028 to
 * U+202E, U+2066 to U+2069. Otherwise 0. */
size_t soc_log_harm_at(struct soc_slice text, size_t at);

/* Appends untrusted text so that it can be shown on a terminal: `instead` replaces each
 * such character except tabs, `line_end` each end of a line. */
void soc_log_put_harmless(struct soc_buf *out, struct soc_slice text, const char *line_end,
                          char instead);

/* Parses the name of a level: debug, info, warn, error, none. */
bool soc_log_level_parse(struct soc_slice text, enum soc_log_level *level);

#endif

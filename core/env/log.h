/* Log: diagnostics to stderr, for people or as JSON lines.
 *
 * A line has a level, an event name and fields. No secret is ever handed to it,
 * and a payload only up to SOC_LOG_PAYLOAD_BYTES_MAX; that is the caller's duty.
 * Whatever is handed to it, a line is cut at SOC_LOG_DETAIL_BYTES_MAX: errors and
 * texts of scripts may be of any length.
 * In lines for people control characters and signs that turn text are shown as ? and
 * further lines indented, so that no text can steer the terminal or pass for a line of its
 * own.
 * Layer: env. Thread: loop. */
#ifndef SOC_ENV_LOG_H
#define SOC_ENV_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

/* How much a line matters; as a threshold, what is written. */
enum soc_log_level {
    SOC_LOG_DEBUG,
    SOC_LOG_INFO,
    SOC_LOG_WARN,
    SOC_LOG_ERROR,
    SOC_LOG_NONE, /* as a threshold: nothing is written */
};

/* Where lines go, which, and in what form. */
struct soc_log {
    enum soc_log_level level; /* lines below it are not written */
    bool is_json;             /* one JSON object per line */
    bool has_colour;          /* only on a terminal */
    /* Where lines go; NULL is stderr. `line` ends with a newline. */
    void (*write)(struct soc_slice line, void *user);
    void *user;
};

/* Writes one line at society time `time_ms`. `detail` is a sentence; `agent`
 * may be absent. */
void soc_log_line(struct soc_log *log, enum soc_log_level level, int64_t time_ms, const char *event,
                  struct soc_slice agent, struct soc_slice detail);

/* The same with a detail that is JSON: in a line of JSON an object is one, not a text. */
void soc_log_event(struct soc_log *log, enum soc_log_level level, int64_t time_ms,
                   const char *event, struct soc_slice agent, struct soc_slice detail);

/* As soc_log_line with the detail formatted. */
void soc_log_printf(struct soc_log *log, enum soc_log_level level, int64_t time_ms,
                    const char *event, struct soc_slice agent, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Bytes of the sign at `at` of a text, which is inside it, if it could steer a terminal or
 * turn, hide or break a line: control characters, U+2028 to U+202E, U+2066 to U+2069. 0 if
 * it is none of those. */
size_t soc_log_harm_at(struct soc_slice text, size_t at);

/* Appends text from anywhere so that it passes for nothing else on a terminal: `instead`
 * stands for each such sign but a tab, `line_end` for the end of a line. */
void soc_log_put_harmless(struct soc_buf *out, struct soc_slice text, const char *line_end,
                          char instead);

/* Reads a level's name: debug, info, warn, error, none. */
bool soc_log_level_parse(struct soc_slice text, enum soc_log_level *level);

#endif

/* Files log: logs/events.jsonl and logs/errors.jsonl of the file door.
 *
 * A line is appended once everything it reports is durable. Lines that cannot be
 * written are kept, up to a bound, and tried again at the next sweep.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_FILES_LOG_H
#define SOC_BRIDGE_FILES_LOG_H

#include "base/buf.h"
#include "bridge/files/workdir.h"
#include "env/log.h"

struct soc_files;

/* Appends one line to the logs: `detail` is JSON; absent: `{}`. `agent` and
 * `message_id` may be absent. */
void soc_files_log(struct soc_files *files, enum soc_log_level level, const char *event,
                   struct soc_slice agent, struct soc_slice message_id, struct soc_slice detail);

/* A place in a file. */
struct soc_spot {
    struct soc_slice agent; /* the agent it concerns; absent: none */
    enum soc_place place;
    const char *name;
    int64_t offset;        /* < 0: the file as a whole */
    struct soc_slice line; /* JSON object whose `id` and `from` are logged; absent: none */
};

/* Appends the members `from` and `id` of a line, a JSON object, where it has them. */
void soc_files_log_put_line(struct soc_buf *out, struct soc_slice line);

/* Logs something about a file, with { file, reason, offset?, from?, id? } as its detail.
 * Warnings and errors also go to the host's own log. */
void soc_files_log_file(struct soc_files *files, enum soc_log_level level, const char *event,
                        const struct soc_spot *spot, const char *reason);

/* Notes how a write to the file of `spot` went: 0 or a negative errno. A failure is
 * logged unless `*is_stuck` says that the last write failed as well. */
void soc_files_log_write(struct soc_files *files, const struct soc_spot *spot, bool *is_stuck,
                         int code);

/* Tells whether a file that only we write was changed by somebody else, and logs it.
 * A file that `grows` may have been appended to. */
bool soc_files_log_is_spoilt(struct soc_files *files, enum soc_place place, const char *name,
                             const struct soc_left *left, bool grows);

/* Checks that the logs are as we left them, and retries what could not be written. */
void soc_files_log_check(struct soc_files *files);

/* Writes every line now, durable or not. */
void soc_files_log_flush(struct soc_files *files);

#endif

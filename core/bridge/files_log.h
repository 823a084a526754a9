/* Files log: the logs of the file door, for its own files only (files_report.c).
 *
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_FILES_LOG_H
#define SOC_BRIDGE_FILES_LOG_H

#include "base/buf.h"
#include "bridge/workdir.h"
#include "env/log.h"

struct soc_files;

/* One line of the logs, written when everything so far is durable.
 * `detail` is JSON, absent: none; `message_id` and `agent` may be absent. */
void soc_files_log(struct soc_files *files, enum soc_log_level level, const char *event,
                   struct soc_slice agent, struct soc_slice message_id, struct soc_slice detail);

/* A place in a file. */
struct soc_spot {
    struct soc_slice agent; /* whose it is; absent: nobody's */
    enum soc_place place;
    const char *name;
    int64_t offset;        /* < 0: the file as a whole */
    struct soc_slice line; /* JSON whose `id` and `from` are named; absent: none */
};

/* Puts members for what a line, a JSON object, says of itself: { from?, id? }. */
void soc_files_put_line(struct soc_buf *out, struct soc_slice line);

/* The same about a file, of which the host's log is told, too: it knows of agents only.
 * The detail is { file, reason, offset?, from?, id? }. */
void soc_files_log_file(struct soc_files *files, enum soc_log_level level, const char *event,
                        const struct soc_spot *spot, const char *reason);

#endif

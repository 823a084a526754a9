/* Files settings: how the file door is set up, as society.config{ files = {…} } says.
 *
 * Names, units and defaults are those of the workflow protocol. The scripts' layer reads
 * them, the file door uses them; neither knows the other, so they stand here.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_OUTSIDE_FILES_SETTINGS_H
#define SOC_PARTS_OUTSIDE_FILES_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

/* The settings of one door. */
struct soc_files_settings {
    char *dir;          /* of the workflow; NULL: base_dir/workflow_id */
    char *base_dir;     /* where workflows have their directories */
    char *workflow_id;  /* NULL: the app's name and the day it began */
    char *perspectives; /* JSON object: agent id -> perspective; NULL: none is set */
    char *ack_types;    /* JSON list: types that require an ack; NULL: as their types say */
    unsigned folder_mode;
    unsigned file_mode;

    int64_t poll_ms;        /* polling.interval_ms */
    int64_t poll_max_ms;    /* polling.max_interval_ms */
    int64_t wait_ms;        /* polling.max_wait_ms: for the newline of a last line */
    double poll_backoff;    /* polling.backoff_multiplier */
    bool polls;             /* polling.force: inotify is not used */
    int64_t heartbeat_ms;   /* heartbeat.interval_ms: agents.json is that fresh */
    int64_t silence_ms;     /* heartbeat.timeout_ms */
    int64_t ack_ms;         /* ack.timeout_ms */
    int64_t retry_ms;       /* ack.retry_delay_ms */
    int64_t retries_max;    /* ack.max_retries */
    bool rotates;           /* cleanup.enabled */
    int64_t messages_max;   /* cleanup.max_messages: in a file before it is rotated */
    int64_t keep_ms;        /* cleanup.keep_ms: how long a line stays, however many there are */
    bool archives;          /* cleanup.archive_after_workflow */
    int64_t lines_max;      /* buffers.message_buffer: taken from a file at a time */
    int64_t ack_cache_s;    /* buffers.ack_cache_ttl: taken for the protocol's sake; acks are
                               in the database */
    bool caches_heartbeat;  /* buffers.heartbeat_cache: a file that stands as it stood is not
                               read again */
    int64_t line_bytes_max; /* buffers.line_bytes */
    bool has_silence;       /* heartbeat.timeout_ms was given */
    bool has_ladder;        /* some of ack.timeout_ms, .retry_delay_ms, .max_retries was */
};

/* Reads settings, a JSON object, over the defaults. SOC_EINVAL with `detail` naming the
 * member for one that is unknown or wrong. Free them with soc_files_settings_fini, also
 * after an error. */
int soc_files_settings_read(struct soc_files_settings *settings, struct soc_slice json,
                            struct soc_detail *detail);

/* Frees the texts. */
void soc_files_settings_fini(struct soc_files_settings *settings);

#endif

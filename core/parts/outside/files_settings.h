/* Files settings: configuration of the file door, from society.config{ files = {…} }.
 *
 * Names, units and defaults follow the workflow protocol. The script layer reads the
 * settings and the file door uses them; the two layers do not know each other, so the
 * settings live here.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_OUTSIDE_FILES_SETTINGS_H
#define SOC_PARTS_OUTSIDE_FILES_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

/* The settings of one door. */
struct soc_files_settings {
    char *dir;          /* the workflow's directory; NULL: base_dir/workflow_id */
    char *base_dir;     /* parent directory of all workflows */
    char *workflow_id;  /* NULL: the app's name and its start date */
    char *perspectives; /* JSON object: agent id -> perspective; NULL: none */
    char *ack_types;    /* JSON list: types that require an ack; NULL: each type's default */
    unsigned folder_mode;
    unsigned file_mode;

    int64_t poll_ms;      /* polling.interval_ms */
    int64_t poll_max_ms;  /* polling.max_interval_ms */
    int64_t wait_ms;      /* polling.max_wait_ms: how long to wait for the newline of a last line */
    double poll_backoff;  /* polling.backoff_multiplier */
    bool polls;           /* polling.force: do not use inotify */
    int64_t heartbeat_ms; /* heartbeat.interval_ms: how often agents.json is updated */
    int64_t silence_ms;   /* heartbeat.timeout_ms */
    int64_t ack_ms;       /* ack.timeout_ms */
    int64_t retry_ms;     /* ack.retry_delay_ms */
    int64_t retries_max;  /* ack.max_retries */
    bool rotates;         /* cleanup.enabled */
    int64_t messages_max; /* cleanup.max_messages: lines in a file before it is rotated */
    int64_t keep_ms;      /* cleanup.keep_ms: minimum age of a line before it is rotated out */
    bool archives;        /* cleanup.archive_after_workflow */
    int64_t lines_max;    /* buffers.message_buffer: lines read from a file at a time */
    int64_t ack_cache_s;  /* buffers.ack_cache_ttl: accepted for the protocol, unused; acks are
                             in the database */
    bool caches_heartbeat;  /* buffers.heartbeat_cache: do not read an unchanged file
                               again */
    int64_t line_bytes_max; /* buffers.line_bytes */
    bool has_silence;       /* heartbeat.timeout_ms was given */
    bool has_ladder;        /* any of ack.timeout_ms, .retry_delay_ms, .max_retries was given */
};

/* Reads settings, a JSON object, over the defaults. SOC_EINVAL for an unknown or
 * invalid member, which `detail` names. Free with soc_files_settings_fini, even after
 * an error. */
int soc_files_settings_read(struct soc_files_settings *settings, struct soc_slice json,
                            struct soc_detail *detail);

/* Frees the texts. */
void soc_files_settings_fini(struct soc_files_settings *settings);

#endif

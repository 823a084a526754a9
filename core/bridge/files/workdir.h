/* Workdir: the directory of a workflow, and the only way to its files.
 *
 *     channel/broadcast.jsonl      to everybody           channel/agents/ID.jsonl      to ID
 *     channel/orchestrator.jsonl   from anybody           channel/agents/ID.ack        acks of ID
 *     state/agents.json            who is registered      channel/agents/ID.out.jsonl  from ID
 *     state/status.json            how they are           state/heartbeat/ID.ts        of ID
 *     logs/events.jsonl, logs/errors.jsonl                archive/                     what is over
 *     .lock                        the process that runs the society
 *
 * Each folder is held open and everything below is named relative to it, so that nobody
 * can lead us out of it by moving things about. Links are never followed, and only plain
 * files are opened: what else stands there is refused.
 * Layer: bridge. Thread: any, one at a time. */
#ifndef SOC_BRIDGE_FILES_WORKDIR_H
#define SOC_BRIDGE_FILES_WORKDIR_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* The folders of a workflow. */
enum soc_place {
    SOC_PLACE_ROOT,
    SOC_PLACE_CHANNEL,
    SOC_PLACE_AGENTS,
    SOC_PLACE_STATE,
    SOC_PLACE_HEARTBEAT,
    SOC_PLACE_LOGS,
    SOC_PLACE_ARCHIVE,
    SOC_PLACE_COUNT,
};

/* What an outside agent's files are called behind its id. */
#define SOC_QUEUE_SUFFIX     ".jsonl"
#define SOC_ACK_SUFFIX       ".ack"
#define SOC_OUT_SUFFIX       ".out.jsonl"
#define SOC_HEARTBEAT_SUFFIX ".ts"

/* A workflow's directory, with its folders open. */
struct soc_workdir {
    char *path;
    int folders[SOC_PLACE_COUNT]; /* open descriptors; -1: not open */
    int lock;                     /* holds the directory for one society; -1: not locked */
    mode_t folder_mode;
    mode_t file_mode;
};

/* Opens the directory; `makes`: for the society that runs there, which holds it alone, and
 * what is missing is made, with these modes, whatever the umask. SOC_ENOFILE, SOC_EACCESS
 * (also: a link stands in the way, another society runs there, in whose files nothing is
 * touched), with `detail`. On an error nothing is left open. Close it with soc_workdir_close. */
int soc_workdir_open(struct soc_workdir *dir, const char *path, bool makes, mode_t folder_mode,
                     mode_t file_mode, struct soc_detail *detail);

/* Closes all of it. */
void soc_workdir_close(struct soc_workdir *dir);

/* Looks whether the folder that is held is the one that stands in its place, those above it
 * first. 0: it is. 1: it was moved, removed or replaced, and the one that stands there now,
 * made if need be, is held instead, and locked if the old one was. Or a negative errno: none
 * can be (-EBUSY: another society runs there), the old one is kept. */
int soc_workdir_renew(struct soc_workdir *dir, enum soc_place place);

/* Tells whether others may do more in the folder than its mode as set allows; the mode it
 * has is in `*mode`. */
bool soc_workdir_is_open_to_others(const struct soc_workdir *dir, enum soc_place place,
                                   mode_t *mode);

/* Lends the path of a folder relative to the workflow's: "channel/agents", "" for itself. */
const char *soc_place_path(enum soc_place place);

/* Opens the plain file `name` as open() does, made if `flags` say so. Returns the
 * descriptor, or a negative errno: -ELOOP for a link, -EINVAL for what is no plain file. */
int soc_workdir_open_file(const struct soc_workdir *dir, enum soc_place place, const char *name,
                          int flags);

/* Appends to a file, made if it is not there. 0, or a negative errno. */
int soc_workdir_append(const struct soc_workdir *dir, enum soc_place place, const char *name,
                       struct soc_slice text);

/* How a file was left that nobody else is to write. */
struct soc_left {
    uint64_t inode; /* 0: there is none */
    int64_t size;
    int64_t time_ns; /* of its last change */
};

/* Tells how a file stands now. */
struct soc_left soc_workdir_look(const struct soc_workdir *dir, enum soc_place place,
                                 const char *name);

/* Appends lines; a last line that was cut short is ended first. `*text` is what is left of them
 * when the disk is full: whole lines. `*left` is how the file is left. 0, or a negative errno. */
int soc_workdir_append_lines(const struct soc_workdir *dir, enum soc_place place, const char *name,
                             struct soc_slice *text, struct soc_left *left);

/* Ends the last line of a file by a newline if it has none, so that what is appended is a
 * line of its own. 0, also if there is no file, or a negative errno. */
int soc_workdir_end_line(const struct soc_workdir *dir, enum soc_place place, const char *name);

/* Puts a file with these bytes in the place of the one that is there, at one stroke; `*left`,
 * if it is wanted, is how. 0, or a negative errno. */
int soc_workdir_replace(const struct soc_workdir *dir, enum soc_place place, const char *name,
                        struct soc_slice text, struct soc_left *left);

/* Appends the bytes of a file, `bytes_max` at most, to `out`. 0, or a negative errno. */
int soc_workdir_read(const struct soc_workdir *dir, enum soc_place place, const char *name,
                     size_t bytes_max, struct soc_buf *out);

/* Moves every file of channel, state (its heartbeats, too) and logs that holds anything
 * into archive/`name`, in folders of the same names. A queue of an agent that holds nothing is
 * removed: that it is gone tells that the work is over. 0, or the first negative errno. */
int soc_workdir_archive(const struct soc_workdir *dir, const char *name);

#endif

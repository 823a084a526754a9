/* Workdir: the directory of a workflow, and the only way to its files.
 *
 *     channel/broadcast.jsonl      to everybody           channel/agents/ID.jsonl      to ID
 *     channel/orchestrator.jsonl   from anybody           channel/agents/ID.ack        acks of ID
 *     state/agents.json            who is registered      channel/agents/ID.out.jsonl  from ID
 *     state/status.json            how they are           state/heartbeat/ID.ts        of ID
 *     logs/events.jsonl, logs/errors.jsonl                archive/                     what is over
 *     .lock                        the process that runs the society
 *
 * The folders are kept open and files are opened relative to them, so that moving folders
 * cannot redirect us. Links are not followed, and only regular files are opened.
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

/* Suffixes of an outside agent's files, after its id. */
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

/* Opens the directory. `makes`: for the society that runs there; locks it and creates
 * missing folders with these modes, whatever the umask. SOC_ENOFILE, SOC_EACCESS (also: a
 * link is in the way, or another society uses it; its files are not touched), with `detail`.
 * On an error nothing stays open. Close it with soc_workdir_close(). */
int soc_workdir_open(struct soc_workdir *dir, const char *path, bool makes, mode_t folder_mode,
                     mode_t file_mode, struct soc_detail *detail);

/* Closes the folders and the lock. */
void soc_workdir_close(struct soc_workdir *dir);

/* Checks that the open folder, and those above it, are still at their paths. Returns 0 if
 * so. 1: it was moved, removed or replaced, and the new one, created if needed, is used
 * instead and locked if the old one was. A negative errno: the new one cannot be used
 * (-EBUSY: another society uses it), and the old one is kept. */
int soc_workdir_renew(struct soc_workdir *dir, enum soc_place place);

/* Returns true if the folder gives others more rights than the configured mode. `*mode` is
 * its mode. */
bool soc_workdir_is_open_to_others(const struct soc_workdir *dir, enum soc_place place,
                                   mode_t *mode);

/* Lends the path of a folder relative to the workflow's: "channel/agents", "" for the root. */
const char *soc_place_path(enum soc_place place);

/* Opens the regular file `name` as open() does. Returns the descriptor or a negative errno:
 * -ELOOP for a link, -EINVAL if it is not a regular file, -EMLINK for a file with a
 * second name. */
int soc_workdir_open_file(const struct soc_workdir *dir, enum soc_place place, const char *name,
                          int flags);

/* Removes the names in the archive of a file that still has its own name: a rotation gives
 * it both for a moment. */
void soc_workdir_take_back(const struct soc_workdir *dir, enum soc_place place, const char *name);

/* Lends the reason for a negative errno of these functions, for people. */
const char *soc_workdir_reason(int code);

/* Appends to a file and creates it if needed. Returns 0 or a negative errno. */
int soc_workdir_append(const struct soc_workdir *dir, enum soc_place place, const char *name,
                       struct soc_slice text);

/* How we left a file that only we may write. */
struct soc_left {
    uint64_t inode; /* 0: no file */
    int64_t size;
    int64_t time_ns; /* of its last change */
};

/* Returns the current state of a file. */
struct soc_left soc_workdir_look(const struct soc_workdir *dir, enum soc_place place,
                                 const char *name);

/* Appends lines; an incomplete last line is ended first. `*text` becomes the complete lines
 * not written because the disk is full, `*left` the state of the file. Returns 0 or a
 * negative errno. */
int soc_workdir_append_lines(const struct soc_workdir *dir, enum soc_place place, const char *name,
                             struct soc_slice *text, struct soc_left *left);

/* Ends the last line of a file with a newline if it has none. Returns 0, also if there is no
 * file, or a negative errno. */
int soc_workdir_end_line(const struct soc_workdir *dir, enum soc_place place, const char *name);

/* Replaces a file atomically. `*left`, if not NULL, becomes its state. Returns 0 or a
 * negative errno. */
int soc_workdir_replace(const struct soc_workdir *dir, enum soc_place place, const char *name,
                        struct soc_slice text, struct soc_left *left);

/* Appends up to `bytes_max` bytes of a file to `out`. Returns 0 or a negative errno. */
int soc_workdir_read(const struct soc_workdir *dir, enum soc_place place, const char *name,
                     size_t bytes_max, struct soc_buf *out);

/* Moves every non-empty file of channel, state (with heartbeats) and logs into
 * archive/`name`, in folders of the same names. Empty queues of agents are removed, which
 * tells the agents that the work is over. Returns 0 or the first negative errno. */
int soc_workdir_archive(const struct soc_workdir *dir, const char *name);

#endif

/* Files: the door for agents that only know files.
 *
 * Outside agents (parts/outside/outside.h) read their mail from the workflow's directory
 * (workdir.h) and answer there. Messages are appended to ID.jsonl once they are durable, a
 * broadcast once to broadcast.jsonl. Agents write lines: acks to ID.ack, messages to
 * orchestrator.jsonl, where each line names its sender, or to ID.out.jsonl, where the file
 * name does. The read position is committed with the effects of a line, so a crash neither
 * loses a line nor takes it twice.
 *
 * watch.h says when files are looked at. Events go to logs/, the agents and their status to
 * state/.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_FILES_FILES_H
#define SOC_BRIDGE_FILES_FILES_H

#include <stdbool.h>

#include "base/err.h"
#include "parts/outside/files_settings.h"

struct soc_files;
struct soc_host;
struct soc_loop;

/* Options of the door. All is lent. */
struct soc_files_options {
    struct soc_host *host;
    struct soc_loop *loop;
    const struct soc_files_settings *settings; /* lent as long as the door */
    const char *app_name;                      /* default of the workflow id */
};

/* Opens the door of a started host. Files of an earlier society in the directory are
 * archived. SOC_EACCESS (also: another society uses the directory), SOC_ENOFILE, with
 * `detail`. */
int soc_files_open(struct soc_files **out, const struct soc_files_options *options,
                   struct soc_detail *detail);

/* Takes everything in the files, also incomplete last lines. Returns true if there was
 * anything: a run that was about to end then continues. NULL is allowed. */
bool soc_files_take_rest(struct soc_files *files);

/* Takes everything in the files and closes the door. `is_finished`: the society has ended,
 * and the workflow is archived if the settings say so. Call it before the host is freed.
 * NULL is allowed. */
void soc_files_stop(struct soc_files *files, bool is_finished);

/* Frees the door, after the host. NULL is allowed. */
void soc_files_free(struct soc_files *files);

#endif

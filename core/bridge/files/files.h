/* Files: the door for agents that only know files.
 *
 * Outside agents (parts/outside/outside.h) read their mail from the workflow's directory
 * (workdir.h) and answer there. Mail is appended to ID.jsonl once it is durable, a
 * broadcast once to broadcast.jsonl; what they write comes in line by line: acks from
 * ID.ack, messages from orchestrator.jsonl, where the line says who speaks, and from
 * ID.out.jsonl, where the file does. How far each file was read is committed with what
 * the line has led to, so that a crash anywhere takes no line twice and loses none.
 *
 * Changes are told by the system (inotify); besides, and alone where it cannot or must
 * not, the files are looked at now and then, less often while nothing comes. What happens
 * goes to logs/, who is there and how they are to state/.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_FILES_FILES_H
#define SOC_BRIDGE_FILES_FILES_H

#include <stdbool.h>

#include "base/err.h"
#include "parts/outside/files_settings.h"

struct soc_files;
struct soc_host;
struct soc_loop;

/* What the door is opened with; all of it is lent. */
struct soc_files_options {
    struct soc_host *host;
    struct soc_loop *loop;
    const struct soc_files_settings *settings; /* lent as long as the door */
    const char *app_name;                      /* for the workflow's id, unless it is set */
};

/* Opens the door of a host that has started. Files of an earlier society that stand in the
 * directory go to its archive. SOC_EACCESS (also: another one runs there), SOC_ENOFILE with
 * `detail`. */
int soc_files_open(struct soc_files **out, const struct soc_files_options *options,
                   struct soc_detail *detail);

/* Takes what stands in the files as if nobody would write any more; tells whether there was
 * anything: then a run that was about to end goes on. NULL is allowed. */
bool soc_files_take_rest(struct soc_files *files);

/* Takes what stands in the files and closes the door; from now on nothing goes in or out.
 * `is_finished`: the society has come to its end, and the workflow goes to the archive if
 * the settings say so. While the host still is there. NULL is allowed. */
void soc_files_stop(struct soc_files *files, bool is_finished);

/* Frees it, once the host is gone. NULL is allowed. */
void soc_files_free(struct soc_files *files);

#endif

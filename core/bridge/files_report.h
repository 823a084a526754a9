/* Files report: what the file door shows of itself, for its own files only.
 *
 * agents.json and status.json are written anew when what they say changes, the logs are
 * appended to; all once what they tell of is durable. Nobody else is to write there: what is
 * not as we left it is told of.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_FILES_REPORT_H
#define SOC_BRIDGE_FILES_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "bridge/workdir.h"

struct soc_files;

/* A file that says how things are, and is written anew when they change. */
struct soc_report {
    struct soc_buf text; /* as written */
    struct soc_buf next; /* what waits to be durable */
    struct soc_left left;
    bool is_stuck; /* it could not be written: told */
};

/* A log. */
struct soc_files_log {
    struct soc_buf text; /* lines that wait to be durable, or to be written at all */
    size_t ready;        /* of these: those the call under way lets out */
    struct soc_left left;
    bool is_stuck; /* it could not be written: told */
};

/* Has agents.json and status.json written soon; now; and every line of the logs. */
void soc_files_report_soon(struct soc_files *files);
void soc_files_report_now(struct soc_files *files);
void soc_files_flush_log(struct soc_files *files);

/* Looks whether all these are as we left them: if not, that is told and what can be is written
 * again. Tries again to write what could not be. */
void soc_files_check_reports(struct soc_files *files);

/* Forgets how we left them: they are in the archive, or in another directory. */
void soc_files_forget_reports(struct soc_files *files);

/* Remembers who has ended in earlier runs of this workflow, as agents.json says. */
void soc_files_restore_ended(struct soc_files *files);

/* Opens and closes what reports need. */
void soc_files_open_report(struct soc_files *files);
void soc_files_close_report(struct soc_files *files);

#endif

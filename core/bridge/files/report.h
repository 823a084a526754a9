/* Files report: state/agents.json and state/status.json of the file door.
 *
 * Each is replaced as a whole when its contents change, once what it reports is
 * durable. Nobody else should write there; a file that was changed is logged and
 * written again.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_FILES_REPORT_H
#define SOC_BRIDGE_FILES_REPORT_H

struct soc_files;

/* Starts and stops the timer for reports. */
void soc_files_report_open(struct soc_files *files);
void soc_files_report_close(struct soc_files *files);

/* Has both files written within moments. */
void soc_files_report_soon(struct soc_files *files);

/* Has both files written within a second, because the state of an agent may have changed; in a
 * large society, at the next interval. */
void soc_files_report_later(struct soc_files *files);

/* Writes both files now, durable or not. */
void soc_files_report_now(struct soc_files *files);

/* Checks that both files and the logs are as we left them. A file that is not, or that
 * could not be written, is written again. */
void soc_files_report_check(struct soc_files *files);

/* Forgets how we left the files: they are in the archive, or in another directory. */
void soc_files_report_forget(struct soc_files *files);

/* Reads from agents.json which agents ended in earlier runs of this workflow. */
void soc_files_report_restore(struct soc_files *files);

#endif

/* Tasks reopening: a task that failed is open again when its message is.
 *
 * The message of a failed task becomes a dead letter and may be sent again. What reopening
 * needs is in the store; it is recalled together with the letter (`recall`), and forgotten
 * when the letter was sent (`again`). Private to the part `tasks`.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_TASKS_TASKS_REOPEN_H
#define SOC_PARTS_TASKS_TASKS_REOPEN_H

struct soc_host;

/* Forgets what was recalled. */
void soc_tasks_forget_recalled(struct soc_host *host);

#endif

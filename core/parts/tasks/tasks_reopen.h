/* Tasks reopening: what is needed to reopen a failed task.
 *
 * The message of a failed task becomes a dead letter and may be sent again. The part
 * keeps what reopening needs for as long as it keeps the dead letter. Private to the
 * part `tasks`.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_TASKS_TASKS_REOPEN_H
#define SOC_PARTS_TASKS_TASKS_REOPEN_H

#include <stdint.h>

struct soc_host;
struct soc_message;
struct soc_task;

/* Keeps what reopening a failed task needs, given its fields; or because `message`
 * becomes a dead letter together with its open `task` (NULL: not open). The last one
 * forgets it. */
void soc_tasks_note_failed(struct soc_host *host, uint64_t key, uint64_t parent, uint8_t alerts);
void soc_tasks_note_letter(struct soc_host *host, const struct soc_message *message,
                           const struct soc_task *task);
void soc_tasks_forget_failed(struct soc_host *host, uint64_t key);

/* Forgets tasks without a dead letter, after loading; or all of them. */
void soc_tasks_settle_failed(struct soc_host *host);
void soc_tasks_free_failed(struct soc_host *host);

#endif

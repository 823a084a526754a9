/* Tasks' reopening: what a task that has failed is opened again with.
 *
 * Its message is a dead letter then and may be sent again: what is needed for that is
 * kept as long as the letter is. For the files tasks*.c only.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_TASKS_TASKS_REOPEN_H
#define SOC_PARTS_TASKS_TASKS_REOPEN_H

#include <stdint.h>

struct soc_host;
struct soc_message;
struct soc_task;

/* Keeps what a task that has failed is opened again with, or forgets
 * it; by what is known of it, or because `message` becomes a dead letter and with it
 * its task, if that is open (else NULL). */
void soc_tasks_note_failed(struct soc_host *host, uint64_t key, uint64_t parent, uint8_t alerts);
void soc_tasks_note_letter(struct soc_host *host, const struct soc_message *message,
                           const struct soc_task *task);
void soc_tasks_forget_failed(struct soc_host *host, uint64_t key);

/* Forgets those without a dead letter, once all is loaded; or all of them. */
void soc_tasks_settle_failed(struct soc_host *host);
void soc_tasks_free_failed(struct soc_host *host);

#endif

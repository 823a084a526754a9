/* Workload: what one agent has to do, and how long such work took it.
 *
 * The open tasks of an agent in the order they were opened, and the last few that
 * ended. From these alone follow how busy it was and when it will be free, so that
 * the same history gives the same figures, also after a restart.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_TASKS_WORKLOAD_H
#define SOC_MODEL_TASKS_WORKLOAD_H

#include <stdint.h>

#include "base/limits.h"
#include "model/tasks/task.h"

/* A task that has ended, as far as it is remembered. */
struct soc_task_done {
    uint64_t key;
    uint64_t parent; /* key of the task it descended from, 0: none */
    char *id;        /* owned */
    int64_t started_ms;
    int64_t ended_ms;
    uint8_t state;
    uint8_t alerts; /* enum soc_task_alert, those given */
};

/* The tasks of one agent. */
struct soc_workload {
    struct soc_agent *owner; /* lent */
    struct soc_task *first;  /* open, lent */
    struct soc_task *last;
    uint32_t done_count;
    struct soc_task_done done[SOC_TASKS_DONE_MAX]; /* in order of their ends */
};

/* How long tasks took that were completed: a sum, so that several can be joined. */
struct soc_pace {
    int64_t total_ms;
    uint32_t count;
};

/* Returns the workload of an agent without tasks; release with soc_workload_free(). */
struct soc_workload *soc_workload_new(struct soc_agent *owner);

/* Frees it, not its tasks. NULL is allowed. */
void soc_workload_free(struct soc_workload *workload);

/* Puts an open task last, or takes one out. */
void soc_workload_add(struct soc_workload *workload, struct soc_task *task);
void soc_workload_remove(struct soc_workload *workload, struct soc_task *task);

/* Remembers one that has ended, and the key of the task it descended from; the oldest
 * is forgotten. A second of the same key replaces the first. */
void soc_workload_note_done(struct soc_workload *workload, const struct soc_task *task,
                            uint64_t parent);

/* Forgets one that is open again. */
void soc_workload_forget_done(struct soc_workload *workload, uint64_t key);

/* Adds what its completed tasks took to `pace`. */
void soc_workload_add_pace(const struct soc_workload *workload, struct soc_pace *pace);

/* The share of the last `window_ms` in which it had a task in hand, begun and not
 * ended, in percent. Where less is remembered, or it is younger (`born_ms`), the
 * share of that. */
int soc_workload_percent(const struct soc_workload *workload, int64_t now_ms, int64_t born_ms,
                         int64_t window_ms);

/* The state of a task that counts for whoever asks. */
typedef enum soc_task_state soc_task_state_fn(const struct soc_task *task);

/* When all it has will be done if each task takes `mean_ms` and begins when it is due. */
int64_t soc_workload_free_ms(const struct soc_workload *workload, int64_t now_ms, int64_t mean_ms,
                             soc_task_state_fn *state_of);

#endif

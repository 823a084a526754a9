/* Workload: the open tasks of one agent, and how long recent ones took.
 *
 * It lists the open tasks in the order they were opened and the last few that ended.
 * Load and expected completion derive from these alone, so the same history gives the
 * same figures, even after a restart.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_TASKS_WORKLOAD_H
#define SOC_MODEL_TASKS_WORKLOAD_H

#include <stdint.h>

#include "base/limits.h"
#include "model/tasks/task.h"

/* A remembered task that has ended. */
struct soc_task_done {
    uint64_t key;
    uint64_t parent; /* key of its parent task; 0: none */
    char *id;        /* owned */
    int64_t started_ms;
    int64_t ended_ms;
    uint8_t state;
    uint8_t alerts; /* enum soc_task_alert, those raised */
};

/* The tasks of one agent. */
struct soc_workload {
    struct soc_agent *owner; /* lent */
    struct soc_task *first;  /* open, lent */
    struct soc_task *last;
    uint32_t done_count;
    struct soc_task_done done[SOC_TASKS_DONE_MAX]; /* ordered by end */
};

/* Total duration of completed tasks; sums can be added. */
struct soc_pace {
    int64_t total_ms;
    uint32_t count;
};

/* Returns the workload of an agent without tasks. Release with soc_workload_free(). */
struct soc_workload *soc_workload_new(struct soc_agent *owner);

/* Frees it but not its tasks. NULL is allowed. */
void soc_workload_free(struct soc_workload *workload);

/* Appends an open task, or removes one. */
void soc_workload_add(struct soc_workload *workload, struct soc_task *task);
void soc_workload_remove(struct soc_workload *workload, struct soc_task *task);

/* Remembers a task that has ended, and the key of its parent. Drops the oldest if full.
 * A later entry with the same key replaces the earlier. */
void soc_workload_note_done(struct soc_workload *workload, const struct soc_task *task,
                            uint64_t parent);

/* Forgets a task that was opened again. */
void soc_workload_forget_done(struct soc_workload *workload, uint64_t key);

/* Adds the durations of its completed tasks to `pace`. */
void soc_workload_add_pace(const struct soc_workload *workload, struct soc_pace *pace);

/* Returns the percentage of the last `window_ms` in which a task was in progress. The
 * window is shorter if the agent is younger (`born_ms`) or less is remembered. */
int soc_workload_percent(const struct soc_workload *workload, int64_t now_ms, int64_t born_ms,
                         int64_t window_ms);

/* Returns the state of a task as the caller sees it. */
typedef enum soc_task_state soc_task_state_fn(const struct soc_task *task);

/* Returns when all tasks will be done if each takes `mean_ms` and begins when it is
 * due. */
int64_t soc_workload_free_ms(const struct soc_workload *workload, int64_t now_ms, int64_t mean_ms,
                             soc_task_state_fn *state_of);

#endif

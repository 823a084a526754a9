/* Tasks lookup: what other parts may ask about open tasks, and do to them.
 *
 * The parts' own view of tasks.h, which is for scripts, doors and the kernel. Tasks
 * are lent until the next call that may end one; nobody but this part changes them.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_TASKS_TASKS_LOOKUP_H
#define SOC_PARTS_TASKS_TASKS_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "model/task.h"

struct soc_agent;
struct soc_host;

/* Lend the open task with that key, or with that owner and id; NULL if there is none. */
struct soc_task *soc_tasks_find_key(const struct soc_host *host, uint64_t key);
struct soc_task *soc_tasks_find(const struct soc_host *host, const struct soc_agent *owner,
                                struct soc_slice id);

/* Tells whether the task's assigner is still there to receive news of it. */
bool soc_tasks_has_assigner(const struct soc_task *task);

/* Tells whether the agent's work under the id of a finished task was help with that task:
 * as far as the part remembers, the agent never had a task with that id itself, and no
 * open task that goes on has it. */
bool soc_tasks_is_helper(struct soc_host *host, const struct soc_agent *agent, struct soc_slice id);

/* Returns the number of open tasks `owner` has. */
uint32_t soc_tasks_count_open(const struct soc_host *host, const struct soc_agent *owner);

/* Cancels every open task of `owner`, with its descendants, on behalf of `by` (NULL: the
 * host). `reason` is a JSON text. Outside any turn. */
void soc_tasks_cancel_all(struct soc_host *host, const struct soc_agent *owner,
                          struct soc_agent *by, struct soc_slice reason);

#endif

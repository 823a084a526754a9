/* Tasks lookup: what other parts may ask about tasks, and do to them.
 *
 * tasks.h is for scripts, doors and the kernel; this is the view for other parts. A
 * lent task is valid until the next call that may end one, and only this part changes
 * tasks.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_TASKS_TASKS_LOOKUP_H
#define SOC_PARTS_TASKS_TASKS_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "model/tasks/task.h"

struct soc_agent;
struct soc_host;
struct soc_message;

/* Lend the open task with that key, or with that owner and id; NULL if there is none. */
struct soc_task *soc_tasks_find_key(const struct soc_host *host, uint64_t key);
struct soc_task *soc_tasks_find(const struct soc_host *host, const struct soc_agent *owner,
                                struct soc_slice id);

/* Tells whether the message is one that opens a task; and whether the task that the message with
 * that key opened is remembered as over, whoever its owner was. */
bool soc_tasks_opens(const struct soc_host *host, const struct soc_message *message);
bool soc_tasks_is_over(const struct soc_host *host, uint64_t key);

/* Tells whether the task's assigner still exists and can be notified. */
bool soc_tasks_has_assigner(const struct soc_task *task);

/* Tells whether the agent's work under the id of a finished task was help with that
 * task: as far as the part remembers, the agent never owned a task with that id, and no
 * other open task with that id continues. */
bool soc_tasks_is_helper(struct soc_host *host, const struct soc_agent *agent, struct soc_slice id);

/* Returns the number of open tasks `owner` has. */
uint32_t soc_tasks_count_open(const struct soc_host *host, const struct soc_agent *owner);

/* The host of the assigner, an agent elsewhere, has cancelled the owner's task with that id:
 * cancels it here as well, with its descendants. `reason`: a JSON text, or absent. False: there
 * is none. Outside any turn. */
bool soc_tasks_cancel_remote(struct soc_host *host, const struct soc_agent *owner,
                             struct soc_slice id, struct soc_slice reason);

/* The task with that key has begun on the host of its owner, an agent elsewhere. Does nothing if
 * that is known, or if the task waits here. */
void soc_tasks_begin_remote(struct soc_host *host, uint64_t key);

/* The host of the owner, an agent elsewhere, has cancelled the task with that key: cancels it
 * here as well, with its descendants, and tells the assigner. False: there is none. Outside any
 * turn. */
bool soc_tasks_note_cancelled(struct soc_host *host, uint64_t key, struct soc_slice reason);

/* The message with that key, which opened a task of the owner, an agent elsewhere, was refused
 * there with `error`, an error object; key 0: there is no such agent, and all its tasks fail.
 * The assigner is told by a result, unless it waits for a reply. True: the message opened a
 * task, open or over, and nobody waits for a reply. Outside any turn. */
bool soc_tasks_fail_remote(struct soc_host *host, const struct soc_agent *owner, uint64_t key,
                           struct soc_slice error);

/* Cancels every open task of `owner`, with its descendants, on behalf of `by` (NULL: the
 * host). `reason` is a JSON text. Outside any turn. */
void soc_tasks_cancel_all(struct soc_host *host, const struct soc_agent *owner,
                          struct soc_agent *by, struct soc_slice reason);

#endif

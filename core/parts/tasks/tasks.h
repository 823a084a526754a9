/* Tasks: work that agents assign to each other, from opening to result.
 *
 * A message of type task, task_assign or task_assignment opens a task owned by its
 * receiver, as part of the turn that sends it. The task starts when the message is
 * delivered. The owner ends it with a result; the assigner, or an agent above the
 * assigner, may cancel it. Tasks opened while handling a task are cancelled along with
 * it. Changes to tasks inside a turn are noted and take effect when the turn commits.
 *
 * An open task keeps the message that opened it, even after that was handled: a retry
 * delivers the same message again.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_TASKS_TASKS_H
#define SOC_PARTS_TASKS_TASKS_H

#include "base/buf.h"
#include "base/limits.h"
#include "model/message.h"
#include "model/tasks/task.h"
#include "store/record.h"

struct soc_agent;
struct soc_host;
struct soc_send;
struct soc_tasks; /* private */

/* Returns the tasks of a new host; soc_tasks_free() frees soc_tasks_of_host(host). */
void *soc_tasks_new(struct soc_host *host);
void soc_tasks_free(struct soc_host *host);

/* Refuses a message that would open a task whose id `to` already has open, and a
 * delayed message that would end or cancel a task. `id` is the task id given by the
 * sender, or absent. */
int soc_tasks_check(struct soc_host *host, const struct soc_agent *to,
                    const struct soc_symbol *type, const struct soc_send *send, struct soc_slice id,
                    struct soc_buf *error);

/* Gives a message that opens a task its own id as task id (written to `own_id`), unless
 * the sender gave one or it inherits one that the receiver does not have open. */
void soc_tasks_name(struct soc_host *host, struct soc_message_draft *draft,
                    char own_id[SOC_MESSAGE_ID_BYTES]);

/* Opens the task of a message inside the turn that sends it. Ignores other messages. */
void soc_tasks_open(struct soc_host *host, struct soc_message *message);

/* A message has committed: a result ends its task, a cancellation cancels it. True if
 * the message needs no delivery. */
bool soc_tasks_accept(struct soc_host *host, struct soc_message *message);

/* A message was delivered: starts the task it opened, if any. The second is for a
 * message taken inside a turn. */
void soc_tasks_begin(struct soc_host *host, const struct soc_message *message);
void soc_tasks_take(struct soc_host *host, const struct soc_message *message);

/* A message was finished. True if its task is still open and keeps the message. */
bool soc_tasks_ended(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                     struct soc_slice reason);

/* The agent has terminated and its mail is gone: fails its open tasks. */
void soc_tasks_drop_agent(struct soc_host *host, const struct soc_agent *agent);

/* A dead letter is about to be sent again: takes the record of the task that failed with
 * it, or of one above that. Then, when it is sent: reopens the task. */
void soc_tasks_recall(struct soc_host *host, const struct soc_record *record);
void soc_tasks_reopen(struct soc_host *host, struct soc_message *message);

/* May the running agent escalate about the message it handles? Refused as cancelled if
 * that message was sent for a task which has been cancelled since. */
int soc_tasks_check_asking(const struct soc_host *host, struct soc_buf *error);

/* The turn commits: carries out the noted changes. */
void soc_tasks_commit(struct soc_host *host);

/* The task a script refers to: by key and id of the message that opened it (0:
 * unknown), otherwise by task id among those of the running agent. */
struct soc_task_ref {
    uint64_t key;
    struct soc_slice message_id;
    struct soc_slice id;
};

/* How the running agent ends a task. */
struct soc_task_close {
    enum soc_task_state state; /* COMPLETED or FAILED */
    struct soc_slice value;    /* output or error, JSON; absent: none */
    bool is_retryable;
};

/* Ends a task of the running agent, or schedules a retry, and sends the result to the
 * assigner. Appends the task to `answer`. */
int soc_tasks_close(struct soc_host *host, struct soc_task_ref ref,
                    const struct soc_task_close *how, struct soc_buf *answer,
                    struct soc_buf *error);

/* Cancels the tasks with that id which the running agent may cancel. `reason` is JSON
 * or absent. Appends the first of them, and the number of tasks that end, to `answer`. */
int soc_tasks_cancel(struct soc_host *host, struct soc_slice id, struct soc_slice reason,
                     struct soc_buf *answer, struct soc_buf *error);

/* Returns when the next alert is due, 0: never; sends it. */
int64_t soc_tasks_due(const struct soc_host *host);
void soc_tasks_fire(struct soc_host *host);

/* Sets the time limit of tasks opened from now on. */
void soc_tasks_set_limit(struct soc_host *host, int64_t limit_ms);

/* Append the agent's load and queue (SPEC §11) as objects. */
void soc_tasks_put_load(struct soc_host *host, const struct soc_agent *agent, struct soc_buf *out);
void soc_tasks_put_queue(struct soc_host *host, const struct soc_agent *agent, struct soc_buf *out);

/* Appends a sentence that names the open tasks, oldest first and at most
 * SOC_TASKS_NAMED_MAX of them; nothing if there are none. Returns how many there are. */
size_t soc_tasks_put_open(const struct soc_host *host, struct soc_buf *out);

/* Recovery: reads a record back; hands a pending message to its task; hands it a
 * handled one (true: the task keeps it); takes that one back; and finally sets the
 * alarms. */
void soc_tasks_restore(struct soc_host *host, const struct soc_record_task *record);
void soc_tasks_attach(struct soc_host *host, struct soc_message *message);
bool soc_tasks_keep(struct soc_host *host, struct soc_message *message);
struct soc_message *soc_tasks_release(struct soc_host *host, uint64_t key);
void soc_tasks_resume(struct soc_host *host);

#endif

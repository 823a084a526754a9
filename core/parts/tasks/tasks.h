/* Tasks: what agents were given to do, and what becomes of it.
 *
 * A message of type task, task_assign or task_assignment opens a task of its
 * receiver's, as a part of the turn that sends it. It is begun when the message is
 * handed over. The owner ends it by a result, whoever gave it (or stands above him)
 * may cancel it, and what was opened in its handling is cancelled with it. What
 * agents do with tasks inside a turn is noted and done when the turn commits.
 *
 * An open task keeps the message that opened it, also once it was handled: another
 * try is the same message again.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_TASKS_TASKS_H
#define SOC_PARTS_TASKS_TASKS_H

#include "base/buf.h"
#include "base/limits.h"
#include "model/message.h"
#include "model/task.h"
#include "store/record.h"

struct soc_agent;
struct soc_host;
struct soc_send;
struct soc_tasks; /* private */

/* Returns the tasks of a new host; soc_tasks_free() frees soc_tasks_of_host(host). */
void *soc_tasks_new(struct soc_host *host);
void soc_tasks_free(struct soc_host *host);

/* Refuses a message that would open a task `to` has open already, and one that would end
 * or cancel a task but is not to go at once. `id` is the task's that the sender gave, or
 * absent. */
int soc_tasks_check(struct soc_host *host, const struct soc_agent *to,
                    const struct soc_symbol *type, const struct soc_send *send, struct soc_slice id,
                    struct soc_buf *error);

/* Gives a message that opens a task an id for it, its own (written to `own_id`),
 * unless it was given one or inherits one that its receiver does not have yet. */
void soc_tasks_name(struct soc_host *host, struct soc_message_draft *draft,
                    char own_id[SOC_MESSAGE_ID_BYTES]);

/* Opens the task of a message inside the turn that sends it; other messages are
 * left alone. */
void soc_tasks_open(struct soc_host *host, struct soc_message *message);

/* A message has committed: a result ends a task, a cancellation cancels it. True if
 * the message is done with. */
bool soc_tasks_accept(struct soc_host *host, struct soc_message *message);

/* The message was handed over: its task, if it opened one, is begun. The second for
 * a message taken inside a turn. */
void soc_tasks_begin(struct soc_host *host, const struct soc_message *message);
void soc_tasks_take(struct soc_host *host, const struct soc_message *message);

/* The message has come to its end. True if its task keeps it, which is open still. */
bool soc_tasks_ended(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                     struct soc_slice reason);

/* The agent has ended, and its mail is gone: what it had in hand has failed. */
void soc_tasks_drop_agent(struct soc_host *host, const struct soc_agent *agent);

/* A dead letter is sent again: the task that failed with it is open again. */
void soc_tasks_reopen(struct soc_host *host, struct soc_message *message);

/* May the running agent ask the person about what it handles? Refused with the error
 * cancelled if that was sent for a task which was cancelled since. */
int soc_tasks_check_asking(const struct soc_host *host, struct soc_buf *error);

/* The turn commits: does what was noted. */
void soc_tasks_commit(struct soc_host *host);

/* Which task a script means: by the key and the id of the message that opened it (0:
 * unknown), else by its own id among those of the running agent. */
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

/* Ends a task of the running agent, or has it tried again: the assigner gets its
 * result. Appends the task to `answer`. */
int soc_tasks_close(struct soc_host *host, struct soc_task_ref ref,
                    const struct soc_task_close *how, struct soc_buf *answer,
                    struct soc_buf *error);

/* Cancels the tasks of that id the running agent may cancel. `reason` is a JSON
 * text, or absent. Appends the first of them, and how many end, to `answer`. */
int soc_tasks_cancel(struct soc_host *host, struct soc_slice id, struct soc_slice reason,
                     struct soc_buf *answer, struct soc_buf *error);

/* When the next alert falls due, 0: never; gives it. */
int64_t soc_tasks_due(const struct soc_host *host);
void soc_tasks_fire(struct soc_host *host);

/* Sets how long a task may take, for those opened from now on. */
void soc_tasks_set_limit(struct soc_host *host, int64_t limit_ms);

/* Append what SPEC §11 calls load and queue of an agent, as objects. */
void soc_tasks_put_load(struct soc_host *host, const struct soc_agent *agent, struct soc_buf *out);
void soc_tasks_put_queue(struct soc_host *host, const struct soc_agent *agent, struct soc_buf *out);

/* Recovery: reads a record back; gives a message to its task, one that is pending or
 * (true: the task keeps it) one that was handled; takes such a one back; and, when all
 * is read, sets the alarms. */
void soc_tasks_restore(struct soc_host *host, const struct soc_record_task *record);
void soc_tasks_attach(struct soc_host *host, struct soc_message *message);
bool soc_tasks_keep(struct soc_host *host, struct soc_message *message);
struct soc_message *soc_tasks_release(struct soc_host *host, uint64_t key);
void soc_tasks_resume(struct soc_host *host);

#endif

/* Tasks state: private to the part `tasks`.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_TASKS_TASKS_STATE_H
#define SOC_PARTS_TASKS_TASKS_STATE_H

#include "base/heap.h"
#include "kernel/mail/send.h"
#include "kernel/state.h"
#include "model/tasks/workload.h"
#include "parts/table.h"
#include "parts/tasks/tasks.h"
#include "parts/tasks/tasks_lookup.h"

/* All open tasks, and the message types that concern them. */
struct soc_tasks {
    const struct soc_symbol *openers[SOC_TASK_STYLE_COUNT]; /* by enum soc_task_style */
    const struct soc_symbol *result;
    const struct soc_symbol *task_complete;
    const struct soc_symbol *abort;
    struct soc_map open;      /* key -> soc_task, owned */
    struct soc_map names;     /* owner and id -> soc_task, lent */
    struct soc_map workloads; /* owner's id -> soc_workload, owned */
    struct soc_map recalled;  /* key -> remains of an ended task, owned; while one reopens */
    struct soc_heap alarms;   /* of open tasks; separate, because no run waits for them */
    struct soc_buf touched;   /* struct soc_touch: changes noted by the current turn */
    int64_t limit_ms;
};

/* Lends the part's state. */
static inline struct soc_tasks *soc_tasks_of_host(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_TASKS);
}

/* A change to a task that a turn has noted. */
enum soc_task_intent {
    SOC_TASK_OPENED = 1,
    SOC_TASK_BEGUN = 2,
    SOC_TASK_RETRIED = 4,
    SOC_TASK_CLOSED = 8,
    SOC_TASK_CUT = 16, /* cancelled */
};

/* A task that a turn has touched, with the change it noted. */
struct soc_touch {
    uint64_t key;
    enum soc_task_intent intent;
    char *reason; /* JSON, owned, or NULL */
};

/* Notes a change to the task for the current turn; `reason` is JSON or absent. */
void soc_tasks_touch(struct soc_host *host, struct soc_task *task, enum soc_task_intent intent,
                     struct soc_slice reason);

/* Returns the style of the task that such a message opens, -1 if it opens none. */
int soc_tasks_style(const struct soc_host *host, const struct soc_symbol *type,
                    struct soc_slice payload);

/* Lends the open task that `message` opened, or NULL. */
struct soc_task *soc_tasks_of(const struct soc_host *host, const struct soc_message *message);

/* Lend the workload of an agent; the first returns NULL if there is none, the second
 * creates it. */
struct soc_workload *soc_tasks_workload(const struct soc_host *host, const struct soc_agent *agent);
struct soc_workload *soc_tasks_need_workload(struct soc_host *host, struct soc_agent *agent);

/* Returns the state as seen inside the current turn. */
enum soc_task_state soc_tasks_state(const struct soc_task *task);

/* Adds an open task to the indexes, or removes it. */
void soc_tasks_link(struct soc_host *host, struct soc_task *task);
void soc_tasks_unlink(struct soc_host *host, struct soc_task *task);

/* Sets the alarm to the next time something is due. */
void soc_tasks_arm(struct soc_host *host, struct soc_task *task);

/* Append the task's record to the batch; the second as a child of `parent`. */
void soc_tasks_store(struct soc_host *host, const struct soc_task *task);
void soc_tasks_store_under(struct soc_host *host, const struct soc_task *task,
                           const struct soc_task *parent);

/* Takes over the fields of the record; keeps the task's message. */
void soc_tasks_read(struct soc_host *host, struct soc_task *task, const struct soc_record_task *r);

/* Remembers a task that is over and unlinked as done under the task with key `parent` (0:
 * none). Its children move to its parent. */
void soc_tasks_file(struct soc_host *host, struct soc_task *task, uint64_t parent);

/* Writes an event about the task to log and activity. `reason` is JSON or absent. */
void soc_tasks_trace(struct soc_host *host, const char *event, const struct soc_task *task,
                     struct soc_slice reason);

/* The same for its start at `now_ms`, the time that the task itself records, so that the two
 * agree even if the clock has advanced. */
void soc_tasks_trace_start(struct soc_host *host, const struct soc_task *task, int64_t now_ms);

/* The same for its end, with how long it took. */
void soc_tasks_trace_end(struct soc_host *host, const struct soc_task *task,
                         struct soc_slice reason);

/* Writes that an agent that works on a task has given another agent this one, a part of it. */
void soc_tasks_trace_handoff(struct soc_host *host, const struct soc_task *task);

/* Ends a task: unlinks it and remembers it as done. The caller frees it with
 * soc_tasks_dispose(). `reason` is JSON or absent. */
void soc_tasks_end(struct soc_host *host, struct soc_task *task, enum soc_task_state state,
                   struct soc_slice reason);

/* Frees the task, with its message if it owns that. */
void soc_tasks_dispose(struct soc_host *host, struct soc_task *task);

/* Returns a processing task to its queue for a retry at `again_ms`. */
void soc_tasks_retry(struct soc_host *host, struct soc_task *task, int64_t again_ms,
                     struct soc_slice reason);

/* Asks the policy for the delay in ms before a retry, -1: no retry. */
int64_t soc_tasks_ask_retry(struct soc_host *host, const struct soc_task *task,
                            struct soc_slice error);

/* Sends in the open turn, or in a turn of its own. Failures are logged. */
void soc_tasks_send(struct soc_host *host, struct soc_agent *from, const struct soc_send *send);

/* Returns a `send` for the result of a task with that payload. */
struct soc_send soc_tasks_result(const struct soc_task *task, struct soc_slice payload);

/* Appends the payload of a result. */
void soc_tasks_put_result(struct soc_buf *out, const struct soc_task *task, const char *status,
                          const struct soc_task_close *how, int64_t now_ms);

/* Lends the agent's activation that waits for the end of that task, or NULL. */
struct soc_activation *soc_tasks_waiter(const struct soc_agent *agent, uint64_t key);

/* Tells whether the agent had a task with that key, which is remembered. */
bool soc_tasks_has_done(const struct soc_host *host, const struct soc_agent *agent, uint64_t key);

/* Ends such a wait with a result. */
void soc_tasks_answer_waiter(struct soc_host *host, struct soc_activation *waiter,
                             struct soc_slice result);

/* Creates and links the task of a message. Does not store it. */
struct soc_task *soc_tasks_make(struct soc_host *host, struct soc_message *message, int style);

/* tasks_cancel.c: may `who` (NULL: the host) cancel the task? */
bool soc_tasks_may_cancel(const struct soc_host *host, const struct soc_agent *who,
                          const struct soc_task *task);

/* Cancels a task and its descendants on behalf of `by`. `reason` is JSON or absent;
 * `is_told`: the owner already knows. */
void soc_tasks_cut(struct soc_host *host, struct soc_task *task, struct soc_agent *by,
                   struct soc_slice reason, bool is_told);

/* tasks_look.c: append the task as an object; the second as seen inside the current
 * turn. */
void soc_tasks_put_json(const struct soc_host *host, struct soc_buf *out,
                        const struct soc_task *task);
void soc_tasks_put_intended(struct soc_host *host, struct soc_buf *out,
                            const struct soc_task *task);

/* Appends "duration_minutes":N as a member. */
void soc_tasks_put_minutes(struct soc_buf *out, int64_t took_ms);

#endif

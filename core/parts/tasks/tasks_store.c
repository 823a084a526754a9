/* Tasks, storage: records of tasks, and how tasks are restored from them. */
#include <assert.h>

#include "base/json.h"
#include "kernel/registry.h"
#include "kernel/turns/batch.h"
#include "parts/tasks/tasks_state.h"

void soc_tasks_store_under(struct soc_host *host, const struct soc_task *task,
                           const struct soc_task *parent)
{
    struct soc_record record = {.type = SOC_RECORD_TASK};
    record.task = (struct soc_record_task){
        .key = task->key,
        .state = task->state,
        .style = task->style,
        .priority = task->priority,
        .alerts = task->alerts,
        .tries = task->tries,
        .parent = parent == NULL ? 0 : parent->key,
        .opened_ms = (uint64_t)task->opened_ms,
        .started_ms = (uint64_t)task->started_ms,
        .ended_ms = (uint64_t)task->ended_ms,
        .deadline_ms = (uint64_t)task->deadline_date_ms,
        .limit_ms = (uint64_t)task->limit_ms,
        .id = soc_slice_text(task->id),
        .assigner = soc_sender_id(task->assigner),
        .owner = soc_agent_id(task->owner),
        .correlation_id = soc_slice_text(task->correlation_id),
        .reason = soc_slice_text(task->reason),
    };
    soc_batch_put(host, &record);
}

void soc_tasks_store(struct soc_host *host, const struct soc_task *task)
{
    soc_tasks_store_under(host, task, task->parent);
}

/* Writes an event of `agent` about the task, which happened at `time_ms`; takes the unfinished
 * object `detail`. */
static void put_event(struct soc_host *host, const char *event, const struct soc_agent *agent,
                      const struct soc_task *task, int64_t time_ms, struct soc_buf detail)
{
    soc_buf_put_byte(&detail, '}');
    soc_log_event(&host->log, SOC_LOG_INFO, time_ms, event, soc_agent_id(agent),
                  soc_buf_slice(&detail));
    struct soc_record record = {.type = SOC_RECORD_EVENT};
    record.event = (struct soc_record_event){
        .time_ms = (uint64_t)time_ms,
        .event = soc_slice_text(event),
        .agent = soc_agent_id(agent),
        .task_id = soc_slice_text(task->id),
        .correlation_id = soc_slice_text(task->correlation_id),
        .detail = soc_buf_slice(&detail),
    };
    soc_batch_put(host, &record);
    soc_buf_fini(&detail);
}

/* Begins the object of an event: its task, who assigned it, and why. */
static struct soc_buf begin_detail(const struct soc_task *task, struct soc_slice reason)
{
    struct soc_buf detail = {0};
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "task_id", soc_slice_text(task->id));
    soc_json_put_text_member(&detail, "assigner", soc_sender_id(task->assigner));
    if (reason.data != NULL) {
        soc_json_put_name(&detail, "reason");
        soc_buf_put_slice(&detail, reason);
    }
    return detail;
}

void soc_tasks_trace(struct soc_host *host, const char *event, const struct soc_task *task,
                     struct soc_slice reason)
{
    put_event(host, event, task->owner, task, soc_host_now(host), begin_detail(task, reason));
}

void soc_tasks_trace_start(struct soc_host *host, const struct soc_task *task, int64_t now_ms)
{
    put_event(host, "task_start", task->owner, task, now_ms,
              begin_detail(task, (struct soc_slice){0}));
}

void soc_tasks_trace_end(struct soc_host *host, const struct soc_task *task,
                         struct soc_slice reason)
{
    struct soc_buf detail = begin_detail(task, reason);
    int64_t took_ms = soc_task_took_ms(task, task->ended_ms);
    soc_json_put_text_member(&detail, "state", soc_slice_text(soc_task_state_name(task->state)));
    soc_json_put_name(&detail, "duration_seconds");
    if (took_ms % 1000 == 0)
        soc_json_put_integer(&detail, took_ms / 1000);
    else
        soc_json_put_number(&detail, (double)took_ms / 1000);
    put_event(host, "task_end", task->owner, task, task->ended_ms, detail);
}

void soc_tasks_trace_handoff(struct soc_host *host, const struct soc_task *task)
{
    struct soc_buf detail = {0};
    assert(task->parent != NULL && task->assigner != NULL);
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "task_id", soc_slice_text(task->id));
    soc_json_put_text_member(&detail, "parent_task_id", soc_slice_text(task->parent->id));
    soc_json_put_text_member(&detail, "from", soc_agent_id(task->assigner));
    soc_json_put_text_member(&detail, "to", soc_agent_id(task->owner));
    put_event(host, "handoff", task->assigner, task, soc_host_now(host), detail);
}

void soc_tasks_read(struct soc_host *host, struct soc_task *task, const struct soc_record_task *r)
{
    assert(task->key == r->key);
    task->opened_ms = (int64_t)r->opened_ms;
    task->started_ms = (int64_t)r->started_ms;
    task->ended_ms = (int64_t)r->ended_ms;
    task->deadline_date_ms = (int64_t)r->deadline_ms;
    task->deadline_ms = soc_clock_time_of(&host->clock, task->deadline_date_ms);
    task->limit_ms = (int64_t)r->limit_ms;
    task->tries = (uint32_t)r->tries;
    task->state = (uint8_t)r->state;
    task->style = (uint8_t)r->style;
    task->priority = (uint8_t)r->priority;
    task->alerts = (uint8_t)r->alerts;
    soc_text_set(&task->correlation_id, r->correlation_id);
    soc_text_set(&task->reason, r->reason);
    struct soc_task *parent = r->parent == 0 ? NULL : soc_tasks_find_key(host, r->parent);
    if (parent != NULL && task->parent == NULL && parent != task)
        soc_task_adopt(parent, task);
}

void soc_tasks_file(struct soc_host *host, struct soc_task *task, uint64_t parent)
{
    assert(soc_task_is_over(task));
    soc_task_leave(task);
    soc_workload_note_done(soc_tasks_need_workload(host, task->owner), task, parent);
}

/* A record holds the whole task, while live code changes one field at a time and stores the
 * result: each change follows rules of model/tasks/task.h (begin, retry, end) that a record,
 * which may skip steps, must not be held to. Creating, filling and filing are shared. */
void soc_tasks_restore(struct soc_host *host, const struct soc_record_task *r)
{
    struct soc_agent *owner = soc_registry_find_stored(host, r->owner);
    if (owner == NULL)
        return; /* the owner has terminated, and its tasks with it */
    struct soc_task *task = soc_tasks_find_key(host, r->key);
    bool is_open = task != NULL;
    if (!is_open)
        task = soc_task_new(r->key, r->id, soc_registry_find_stored(host, r->assigner), owner);
    bool is_over = r->state >= SOC_TASK_COMPLETED;
    struct soc_workload *workload = soc_tasks_need_workload(host, owner);
    if (!is_over) {
        soc_workload_forget_done(workload, r->key);
        soc_tasks_read(host, task, r);
        if (!is_open)
            soc_tasks_link(host, task);
        return;
    }
    if (is_open)
        soc_tasks_unlink(host, task);
    soc_tasks_read(host, task, r);
    soc_tasks_file(host, task, r->parent);
    soc_tasks_dispose(host, task);
}

void soc_tasks_attach(struct soc_host *host, struct soc_message *message)
{
    struct soc_task *task = soc_tasks_of(host, message);
    if (task != NULL)
        task->message = message;
}

bool soc_tasks_keep(struct soc_host *host, struct soc_message *message)
{
    struct soc_task *task = soc_tasks_of(host, message);
    if (task == NULL)
        return false;
    task->message = message;
    task->owns_message = true;
    return true;
}

struct soc_message *soc_tasks_release(struct soc_host *host, uint64_t key)
{
    struct soc_task *task = soc_tasks_find_key(host, key);
    if (task == NULL || !task->owns_message)
        return NULL;
    task->owns_message = false;
    return task->message;
}

void soc_tasks_resume(struct soc_host *host)
{
    size_t cursor = 0;
    struct soc_task *task;
    while ((task = soc_map_each(&soc_tasks_of_host(host)->open, &cursor)) != NULL)
        soc_tasks_arm(host, task);
}

#include "parts/tasks/tasks_reopen.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "parts/tasks/tasks_state.h"

/* What is left of an ended task. */
struct remains {
    uint64_t parent; /* key of the task it descended from, 0: none */
    uint8_t alerts;  /* enum soc_task_alert, already sent */
};

void soc_tasks_recall(struct soc_host *host, const struct soc_record *record)
{
    struct remains *remains = soc_alloc(sizeof(*remains));
    assert(record->type == SOC_RECORD_TASK);
    *remains = (struct remains){record->task.parent, (uint8_t)record->task.alerts};
    free(soc_map_put_number(&soc_tasks_of_host(host)->recalled, record->task.key, remains));
}

void soc_tasks_forget_recalled(struct soc_host *host)
{
    size_t cursor = 0;
    struct remains *remains;
    while ((remains = soc_map_each(&soc_tasks_of_host(host)->recalled, &cursor)) != NULL)
        free(remains);
    soc_map_fini(&soc_tasks_of_host(host)->recalled);
}

/* Returns the key of an ended task's parent, 0: none. */
static uint64_t parent_of(const struct soc_host *host, uint64_t key)
{
    const struct remains *remains = soc_map_find_number(&soc_tasks_of_host(host)->recalled, key);
    return remains == NULL ? 0 : remains->parent;
}

/* Finds the nearest open task upwards from the task with that key, which may have
 * ended. */
static struct soc_task *find_ancestor(const struct soc_host *host, uint64_t key)
{
    while (key != 0) {
        struct soc_task *task = soc_tasks_find_key(host, key);
        if (task != NULL)
            return task;
        uint64_t above = parent_of(host, key);
        key = above < key ? above : 0; /* a parent is older than its children */
    }
    return NULL;
}

static void reopen(struct soc_host *host, struct soc_message *message)
{
    int style = soc_tasks_style(host, message->type, soc_message_payload(message));
    struct soc_slice id = soc_message_text(message, SOC_TEXT_TASK_ID);
    struct remains *remains = soc_map_find_number(&soc_tasks_of_host(host)->recalled, message->key);
    if (style < 0 || remains == NULL || soc_tasks_find(host, message->to, id) != NULL)
        return;
    struct soc_task *parent = find_ancestor(host, remains->parent);
    struct soc_task *task = soc_tasks_make(host, message, style);
    soc_workload_forget_done(soc_tasks_workload(host, message->to), message->key);
    assert(message->attempt > 0);
    task->tries = (uint32_t)message->attempt - 1;
    /* The deadline is unchanged; the time limit restarts with the task. */
    task->alerts = remains->alerts & SOC_TASK_ALERT_DEADLINE;
    if (parent != NULL)
        soc_task_adopt(parent, task);
    soc_tasks_store(host, task);
    soc_tasks_arm(host, task);
    soc_tasks_trace(host, "task_opened", task, (struct soc_slice){0});
}

void soc_tasks_reopen(struct soc_host *host, struct soc_message *message)
{
    if (soc_tasks_of_host(host)->recalled.count == 0)
        return;
    reopen(host, message);
    soc_tasks_forget_recalled(host);
}

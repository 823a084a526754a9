#include "parts/tasks/tasks_reopen.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "parts/tasks/tasks_state.h"

/* What is left of a failed task. */
struct remains {
    uint64_t parent; /* key of the task it descended from, 0: none */
    uint8_t alerts;  /* enum soc_task_alert, already sent */
};

void soc_tasks_note_failed(struct soc_host *host, uint64_t key, uint64_t parent, uint8_t alerts)
{
    struct remains *remains = soc_alloc(sizeof(*remains));
    *remains = (struct remains){.parent = parent, .alerts = alerts};
    free(soc_map_put_number(&soc_tasks_of_host(host)->failed, key, remains));
}

void soc_tasks_forget_failed(struct soc_host *host, uint64_t key)
{
    free(soc_map_take_number(&soc_tasks_of_host(host)->failed, key));
}

/* Lends what is remembered of an ended task of the agent, or NULL. */
static const struct soc_task_done *find_done(const struct soc_workload *workload, uint64_t key)
{
    for (uint32_t i = 0; workload != NULL && i < workload->done_count; i++)
        if (workload->done[i].key == key)
            return &workload->done[i];
    return NULL;
}

void soc_tasks_note_letter(struct soc_host *host, const struct soc_message *message,
                           const struct soc_task *task)
{
    if (task != NULL) {
        soc_tasks_note_failed(host, task->key, task->parent == NULL ? 0 : task->parent->key,
                              task->alerts);
        return;
    }
    /* The owner may have failed the task before the rest of its handling failed. */
    if (message->to == NULL ||
        soc_tasks_style(host, message->type, soc_message_payload(message)) < 0)
        return;
    const struct soc_task_done *done =
        find_done(soc_tasks_workload(host, message->to), message->key);
    if (done != NULL && done->state == SOC_TASK_FAILED)
        soc_tasks_note_failed(host, done->key, done->parent, done->alerts);
}

/* Returns the key of an ended task's parent; 0: none, or forgotten. */
static uint64_t parent_of(const struct soc_host *host, uint64_t key)
{
    const struct remains *remains = soc_map_find_number(&soc_tasks_of_host(host)->failed, key);
    if (remains != NULL)
        return remains->parent;
    size_t cursor = 0;
    const struct soc_workload *workload;
    while ((workload = soc_map_each(&soc_tasks_of_host(host)->workloads, &cursor)) != NULL) {
        const struct soc_task_done *done = find_done(workload, key);
        if (done != NULL)
            return done->parent;
    }
    return 0;
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

void soc_tasks_reopen(struct soc_host *host, struct soc_message *message)
{
    int style = soc_tasks_style(host, message->type, soc_message_payload(message));
    struct soc_slice id = soc_message_text(message, SOC_TEXT_TASK_ID);
    struct remains *remains = soc_map_find_number(&soc_tasks_of_host(host)->failed, message->key);
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
    soc_tasks_forget_failed(host, message->key);
    soc_tasks_store(host, task);
    soc_tasks_arm(host, task);
    soc_tasks_trace(host, "task_opened", task, (struct soc_slice){0});
}

void soc_tasks_settle_failed(struct soc_host *host)
{
    struct soc_map kept = {0};
    size_t cursor = 0;
    const struct soc_message *message;
    while ((message = soc_map_each(&host->dead, &cursor)) != NULL) {
        struct remains *remains =
            soc_map_take_number(&soc_tasks_of_host(host)->failed, message->key);
        if (remains != NULL)
            soc_map_put_number(&kept, message->key, remains);
    }
    soc_tasks_free_failed(host);
    soc_tasks_of_host(host)->failed = kept;
}

void soc_tasks_free_failed(struct soc_host *host)
{
    size_t cursor = 0;
    struct remains *remains;
    while ((remains = soc_map_each(&soc_tasks_of_host(host)->failed, &cursor)) != NULL)
        free(remains);
    soc_map_fini(&soc_tasks_of_host(host)->failed);
}

#include "model/tasks/task.h"

#include <assert.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/message.h"

static const char *const state_names[] = {"pending", "processing", "completed", "failed",
                                          "cancelled"};
static const char *const style_names[] = {"task", "task_assign", "task_assignment"};

struct soc_task *soc_task_new(uint64_t key, struct soc_slice id, struct soc_agent *assigner,
                              struct soc_agent *owner)
{
    struct soc_task *task = soc_alloc_zero(sizeof(*task));
    task->key = key;
    task->id = soc_copy_text(id.data, id.length);
    task->assigner = assigner;
    task->owner = owner;
    return task;
}

void soc_task_free(struct soc_task *task)
{
    if (task == NULL)
        return;
    assert(!soc_heap_has(&task->alarm) && task->parent == NULL && task->first_child == NULL);
    free(task->id);
    free(task->correlation_id);
    free(task->reason);
    free(task->name);
    free(task);
}

bool soc_task_is_over(const struct soc_task *task)
{
    return task->state >= SOC_TASK_COMPLETED;
}

int soc_task_begin(struct soc_task *task, int64_t now_ms)
{
    if (task->state != SOC_TASK_PENDING)
        return soc_task_is_over(task) ? SOC_ETASKOVER : SOC_EREFUSED;
    task->state = SOC_TASK_PROCESSING;
    task->tries++;
    if (task->started_ms == 0)
        task->started_ms = now_ms;
    return SOC_OK;
}

int soc_task_retry(struct soc_task *task)
{
    if (task->state != SOC_TASK_PROCESSING)
        return soc_task_is_over(task) ? SOC_ETASKOVER : SOC_EREFUSED;
    task->state = SOC_TASK_PENDING;
    return SOC_OK;
}

int soc_task_end(struct soc_task *task, enum soc_task_state state, int64_t now_ms)
{
    assert(state >= SOC_TASK_COMPLETED);
    if (soc_task_is_over(task))
        return SOC_ETASKOVER;
    if (task->state == SOC_TASK_PENDING && state == SOC_TASK_COMPLETED)
        return SOC_EREFUSED;
    task->state = (uint8_t)state;
    task->ended_ms = now_ms;
    return SOC_OK;
}

/* Returns when the alert is due; 0: never, or it was raised. */
static int64_t due_of(const struct soc_task *task, enum soc_task_alert alert)
{
    if (soc_task_is_over(task) || (task->alerts & alert) != 0)
        return 0;
    if (alert == SOC_TASK_ALERT_DEADLINE)
        return task->deadline_ms;
    return task->started_ms == 0 || task->limit_ms == 0 ? 0 : task->started_ms + task->limit_ms;
}

static enum soc_task_alert first_alert(const struct soc_task *task)
{
    int64_t deadline_ms = due_of(task, SOC_TASK_ALERT_DEADLINE);
    int64_t timeout_ms = due_of(task, SOC_TASK_ALERT_TIMEOUT);
    if (timeout_ms != 0 && (deadline_ms == 0 || timeout_ms < deadline_ms))
        return SOC_TASK_ALERT_TIMEOUT;
    return deadline_ms != 0 ? SOC_TASK_ALERT_DEADLINE : SOC_TASK_ALERT_NONE;
}

int64_t soc_task_due(const struct soc_task *task)
{
    enum soc_task_alert alert = first_alert(task);
    return alert == SOC_TASK_ALERT_NONE ? 0 : due_of(task, alert);
}

enum soc_task_alert soc_task_take_alert(struct soc_task *task, int64_t now_ms)
{
    enum soc_task_alert alert = first_alert(task);
    if (alert == SOC_TASK_ALERT_NONE || due_of(task, alert) > now_ms)
        return SOC_TASK_ALERT_NONE;
    task->alerts |= (uint8_t)alert;
    return alert;
}

int64_t soc_task_ready_ms(const struct soc_task *task)
{
    if (task->again_ms != 0)
        return task->again_ms;
    return task->message == NULL ? task->opened_ms : soc_message_due_ms(task->message);
}

int64_t soc_task_took_ms(const struct soc_task *task, int64_t now_ms)
{
    int64_t from_ms = task->started_ms != 0 ? task->started_ms : task->opened_ms;
    return (task->ended_ms != 0 ? task->ended_ms : now_ms) - from_ms;
}

void soc_task_adopt(struct soc_task *parent, struct soc_task *child)
{
    assert(child->parent == NULL && parent != child);
    child->parent = parent;
    child->next_sibling = NULL;
    child->previous_sibling = parent->last_child;
    if (parent->last_child == NULL)
        parent->first_child = child;
    else
        parent->last_child->next_sibling = child;
    parent->last_child = child;
}

static void unlink_from_parent(struct soc_task *task)
{
    struct soc_task *parent = task->parent;
    if (parent == NULL)
        return;
    if (task->previous_sibling == NULL)
        parent->first_child = task->next_sibling;
    else
        task->previous_sibling->next_sibling = task->next_sibling;
    if (task->next_sibling == NULL)
        parent->last_child = task->previous_sibling;
    else
        task->next_sibling->previous_sibling = task->previous_sibling;
    task->parent = task->previous_sibling = task->next_sibling = NULL;
}

void soc_task_leave(struct soc_task *task)
{
    struct soc_task *parent = task->parent;
    while (task->first_child != NULL) {
        struct soc_task *child = task->first_child;
        unlink_from_parent(child);
        if (parent != NULL)
            soc_task_adopt(parent, child);
    }
    unlink_from_parent(task);
}

struct soc_task *soc_task_next_below(const struct soc_task *top, const struct soc_task *task)
{
    if (task->first_child != NULL)
        return task->first_child;
    while (task != top && task->next_sibling == NULL)
        task = task->parent;
    return task == top ? NULL : task->next_sibling;
}

const char *soc_task_state_name(enum soc_task_state state)
{
    assert(state < sizeof(state_names) / sizeof(state_names[0]));
    return state_names[state];
}

const char *soc_task_style_name(enum soc_task_style style)
{
    assert(style < SOC_TASK_STYLE_COUNT);
    return style_names[style];
}

const char *soc_task_alert_name(enum soc_task_alert alert)
{
    return alert == SOC_TASK_ALERT_DEADLINE ? "deadline" : "timeout";
}

#include "model/tasks/workload.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct soc_workload *soc_workload_new(struct soc_agent *owner)
{
    struct soc_workload *workload = soc_alloc_zero(sizeof(*workload));
    workload->owner = owner;
    return workload;
}

void soc_workload_free(struct soc_workload *workload)
{
    if (workload == NULL)
        return;
    for (uint32_t i = 0; i < workload->done_count; i++)
        free(workload->done[i].id);
    free(workload);
}

void soc_workload_add(struct soc_workload *workload, struct soc_task *task)
{
    task->next = NULL;
    task->previous = workload->last;
    if (workload->last == NULL)
        workload->first = task;
    else
        workload->last->next = task;
    workload->last = task;
}

void soc_workload_remove(struct soc_workload *workload, struct soc_task *task)
{
    assert(task->previous != NULL || workload->first == task);
    assert(task->next != NULL || workload->last == task);
    if (task->previous == NULL)
        workload->first = task->next;
    else
        task->previous->next = task->next;
    if (task->next == NULL)
        workload->last = task->previous;
    else
        task->next->previous = task->previous;
    task->previous = task->next = NULL;
}

static void take_out(struct soc_workload *workload, uint32_t place)
{
    struct soc_task_done *done = &workload->done[place];
    free(done->id);
    workload->done_count--;
    memmove(done, done + 1, (workload->done_count - place) * sizeof(*done));
}

void soc_workload_forget_done(struct soc_workload *workload, uint64_t key)
{
    for (uint32_t i = 0; i < workload->done_count; i++)
        if (workload->done[i].key == key)
            take_out(workload, i--);
}

/* Orders by end, then by age, whatever the order of insertion. */
static bool ends_after(const struct soc_task_done *done, const struct soc_task *task)
{
    return done->ended_ms != task->ended_ms ? done->ended_ms > task->ended_ms
                                            : done->key > task->key;
}

void soc_workload_note_done(struct soc_workload *workload, const struct soc_task *task,
                            uint64_t parent)
{
    soc_workload_forget_done(workload, task->key);
    uint32_t place = workload->done_count;
    while (place > 0 && ends_after(&workload->done[place - 1], task))
        place--;
    if (workload->done_count == SOC_TASKS_DONE_MAX) {
        if (place == 0)
            return; /* older than everything remembered */
        take_out(workload, 0);
        place--;
    }
    struct soc_task_done *done = &workload->done[place];
    memmove(done + 1, done, (workload->done_count - place) * sizeof(*done));
    workload->done_count++;
    *done = (struct soc_task_done){
        .key = task->key,
        .parent = parent,
        .id = soc_copy_text(task->id, strlen(task->id)),
        .started_ms = task->started_ms,
        .ended_ms = task->ended_ms,
        .state = task->state,
        .alerts = task->alerts,
    };
}

void soc_workload_add_pace(const struct soc_workload *workload, struct soc_pace *pace)
{
    for (uint32_t i = 0; i < workload->done_count; i++) {
        const struct soc_task_done *done = &workload->done[i];
        if (done->state != SOC_TASK_COMPLETED)
            continue;
        pace->total_ms += done->ended_ms - done->started_ms;
        pace->count++;
    }
}

/* Returns the time from `from_ms` to `to_ms` covered by ended tasks. Overlaps count
 * once. */
static int64_t covered_by_done(const struct soc_workload *workload, int64_t from_ms, int64_t to_ms)
{
    int64_t covered_ms = 0;
    /* Latest end first: `to_ms` moves back past what has been counted. */
    for (uint32_t i = workload->done_count; i > 0 && to_ms > from_ms; i--) {
        const struct soc_task_done *done = &workload->done[i - 1];
        int64_t end_ms = done->ended_ms < to_ms ? done->ended_ms : to_ms;
        int64_t start_ms = done->started_ms > from_ms ? done->started_ms : from_ms;
        if (done->started_ms == 0 || start_ms >= end_ms)
            continue;
        covered_ms += end_ms - start_ms;
        to_ms = start_ms;
    }
    return covered_ms;
}

int soc_workload_percent(const struct soc_workload *workload, int64_t now_ms, int64_t born_ms,
                         int64_t window_ms)
{
    int64_t from_ms = now_ms - window_ms > born_ms ? now_ms - window_ms : born_ms;
    if (workload->done_count == SOC_TASKS_DONE_MAX && workload->done[0].ended_ms > from_ms)
        from_ms = workload->done[0].ended_ms;
    int64_t held_ms = now_ms + 1; /* it has been busy without a break since then */
    for (const struct soc_task *task = workload->first; task != NULL; task = task->next)
        if (task->started_ms != 0 && task->started_ms < held_ms)
            held_ms = task->started_ms;
    if (now_ms <= from_ms)
        return held_ms <= now_ms ? 100 : 0;
    if (held_ms > now_ms)
        held_ms = now_ms;
    if (held_ms < from_ms)
        held_ms = from_ms;
    int64_t busy_ms = now_ms - held_ms + covered_by_done(workload, from_ms, held_ms);
    return (int)((busy_ms * 100 + (now_ms - from_ms) / 2) / (now_ms - from_ms));
}

static int compare_times(const void *a, const void *b)
{
    const int64_t *x = a;
    const int64_t *y = b;
    return *x < *y ? -1 : *x > *y;
}

int64_t soc_workload_free_ms(const struct soc_workload *workload, int64_t now_ms, int64_t mean_ms,
                             soc_task_state_fn *state_of)
{
    int64_t free_ms = now_ms;
    size_t count = 0;
    const struct soc_task *task;
    for (task = workload->first; task != NULL; task = task->next) {
        int64_t spent_ms = task->started_ms == 0 ? 0 : now_ms - task->started_ms;
        count += state_of(task) == SOC_TASK_PENDING;
        if (state_of(task) == SOC_TASK_PROCESSING && spent_ms < mean_ms)
            free_ms += mean_ms - spent_ms;
    }
    /* Then the pending tasks as they become due; none can begin earlier. */
    int64_t *ready_ms = soc_alloc((count + 1) * sizeof(*ready_ms));
    count = 0;
    for (task = workload->first; task != NULL; task = task->next)
        if (state_of(task) == SOC_TASK_PENDING)
            ready_ms[count++] = soc_task_ready_ms(task);
    qsort(ready_ms, count, sizeof(*ready_ms), compare_times);
    for (size_t i = 0; i < count; i++)
        free_ms = (ready_ms[i] > free_ms ? ready_ms[i] : free_ms) + mean_ms;
    free(ready_ms);
    return free_ms;
}

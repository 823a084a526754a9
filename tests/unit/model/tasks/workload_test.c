/* How busy an agent was, and when it will be free. */
#include "check.h"
#include "model/tasks/workload.h"

#define HOUR_MS 3600000

/* An open task, begun at `started_ms` (0: not begun). */
static struct soc_task *open_task(struct soc_workload *workload, uint64_t key, int64_t started_ms)
{
    struct soc_task *task = soc_task_new(key, SOC_SLICE("T"), NULL, NULL);
    if (started_ms != 0)
        soc_task_begin(task, started_ms);
    soc_workload_add(workload, task);
    return task;
}

static void close_task(struct soc_workload *workload, struct soc_task *task)
{
    soc_workload_remove(workload, task);
    soc_task_free(task);
}

/* A task that ended. */
static void note(struct soc_workload *workload, uint64_t key, int64_t started_ms, int64_t ended_ms,
                 enum soc_task_state state)
{
    struct soc_task *task = soc_task_new(key, SOC_SLICE("T"), NULL, NULL);
    soc_task_begin(task, started_ms);
    soc_task_end(task, state, ended_ms);
    soc_workload_note_done(workload, task, 0);
    soc_task_free(task);
}

static int percent(const struct soc_workload *workload, int64_t now_ms)
{
    return soc_workload_percent(workload, now_ms, 0, 1000);
}

static void the_load_is_the_share_of_time_spent_on_tasks(void)
{
    struct soc_workload *workload = soc_workload_new(NULL);
    CHECK_INT(percent(workload, 10000), 0);
    note(workload, 1, 9000, 9100, SOC_TASK_COMPLETED);
    note(workload, 2, 9050, 9300, SOC_TASK_FAILED); /* 50 ms of it are counted already */
    note(workload, 3, 9060, 9080, SOC_TASK_CANCELLED);
    CHECK_INT(percent(workload, 10000), 30);
    struct soc_task *task = open_task(workload, 4, 9900);
    CHECK_INT(percent(workload, 10000), 40);
    CHECK_INT(percent(workload, 10900), 100);
    close_task(workload, task);
    task = open_task(workload, 5, 0); /* what only waits is no load */
    CHECK_INT(percent(workload, 10000), 30);
    CHECK_INT(percent(workload, 10200), 10);
    close_task(workload, task);
    soc_workload_free(workload);
}

static void unknown_time_does_not_count_as_idle(void)
{
    struct soc_workload *workload = soc_workload_new(NULL);
    note(workload, 1, 9000, 9100, SOC_TASK_COMPLETED);
    CHECK_INT(soc_workload_percent(workload, 9200, 9000, HOUR_MS), 50); /* it is young */
    for (uint64_t i = 0; i < SOC_TASKS_DONE_MAX; i++)
        note(workload, 10 + i, 20000 + (int64_t)i * 100, 20050 + (int64_t)i * 100,
             SOC_TASK_COMPLETED);
    /* From the end of the oldest that is remembered: 15 of them, half of the time. */
    CHECK_INT(soc_workload_percent(workload, 21550, 0, HOUR_MS), 50);
    CHECK_INT(soc_workload_percent(workload, 20050, 20050, HOUR_MS), 0);
    struct soc_task *task = open_task(workload, 99, 20050);
    CHECK_INT(soc_workload_percent(workload, 20050, 20050, HOUR_MS), 100);
    close_task(workload, task);
    soc_workload_free(workload);
}

static void only_completed_tasks_count_for_the_average(void)
{
    struct soc_pace pace = {0};
    struct soc_workload *workload = soc_workload_new(NULL);
    note(workload, 1, 1000, 1100, SOC_TASK_COMPLETED);
    note(workload, 2, 2000, 2300, SOC_TASK_COMPLETED);
    note(workload, 3, 3000, 9000, SOC_TASK_FAILED);
    soc_workload_add_pace(workload, &pace);
    CHECK_INT(pace.count, 2);
    CHECK_INT(pace.total_ms, 400);
    soc_workload_forget_done(workload, 1);
    soc_workload_add_pace(workload, &pace);
    CHECK_INT(pace.count, 3);
    CHECK_INT(pace.total_ms, 700);
    soc_workload_free(workload);
}

static void the_latest_tasks_are_remembered_in_any_order(void)
{
    struct soc_workload *a = soc_workload_new(NULL);
    struct soc_workload *b = soc_workload_new(NULL);
    for (uint64_t i = 0; i < 40; i++) {
        uint64_t other = 39 - i;
        note(a, 1 + i, 1, 100 + (int64_t)(i / 3), SOC_TASK_COMPLETED);
        note(b, 1 + other, 1, 100 + (int64_t)(other / 3), SOC_TASK_COMPLETED);
    }
    CHECK_INT(a->done_count, SOC_TASKS_DONE_MAX);
    CHECK_INT(b->done_count, SOC_TASKS_DONE_MAX);
    for (uint32_t i = 0; i < SOC_TASKS_DONE_MAX; i++) {
        CHECK_INT(a->done[i].key, 40 - SOC_TASKS_DONE_MAX + 1 + i);
        CHECK_INT(b->done[i].key, a->done[i].key);
    }
    soc_workload_free(a);
    soc_workload_free(b);
}

static enum soc_task_state state_of(const struct soc_task *task)
{
    return (enum soc_task_state)task->state;
}

static int64_t free_ms(const struct soc_workload *workload, int64_t now_ms)
{
    return soc_workload_free_ms(workload, now_ms, 1000, state_of);
}

static void an_agent_is_free_after_its_current_and_queued_tasks(void)
{
    struct soc_workload *workload = soc_workload_new(NULL);
    CHECK_INT(free_ms(workload, 5000), 5000);
    struct soc_task *begun = open_task(workload, 1, 4700);
    struct soc_task *waits = open_task(workload, 2, 0);
    struct soc_task *other = open_task(workload, 3, 0);
    CHECK_INT(free_ms(workload, 5000), 5000 + 700 + 2000);
    CHECK_INT(free_ms(workload, 9000), 9000 + 2000); /* late already */
    waits->again_ms = 7500; /* it falls due when the other one is done, or later */
    CHECK_INT(free_ms(workload, 5000), 7500 + 1000);
    waits->again_ms = 5800;
    CHECK_INT(free_ms(workload, 5000), 5000 + 700 + 2000);
    close_task(workload, waits);
    close_task(workload, begun);
    CHECK_INT(free_ms(workload, 5000), 6000);
    close_task(workload, other);
    soc_workload_free(workload);
}

int main(void)
{
    RUN(the_load_is_the_share_of_time_spent_on_tasks);
    RUN(unknown_time_does_not_count_as_idle);
    RUN(only_completed_tasks_count_for_the_average);
    RUN(the_latest_tasks_are_remembered_in_any_order);
    RUN(an_agent_is_free_after_its_current_and_queued_tasks);
    return check_done();
}

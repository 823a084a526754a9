/* The life of a task, its alerts, and its place among tasks. */
#include "base/err.h"
#include "check.h"
#include "model/tasks/task.h"

static struct soc_task *make(uint64_t key)
{
    struct soc_task *task = soc_task_new(key, SOC_SLICE("T1"), NULL, NULL);
    task->opened_ms = 1000;
    return task;
}

/* A task in the given state, opened at 1000, begun at 2000. */
static struct soc_task *make_in(enum soc_task_state state)
{
    struct soc_task *task = make(1);
    if (state != SOC_TASK_PENDING)
        CHECK_INT(soc_task_begin(task, 2000), SOC_OK);
    if (state > SOC_TASK_PROCESSING)
        CHECK_INT(soc_task_end(task, state, 3000), SOC_OK);
    CHECK_INT(task->state, state);
    return task;
}

static void a_task_follows_its_life_cycle(void)
{
    /* By state: begin, retry, complete, fail, cancel. */
    static const int allowed[5][5] = {
        {SOC_OK, SOC_EREFUSED, SOC_EREFUSED, SOC_OK, SOC_OK},
        {SOC_EREFUSED, SOC_OK, SOC_OK, SOC_OK, SOC_OK},
        {SOC_ETASKOVER, SOC_ETASKOVER, SOC_ETASKOVER, SOC_ETASKOVER, SOC_ETASKOVER},
        {SOC_ETASKOVER, SOC_ETASKOVER, SOC_ETASKOVER, SOC_ETASKOVER, SOC_ETASKOVER},
        {SOC_ETASKOVER, SOC_ETASKOVER, SOC_ETASKOVER, SOC_ETASKOVER, SOC_ETASKOVER},
    };
    for (int state = 0; state < 5; state++) {
        for (int step = 0; step < 5; step++) {
            struct soc_task *task = make_in((enum soc_task_state)state);
            int rc = step == 0   ? soc_task_begin(task, 4000)
                     : step == 1 ? soc_task_retry(task)
                                 : soc_task_end(task, (enum soc_task_state)step, 4000);
            CHECK_INT(rc, allowed[state][step]);
            if (rc < 0)
                CHECK_INT(task->state, state);
            soc_task_free(task);
        }
    }
}

static void a_retry_counts_and_keeps_the_first_start(void)
{
    struct soc_task *task = make_in(SOC_TASK_PROCESSING);
    CHECK_INT(soc_task_retry(task), SOC_OK);
    CHECK_INT(soc_task_begin(task, 9000), SOC_OK);
    CHECK_INT(task->tries, 2);
    CHECK_INT(task->started_ms, 2000);
    CHECK_INT(soc_task_took_ms(task, 12000), 10000);
    CHECK_INT(soc_task_end(task, SOC_TASK_COMPLETED, 14000), SOC_OK);
    CHECK_INT(soc_task_took_ms(task, 99000), 12000);
    soc_task_free(task);
}

static void each_alert_falls_due_once(void)
{
    struct soc_task *task = make(1);
    task->deadline_ms = 5000;
    task->limit_ms = 1000;
    CHECK_INT(soc_task_due(task), 5000); /* the limit runs from the start */
    soc_task_begin(task, 2000);
    CHECK_INT(soc_task_due(task), 3000);
    CHECK_INT(soc_task_take_alert(task, 2999), SOC_TASK_ALERT_NONE);
    CHECK_INT(soc_task_take_alert(task, 3000), SOC_TASK_ALERT_TIMEOUT);
    CHECK_INT(soc_task_due(task), 5000);
    CHECK_INT(soc_task_take_alert(task, 9000), SOC_TASK_ALERT_DEADLINE);
    CHECK_INT(soc_task_take_alert(task, 9000), SOC_TASK_ALERT_NONE);
    CHECK_INT(soc_task_due(task), 0);
    soc_task_free(task);
}

static void an_ended_task_causes_no_alert(void)
{
    struct soc_task *task = make(1);
    task->deadline_ms = 5000;
    CHECK_INT(soc_task_end(task, SOC_TASK_CANCELLED, 2000), SOC_OK);
    CHECK_INT(soc_task_due(task), 0);
    CHECK_INT(soc_task_take_alert(task, 9000), SOC_TASK_ALERT_NONE);
    soc_task_free(task);
}

/* 1 -> 2 -> 4, 1 -> 3 */
static void grow(struct soc_task *tasks[4])
{
    for (uint64_t i = 0; i < 4; i++)
        tasks[i] = make(i + 1);
    soc_task_adopt(tasks[0], tasks[1]);
    soc_task_adopt(tasks[0], tasks[2]);
    soc_task_adopt(tasks[1], tasks[3]);
}

static void wither(struct soc_task *tasks[4])
{
    for (int i = 0; i < 4; i++) {
        soc_task_leave(tasks[i]);
        soc_task_free(tasks[i]);
    }
}

static void descendants_are_found_parents_first(void)
{
    static const uint64_t expected[] = {1, 2, 4, 3};
    struct soc_task *tasks[4];
    grow(tasks);
    const struct soc_task *task = tasks[0];
    for (int i = 0; i < 4; i++, task = soc_task_next_below(tasks[0], task))
        CHECK_INT(task == NULL ? 0 : task->key, expected[i]);
    CHECK(task == NULL);
    CHECK(soc_task_next_below(tasks[1], tasks[3]) == NULL);
    CHECK(soc_task_next_below(tasks[2], tasks[2]) == NULL);
    wither(tasks);
}

static void children_of_a_removed_task_go_to_its_parent(void)
{
    struct soc_task *tasks[4];
    grow(tasks);
    soc_task_leave(tasks[1]);
    CHECK(tasks[3]->parent == tasks[0]);
    CHECK(tasks[0]->first_child == tasks[2] && tasks[0]->last_child == tasks[3]);
    soc_task_leave(tasks[0]);
    CHECK(tasks[2]->parent == NULL && tasks[3]->parent == NULL);
    CHECK(tasks[2]->next_sibling == NULL && tasks[3]->previous_sibling == NULL);
    wither(tasks);
}

int main(void)
{
    RUN(a_task_follows_its_life_cycle);
    RUN(a_retry_counts_and_keeps_the_first_start);
    RUN(each_alert_falls_due_once);
    RUN(an_ended_task_causes_no_alert);
    RUN(descendants_are_found_parents_first);
    RUN(children_of_a_removed_task_go_to_its_parent);
    return check_done();
}

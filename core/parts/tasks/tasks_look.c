/* Tasks, looks: current state as JSON, computed from the facts. */
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/look.h"
#include "parts/tasks/tasks_state.h"

#define MINUTE_MS 60000

static void put_date(struct soc_buf *out, const char *name, int64_t date_ms)
{
    if (date_ms == 0)
        return;
    soc_json_put_name(out, name);
    soc_time_put_json(out, date_ms);
}

static void put_time(const struct soc_host *host, struct soc_buf *out, const char *name,
                     int64_t time_ms)
{
    put_date(out, name, soc_clock_date_of(&host->clock, time_ms));
}

static void put_count(struct soc_buf *out, const char *name, int64_t count)
{
    soc_json_put_name(out, name);
    soc_json_put_integer(out, count);
}

uint32_t soc_tasks_count_open(const struct soc_host *host, const struct soc_agent *owner)
{
    const struct soc_workload *workload = soc_tasks_workload(host, owner);
    uint32_t count = 0;
    for (const struct soc_task *task = workload == NULL ? NULL : workload->first; task != NULL;
         task = task->next)
        count++;
    return count;
}

size_t soc_tasks_put_open(const struct soc_host *host, struct soc_buf *out)
{
    const struct soc_tasks *tasks = soc_tasks_of_host(host);
    const size_t count = tasks->open.count;
    const struct soc_task *task;
    size_t cursor = 0;
    size_t named = 0;
    if (count == 0)
        return 0;
    soc_buf_printf(out, count == 1 ? "%zu task is left open:" : "%zu tasks are left open:", count);
    while (named < SOC_TASKS_NAMED_MAX && (task = soc_map_each(&tasks->open, &cursor)) != NULL) {
        struct soc_slice owner = soc_agent_id(task->owner);
        soc_buf_printf(out, "%s %s (%.*s)", named == 0 ? "" : ",", task->id, (int)owner.length,
                       owner.data);
        named++;
    }
    if (count > named)
        soc_buf_printf(out, " and %zu more", count - named);
    if (soc_tasks_due(host) != 0)
        soc_buf_printf(out, "; the run does not wait for %s alerts", count == 1 ? "its" : "their");
    return count;
}

/* Rounded to a thousandth of a minute. */
void soc_tasks_put_minutes(struct soc_buf *out, int64_t took_ms)
{
    int64_t thousandths = (took_ms * 1000 + MINUTE_MS / 2) / MINUTE_MS;
    soc_json_put_name(out, "duration_minutes");
    if (thousandths % 1000 == 0)
        soc_json_put_integer(out, thousandths / 1000);
    else
        soc_json_put_number(out, (double)thousandths / 1000);
}

static void put_priority(struct soc_buf *out, const struct soc_task *task)
{
    char text[2] = {'P', (char)('0' + task->priority)};
    soc_json_put_text_member(out, "priority", soc_slice(text, sizeof(text)));
}

void soc_tasks_put_json(const struct soc_host *host, struct soc_buf *out,
                        const struct soc_task *task)
{
    char message_id[SOC_MESSAGE_ID_BYTES];
    soc_message_id_format(message_id, task->opened_ms, task->key);
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "agent", soc_agent_id(task->owner));
    soc_json_put_text_member(out, "assigner", soc_sender_id(task->assigner));
    soc_json_put_text_member(out, "correlation_id", soc_slice_text(task->correlation_id));
    put_date(out, "deadline", task->deadline_date_ms);
    put_time(host, out, "ended_at", task->ended_ms);
    soc_json_put_text_member(out, "message_id", soc_slice(message_id, sizeof(message_id)));
    put_time(host, out, "opened_at", task->opened_ms);
    if (task->parent != NULL)
        soc_json_put_text_member(out, "parent", soc_slice_text(task->parent->id));
    put_priority(out, task);
    put_time(host, out, "started_at", task->started_ms);
    soc_json_put_text_member(out, "state", soc_slice_text(soc_task_state_name(task->state)));
    soc_json_put_text_member(out, "task_id", soc_slice_text(task->id));
    put_count(out, "tries", task->tries);
    soc_json_put_text_member(out, "type", soc_slice_text(soc_task_style_name(task->style)));
    soc_buf_put_byte(out, '}');
}

void soc_tasks_put_intended(struct soc_host *host, struct soc_buf *out, const struct soc_task *task)
{
    struct soc_task copy = *task;
    copy.state = (uint8_t)soc_tasks_state(task);
    if (soc_task_is_over(&copy))
        copy.ended_ms = soc_host_now(host);
    soc_tasks_put_json(host, out, &copy);
    if (task->again_ms == 0)
        return;
    out->length--;
    put_time(host, out, "retry_at", task->again_ms);
    soc_buf_put_byte(out, '}');
}

/* Estimates the duration of a task: the agent's own mean, otherwise its role's,
 * otherwise everyone's, otherwise the time limit. */
static int64_t mean_ms(const struct soc_host *host, const struct soc_agent *agent)
{
    struct soc_pace paces[3] = {0};
    size_t cursor = 0;
    const struct soc_workload *workload = soc_tasks_workload(host, agent);
    if (workload != NULL)
        soc_workload_add_pace(workload, &paces[0]);
    if (paces[0].count > 0) /* mostly: then the others need not be looked at */
        return paces[0].total_ms / paces[0].count;
    while ((workload = soc_map_each(&soc_tasks_of_host(host)->workloads, &cursor)) != NULL) {
        if (workload->owner->role == agent->role)
            soc_workload_add_pace(workload, &paces[1]);
        soc_workload_add_pace(workload, &paces[2]);
    }
    for (int i = 1; i < 3; i++)
        if (paces[i].count > 0)
            return paces[i].total_ms / paces[i].count;
    return soc_tasks_of_host(host)->limit_ms;
}

/* An agent's open work, by the states seen inside the current turn. */
struct workbench {
    const struct soc_task *current;
    int64_t pending;
    int64_t processing;
};

static struct workbench look_at(const struct soc_workload *workload, const struct soc_agent *agent)
{
    struct workbench bench = {0};
    const struct soc_message *handled =
        agent->activation == NULL ? NULL : agent->activation->message;
    const struct soc_task *task = workload == NULL ? NULL : workload->first;
    for (; task != NULL; task = task->next) {
        enum soc_task_state state = soc_tasks_state(task);
        if (state == SOC_TASK_PENDING)
            bench.pending++;
        if (state != SOC_TASK_PROCESSING)
            continue;
        bench.processing++;
        if (bench.current == NULL || (handled != NULL && task->message == handled))
            bench.current = task;
    }
    return bench;
}

/* Follows Helix: an agent that is neither idle nor out of order is busy. */
static const char *status_of(const struct soc_host *host, const struct soc_agent *agent,
                             const struct workbench *bench)
{
    struct soc_slice status = soc_slice_text(soc_look_status(host, agent));
    static const char *const as_they_are[] = {"unresponsive", "stopped", "failed"};
    for (int i = 0; i < 3; i++)
        if (soc_slice_equal(status, soc_slice_text(as_they_are[i])))
            return as_they_are[i];
    return bench->processing > 0 || !soc_slice_equal(status, SOC_SLICE("idle")) ? "busy" : "idle";
}

void soc_tasks_put_load(struct soc_host *host, const struct soc_agent *agent, struct soc_buf *out)
{
    const struct soc_workload *workload = soc_tasks_workload(host, agent);
    struct workbench bench = look_at(workload, agent);
    int64_t now_ms = soc_host_now(host);
    int percent = 0;
    int64_t free_ms = now_ms;
    if (workload != NULL) {
        percent = soc_workload_percent(workload, now_ms, agent->created_ms, SOC_LOAD_WINDOW_MS);
        free_ms = soc_workload_free_ms(workload, now_ms, mean_ms(host, agent), soc_tasks_state);
    }
    soc_buf_put_byte(out, '{');
    put_count(out, "active_tasks", bench.processing);
    soc_json_put_text_member(out, "agent", soc_agent_id(agent));
    if (bench.current != NULL)
        soc_json_put_text_member(out, "current_task", soc_slice_text(bench.current->id));
    put_time(host, out, "estimated_free", free_ms);
    soc_json_put_name(out, "load");
    soc_buf_printf(out, "\"%d%%\"", percent);
    put_count(out, "queue_length", bench.pending);
    soc_json_put_text_member(out, "status", soc_slice_text(status_of(host, agent, &bench)));
    soc_buf_put_byte(out, '}');
}

/* Sorts in the order a mailbox delivers. */
static int compare_turn(const void *a, const void *b)
{
    const struct soc_task *x = *(struct soc_task *const *)a;
    const struct soc_task *y = *(struct soc_task *const *)b;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    int64_t x_ms = soc_task_ready_ms(x);
    int64_t y_ms = soc_task_ready_ms(y);
    if (x_ms != y_ms)
        return x_ms < y_ms ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

static void put_pending(struct soc_buf *out, const struct soc_workload *workload, int64_t count)
{
    const struct soc_task **tasks = soc_alloc((size_t)(count + 1) * sizeof(struct soc_task *));
    const struct soc_task *task = workload == NULL ? NULL : workload->first;
    size_t found = 0;
    for (; task != NULL; task = task->next)
        if (soc_tasks_state(task) == SOC_TASK_PENDING)
            tasks[found++] = task;
    qsort(tasks, found, sizeof(struct soc_task *), compare_turn);
    soc_json_put_name(out, "pending");
    soc_buf_put_byte(out, '[');
    for (size_t i = 0; i < found; i++) {
        soc_buf_put_text(out, i == 0 ? "{" : ",{");
        put_priority(out, tasks[i]);
        soc_json_put_text_member(out, "task_id", soc_slice_text(tasks[i]->id));
        soc_buf_put_byte(out, '}');
    }
    soc_buf_put_byte(out, ']');
    free(tasks);
}

void soc_tasks_put_queue(struct soc_host *host, const struct soc_agent *agent, struct soc_buf *out)
{
    const struct soc_workload *workload = soc_tasks_workload(host, agent);
    struct workbench bench = look_at(workload, agent);
    soc_buf_put_text(out, "{\"completed\":[");
    for (uint32_t i = 0; workload != NULL && i < workload->done_count; i++) {
        if (workload->done[i].state != SOC_TASK_COMPLETED)
            continue;
        if (out->data[out->length - 1] != '[')
            soc_buf_put_byte(out, ',');
        soc_json_put_string(out, soc_slice_text(workload->done[i].id));
    }
    soc_buf_put_byte(out, ']');
    put_pending(out, workload, bench.pending);
    if (bench.current != NULL) {
        soc_json_put_name(out, "processing");
        soc_buf_put_byte(out, '{');
        soc_json_put_text_member(out, "task_id", soc_slice_text(bench.current->id));
        soc_buf_put_byte(out, '}');
    }
    soc_json_put_name(out, "queue_name");
    soc_buf_printf(out, "\"%s_tasks\"", agent->id);
    soc_buf_put_byte(out, '}');
}

bool soc_tasks_is_helper(struct soc_host *host, const struct soc_agent *agent, struct soc_slice id)
{
    const struct soc_workload *workload = soc_tasks_workload(host, agent);
    for (uint32_t i = 0; workload != NULL && i < workload->done_count; i++)
        if (soc_slice_equal(id, soc_slice_text(workload->done[i].id)))
            return false;
    size_t cursor = 0;
    const struct soc_task *task;
    while ((task = soc_map_each(&soc_tasks_of_host(host)->open, &cursor)) != NULL)
        if (soc_slice_equal(id, soc_slice_text(task->id)) &&
            (task->owner == agent || soc_tasks_state(task) < SOC_TASK_COMPLETED))
            return false;
    return true;
}

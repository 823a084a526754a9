/* Tasks, cancelling: a task, its current work and its descendants. */
#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "kernel/ending.h"
#include "kernel/mail/requests.h"
#include "kernel/mail/router.h"
#include "kernel/mail/transit.h"
#include "kernel/refusal.h"
#include "kernel/turns/handling.h"
#include "kernel/turns/ready.h"
#include "kernel/turns/waiting.h"
#include "parts/tasks/tasks_state.h"

bool soc_tasks_may_cancel(const struct soc_host *host, const struct soc_agent *who,
                          const struct soc_task *task)
{
    const struct soc_agent *above = task->assigner;
    if (who == NULL || who == host->registry.user)
        return true;
    while (above != NULL && above != who)
        above = above->parent;
    return above != NULL;
}

/* Appends the notice about a cancelled task, as an error object or as a payload. */
static void put_notice(struct soc_buf *out, const struct soc_task *task, struct soc_slice reason,
                       bool is_error)
{
    if (is_error) {
        soc_refusal_begin(out, SOC_ECANCELLED, NULL);
    } else {
        out->length = 0;
        soc_buf_put_byte(out, '{');
    }
    if (reason.data != NULL) {
        soc_json_put_name(out, "reason");
        soc_buf_put_slice(out, reason);
    }
    soc_json_put_text_member(out, "task_id", soc_slice_text(task->id));
    soc_buf_put_byte(out, '}');
}

/* Answers activations waiting for the end of the task. False if there are none. */
static bool answer_waiters(struct soc_host *host, const struct soc_task *task,
                           struct soc_slice reason, struct soc_slice error)
{
    struct soc_request *request = soc_request_find(host, task->key);
    struct soc_activation *waiter =
        task->assigner == NULL ? NULL : soc_tasks_waiter(task->assigner, task->key);
    if (request != NULL)
        soc_request_answer(host, request, error);
    if (waiter != NULL) {
        struct soc_buf result = {0};
        struct soc_task_close how = {.state = SOC_TASK_CANCELLED, .value = reason};
        soc_tasks_put_result(&result, task, "cancelled", &how, soc_host_now(host));
        soc_tasks_answer_waiter(host, waiter, soc_buf_slice(&result));
        soc_buf_fini(&result);
    }
    return request != NULL || waiter != NULL;
}

static bool holds(const struct soc_activation *activation, const struct soc_message *message)
{
    if (message == NULL || activation->message == message)
        return message != NULL;
    const struct soc_message *taken = activation->taken.first;
    while (taken != NULL && taken != message)
        taken = taken->next;
    return taken != NULL;
}

/* Tells whether the activation works on the task and can be ended for it. `main`
 * continues, and an activation whose last turn is committing has already finished. */
static bool is_work_of(const struct soc_activation *activation, const struct soc_task *task)
{
    if (activation == NULL || activation->message == NULL || activation->is_ending)
        return false;
    struct soc_slice id = soc_message_text(activation->message, SOC_TEXT_TASK_ID);
    return holds(activation, task->owns_message ? NULL : task->message) ||
           (id.data != NULL && soc_slice_equal(id, soc_slice_text(task->id)));
}

/* Removes the task from the queue, or ends the activation working on it. */
static void stop_work(struct soc_host *host, struct soc_task *task, struct soc_slice error)
{
    struct soc_message *message = task->owns_message ? NULL : task->message;
    if (message != NULL && message->is_queued) {
        soc_mailbox_remove(&task->owner->mailbox, message);
        soc_router_finish(host, message, SOC_OUTCOME_CANCELLED, error);
    } else if (message != NULL && soc_transit_has(message)) {
        soc_transit_remove(host, message);
        soc_router_finish(host, message, SOC_OUTCOME_CANCELLED, error);
    }
    if (is_work_of(task->owner->activation, task)) {
        soc_handling_abandon(host, task->owner->activation, SOC_OUTCOME_CANCELLED, error);
        soc_ready_add(host, task->owner);
    }
}

/* Tells whether another host has the task or will get it, whatever is removed here. */
static bool is_under_way(const struct soc_task *task)
{
    const struct soc_message *message = task->owns_message ? NULL : task->message;
    return task->owner->is_remote &&
           (message == NULL || (!message->is_queued && !soc_transit_has(message)));
}

/* Notifies the owner that a task it had started is cancelled. */
static void tell_owner(struct soc_host *host, const struct soc_task *task, struct soc_agent *by,
                       struct soc_slice reason)
{
    struct soc_buf payload = {0};
    put_notice(&payload, task, reason, false);
    struct soc_send send = {
        .to = soc_agent_id(task->owner),
        .type = SOC_SLICE("abort"),
        .payload = soc_buf_slice(&payload),
        .requires_ack = true,
        .has_requires_ack = true,
        .is_formal = true,
    };
    send.texts[SOC_TEXT_TASK_ID] = soc_slice_text(task->id);
    send.texts[SOC_TEXT_CORRELATION_ID] = soc_slice_text(task->correlation_id);
    soc_tasks_send(host, by, &send);
    soc_buf_fini(&payload);
}

/* Notifies the assigner that someone else cancelled the task. */
static void tell_assigner(struct soc_host *host, const struct soc_task *task,
                          struct soc_slice reason)
{
    struct soc_buf payload = {0};
    struct soc_task_close how = {.state = SOC_TASK_CANCELLED, .value = reason};
    soc_tasks_put_result(&payload, task, "cancelled", &how, soc_host_now(host));
    struct soc_send send = soc_tasks_result(task, soc_buf_slice(&payload));
    soc_tasks_send(host, NULL, &send);
    soc_buf_fini(&payload);
}

/* Unlinks the whole subtree before any work is stopped: stopping work may finish
 * messages, and those would look up their tasks. */
static size_t collect(struct soc_host *host, struct soc_task *top, struct soc_task ***out,
                      struct soc_slice reason)
{
    size_t count = 0;
    struct soc_task *task = top;
    for (; task != NULL; task = soc_task_next_below(top, task))
        count++;
    struct soc_task **tasks = soc_alloc(count * sizeof(struct soc_task *));
    count = 0;
    for (task = top; task != NULL; task = soc_task_next_below(top, task))
        tasks[count++] = task;
    for (size_t i = count; i > 0; i--)
        soc_tasks_end(host, tasks[i - 1], SOC_TASK_CANCELLED, reason);
    *out = tasks;
    return count;
}

void soc_tasks_cut(struct soc_host *host, struct soc_task *top, struct soc_agent *by,
                   struct soc_slice reason, bool is_told)
{
    struct soc_task **tasks;
    struct soc_buf error = {0};
    struct soc_buf kept = {0}; /* `reason` may point into a message that is freed below */
    if (reason.data != NULL) {
        soc_buf_put_slice(&kept, reason);
        reason = soc_buf_slice(&kept);
    }
    size_t count = collect(host, top, &tasks, reason);
    for (size_t i = 0; i < count; i++) {
        struct soc_task *task = tasks[i];
        put_notice(&error, task, reason, true);
        bool is_answered = answer_waiters(host, task, reason, soc_buf_slice(&error));
        bool is_told_of = task->tries > 0 || is_under_way(task);
        stop_work(host, task, soc_buf_slice(&error));
        SOC_PARTS_TELL(host, work_cancelled, host, task->owner, soc_slice_text(task->id), task->key,
                       soc_buf_slice(&error));
        soc_ending_check(host, task->owner);
        if (is_told_of && task->owner != by && !(is_told && i == 0) && !task->owner->is_ending)
            tell_owner(host, task, by, reason);
        if (i == 0 && !is_answered && soc_tasks_has_assigner(task) && task->assigner != by)
            tell_assigner(host, task, reason);
    }
    for (size_t i = 0; i < count; i++)
        soc_tasks_dispose(host, tasks[i]);
    free(tasks);
    soc_buf_fini(&error);
    soc_buf_fini(&kept);
}

void soc_tasks_cancel_all(struct soc_host *host, const struct soc_agent *owner,
                          struct soc_agent *by, struct soc_slice reason)
{
    struct soc_workload *workload = soc_tasks_workload(host, owner);
    while (workload != NULL && workload->first != NULL) {
        uint64_t key = workload->first->key;
        soc_tasks_cut(host, workload->first, by, reason, false);
        assert(soc_tasks_find_key(host, key) == NULL); /* else this never ends */
    }
}

/* Returns how many tasks end with it; 0 if it ends along with an ancestor. */
static int64_t count_below(const struct soc_task *top)
{
    int64_t count = 0;
    for (const struct soc_task *above = top->parent; above != NULL; above = above->parent)
        if (soc_tasks_state(above) == SOC_TASK_CANCELLED)
            return 0;
    for (const struct soc_task *task = top; task != NULL; task = soc_task_next_below(top, task))
        count++;
    return count;
}

/* Explains why nothing can be cancelled: the id is unknown or its task has ended. */
static int refuse_missing(const struct soc_host *host, struct soc_slice id, struct soc_buf *error)
{
    size_t cursor = 0;
    const struct soc_workload *workload;
    while ((workload = soc_map_each(&soc_tasks_of_host(host)->workloads, &cursor)) != NULL) {
        for (uint32_t i = workload->done_count; i > 0; i--) {
            const struct soc_task_done *done = &workload->done[i - 1];
            if (!soc_slice_equal(id, soc_slice_text(done->id)))
                continue;
            soc_refusal_begin(error, SOC_ETASKOVER, NULL);
            soc_json_put_text_member(error, "task_id", id);
            soc_json_put_text_member(error, "state",
                                     soc_slice_text(soc_task_state_name(done->state)));
            return soc_refusal_end(error, SOC_ETASKOVER);
        }
    }
    return soc_refuse(error, SOC_ENOTASK, NULL, "task_id", id);
}

/* Explains why the tasks found could not be cancelled. */
static int refuse_found(const struct soc_task *found, struct soc_slice id, struct soc_buf *error)
{
    enum soc_task_state state = soc_tasks_state(found);
    if (state < SOC_TASK_COMPLETED)
        return soc_refuse(error, SOC_EFORBIDDEN,
                          "only the assigner of a task, or an agent above it, can cancel it",
                          "task_id", id);
    soc_refusal_begin(error, SOC_ETASKOVER, NULL);
    soc_json_put_text_member(error, "task_id", id);
    soc_json_put_text_member(error, "state", soc_slice_text(soc_task_state_name(state)));
    return soc_refusal_end(error, SOC_ETASKOVER);
}

int soc_tasks_cancel(struct soc_host *host, struct soc_slice id, struct soc_slice reason,
                     struct soc_buf *answer, struct soc_buf *error)
{
    struct soc_agent *self = host->turn.agent;
    const struct soc_task *first = NULL;
    const struct soc_task *found = NULL;
    int64_t count = 0;
    size_t cursor = 0;
    struct soc_task *task;
    while ((task = soc_map_each(&soc_tasks_of_host(host)->open, &cursor)) != NULL) {
        if (!soc_slice_equal(id, soc_slice_text(task->id)))
            continue;
        found = task;
        if (soc_tasks_state(task) >= SOC_TASK_COMPLETED || !soc_tasks_may_cancel(host, self, task))
            continue;
        task->intent_state = SOC_TASK_CANCELLED;
        task->canceller = self;
        soc_tasks_touch(host, task, SOC_TASK_CUT, reason);
        first = first == NULL ? task : first;
    }
    if (first == NULL)
        return found == NULL ? refuse_missing(host, id, error) : refuse_found(found, id, error);
    for (cursor = 0; (task = soc_map_each(&soc_tasks_of_host(host)->open, &cursor)) != NULL;)
        if (task->canceller == self && soc_tasks_state(task) == SOC_TASK_CANCELLED &&
            soc_slice_equal(id, soc_slice_text(task->id)))
            count += count_below(task);
    soc_tasks_put_intended(host, answer, first);
    answer->length--;
    soc_json_put_name(answer, "cancelled");
    soc_json_put_integer(answer, count);
    soc_buf_put_byte(answer, '}');
    return SOC_OK;
}

/* Lends what is remembered of the task the message opened, otherwise of the last ended
 * task with that id. NULL if nothing is remembered or a task with that id is open. */
static const struct soc_task_done *find_last(const struct soc_host *host, uint64_t key,
                                             struct soc_slice id)
{
    size_t cursor = 0;
    const struct soc_task *task;
    const struct soc_workload *workload;
    const struct soc_task_done *last = NULL;
    while ((task = soc_map_each(&soc_tasks_of_host(host)->open, &cursor)) != NULL)
        if (soc_slice_equal(id, soc_slice_text(task->id)))
            return NULL;
    for (cursor = 0;
         (workload = soc_map_each(&soc_tasks_of_host(host)->workloads, &cursor)) != NULL;)
        for (uint32_t i = 0; i < workload->done_count; i++) {
            const struct soc_task_done *done = &workload->done[i];
            if (done->key == key)
                return done; /* other agents may have had tasks with the same id */
            if ((last == NULL || done->ended_ms >= last->ended_ms) &&
                soc_slice_equal(id, soc_slice_text(done->id)))
                last = done;
        }
    return last;
}

int soc_tasks_check_asking(const struct soc_host *host, struct soc_buf *error)
{
    const struct soc_message *cause = host->turn.cause;
    struct soc_slice id = {0};
    if (cause != NULL)
        id = soc_message_text(cause, SOC_TEXT_TASK_ID);
    const struct soc_task_done *last = id.data == NULL ? NULL : find_last(host, cause->key, id);
    /* An agent that was notified of the end may still ask what to do next. */
    if (last == NULL || last->state != SOC_TASK_CANCELLED || cause->time_ms >= last->ended_ms)
        return SOC_OK;
    return soc_refuse(error, SOC_ECANCELLED, "the task in question was cancelled", "task_id", id);
}

bool soc_tasks_cancel_remote(struct soc_host *host, const struct soc_agent *owner,
                             struct soc_slice id, struct soc_slice reason)
{
    struct soc_task *task = soc_tasks_find(host, owner, id);
    if (task == NULL || task->assigner == NULL || !task->assigner->is_remote)
        return false;
    soc_tasks_cut(host, task, task->assigner, reason, false);
    return true;
}

bool soc_tasks_note_cancelled(struct soc_host *host, uint64_t key, struct soc_slice reason)
{
    struct soc_task *task = soc_tasks_find_key(host, key);
    if (task == NULL || !task->owner->is_remote)
        return false;
    soc_tasks_cut(host, task, task->owner, reason, false);
    return true;
}

/* Tasks, results: how owners end their tasks. */
#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "env/ids.h"
#include "kernel/mail/notice.h"
#include "kernel/mail/requests.h"
#include "kernel/mail/router.h"
#include "kernel/refusal.h"
#include "kernel/trace.h"
#include "kernel/turns/turn.h"
#include "kernel/turns/waiting.h"
#include "parts/tasks/tasks_state.h"

int64_t soc_tasks_ask_retry(struct soc_host *host, const struct soc_task *task,
                            struct soc_slice error)
{
    if (host->hooks.task_retry_after == NULL)
        return -1;
    return host->hooks.task_retry_after(host->hooks.user, task, error);
}

void soc_tasks_send(struct soc_host *host, struct soc_agent *from, const struct soc_send *send)
{
    soc_notice_send(host, from, send, "task_notice_failed");
}

struct soc_send soc_tasks_result(const struct soc_task *task, struct soc_slice payload)
{
    assert(task->assigner != NULL);
    struct soc_send send = {
        .to = soc_agent_id(task->assigner),
        .type =
            task->style == SOC_TASK_STYLE_ASSIGN ? SOC_SLICE("task_complete") : SOC_SLICE("result"),
        .payload = payload,
        .answers_key = task->key,
        .answers_ms = task->opened_ms,
    };
    send.texts[SOC_TEXT_TASK_ID] = soc_slice_text(task->id);
    send.texts[SOC_TEXT_CORRELATION_ID] = soc_slice_text(task->correlation_id);
    return send;
}

void soc_tasks_put_result(struct soc_buf *out, const struct soc_task *task, const char *status,
                          const struct soc_task_close *how, int64_t now_ms)
{
    bool is_completed = how->state == SOC_TASK_COMPLETED;
    soc_buf_put_byte(out, '{');
    soc_tasks_put_minutes(out, soc_task_took_ms(task, now_ms));
    if (how->value.data != NULL) {
        soc_json_put_name(out, is_completed ? "output" : "error");
        soc_buf_put_slice(out, how->value);
    }
    if (how->is_retryable) {
        soc_json_put_name(out, "retryable");
        soc_buf_put_text(out, "true");
    }
    soc_json_put_text_member(out, "status", soc_slice_text(status));
    soc_json_put_text_member(out, "task_id", soc_slice_text(task->id));
    soc_buf_put_byte(out, '}');
}

struct soc_activation *soc_tasks_waiter(const struct soc_agent *agent, uint64_t key)
{
    struct soc_activation *activation = agent->activation;
    if (activation == NULL || activation->state != SOC_ACTIVATION_WAITING ||
        activation->wait.kind != SOC_WAIT_TASK || activation->wait.request_key != key)
        return NULL;
    return activation;
}

void soc_tasks_answer_waiter(struct soc_host *host, struct soc_activation *waiter,
                             struct soc_slice result)
{
    const struct soc_agent *child = waiter->wait.on;
    assert(waiter->wait.kind == SOC_WAIT_TASK && child != NULL);
    struct soc_buf answer = {0};
    soc_buf_put_text(&answer, "[{");
    soc_json_put_text_member(&answer, "id", soc_agent_id(child));
    soc_json_put_name(&answer, "result");
    soc_buf_put_slice(&answer, result);
    soc_json_put_text_member(&answer, "roleId", soc_slice_text(child->role->id));
    soc_json_put_text_member(&answer, "roleName", soc_slice_text(child->role->name));
    soc_buf_put_text(&answer, "}]");
    soc_waiting_answer(host, waiter, soc_buf_slice(&answer));
    soc_buf_fini(&answer);
}

/* Ends a task according to the payload of a result. False if the result does not end
 * it. */
static bool close_by(struct soc_host *host, struct soc_task *task,
                     const struct soc_message *message)
{
    struct soc_slice payload = soc_message_payload(message);
    struct soc_slice status = soc_json_plain_string(soc_json_member(payload, "status"));
    struct soc_slice error = soc_json_member(payload, "error");
    struct soc_slice retryable = soc_json_member(payload, "retryable");
    bool is_failed = status.data != NULL && soc_slice_equal(status, SOC_SLICE("failed"));
    bool is_done = status.data == NULL ? message->type == soc_tasks_of_host(host)->task_complete
                                       : soc_slice_equal(status, SOC_SLICE("done")) ||
                                             soc_slice_equal(status, SOC_SLICE("completed"));
    if (!is_failed && !is_done)
        return false;
    /* The host of the owner has tried again already. */
    if (is_failed && !task->owner->is_remote && retryable.data != NULL &&
        soc_slice_equal(retryable, SOC_SLICE("true"))) {
        int64_t delay_ms = soc_tasks_ask_retry(host, task, error);
        if (delay_ms >= 0) {
            soc_tasks_retry(host, task, soc_host_now(host) + delay_ms, error);
            return false;
        }
    }
    soc_tasks_end(host, task, is_failed ? SOC_TASK_FAILED : SOC_TASK_COMPLETED,
                  is_failed ? error : (struct soc_slice){0});
    soc_tasks_dispose(host, task);
    return true;
}

bool soc_tasks_has_done(const struct soc_host *host, const struct soc_agent *agent, uint64_t key)
{
    const struct soc_workload *workload = soc_tasks_workload(host, agent);
    for (uint32_t i = 0; workload != NULL && i < workload->done_count; i++)
        if (workload->done[i].key == key)
            return true;
    return false;
}

bool soc_tasks_opens(const struct soc_host *host, const struct soc_message *message)
{
    return soc_tasks_style(host, message->type, soc_message_payload(message)) >= 0;
}

bool soc_tasks_is_over(const struct soc_host *host, uint64_t key)
{
    size_t cursor = 0;
    const struct soc_workload *workload;
    while ((workload = soc_map_each(&soc_tasks_of_host(host)->workloads, &cursor)) != NULL)
        for (uint32_t i = 0; i < workload->done_count; i++)
            if (workload->done[i].key == key)
                return true;
    return false;
}

/* Tells whether a result sent to `to` ends the task. */
static bool is_for(const struct soc_host *host, const struct soc_task *task,
                   const struct soc_agent *to)
{
    struct soc_slice orchestrator = host->registry.orchestrator == NULL
                                        ? SOC_SLICE("root")
                                        : soc_slice_text(host->registry.orchestrator);
    return to == task->assigner || soc_slice_equal(soc_agent_id(to), orchestrator);
}

static bool accept_result(struct soc_host *host, struct soc_message *message)
{
    struct soc_agent *from = message->from;
    uint64_t key = message->reply_to;
    if (from == NULL)
        return false;
    if (message->is_late) {
        soc_trace_message(host, "late_result", message);
        soc_router_finish(host, message, SOC_OUTCOME_DROPPED,
                          SOC_SLICE("{\"error\":\"late_result\"}"));
        return true;
    }
    struct soc_task *task = soc_tasks_find_key(host, key);
    if (task == NULL || task->owner != from)
        task = soc_tasks_find(host, from, soc_message_text(message, SOC_TEXT_TASK_ID));
    if (task != NULL && from->is_remote)
        soc_tasks_begin_remote(host, task->key); /* a result may overtake the word of that */
    bool is_final = task == NULL && soc_tasks_has_done(host, from, key);
    bool is_known = is_final;
    if (task != NULL && task->state == SOC_TASK_PROCESSING && is_for(host, task, message->to)) {
        is_known = true;
        key = task->key;
        is_final = close_by(host, task, message);
    }
    struct soc_activation *waiter = is_final ? soc_tasks_waiter(message->to, key) : NULL;
    if (waiter != NULL) {
        soc_tasks_answer_waiter(host, waiter, soc_message_payload(message));
        soc_router_finish(host, message, SOC_OUTCOME_PROCESSED, (struct soc_slice){0});
        return true;
    }
    /* The request may have been answered before the task ended. A result is not a late
     * reply then: it goes to the mailbox. */
    if (is_known && message->flags & SOC_MESSAGE_IS_REPLY &&
        soc_request_find(host, message->reply_to) == NULL)
        message->flags &= (uint8_t)~SOC_MESSAGE_IS_REPLY;
    return false;
}

/* Handles a task message with the action cancel, or an abort. */
static void accept_cancel(struct soc_host *host, struct soc_message *message)
{
    struct soc_slice id = soc_message_text(message, SOC_TEXT_TASK_ID);
    struct soc_task *task = soc_tasks_find(host, message->to, id);
    if (task == NULL || !soc_tasks_may_cancel(host, message->from, task))
        return;
    struct soc_slice reason = soc_json_member(soc_message_payload(message), "reason");
    soc_tasks_cut(host, task, message->from, reason, true);
}

bool soc_tasks_accept(struct soc_host *host, struct soc_message *message)
{
    const struct soc_tasks *tasks = soc_tasks_of_host(host);
    if (!message->type->is_marked)
        return false;
    if (message->type == tasks->result || message->type == tasks->task_complete)
        return accept_result(host, message);
    if (message->type == tasks->abort) {
        accept_cancel(host, message);
        return false;
    }
    bool opens = soc_tasks_style(host, message->type, soc_message_payload(message)) >= 0;
    if (!opens && message->type == tasks->openers[SOC_TASK_STYLE_TASK])
        accept_cancel(host, message);
    if (!opens || soc_tasks_find_key(host, message->key) != NULL)
        return false;
    /* The turn that opened the task cancelled it. */
    soc_router_finish(host, message, SOC_OUTCOME_CANCELLED, SOC_SLICE("{\"error\":\"cancelled\"}"));
    return true;
}

static int refuse_over(struct soc_buf *error, const char *id, enum soc_task_state state)
{
    soc_refusal_begin(error, SOC_ETASKOVER, NULL);
    soc_json_put_text_member(error, "task_id", soc_slice_text(id));
    soc_json_put_text_member(error, "state", soc_slice_text(soc_task_state_name(state)));
    return soc_refusal_end(error, SOC_ETASKOVER);
}

/* Tells whether `ref` names the message that opened the task. */
static bool is_opener(struct soc_task_ref ref, const struct soc_task *task)
{
    return ref.key == task->key && soc_message_id_is(ref.message_id, task->opened_ms, task->key);
}

/* Explains why the running agent has no such open task. */
static int refuse_missing(struct soc_host *host, struct soc_task_ref ref, struct soc_buf *error)
{
    const struct soc_workload *workload = soc_tasks_workload(host, host->turn.agent);
    for (uint32_t i = workload == NULL ? 0 : workload->done_count; i > 0; i--) {
        const struct soc_task_done *done = &workload->done[i - 1];
        if ((ref.key != 0 && done->key == ref.key) ||
            (ref.id.data != NULL && soc_slice_equal(ref.id, soc_slice_text(done->id))))
            return refuse_over(error, done->id, done->state);
    }
    size_t cursor = 0;
    const struct soc_task *task;
    while ((task = soc_map_each(&soc_tasks_of_host(host)->open, &cursor)) != NULL)
        if (is_opener(ref, task) ||
            (ref.id.data != NULL && soc_slice_equal(ref.id, soc_slice_text(task->id))))
            return soc_refuse(error, SOC_EFORBIDDEN, "only the owner of a task can end it",
                              "task_id", soc_slice_text(task->id));
    return soc_refuse(error, SOC_ENOTASK, NULL, "task_id", ref.id);
}

static int find_own(struct soc_host *host, struct soc_task_ref ref, struct soc_task **out,
                    struct soc_buf *error)
{
    struct soc_task *task = ref.key == 0 ? NULL : soc_tasks_find_key(host, ref.key);
    if (task == NULL || task->owner != host->turn.agent || !is_opener(ref, task))
        task = soc_tasks_find(host, host->turn.agent, ref.id);
    *out = task;
    if (task == NULL)
        return refuse_missing(host, ref, error);
    enum soc_task_state state = soc_tasks_state(task);
    if (state >= SOC_TASK_COMPLETED)
        return refuse_over(error, task->id, state);
    if (state == SOC_TASK_PENDING)
        return soc_refuse(error, SOC_EREFUSED, "the task has not started; it is still queued",
                          "task_id", soc_slice_text(task->id));
    return SOC_OK;
}

/* Sends the result to the assigner, if it still exists. */
static int send_result(struct soc_host *host, const struct soc_task *task,
                       const struct soc_task_close *how, struct soc_buf *error)
{
    if (!soc_tasks_has_assigner(task))
        return SOC_OK;
    struct soc_message *message;
    struct soc_buf payload = {0};
    soc_tasks_put_result(&payload, task, how->state == SOC_TASK_COMPLETED ? "done" : "failed", how,
                         soc_host_now(host));
    struct soc_send send = soc_tasks_result(task, soc_buf_slice(&payload));
    int rc = soc_router_send(host, task->owner, &send, &message, error);
    soc_buf_fini(&payload);
    return rc;
}

int soc_tasks_close(struct soc_host *host, struct soc_task_ref ref,
                    const struct soc_task_close *how, struct soc_buf *answer, struct soc_buf *error)
{
    struct soc_task *task;
    assert(host->turn.is_open && host->turn.agent != NULL);
    assert(how->state == SOC_TASK_COMPLETED || how->state == SOC_TASK_FAILED);
    int rc = find_own(host, ref, &task, error);
    if (rc < 0)
        return rc;
    int64_t delay_ms = how->is_retryable ? soc_tasks_ask_retry(host, task, how->value) : -1;
    bool is_failed = how->state == SOC_TASK_FAILED;
    struct soc_slice reason = is_failed ? how->value : (struct soc_slice){0};
    if (delay_ms >= 0) {
        task->again_ms = soc_host_now(host) + delay_ms;
        soc_tasks_touch(host, task, SOC_TASK_RETRIED, reason);
    } else {
        rc = send_result(host, task, how, error);
        if (rc < 0)
            return rc;
        task->intent_state = (uint8_t)how->state;
        soc_tasks_touch(host, task, SOC_TASK_CLOSED, reason);
    }
    soc_tasks_put_intended(host, answer, task);
    return SOC_OK;
}

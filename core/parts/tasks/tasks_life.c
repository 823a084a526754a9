#include "parts/tasks/tasks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/mail.h"
#include "kernel/mail/passage.h"
#include "kernel/mail/requests.h"
#include "kernel/mail/router.h"
#include "kernel/refusal.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/turn.h"
#include "parts/tasks/tasks_operations.h"
#include "parts/tasks/tasks_reopen.h"
#include "parts/tasks/tasks_state.h"

void *soc_tasks_new(struct soc_host *host)
{
    struct soc_tasks *tasks = soc_alloc_zero(sizeof(*tasks));
    for (int i = 0; i < SOC_TASK_STYLE_COUNT; i++)
        tasks->openers[i] = soc_intern_mark(
            &host->types.table, soc_slice_text(soc_task_style_name((enum soc_task_style)i)));
    tasks->result = soc_intern_mark(&host->types.table, SOC_SLICE("result"));
    tasks->task_complete = soc_intern_mark(&host->types.table, SOC_SLICE("task_complete"));
    tasks->abort = soc_intern_mark(&host->types.table, SOC_SLICE("abort"));
    tasks->limit_ms = SOC_TASK_LIMIT_MS;
    return tasks;
}

void soc_tasks_free(struct soc_host *host)
{
    struct soc_tasks *tasks = soc_tasks_of_host(host);
    size_t cursor = 0;
    struct soc_task *task;
    while ((task = soc_map_each(&tasks->open, &cursor)) != NULL) {
        soc_heap_remove(&tasks->alarms, &task->alarm);
        soc_task_leave(task);
        soc_tasks_dispose(host, task);
    }
    struct soc_workload *workload;
    for (cursor = 0; (workload = soc_map_each(&tasks->workloads, &cursor)) != NULL;)
        soc_workload_free(workload);
    soc_map_fini(&tasks->open);
    soc_map_fini(&tasks->names);
    soc_map_fini(&tasks->workloads);
    soc_tasks_forget_recalled(host);
    soc_heap_fini(&tasks->alarms);
    soc_buf_fini(&tasks->touched);
    free(tasks);
}

void soc_tasks_set_limit(struct soc_host *host, int64_t limit_ms)
{
    soc_tasks_of_host(host)->limit_ms = limit_ms;
}

/* Builds the key of an open task by owner and id. Ids contain no line breaks. */
static struct soc_slice make_name(char out[SOC_ADDRESS_BYTES_MAX + SOC_ID_BYTES_MAX + 2],
                                  const struct soc_agent *owner, struct soc_slice id)
{
    assert(owner->id_length <= SOC_ADDRESS_BYTES_MAX && id.length <= SOC_ID_BYTES_MAX);
    memcpy(out, owner->id, owner->id_length);
    out[owner->id_length] = '\n';
    memcpy(out + owner->id_length + 1, id.data, id.length);
    return soc_slice(out, owner->id_length + 1 + id.length);
}

struct soc_task *soc_tasks_find(const struct soc_host *host, const struct soc_agent *owner,
                                struct soc_slice id)
{
    char name[SOC_ADDRESS_BYTES_MAX + SOC_ID_BYTES_MAX + 2];
    if (soc_tasks_of_host(host)->open.count == 0 || id.data == NULL || id.length > SOC_ID_BYTES_MAX)
        return NULL;
    return soc_map_find(&soc_tasks_of_host(host)->names, make_name(name, owner, id));
}

bool soc_tasks_has_assigner(const struct soc_task *task)
{
    return task->assigner != NULL && !task->assigner->is_ended;
}

struct soc_task *soc_tasks_find_key(const struct soc_host *host, uint64_t key)
{
    return soc_tasks_of_host(host)->open.count == 0
               ? NULL
               : soc_map_find_number(&soc_tasks_of_host(host)->open, key);
}

int soc_tasks_style(const struct soc_host *host, const struct soc_symbol *type,
                    struct soc_slice payload)
{
    for (int i = 0; type->is_marked && i < SOC_TASK_STYLE_COUNT; i++) {
        if (type != soc_tasks_of_host(host)->openers[i])
            continue;
        if (i == SOC_TASK_STYLE_TASK && payload.data[0] == '{') {
            struct soc_slice action = soc_json_plain_string(soc_json_member(payload, "action"));
            if (action.data != NULL && soc_slice_equal(action, SOC_SLICE("cancel")))
                return -1;
        }
        return i;
    }
    return -1;
}

struct soc_task *soc_tasks_of(const struct soc_host *host, const struct soc_message *message)
{
    const struct soc_symbol *const *openers = soc_tasks_of_host(host)->openers;
    if (message->type != openers[0] && message->type != openers[1] && message->type != openers[2])
        return NULL;
    return soc_tasks_find_key(host, message->key);
}

struct soc_workload *soc_tasks_workload(const struct soc_host *host, const struct soc_agent *agent)
{
    return soc_map_find(&soc_tasks_of_host(host)->workloads, soc_agent_id(agent));
}

struct soc_workload *soc_tasks_need_workload(struct soc_host *host, struct soc_agent *agent)
{
    struct soc_workload *workload = soc_tasks_workload(host, agent);
    if (workload == NULL) {
        workload = soc_workload_new(agent);
        soc_map_put(&soc_tasks_of_host(host)->workloads, soc_agent_id(agent), workload);
    }
    return workload;
}

enum soc_task_state soc_tasks_state(const struct soc_task *task)
{
    if (task->intent & (SOC_TASK_CLOSED | SOC_TASK_CUT))
        return task->intent_state;
    if (task->intent & SOC_TASK_RETRIED)
        return SOC_TASK_PENDING;
    return task->intent & SOC_TASK_BEGUN ? SOC_TASK_PROCESSING : task->state;
}

void soc_tasks_link(struct soc_host *host, struct soc_task *task)
{
    assert(soc_tasks_find_key(host, task->key) == NULL);
    char name[SOC_ADDRESS_BYTES_MAX + SOC_ID_BYTES_MAX + 2];
    struct soc_slice made = make_name(name, task->owner, soc_slice_text(task->id));
    if (task->name == NULL)
        task->name = soc_copy_text(made.data, made.length);
    soc_map_put_number(&soc_tasks_of_host(host)->open, task->key, task);
    soc_map_put(&soc_tasks_of_host(host)->names, soc_slice(task->name, made.length), task);
    soc_workload_add(soc_tasks_need_workload(host, task->owner), task);
}

void soc_tasks_unlink(struct soc_host *host, struct soc_task *task)
{
    assert(soc_tasks_find_key(host, task->key) == task);
    struct soc_tasks *tasks = soc_tasks_of_host(host);
    soc_heap_remove(&tasks->alarms, &task->alarm);
    soc_map_take_number(&tasks->open, task->key);
    soc_map_take(&tasks->names, soc_slice_text(task->name));
    soc_workload_remove(soc_tasks_workload(host, task->owner), task);
}

static void take_back(struct soc_host *host, struct soc_undo *undo)
{
    (void)undo;
    struct soc_buf *touched = &soc_tasks_of_host(host)->touched;
    struct soc_touch touch;
    assert(touched->length >= sizeof(touch));
    touched->length -= sizeof(touch);
    memcpy(&touch, touched->data + touched->length, sizeof(touch));
    free(touch.reason);
    struct soc_task *task = soc_tasks_find_key(host, touch.key);
    assert(task != NULL); /* a turn never removes what it has noted */
    task->intent &= (uint8_t)~touch.intent;
    if (touch.intent == SOC_TASK_RETRIED)
        task->again_ms = 0;
    if (touch.intent != SOC_TASK_OPENED)
        return;
    soc_tasks_unlink(host, task);
    /* The owner may have been spawned in the same turn and be rolled back next. */
    struct soc_workload *workload = soc_tasks_workload(host, task->owner);
    if (workload->first == NULL && workload->done_count == 0)
        soc_workload_free(
            soc_map_take(&soc_tasks_of_host(host)->workloads, soc_agent_id(workload->owner)));
    soc_task_leave(task);
    soc_task_free(task);
}

void soc_tasks_touch(struct soc_host *host, struct soc_task *task, enum soc_task_intent intent,
                     struct soc_slice reason)
{
    struct soc_touch touch = {.key = task->key, .intent = intent};
    soc_text_set(&touch.reason, reason);
    task->intent |= (uint8_t)intent;
    soc_buf_put(&soc_tasks_of_host(host)->touched, &touch, sizeof(touch));
    static const struct soc_undo_ops ops = {.roll_back = take_back};
    soc_turn_note(host, (struct soc_undo){.ops = &ops});
}

/* Tells whether messages of that type act on a task as soon as they are sent. */
static bool acts_on_task(const struct soc_host *host, const struct soc_symbol *type)
{
    const struct soc_tasks *tasks = soc_tasks_of_host(host);
    return type == tasks->result || type == tasks->task_complete || type == tasks->abort ||
           type == tasks->openers[SOC_TASK_STYLE_TASK]; /* one that opens no task cancels */
}

/* Lends the youngest ended task of `owner` with that id that is remembered, or NULL. */
static const struct soc_task_done *find_done(const struct soc_host *host,
                                             const struct soc_agent *owner, struct soc_slice id)
{
    const struct soc_workload *workload = soc_tasks_workload(host, owner);
    for (uint32_t i = workload == NULL ? 0 : workload->done_count; i > 0; i--)
        if (soc_slice_equal(id, soc_slice_text(workload->done[i - 1].id)))
            return &workload->done[i - 1];
    return NULL;
}

static int refuse_over(struct soc_buf *error, struct soc_slice id, enum soc_task_state state)
{
    soc_refusal_begin(error, SOC_ETASKOVER, NULL);
    soc_json_put_text_member(error, "task_id", id);
    soc_json_put_text_member(error, "state", soc_slice_text(soc_task_state_name(state)));
    return soc_refusal_end(error, SOC_ETASKOVER);
}

/* May `from` cancel the task of `to` with that id by a message? */
static int check_cancel(struct soc_host *host, const struct soc_agent *from,
                        const struct soc_agent *to, struct soc_slice id, struct soc_buf *error)
{
    const struct soc_task *task = soc_tasks_find(host, to, id);
    const struct soc_task_done *done = task == NULL ? find_done(host, to, id) : NULL;
    if (task == NULL && done == NULL)
        return soc_refuse(error, SOC_ENOTASK, "the receiver has no task with that id", "task_id",
                          id);
    if (task == NULL)
        return refuse_over(error, id, done->state);
    if (soc_tasks_state(task) >= SOC_TASK_COMPLETED)
        return refuse_over(error, id, soc_tasks_state(task));
    if (!soc_tasks_may_cancel(host, from, task))
        return soc_refuse(error, SOC_EFORBIDDEN,
                          "only the assigner of a task, or an agent above it, can cancel it",
                          "task_id", id);
    return SOC_OK;
}

/* Tells whether any agent has, or had, a task with that id. */
static bool is_known(const struct soc_host *host, struct soc_slice id)
{
    size_t cursor = 0;
    const struct soc_workload *workload;
    while ((workload = soc_map_each(&soc_tasks_of_host(host)->workloads, &cursor)) != NULL)
        if (soc_tasks_find(host, workload->owner, id) != NULL ||
            find_done(host, workload->owner, id) != NULL)
            return true;
    return false;
}

/* May `from` report the result of the task with that id? */
static int check_result(const struct soc_host *host, const struct soc_agent *from,
                        struct soc_slice id, struct soc_buf *error)
{
    if (id.data == NULL || soc_tasks_find(host, from, id) != NULL ||
        find_done(host, from, id) != NULL || !is_known(host, id))
        return SOC_OK;
    return soc_refuse(error, SOC_EOTHERTASK, NULL, "task_id", id);
}

int soc_tasks_check(struct soc_host *host, const struct soc_agent *to,
                    const struct soc_symbol *type, const struct soc_send *send, struct soc_slice id,
                    struct soc_buf *error)
{
    bool opens = soc_tasks_style(host, type, send->payload) >= 0;
    if (!opens && send->deliver_at_ms > soc_host_now(host) && acts_on_task(host, type))
        return soc_refuse(error, SOC_EINVAL,
                          "a message that ends or cancels a task cannot be delayed", "type",
                          soc_symbol_slice(type));
    if (id.data == NULL || !opens)
        return SOC_OK;
    const struct soc_task *task = soc_tasks_find(host, to, id);
    if (task == NULL)
        return SOC_OK;
    soc_refusal_begin(error, SOC_EEXISTS,
                      "the receiver already has an open task with that id; choose another id");
    soc_json_put_text_member(error, "task_id", id);
    soc_json_put_text_member(error, "to", soc_agent_id(to));
    soc_json_put_text_member(error, "state",
                             soc_slice_text(soc_task_state_name(soc_tasks_state(task))));
    return soc_refusal_end(error, SOC_EEXISTS);
}

void soc_tasks_name(struct soc_host *host, struct soc_message_draft *draft,
                    char own_id[SOC_MESSAGE_ID_BYTES])
{
    struct soc_slice *id = &draft->texts[SOC_TEXT_TASK_ID];
    if (soc_tasks_style(host, draft->type, draft->payload) < 0 ||
        (id->data != NULL && soc_tasks_find(host, draft->to, *id) == NULL))
        return;
    soc_message_id_format(own_id, draft->time_ms, draft->key);
    *id = soc_slice(own_id, SOC_MESSAGE_ID_BYTES);
}

/* Finds the open task the current turn works for: the one its message opened, otherwise
 * the agent's own task with that id, otherwise the oldest with that id. */
static struct soc_task *find_parent(const struct soc_host *host)
{
    const struct soc_message *cause = host->turn.cause;
    if (cause == NULL || soc_tasks_of_host(host)->open.count == 0)
        return NULL;
    struct soc_task *task = soc_tasks_of(host, cause);
    struct soc_slice id = soc_message_text(cause, SOC_TEXT_TASK_ID);
    if (task != NULL || id.data == NULL)
        return task;
    if (host->turn.agent != NULL)
        task = soc_tasks_find(host, host->turn.agent, id);
    size_t cursor = 0;
    struct soc_task *other;
    while (task == NULL && (other = soc_map_each(&soc_tasks_of_host(host)->open, &cursor)) != NULL)
        if (soc_slice_equal(id, soc_slice_text(other->id)))
            task = other;
    return task;
}

struct soc_task *soc_tasks_make(struct soc_host *host, struct soc_message *message, int style)
{
    struct soc_slice id = soc_message_text(message, SOC_TEXT_TASK_ID);
    struct soc_slice correlation = soc_message_text(message, SOC_TEXT_CORRELATION_ID);
    char own_id[SOC_MESSAGE_ID_BYTES];
    int64_t limit_ms = soc_tasks_of_host(host)->limit_ms;
    if (host->hooks.task_limit != NULL)
        limit_ms = host->hooks.task_limit(host->hooks.user, message, limit_ms);
    struct soc_task *task = soc_task_new(message->key, id, message->from, message->to);
    if (correlation.data == NULL) {
        soc_envelope_id(own_id, message);
        correlation = soc_slice(own_id, sizeof(own_id));
    }
    soc_tasks_read(host, task,
                   &(struct soc_record_task){
                       .key = message->key,
                       .state = SOC_TASK_PENDING,
                       .style = (uint64_t)style,
                       .priority = message->priority,
                       .opened_ms = (uint64_t)message->time_ms,
                       .deadline_ms = (uint64_t)message->deadline_ms,
                       .limit_ms = (uint64_t)limit_ms,
                       .correlation_id = correlation,
                   });
    task->message = message;
    soc_tasks_link(host, task);
    return task;
}

void soc_tasks_open(struct soc_host *host, struct soc_message *message)
{
    int style = soc_tasks_style(host, message->type, soc_message_payload(message));
    if (style < 0)
        return;
    struct soc_task *parent = find_parent(host);
    struct soc_task *task = soc_tasks_make(host, message, style);
    if (parent != NULL)
        soc_task_adopt(parent, task);
    soc_tasks_store(host, task);
    soc_tasks_touch(host, task, SOC_TASK_OPENED, (struct soc_slice){0});
}

void soc_tasks_arm(struct soc_host *host, struct soc_task *task)
{
    /* Again: a task that was restored did not know all of the calendar. */
    task->deadline_ms = soc_clock_time_of(&host->clock, task->deadline_date_ms);
    int64_t due_ms = soc_task_due(task);
    soc_heap_remove(&soc_tasks_of_host(host)->alarms, &task->alarm);
    if (due_ms != 0)
        soc_heap_add(&soc_tasks_of_host(host)->alarms, &task->alarm, due_ms);
}

static void begin(struct soc_host *host, struct soc_task *task)
{
    int64_t now_ms = soc_host_now(host);
    if (soc_task_begin(task, now_ms) < 0)
        return; /* already started before a crash */
    soc_tasks_store(host, task);
    soc_tasks_arm(host, task);
    soc_tasks_trace_start(host, task, now_ms);
}

void soc_tasks_begin(struct soc_host *host, const struct soc_message *message)
{
    struct soc_task *task = soc_tasks_of(host, message);
    if (task != NULL)
        begin(host, task);
}

void soc_tasks_begin_remote(struct soc_host *host, uint64_t key)
{
    struct soc_task *task = soc_tasks_find_key(host, key);
    if (task != NULL && task->owner->is_remote && task->owns_message)
        begin(host, task);
}

void soc_tasks_take(struct soc_host *host, const struct soc_message *message)
{
    struct soc_task *task = soc_tasks_of(host, message);
    if (task != NULL && task->state == SOC_TASK_PENDING)
        soc_tasks_touch(host, task, SOC_TASK_BEGUN, (struct soc_slice){0});
}

/* Delivers the message kept by the task once more. */
static void queue_again(struct soc_host *host, struct soc_task *task)
{
    assert(task->message != NULL);
    int64_t again_ms = task->again_ms;
    task->again_ms = 0;
    task->owns_message = false;
    task->message->outcome = SOC_OUTCOME_PROCESSED;
    soc_router_again(host, task->message, again_ms);
}

void soc_tasks_retry(struct soc_host *host, struct soc_task *task, int64_t again_ms,
                     struct soc_slice reason)
{
    if (soc_task_retry(task) < 0)
        return;
    task->again_ms = again_ms;
    soc_tasks_store(host, task);
    soc_tasks_trace(host, "task_retried", task, reason);
    if (task->owns_message)
        queue_again(host, task);
}

void soc_tasks_end(struct soc_host *host, struct soc_task *task, enum soc_task_state state,
                   struct soc_slice reason)
{
    if (!soc_task_is_over(task))
        soc_task_end(task, state, soc_host_now(host));
    assert(soc_task_is_over(task));
    soc_text_set(&task->reason, reason);
    soc_tasks_unlink(host, task);
    soc_tasks_store(host, task);
    for (const struct soc_task *child = task->first_child; child != NULL;
         child = child->next_sibling)
        soc_tasks_store_under(host, child, task->parent);
    soc_tasks_file(host, task, task->parent == NULL ? 0 : task->parent->key);
    soc_tasks_trace_end(host, task, reason);
}

void soc_tasks_dispose(struct soc_host *host, struct soc_task *task)
{
    assert(!task->owns_message || task->message != NULL);
    if (task->owns_message)
        soc_mail_free(host, task->message);
    soc_task_free(task);
}

/* Carries out a change noted by a turn. */
static void apply(struct soc_host *host, struct soc_task *task, const struct soc_touch *touch)
{
    struct soc_slice reason = soc_slice_text(touch->reason);
    task->intent &= (uint8_t)~touch->intent;
    switch (touch->intent) {
    case SOC_TASK_OPENED:
        soc_tasks_arm(host, task);
        soc_tasks_trace(host, "task_opened", task, reason);
        if (task->parent != NULL && task->assigner != NULL && task->assigner != task->owner)
            soc_tasks_trace_handoff(host, task);
        break;
    case SOC_TASK_BEGUN:
        begin(host, task);
        break;
    case SOC_TASK_RETRIED:
        soc_tasks_retry(host, task, task->again_ms, reason);
        break;
    case SOC_TASK_CLOSED:
        soc_tasks_end(host, task, task->intent_state, reason);
        soc_tasks_dispose(host, task);
        break;
    case SOC_TASK_CUT:
        soc_tasks_cut(host, task, task->canceller, reason, false);
        break;
    }
}

void soc_tasks_commit(struct soc_host *host)
{
    if (soc_tasks_of_host(host)->touched.length == 0)
        return;
    struct soc_buf touched = soc_tasks_of_host(host)->touched;
    assert(touched.length % sizeof(struct soc_touch) == 0);
    soc_tasks_of_host(host)->touched = (struct soc_buf){0}; /* changes may open more turns */
    for (size_t at = 0; at < touched.length; at += sizeof(struct soc_touch)) {
        struct soc_touch touch;
        memcpy(&touch, touched.data + at, sizeof(touch));
        struct soc_task *task = soc_tasks_find_key(host, touch.key);
        if (task != NULL)
            apply(host, task, &touch);
        free(touch.reason);
    }
    soc_buf_fini(&touched);
}

/* Fails a task whose message will not be handled again, or cancels it along with its
 * activation. */
static void fail_task(struct soc_host *host, struct soc_task *task, enum soc_outcome outcome,
                      struct soc_slice reason)
{
    bool is_cancelled = outcome == SOC_OUTCOME_CANCELLED;
    struct soc_buf payload = {0};
    struct soc_task_close how = {
        .state = is_cancelled ? SOC_TASK_CANCELLED : SOC_TASK_FAILED,
        .value = reason.data == NULL ? reason : soc_json_member(reason, "error"),
    };
    bool has_request = soc_request_find(host, task->key) != NULL;
    struct soc_activation *waiter =
        task->assigner == NULL ? NULL : soc_tasks_waiter(task->assigner, task->key);
    soc_tasks_put_result(&payload, task, is_cancelled ? "cancelled" : "failed", &how,
                         soc_host_now(host));
    soc_tasks_end(host, task, how.state, reason);
    if (waiter != NULL) {
        soc_tasks_answer_waiter(host, waiter, soc_buf_slice(&payload));
    } else if (!has_request && soc_tasks_has_assigner(task)) {
        struct soc_send send = soc_tasks_result(task, soc_buf_slice(&payload));
        soc_tasks_send(host, NULL, &send);
    }
    soc_buf_fini(&payload);
    soc_tasks_dispose(host, task);
}

bool soc_tasks_fail_remote(struct soc_host *host, const struct soc_agent *owner, uint64_t key,
                           struct soc_slice error)
{
    struct soc_workload *workload = soc_tasks_workload(host, owner);
    struct soc_task *task = key == 0 ? NULL : soc_tasks_find_key(host, key);
    if (workload == NULL)
        return false;
    if (key == 0) {
        while (workload->first != NULL)
            fail_task(host, workload->first, SOC_OUTCOME_DEAD, error);
        return true;
    }
    if (task == NULL || task->owner != owner)
        return soc_tasks_has_done(host, owner, key);
    bool has_request = soc_request_find(host, key) != NULL;
    fail_task(host, task, SOC_OUTCOME_DEAD, error);
    return !has_request;
}

void soc_tasks_drop_agent(struct soc_host *host, const struct soc_agent *agent)
{
    struct soc_workload *workload = soc_tasks_workload(host, agent);
    while (workload != NULL && workload->first != NULL)
        fail_task(host, workload->first, SOC_OUTCOME_DEAD,
                  SOC_SLICE("{\"error\":\"agent_stopped\"}"));
}

bool soc_tasks_ended(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                     struct soc_slice reason)
{
    struct soc_task *task = soc_tasks_of(host, message);
    if (task == NULL)
        return false;
    if (outcome != SOC_OUTCOME_PROCESSED && outcome != SOC_OUTCOME_HANDED_OVER) {
        message->is_told = true; /* by the result */
        fail_task(host, task, outcome, reason);
        return false;
    }
    if (task->again_ms == 0 && outcome == SOC_OUTCOME_PROCESSED)
        begin(host, task); /* shown to the person, or received as a reply */
    task->message = message;
    task->owns_message = true;
    if (task->again_ms != 0)
        queue_again(host, task);
    return true;
}

int64_t soc_tasks_due(const struct soc_host *host)
{
    const struct soc_heap_item *item = soc_heap_peek(&soc_tasks_of_host(host)->alarms);
    return item == NULL ? 0 : item->due_ms;
}

void soc_tasks_fire(struct soc_host *host)
{
    struct soc_heap_item *item = soc_heap_peek(&soc_tasks_of_host(host)->alarms);
    assert(item != NULL && item->due_ms <= soc_host_now(host));
    struct soc_task *task = (void *)((char *)item - offsetof(struct soc_task, alarm));
    enum soc_task_alert alert = soc_task_take_alert(task, soc_host_now(host));
    soc_tasks_arm(host, task);
    soc_tasks_store(host, task);
    struct soc_slice kind = soc_slice_text(soc_task_alert_name(alert));
    struct soc_buf payload = {0};
    soc_buf_put_byte(&payload, '{');
    soc_json_put_text_member(&payload, "agent", soc_agent_id(task->owner));
    soc_json_put_text_member(&payload, "alert_type", kind);
    soc_tasks_put_minutes(&payload, soc_task_took_ms(task, soc_host_now(host)));
    soc_json_put_text_member(&payload, "task_id", soc_slice_text(task->id));
    soc_buf_put_byte(&payload, '}');
    soc_tasks_trace(host, "task_alert", task,
                    soc_json_member(soc_buf_slice(&payload), "alert_type"));
    /* The host of an assigner elsewhere alerts it by its own clock. */
    if (soc_tasks_has_assigner(task) && !task->assigner->is_ending && !task->assigner->is_remote) {
        struct soc_send send = {
            .to = soc_agent_id(task->assigner),
            .type = SOC_SLICE("alert"),
            .payload = soc_buf_slice(&payload),
        };
        send.texts[SOC_TEXT_TASK_ID] = soc_slice_text(task->id);
        send.texts[SOC_TEXT_CORRELATION_ID] = soc_slice_text(task->correlation_id);
        soc_tasks_send(host, NULL, &send);
    }
    soc_buf_fini(&payload);
}

static bool is_result(const struct soc_host *host, const struct soc_symbol *type)
{
    return type == soc_tasks_of_host(host)->result ||
           type == soc_tasks_of_host(host)->task_complete;
}

static int check(struct soc_host *host, struct soc_passage *p, struct soc_buf *error)
{
    struct soc_slice id = p->send.texts[SOC_TEXT_TASK_ID];
    if (!p->type->is_marked)
        return SOC_OK;
    if (p->to == NULL)
        return soc_tasks_style(host, p->type, p->send.payload) < 0
                   ? SOC_OK
                   : soc_refuse(error, SOC_EINVAL,
                                "a task has one owner; send each agent its own task", "to",
                                SOC_SLICE("All"));
    if (id.data == NULL)
        id = p->adopted.task_id;
    const struct soc_tasks *tasks = soc_tasks_of_host(host);
    int rc = soc_tasks_check(host, p->to, p->type, &p->send, id, error);
    if (rc < 0 || p->from == NULL || p->send.is_formal)
        return rc;
    if (is_result(host, p->type))
        return check_result(host, p->from, id, error);
    bool cancels = p->type == tasks->abort || (p->type == tasks->openers[SOC_TASK_STYLE_TASK] &&
                                               soc_tasks_style(host, p->type, p->send.payload) < 0);
    return cancels ? check_cancel(host, p->from, p->to, p->task_id, error) : SOC_OK;
}

/* Tells whether the task that `message`, a result of `from`, is about has ended already. */
static bool is_over(const struct soc_host *host, const struct soc_agent *from,
                    const struct soc_message *message)
{
    struct soc_slice id = soc_message_text(message, SOC_TEXT_TASK_ID);
    const struct soc_task *task = soc_tasks_find(host, from, id);
    if (task != NULL || id.data == NULL)
        return task != NULL && soc_tasks_state(task) >= SOC_TASK_COMPLETED;
    return find_done(host, from, id) != NULL;
}

static int sent(struct soc_host *host, const struct soc_passage *p, struct soc_message *message,
                struct soc_buf *error)
{
    (void)error;
    if (p->to != NULL)
        soc_tasks_open(host, message);
    if (p->from != NULL && is_result(host, p->type))
        message->is_late = is_over(host, p->from, message);
    return SOC_OK;
}

static int restore(struct soc_host *host, const struct soc_record *record)
{
    if (record->type == SOC_RECORD_TASK)
        soc_tasks_restore(host, &record->task);
    return SOC_OK;
}

static void deliver(struct soc_host *host, struct soc_message *message)
{
    soc_tasks_begin(host, message);
}

static void taken(struct soc_host *host, struct soc_message *message)
{
    soc_tasks_take(host, message);
}

static void agent_ended(struct soc_host *host, struct soc_agent *agent)
{
    soc_tasks_drop_agent(host, agent);
}

const struct soc_part soc_tasks_part = {
    .name = "tasks",
    .number = SOC_PART_TASKS,
    .operations = soc_tasks_operations,
    .open = soc_tasks_new,
    .free = soc_tasks_free,
    .due = soc_tasks_due,
    .fire = soc_tasks_fire,
    .restore = restore,
    .keep = soc_tasks_keep,
    .release = soc_tasks_release,
    .attach = soc_tasks_attach,
    .resume = soc_tasks_resume,
    .agent_ended = agent_ended,
    .check = check,
    .name_draft = soc_tasks_name,
    .sent = sent,
    .accept = soc_tasks_accept,
    .deliver = deliver,
    .taken = taken,
    .finish = soc_tasks_ended,
    .recall = soc_tasks_recall,
    .again = soc_tasks_reopen,
    .commit = soc_tasks_commit,
};

#include "kernel/operations/call.h"

#include <assert.h>
#include <stdlib.h>

#include "kernel/gate.h"
#include "kernel/look.h"
#include "kernel/operations/call_keys.h"
#include "kernel/refusal.h"
#include "kernel/state.h"
#include "kernel/trace.h"

void soc_call_answer(struct soc_call *call, struct soc_slice list)
{
    assert(list.length >= 2 && list.data[0] == '[');
    call->answer(call, false, call->is_dropped ? (struct soc_slice){0} : list);
}

/* Forgets the key of a call that has failed; those that waited for it fail with it. */
static void drop_key(struct soc_call *call, struct soc_slice error)
{
    struct soc_call_key *key = call->key;
    struct soc_call *joined;
    call->key = NULL;
    while ((joined = soc_call_keys_take_joined(key)) != NULL)
        joined->answer(joined, true, joined->is_dropped ? (struct soc_slice){0} : error);
    soc_call_keys_drop(call->host, key);
}

void soc_call_refuse(struct soc_call *call, struct soc_slice error)
{
    assert(error.length >= 2 && error.data[0] == '{');
    if (call->key != NULL)
        drop_key(call, error);
    call->answer(call, true, call->is_dropped ? (struct soc_slice){0} : error);
}

void soc_call_fail(struct soc_call *call, int code, const char *message)
{
    struct soc_buf error = {0};
    soc_refuse(&error, code, message, NULL, (struct soc_slice){0});
    soc_call_refuse(call, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

void soc_call_fail_gone(struct soc_call *call, uint64_t first)
{
    struct soc_buf error = {0};
    soc_refusal_begin(&error, SOC_EGONE, NULL);
    soc_json_put_name(&error, "first");
    soc_json_put_integer(&error, (int64_t)first);
    soc_refusal_end(&error, SOC_EGONE);
    soc_call_refuse(call, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

void soc_call_fault(struct soc_call *call, const char *name, const char *sentence)
{
    struct soc_buf error = {0};
    soc_refuse(&error, SOC_EINVAL, sentence, "member", soc_slice_text(name));
    soc_call_refuse(call, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

void soc_call_drop(struct soc_call *call)
{
    call->is_dropped = true;
    if (call->host != NULL)
        soc_look_drop(call->host, call);
}

static void succeed_now(void *user)
{
    struct soc_call *call = user;
    struct soc_buf list = call->held;
    call->held = (struct soc_buf){0};
    soc_call_answer(call, soc_buf_slice(&list));
    soc_buf_fini(&list);
}

void soc_call_answer_copy(struct soc_call *call, struct soc_slice list)
{
    assert(call->held.data == NULL);
    soc_buf_put_slice(&call->held, list);
    soc_gate_when_durable(call->host, succeed_now, call);
}

void soc_call_keep_key(struct soc_call *call, struct soc_slice list)
{
    struct soc_call_key *key = call->key;
    struct soc_call *joined;
    if (key == NULL)
        return;
    call->key = NULL;
    soc_call_keys_keep(call->host, key, list);
    while ((joined = soc_call_keys_take_joined(key)) != NULL)
        soc_call_answer_copy(joined, list);
}

void soc_call_answer_when_durable(struct soc_call *call, struct soc_buf *list)
{
    assert(call->held.data == NULL);
    soc_call_keep_key(call, soc_buf_slice(list));
    call->held = *list;
    *list = (struct soc_buf){0};
    soc_gate_when_durable(call->host, succeed_now, call);
}

void soc_call_finish(struct soc_call *call, int rc, bool has_changed, struct soc_slice answer)
{
    struct soc_buf list = {0};
    assert(call->order.length > 0 && !call->host->turn.is_open);
    if (rc < 0) {
        soc_call_refuse(call, answer);
        return;
    }
    if (has_changed)
        soc_trace_keep(call->host, "order", soc_buf_slice(&call->order));
    soc_buf_put_slice(&list, answer);
    soc_call_answer_when_durable(call, &list);
}

void soc_call_fini(struct soc_call *call)
{
    soc_buf_fini(&call->held);
    soc_buf_fini(&call->order);
    if (call->free_work != NULL)
        call->free_work(call->work);
    else
        free(call->work);
    call->work = NULL;
    call->free_work = NULL;
}

#include "script/calls/errand.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/refusal.h"
#include "worker/job.h"
#include "worker/workers.h"

/* How often the CPU time of a worker is looked at. */
#define LOOK_MS 10

/* VM steps that stand for a millisecond of CPU time in a simulation. */
#define STEPS_PER_MS (SOC_SCRIPT_STEPS_MAX / SOC_SCRIPT_CPU_MS_MAX)

struct soc_errand {
    struct soc_script *script;
    struct soc_outcall *call;
    struct soc_worker *worker; /* NULL: not begun, or over */
    struct soc_errand *next;   /* in the queue */
    int64_t cpu_ms_max;
    bool is_waiting;
    bool is_begun;
};

struct soc_errands {
    struct soc_errand *first; /* queue of those waiting for a worker */
    struct soc_errand *last;
    uint32_t count; /* that have one */
};

void soc_errand_open(struct soc_script *script)
{
    assert(script->errands == NULL);
    script->errands = soc_alloc_zero(sizeof(*script->errands));
}

void soc_errand_fini(struct soc_script *script)
{
    assert(script->errands->first == NULL && script->errands->count == 0);
    free(script->errands);
    script->errands = NULL;
}

/* Tells whether the text is a string of JSON. */
static bool is_string(struct soc_slice text)
{
    return text.length >= 2 && text.data[0] == '"';
}

/* Copies the member, a checked value, under its name. */
static void put_member(struct soc_buf *out, const char *name, struct soc_slice value)
{
    if (value.data == NULL)
        return;
    soc_json_put_name(out, name);
    soc_buf_put_slice(out, value);
}

/* [ { printed?, result? } ]: everything else is left out. */
static bool put_result(struct soc_slice said, struct soc_buf *answer)
{
    struct soc_slice object = soc_slice(said.data + 1, said.length - 2);
    struct soc_json_fault fault;
    if (object.length < 2 || object.data[0] != '{' || soc_json_check(object, &fault) < 0)
        return false; /* none, or several */
    struct soc_slice printed = soc_json_member(object, "printed");
    if (printed.data != NULL && !is_string(printed))
        return false;
    soc_buf_put_text(answer, "[{");
    put_member(answer, "printed", printed);
    put_member(answer, "result", soc_json_member(object, "result"));
    soc_buf_put_text(answer, "}]");
    return true;
}

/* { error, message, which?, limit? } with an error that a job can have. */
static bool put_error(struct soc_slice said, struct soc_buf *answer)
{
    struct soc_slice error = soc_json_member(said, "error");
    struct soc_slice message = soc_json_member(said, "message");
    struct soc_slice which = soc_json_member(said, "which");
    struct soc_slice limit = soc_json_member(said, "limit");
    int64_t number;
    bool is_over = soc_slice_equal(error, SOC_SLICE("\"budget_exceeded\""));
    if (!is_string(message) || (!is_over && !soc_slice_equal(error, SOC_SLICE("\"script_error\""))))
        return false;
    if (is_over && (!is_string(which) || limit.data == NULL || !soc_json_integer(limit, &number)))
        return false;
    soc_buf_put_byte(answer, '{');
    put_member(answer, "error", error);
    put_member(answer, "message", message);
    if (is_over) {
        put_member(answer, "limit", limit);
        put_member(answer, "which", which);
    }
    soc_buf_put_byte(answer, '}');
    return true;
}

void soc_errand_judge(struct soc_slice said, struct soc_buf *answer)
{
    struct soc_json_fault fault;
    bool is_sound = false;
    answer->length = 0;
    if (said.data != NULL && said.length >= 2 && soc_json_count(said) <= SOC_WORKER_VALUES_MAX &&
        soc_json_check(said, &fault) >= 0) {
        if (said.data[0] == '[' && said.data[said.length - 1] == ']')
            is_sound = put_result(said, answer);
        else if (said.data[0] == '{')
            is_sound = put_error(said, answer);
    }
    if (is_sound)
        return;
    answer->length = 0;
    soc_refuse_named(answer, "worker_died", "the worker process ended without a result");
}

static void answer_with(struct soc_errand *errand, struct soc_buf *answer)
{
    soc_calls_answer(errand->script->host, errand->call, soc_buf_slice(answer));
    soc_buf_fini(answer);
}

static void take_answer(void *user, struct soc_slice said)
{
    struct soc_errand *errand = user;
    struct soc_buf answer = {0};
    errand->worker = NULL;
    soc_errand_judge(said, &answer);
    answer_with(errand, &answer);
}

static void refuse_errand(struct soc_errand *errand, const char *error, const char *message)
{
    struct soc_buf answer = {0};
    soc_refuse_named(&answer, error, message);
    answer_with(errand, &answer);
}

/* Runs the script here, by steps. */
static void simulate(struct soc_errand *errand)
{
    struct soc_buf request = {0};
    struct soc_buf said = {0};
    struct soc_buf answer = {0};
    soc_buf_put_slice(&request, errand->call->request);
    request.length--;
    soc_json_put_name(&request, "steps");
    soc_json_put_integer(&request, errand->cpu_ms_max * STEPS_PER_MS);
    soc_buf_put_byte(&request, '}');
    soc_job_run(soc_buf_slice(&request), &said, NULL, NULL);
    soc_errand_judge(soc_buf_slice(&said), &answer);
    soc_buf_fini(&request);
    soc_buf_fini(&said);
    answer_with(errand, &answer);
}

static void look_again(struct soc_errand *errand)
{
    struct soc_host *host = errand->script->host;
    soc_calls_wake(host, errand->call, soc_clock_now(soc_host_clock(host)) + LOOK_MS);
}

static void start_errand(struct soc_errand *errand)
{
    struct soc_workers *workers = errand->script->workers;
    errand->is_begun = true;
    if (errand->script->is_simulated) {
        simulate(errand);
        return;
    }
    if (workers == NULL) {
        refuse_errand(errand, "no_worker", "this program has no worker processes");
        return;
    }
    errand->worker = soc_workers_start(workers, errand->call->request, take_answer, errand);
    if (errand->worker == NULL)
        refuse_errand(errand, "no_worker", "the system gives no worker process; try again later");
    else
        look_again(errand);
}

void soc_errand_begin(struct soc_script *script, struct soc_outcall *call)
{
    struct soc_errands *errands = script->errands;
    struct soc_errand *errand = soc_alloc_zero(sizeof(*errand));
    errand->script = script;
    errand->call = call;
    soc_json_integer(soc_json_member(call->request, "cpu_ms"), &errand->cpu_ms_max);
    call->driver = errand;
    if (errands->count < script->workers_max) {
        struct soc_host *host = script->host;
        errands->count++;
        soc_calls_wake(host, call, soc_clock_now(soc_host_clock(host)));
        return;
    }
    errand->is_waiting = true;
    if (errands->last == NULL)
        errands->first = errand;
    else
        errands->last->next = errand;
    errands->last = errand;
}

static void unlink_errand(struct soc_errands *errands, struct soc_errand *errand)
{
    struct soc_errand *previous = NULL;
    struct soc_errand *at = errands->first;
    for (; at != errand; at = at->next)
        previous = at;
    if (previous == NULL)
        errands->first = errand->next;
    else
        previous->next = errand->next;
    if (errands->last == errand)
        errands->last = previous;
    errand->is_waiting = false;
    errand->next = NULL;
}

void soc_errand_end(struct soc_errand *errand)
{
    struct soc_script *script = errand->script;
    struct soc_errands *errands = script->errands;
    if (errand->worker != NULL)
        soc_workers_stop(errand->worker);
    if (errand->is_waiting)
        unlink_errand(errands, errand);
    else
        errands->count--;
    free(errand);
    if (errands->first != NULL && errands->count < script->workers_max) {
        struct soc_errand *next = errands->first;
        unlink_errand(errands, next);
        errands->count++;
        soc_calls_wake(script->host, next->call, soc_clock_now(soc_host_clock(script->host)));
    }
}

void soc_errand_due(struct soc_errand *errand)
{
    struct soc_buf answer = {0};
    if (!errand->is_begun) {
        start_errand(errand);
    } else if (soc_workers_cpu_ms(errand->worker) <= errand->cpu_ms_max) {
        look_again(errand);
    } else {
        soc_workers_stop(errand->worker);
        errand->worker = NULL;
        soc_job_put_over(&answer, "cpu_ms", (uint64_t)errand->cpu_ms_max);
        answer_with(errand, &answer);
    }
}

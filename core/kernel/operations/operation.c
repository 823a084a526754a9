#include "kernel/operations/operation.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "kernel/host.h"
#include "kernel/operations/awaiting.h"
#include "kernel/operations/call_keys.h"
#include "kernel/refusal.h"
#include "kernel/state.h"

#define NO_SUCH_PARAMETER "the operation has no such parameter"

const struct soc_caller soc_caller_owner = {
    .name = {"owner", sizeof("owner") - 1},
    .scopes = SOC_SCOPE_ALL,
};

static const char *const item_states[] = {"open", "decided", "withdrawn", "all", NULL};

const struct soc_param soc_view_filters[SOC_FILTER_COUNT + 1] = {
    {.name = "agent", .most = SOC_KEY_BYTES_MAX, .summary = "rows about this agent"},
    {.name = "task", .most = SOC_KEY_BYTES_MAX, .summary = "rows that belong to this task"},
    {.name = "type",
     .most = SOC_KEY_BYTES_MAX,
     .summary = "messages of this type, lines of this event, tasks of this type or state"},
    {.name = "correlation_id", .most = SOC_KEY_BYTES_MAX, .summary = "rows of this chain"},
    {.name = "since", .kind = SOC_PARAM_TIME, .summary = "rows from this time on"},
    {.name = "until", .kind = SOC_PARAM_TIME, .summary = "rows before this time"},
    {.name = "limit",
     .kind = SOC_PARAM_INTEGER,
     .most = INT64_MAX,
     .summary = "the latest so many rows; 0: all"},
    {.name = "from", .most = SOC_KEY_BYTES_MAX, .summary = "messages of this sender"},
    {.name = "to", .most = SOC_KEY_BYTES_MAX, .summary = "messages to this receiver"},
    {.name = "reason", .most = SOC_KEY_BYTES_MAX, .summary = "messages that ended with this code"},
    {.name = "state",
     .kind = SOC_PARAM_CHOICE,
     .choices = item_states,
     .summary = "items that are open (default), decided or withdrawn, or all"},
    {.name = "after",
     .kind = SOC_PARAM_INTEGER,
     .most = INT64_MAX,
     .summary = "a page of the rows after this line"},
    {.name = "before",
     .kind = SOC_PARAM_INTEGER,
     .least = 1,
     .most = INT64_MAX,
     .summary = "a page of the rows before this line"},
    {.name = "wait_ms",
     .kind = SOC_PARAM_INTEGER,
     .most = SOC_WAIT_MS_MAX,
     .summary = "with `after`: how long to wait for a row, if there is none yet"},
    {.name = NULL},
};

const struct soc_param soc_operation_agent[] = {
    {.name = "agent",
     .most = SOC_KEY_BYTES_MAX,
     .is_needed = true,
     .summary = "the id of a living agent"},
    {.name = NULL},
};

static const struct soc_param *at(const struct soc_param *list, uint64_t chosen, size_t index)
{
    for (size_t i = 0; list != NULL && list[i].name != NULL; i++)
        if ((chosen == 0 || chosen >> i & 1) && index-- == 0)
            return &list[i];
    return NULL;
}

const struct soc_param *soc_operation_param(const struct soc_operation *operation, size_t index)
{
    return at(operation->params, operation->takes, index);
}

const struct soc_param *soc_operation_member(const struct soc_operation *operation, size_t index)
{
    return at(operation->answer, operation->tells, index);
}

const char *soc_scope_name(enum soc_scope scope)
{
    switch (scope) {
#define S(tag, name, bit)                                                                          \
    case SOC_SCOPE_##tag:                                                                          \
        return name;

        SOC_SCOPE_MAP(S)
#undef S
    }
    return "";
}

/* Lends the name of the first parameter that is missing or does not fit; NULL: none. */
static const char *find_unfit(const struct soc_operation *operation,
                              const struct soc_params *params)
{
    const struct soc_param *param;
    struct soc_buf scratch = {0};
    const char *fault = NULL;
    for (size_t i = 0; fault == NULL && (param = soc_operation_param(operation, i)) != NULL; i++)
        fault = soc_param_find_fault(param, params, &scratch);
    soc_buf_fini(&scratch);
    return fault;
}

/* Lends the name of a filter that is set and does not apply: ignoring it would return
 * wrong rows. */
static const char *find_inapt(const struct soc_operation *operation,
                              const struct soc_params *params)
{
    for (int i = 0; i < SOC_FILTER_COUNT; i++) {
        struct soc_slice value = soc_param_value(&soc_view_filters[i], params);
        bool applies = operation->params != NULL && operation->takes >> i & 1;
        if (!applies && !soc_param_is_absent(value) && !soc_slice_equal(value, SOC_SLICE("0")))
            return soc_view_filters[i].name;
    }
    return NULL;
}

/* Lends the name of the first parameter that is missing, does not fit or does not apply;
 * NULL: none. */
static const char *find_fault(const struct soc_operation *operation,
                              const struct soc_params *params)
{
    const char *fault = operation->checks_itself ? NULL : find_unfit(operation, params);
    return fault == NULL && operation->view != NULL ? find_inapt(operation, params) : fault;
}

void soc_operation_refuse_fault(const struct soc_operation *operation, struct soc_slice params,
                                const char *fault, struct soc_buf *out)
{
    const struct soc_param *param;
    struct soc_params members;
    struct soc_buf sentence = {0};
    soc_params_read(&members, params);
    for (size_t i = 0; (param = soc_operation_param(operation, i)) != NULL; i++)
        if (fault == param->name || fault == param->alias)
            soc_param_put_fault(param, &members, fault, &sentence);
    if (sentence.length == 0)
        soc_buf_put_text(&sentence, NO_SUCH_PARAMETER);
    soc_refuse(out, SOC_EINVAL, soc_buf_text(&sentence), "member", soc_slice_text(fault));
    soc_buf_fini(&sentence);
}

static void fail_with_fault(const struct soc_operation *operation, struct soc_call *call,
                            struct soc_slice params, const char *fault)
{
    struct soc_buf error = {0};
    soc_operation_refuse_fault(operation, params, fault, &error);
    soc_call_refuse(call, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

/* Tells whether the operation has a parameter of that name (as in JSON, still escaped). */
static bool has_param(const struct soc_operation *operation, struct soc_slice name)
{
    const struct soc_param *param;
    for (size_t i = 0; (param = soc_operation_param(operation, i)) != NULL; i++)
        if (soc_param_is_named(param, name))
            return true;
    return false;
}

/* Answers with an error if there is a parameter that the operation does not have. */
static bool fail_if_unknown(const struct soc_operation *operation, struct soc_call *call,
                            struct soc_slice params)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, params);
    while (soc_json_next(&walk)) {
        if (has_param(operation, walk.name))
            continue;
        struct soc_buf error = {0};
        soc_refusal_begin(&error, SOC_EINVAL, NO_SUCH_PARAMETER);
        soc_json_put_name(&error, "member");
        soc_buf_put_byte(&error, '"'); /* still escaped */
        soc_buf_put_slice(&error, walk.name);
        soc_buf_put_byte(&error, '"');
        soc_refusal_end(&error, SOC_EINVAL);
        soc_call_refuse(call, soc_buf_slice(&error));
        soc_buf_fini(&error);
        return true;
    }
    return false;
}

static bool may_do(const struct soc_operation *operation, const struct soc_caller *caller)
{
    return (caller->scopes & operation->scope) != 0 &&
           (caller->agent.data == NULL || operation->is_for_agents);
}

/* Hashes the operation and the parameters it has; what else is given does not matter. */
static uint64_t hash_body(const struct soc_operation *operation, struct soc_slice params)
{
    uint64_t hash = soc_hash(operation->name, strlen(operation->name), 0);
    const struct soc_param *param;
    for (size_t i = 0; (param = soc_operation_param(operation, i)) != NULL; i++) {
        const char *const names[] = {param->name, param->alias};
        for (size_t k = 0; k < 2 && names[k] != NULL; k++) {
            struct soc_slice value = soc_json_member(params, names[k]);
            if (value.data == NULL)
                continue;
            hash = soc_hash(names[k], strlen(names[k]), hash);
            hash = soc_hash(value.data, value.length, hash);
        }
    }
    return hash >> 1; /* an integer of SQL */
}

/* Begins an order under its key. False: it is answered, or will be. While the disk is full
 * nothing can be remembered. */
static bool begin_key(struct soc_given *given)
{
    const struct soc_operation *operation = given->operation;
    struct soc_call *call = given->call;
    struct soc_slice answer = {0};
    if (given->caller->key.data == NULL || !operation->changes || soc_host_is_full(call->host))
        return true;
    if (operation->takes_no_key) {
        soc_call_fail(call, SOC_EINVAL, "this operation takes no idempotency key");
        return false;
    }
    struct soc_call_key *key;
    const struct soc_caller *caller = given->caller;
    struct soc_call_key_words words = {
        .caller = caller->holder.data != NULL ? caller->holder : caller->name,
        .key = caller->key,
        .body = hash_body(operation, given->params),
    };
    switch (soc_call_keys_begin(call->host, &words, &key, &answer)) {
    case SOC_CALL_KEY_NEW:
        call->key = key;
        return true;
    case SOC_CALL_KEY_DONE:
        if (operation->again != NULL)
            operation->again(given, answer);
        else
            soc_call_answer_copy(call, answer);
        break;
    case SOC_CALL_KEY_OPEN:
        soc_call_keys_join(key, call);
        break;
    case SOC_CALL_KEY_REUSED:
        soc_call_fail(call, SOC_EKEYREUSED, NULL);
        break;
    }
    return false;
}

void soc_operation_do(const struct soc_operations *society, const struct soc_operation *operation,
                      const struct soc_caller *caller, struct soc_call *call,
                      struct soc_slice params)
{
    struct soc_host *host = society->host;
    assert(call->answer != NULL && soc_json_kind(params) == SOC_JSON_OBJECT);
    call->host = host;
    const char *fault = NULL;
    struct soc_params members;
    soc_params_read(&members, params);
    if (soc_host_is_full(host) && !operation->works_if_full) {
        /* Changes cannot be stored, and query results must be durable. */
        soc_call_fail(call, SOC_EDISKFULL, NULL);
    } else if (!may_do(operation, caller)) {
        soc_call_fail(call, SOC_EFORBIDDEN, "the caller may not do that");
    } else if ((fault = find_fault(operation, &members)) != NULL) {
        fail_with_fault(operation, call, params, fault);
    } else if (!call->is_strict || !fail_if_unknown(operation, call, params)) {
        struct soc_given given = {
            .society = society,
            .operation = operation,
            .caller = caller,
            .call = call,
            .params = params,
            .members = &members,
            .sequence = host->next_sequence,
            .length = host->batch.length,
        };
        soc_buf_reserve(&given.texts, params.length);
        if (begin_key(&given))
            operation->run(&given);
        soc_buf_fini(&given.texts);
    }
}

static int64_t time_of(struct soc_slice params, const char *name)
{
    struct soc_slice value = soc_json_member(params, name);
    struct soc_buf scratch = {0};
    int64_t time_ms = 0;
    if (!soc_param_is_absent(value))
        soc_param_time(value, &scratch, &time_ms);
    soc_buf_fini(&scratch);
    return time_ms;
}

static bool is_given(struct soc_slice params, const char *name)
{
    return !soc_param_is_absent(soc_json_member(params, name));
}

/* A page is asked for by where it begins or ends. */
static void read_page(struct soc_slice params, struct soc_query *query)
{
    int64_t line = 0;
    query->has_after = is_given(params, "after");
    query->is_page = query->has_after || is_given(params, "before");
    if (query->has_after && soc_json_integer(soc_json_member(params, "after"), &line))
        query->after = (uint64_t)line;
    line = 0;
    if (is_given(params, "before") && soc_json_integer(soc_json_member(params, "before"), &line))
        query->before = (uint64_t)line;
}

const char *soc_operation_read_query(const struct soc_operation *operation, struct soc_slice params,
                                     struct soc_buf *texts, struct soc_query *query)
{
    int64_t limit = 0;
    struct soc_params members;
    soc_params_read(&members, params);
    const char *fault = find_fault(operation, &members);
    *query = (struct soc_query){.what = operation->name};
    if (operation->view != NULL && operation->view->list != NULL)
        query->what = operation->view->list;
    if (fault != NULL)
        return fault;
    soc_buf_reserve(texts, params.length);
    soc_json_integer(soc_json_member(params, "limit"), &limit);
    query->agent = soc_param_text(soc_json_member(params, "agent"), texts);
    query->task = soc_param_text(soc_json_member(params, "task"), texts);
    query->type = soc_param_text(soc_json_member(params, "type"), texts);
    query->correlation_id = soc_param_text(soc_json_member(params, "correlation_id"), texts);
    query->from = soc_param_text(soc_json_member(params, "from"), texts);
    query->to = soc_param_text(soc_json_member(params, "to"), texts);
    query->reason = soc_param_text(soc_json_member(params, "reason"), texts);
    query->state = soc_param_text(soc_json_member(params, "state"), texts);
    query->since_ms = time_of(params, "since");
    query->until_ms = time_of(params, "until");
    query->limit = limit;
    read_page(params, query);
    return NULL;
}

#include "parts/tasks/tasks_operations.h"

#include "base/json.h"
#include "base/limits.h"
#include "kernel/gate.h"
#include "kernel/look.h"
#include "kernel/operations/agent_pages.h"
#include "kernel/operations/given.h"
#include "kernel/operations/looks.h"
#include "kernel/registry.h"
#include "model/agent.h"
#include "parts/tasks/tasks.h"

static const struct soc_column columns[] = {
    {"TASK", "task_id", SOC_LOOKS_ID_WIDTH},
    {"STATE", "state", 10},
    {"AGENT", "agent", SOC_LOOKS_ID_WIDTH},
    {"ASSIGNER", "assigner", SOC_LOOKS_ID_WIDTH},
    {"PRIORITY", "priority", 8},
    {"TRIES", "tries", 8},
    {"OPENED", "opened_at", SOC_LOOKS_TIME_WIDTH},
    {"STARTED", "started_at", SOC_LOOKS_TIME_WIDTH},
    {"ENDED", "ended_at", SOC_LOOKS_TIME_WIDTH},
    {"DEADLINE", "deadline", SOC_LOOKS_TIME_WIDTH},
    {"REASON", "reason", SOC_LOOKS_TEXT_WIDTH},
    {NULL, NULL, 0},
};

/* `cancelled` is last, and `tasks` does not tell it. */
static const struct soc_param members[] = {
    {.name = "task_id", .is_needed = true, .summary = "its id, unique for each owner"},
    {.name = "agent", .is_needed = true, .summary = "its owner"},
    {.name = "assigner", .is_needed = true, .summary = "the agent that assigned it"},
    {.name = "type", .is_needed = true, .summary = "the type of the message that opened it"},
    {.name = "state",
     .is_needed = true,
     .summary = "pending, processing, completed, failed or cancelled"},
    {.name = "priority", .is_needed = true, .summary = "P0 to P3"},
    {.name = "tries", .kind = SOC_PARAM_INTEGER, .is_needed = true, .summary = "how often begun"},
    {.name = "message_id",
     .kind = SOC_PARAM_ID,
     .is_needed = true,
     .summary = "the message that opened it"},
    {.name = "correlation_id", .summary = "its chain"},
    {.name = "parent", .summary = "the task it is part of"},
    {.name = "opened_at", .kind = SOC_PARAM_TIME, .is_needed = true, .summary = "when opened"},
    {.name = "started_at", .kind = SOC_PARAM_TIME, .summary = "when begun"},
    {.name = "retry_at", .kind = SOC_PARAM_TIME, .summary = "when it is tried again"},
    {.name = "ended_at", .kind = SOC_PARAM_TIME, .summary = "when ended"},
    {.name = "deadline", .kind = SOC_PARAM_TIME, .summary = "when due"},
    {.name = "reason", .kind = SOC_PARAM_JSON, .summary = "why it failed or was cancelled"},
    {.name = "cancelled", .kind = SOC_PARAM_INTEGER, .summary = "how many tasks end with it"},
    {.name = NULL},
};

#define ALL_BUT_LAST ((1u << (sizeof(members) / sizeof(members[0]) - 2)) - 1)

static const struct soc_param cancel_params[] = {
    {.name = "task", .most = SOC_KEY_BYTES_MAX, .is_needed = true, .summary = "the task's id"},
    {.name = "reason", .kind = SOC_PARAM_JSON, .summary = "why; those concerned are told"},
    {.name = NULL},
};

static void cancel(struct soc_given *given)
{
    struct soc_host *host = given->society->host;
    struct soc_slice id = soc_given_text(given, "task");
    struct soc_buf answer = {0};
    struct soc_buf error = {0};
    soc_buf_put_byte(&answer, '[');
    soc_gate_begin_as(host, soc_registry_user(host));
    int rc = soc_tasks_cancel(host, id, soc_given_json(given, "reason"), &answer, &error);
    soc_gate_end_as(host, rc == SOC_OK);
    soc_buf_put_byte(&answer, ']');
    soc_given_finish(given, rc, id, rc == SOC_OK ? &answer : &error);
    soc_buf_fini(&answer);
    soc_buf_fini(&error);
}

static const struct soc_param task_params[] = {
    {.name = "task", .most = SOC_KEY_BYTES_MAX, .is_needed = true, .summary = "the task's id"},
    {.name = NULL},
};

static void answer_task(int rc, struct soc_slice rows, void *user)
{
    struct soc_call *call = user;
    if (rc < 0)
        soc_call_fail(call, rc, NULL);
    else if (soc_slice_equal(rows, SOC_SLICE("[]")))
        soc_call_fail(call, SOC_ENOTASK, "no task has that id");
    else
        soc_call_answer(call, rows);
}

static void look_at_task(struct soc_given *given)
{
    struct soc_query query = {
        .what = "tasks",
        .task = soc_given_text(given, "task"),
        .agent = given->caller->agent,
    };
    soc_look_query(given->society->host, &query, answer_task, given->call);
}

static const struct soc_param load_members[] = {
    {.name = "agent", .is_needed = true, .summary = "its id"},
    {.name = "status", .is_needed = true, .summary = "idle, or what it does"},
    {.name = "current_task", .summary = "the task it works on"},
    {.name = "queue_length", .kind = SOC_PARAM_INTEGER, .is_needed = true, .summary = "not begun"},
    {.name = "active_tasks", .kind = SOC_PARAM_INTEGER, .is_needed = true, .summary = "begun"},
    {.name = "load", .is_needed = true, .summary = "of the last ten minutes, in percent: `40%`"},
    {.name = "estimated_free",
     .kind = SOC_PARAM_TIME,
     .is_needed = true,
     .summary = "when it will probably be done"},
    {.name = NULL},
};

static const struct soc_param queue_members[] = {
    {.name = "queue_name", .is_needed = true, .summary = "the agent's id and `_tasks`"},
    {.name = "pending",
     .kind = SOC_PARAM_LIST,
     .is_needed = true,
     .summary = "`{ task_id, priority }` in the order they will be taken"},
    {.name = "processing", .kind = SOC_PARAM_OBJECT, .summary = "`{ task_id }`"},
    {.name = "completed",
     .kind = SOC_PARAM_LIST,
     .is_needed = true,
     .summary = "ids of the last, newest last"},
    {.name = NULL},
};

/* Appends a list with one object for each agent that fits; the person has no tasks. */
static void put_all(struct soc_host *host, const struct soc_query *query, struct soc_buf *out,
                    void (*put)(struct soc_host *host, const struct soc_agent *agent,
                                struct soc_buf *out))
{
    size_t cursor = 0;
    const struct soc_agent *agent;
    soc_buf_put_byte(out, '[');
    while ((agent = soc_registry_each(host, &cursor)) != NULL) {
        bool fits = query->agent.data == NULL ? agent != soc_registry_user(host)
                                              : soc_slice_equal(query->agent, soc_agent_id(agent));
        if (!fits)
            continue;
        if (out->data[out->length - 1] != '[')
            soc_buf_put_byte(out, ',');
        put(host, agent, out);
    }
    soc_buf_put_byte(out, ']');
}

static void look_at_load(struct soc_host *host, const struct soc_query *query, struct soc_buf *out)
{
    put_all(host, query, out, soc_tasks_put_load);
}

static void look_at_queue(struct soc_host *host, const struct soc_query *query, struct soc_buf *out)
{
    put_all(host, query, out, soc_tasks_put_queue);
}

static bool add_load(struct soc_agent_page *page, struct soc_host *host,
                     const struct soc_agent *agent)
{
    if (agent == soc_registry_user(host) && soc_agent_page_query(page)->agent.data == NULL)
        return true;
    soc_tasks_put_load(host, agent, soc_agent_page_begin(page));
    return soc_agent_page_end(page, agent->number);
}

static void page_load(struct soc_host *host, const struct soc_query *query, struct soc_page *page,
                      struct soc_buf *out)
{
    soc_agent_pages_put(host, query, add_load, page, out);
}

static bool add_queue(struct soc_agent_page *page, struct soc_host *host,
                      const struct soc_agent *agent)
{
    if (agent == soc_registry_user(host) && soc_agent_page_query(page)->agent.data == NULL)
        return true;
    soc_tasks_put_queue(host, agent, soc_agent_page_begin(page));
    return soc_agent_page_end(page, agent->number);
}

static void page_queue(struct soc_host *host, const struct soc_query *query, struct soc_page *page,
                       struct soc_buf *out)
{
    soc_agent_pages_put(host, query, add_queue, page, out);
}

static const struct soc_column load_columns[] = {
    {"AGENT", "agent", SOC_LOOKS_ID_WIDTH},
    {"STATUS", "status", 12},
    {"TASK", "current_task", SOC_LOOKS_ID_WIDTH},
    {"QUEUE", "queue_length", 6},
    {"ACTIVE", "active_tasks", 6},
    {"LOAD", "load", 5},
    {"FREE", "estimated_free", SOC_LOOKS_TIME_WIDTH},
    {NULL, NULL, 0},
};

static const struct soc_column queue_columns[] = {
    {"QUEUE", "queue_name", SOC_LOOKS_ID_WIDTH},
    {"PROCESSING", "processing", SOC_LOOKS_ID_WIDTH},
    {"PENDING", "pending", SOC_LOOKS_TEXT_WIDTH},
    {"COMPLETED", "completed", SOC_LOOKS_TEXT_WIDTH},
    {NULL, NULL, 0},
};

const struct soc_operation soc_tasks_operations[] = {
    {.name = "tasks",
     .summary = "tasks with their owner and state; the filter type takes a type or a state",
     .scope = SOC_SCOPE_READ,
     .is_for_agents = true,
     .params = soc_view_filters,
     .takes = SOC_FILTER_ALL,
     .answer = members,
     .tells = ALL_BUT_LAST,
     .view = &(const struct soc_view){.is_stored = true, .as_type = "state", .columns = columns},
     .run = soc_given_look},
    {.name = "task",
     .summary = "the tasks with that id, one for each owner",
     .scope = SOC_SCOPE_READ,
     .is_for_agents = true,
     .params = task_params,
     .answer = members,
     .tells = ALL_BUT_LAST,
     .run = look_at_task},
    {.name = "load",
     .summary = "how busy agents are, and until when",
     .scope = SOC_SCOPE_READ,
     .is_for_agents = true,
     .params = soc_view_filters,
     .takes = SOC_FILTER_AGENT | SOC_FILTER_PAGE,
     .answer = load_members,
     .view = &(const struct soc_view){.is_of_living = true,
                                      .look = look_at_load,
                                      .page = page_load,
                                      .columns = load_columns},
     .run = soc_given_look},
    {.name = "queue",
     .summary = "the tasks of agents: pending, begun and completed",
     .scope = SOC_SCOPE_READ,
     .is_for_agents = true,
     .params = soc_view_filters,
     .takes = SOC_FILTER_AGENT | SOC_FILTER_PAGE,
     .answer = queue_members,
     .view = &(const struct soc_view){.is_of_living = true,
                                      .look = look_at_queue,
                                      .page = page_queue,
                                      .columns = queue_columns},
     .run = soc_given_look},
    {.name = "cancel",
     .summary = "cancels the open tasks with that id, and all below them",
     .scope = SOC_SCOPE_OPERATE,
     .changes = true,
     .params = cancel_params,
     .answer = members,
     .run = cancel},
    {.name = NULL},
};

/* Models: the part for external calls, usage and conversations. */
#include <stddef.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "kernel/operations/given.h"
#include "kernel/operations/looks.h"
#include "kernel/registry.h"
#include "parts/models/calls.h"
#include "parts/models/memory.h"
#include "parts/models/models_state.h"
#include "parts/models/usage.h"

static void *open_models(struct soc_host *host)
{
    (void)host;
    return soc_alloc_zero(sizeof(struct soc_models_state));
}

static void free_models(struct soc_host *host)
{
    struct soc_models_state *models = soc_models_state(host);
    soc_usage_free(host);
    soc_memory_free(host);
    soc_buf_fini(&models->leaving);
    free(models);
}

static int restore(struct soc_host *host, const struct soc_record *record)
{
    if (record->type == SOC_RECORD_MEMORY)
        soc_memory_restore(host, &record->memory);
    else if (record->type == SOC_RECORD_USAGE)
        soc_usage_restore(host, &record->usage);
    else if (record->type == SOC_RECORD_AGENT_END)
        soc_memory_forget(host, soc_registry_need(host, record->agent_end.id));
    return SOC_OK;
}

static void fire_timer(struct soc_host *host, struct soc_heap_item *item)
{
    soc_calls_timer(host, (void *)((char *)item - offsetof(struct soc_outcall, timer)));
}

static void agent_ended(struct soc_host *host, struct soc_agent *agent)
{
    soc_memory_forget(host, agent);
}

static void released(struct soc_host *host, struct soc_agent *agent)
{
    soc_memory_trim(host, agent);
}

static const struct soc_wait_ops waits[] = {
    {
        .kind = SOC_WAIT_CALL,
        .begin = soc_calls_open,
        .end = soc_calls_close,
        .committed = soc_calls_send,
    },
    {0},
};

static const struct soc_column usage_columns[] = {
    {"AGENT", "agent", SOC_LOOKS_ID_WIDTH},
    {"TASK", "task_id", SOC_LOOKS_ID_WIDTH},
    {"MODEL", "model", 32},
    {"CALLS", "calls", 12},
    {"TOKENS IN", "input_tokens", 12},
    {"TOKENS OUT", "output_tokens", 12},
    {"DOLLARS", "cost", 16},
    {NULL, NULL, 0},
};

static const struct soc_param usage_members[] = {
    {.name = "agent", .is_needed = true, .summary = "who called"},
    {.name = "task_id", .summary = "for which task"},
    {.name = "model", .is_needed = true, .summary = "which model"},
    {.name = "calls", .kind = SOC_PARAM_INTEGER, .is_needed = true, .summary = "how often"},
    {.name = "input_tokens", .kind = SOC_PARAM_INTEGER, .summary = "tokens asked with"},
    {.name = "output_tokens", .kind = SOC_PARAM_INTEGER, .summary = "tokens answered"},
    {.name = "cost", .kind = SOC_PARAM_NUMBER, .summary = "dollars"},
    {.name = NULL},
};

static const char *const budget_scopes[] = {"agent", "task", "society", NULL};
static const char *const budget_amounts[] = {"tokens", "cost_micros", NULL};

static const struct soc_param budget_members[] = {
    {.name = "of",
     .kind = SOC_PARAM_CHOICE,
     .is_needed = true,
     .choices = budget_scopes,
     .summary = "what is limited"},
    {.name = "id", .summary = "which agent or task"},
    {.name = "what",
     .kind = SOC_PARAM_CHOICE,
     .is_needed = true,
     .choices = budget_amounts,
     .summary = "tokens, or millionths of a dollar"},
    {.name = "limit", .kind = SOC_PARAM_INTEGER, .is_needed = true, .summary = "how many"},
    {.name = "used", .kind = SOC_PARAM_INTEGER, .is_needed = true, .summary = "how many so far"},
    {.name = "left",
     .kind = SOC_PARAM_INTEGER,
     .is_needed = true,
     .summary = "how many are left; 0 if it was passed"},
    {.name = NULL},
};

static void look_at_budgets(struct soc_given *given)
{
    struct soc_buf list = {0};
    soc_usage_look_budgets(given->society->host, &list);
    soc_given_answer_when_durable(given, &list);
}

/* What a conversation answers at most; the kept 8 MB would hold up the others. */
#define CONVERSATION_BYTES_MAX (1u << 20)

static const struct soc_param conversation_members[] = {
    {.name = "first",
     .kind = SOC_PARAM_INTEGER,
     .is_needed = true,
     .summary = "the number of the first entry below; earlier ones are left out"},
    {.name = "count",
     .kind = SOC_PARAM_INTEGER,
     .is_needed = true,
     .summary = "how many entries there have been"},
    {.name = "entries",
     .kind = SOC_PARAM_LIST,
     .is_needed = true,
     .summary = "the latest, of about 1 MB at most, as `agent:chat` takes them"},
    {.name = NULL},
};

static void look_at_conversation(struct soc_given *given)
{
    const struct soc_host *host = given->society->host;
    const struct soc_agent *agent = soc_given_agent(given);
    struct soc_buf list = {0};
    if (agent == NULL)
        return;
    uint64_t first = soc_memory_first(host, agent, CONVERSATION_BYTES_MAX);
    uint64_t count = soc_memory_count(host, agent);
    soc_buf_put_text(&list, "[{\"count\":");
    soc_json_put_integer(&list, (int64_t)count);
    soc_buf_put_text(&list, ",\"entries\":[");
    if (first <= count)
        soc_memory_put(host, agent, first, count, &list);
    soc_buf_put_text(&list, "],\"first\":");
    soc_json_put_integer(&list, (int64_t)first);
    soc_buf_put_text(&list, "}]");
    soc_given_answer_when_durable(given, &list);
}

static const struct soc_operation operations[] = {
    {.name = "usage",
     .summary = "model calls, tokens and cost by agent, task and model",
     .scope = SOC_SCOPE_READ,
     .params = soc_view_filters,
     .takes = SOC_FILTER_AGENT | SOC_FILTER_TASK | SOC_FILTER_PAGE,
     .answer = usage_members,
     .view = &(const struct soc_view){.is_stored = true, .columns = usage_columns},
     .run = soc_given_look},
    {.name = "budgets",
     .summary = "what is left of the limits on models: of each agent and task that has used some, "
                "and of the society",
     .scope = SOC_SCOPE_READ,
     .needs_running = true,
     .answer = budget_members,
     .run = look_at_budgets},
    {.name = "conversation",
     .summary = "the latest entries of an agent's conversation with its model",
     .scope = SOC_SCOPE_READ,
     .params = soc_operation_agent,
     .answer = conversation_members,
     .run = look_at_conversation},
    {.name = NULL},
};

const struct soc_part soc_models_part = {
    .name = "models",
    .number = SOC_PART_MODELS,
    .operations = operations,
    .waits = waits,
    .open = open_models,
    .started = soc_calls_resume,
    .stop = soc_calls_stop,
    .free = free_models,
    .timer = fire_timer,
    .restore = restore,
    .resume = soc_memory_settle,
    .agent_ended = agent_ended,
    .released = released,
};

#include "parts/subjects.h"

#include <assert.h>

#include "base/json.h"
#include "env/clock.h"
#include "kernel/look.h"
#include "parts/human/human.h"
#include "parts/policies/policies.h"

const char *const soc_subject_filters[SOC_FILTER_COUNT] = {
    "agent", "task", "type", "correlation_id", "since", "until", "limit", "from", "to", "reason",
};

#define TEXT_WIDTH 60
#define ID_WIDTH   64
#define TIME_WIDTH 24

static const struct soc_column agent_columns[] = {
    {"ID", "id", ID_WIDTH},
    {"ROLE", "role", 32},
    {"PARENT", "parent", ID_WIDTH},
    {"STATUS", "status", 20},
    {"QUEUE", "queue_length", 12},
    {"CONTACTS", "contacts", 12},
    {"CREATED", "created_at", TIME_WIDTH},
    {"ENDED", "ended_at", TIME_WIDTH},
    {NULL, NULL, 0},
};

static const struct soc_column contact_columns[] = {
    {"OWNER", "owner", ID_WIDTH},
    {"ID", "id", ID_WIDTH},
    {"ROLE", "role", 32},
    {"SOURCE", "source", 16},
    {"INTRODUCED BY", "introducedBy", ID_WIDTH},
    {"ADDED", "addedAt", TIME_WIDTH},
    {NULL, NULL, 0},
};

static const struct soc_column message_columns[] = {
    {"TIME", "timestamp", TIME_WIDTH},
    {"ID", "id", ID_WIDTH},
    {"FROM", "from", ID_WIDTH},
    {"TO", "to", ID_WIDTH},
    {"TYPE", "type", 24},
    {"STATUS", "status", 10},
    {"PAYLOAD", "payload", TEXT_WIDTH},
    {NULL, NULL, 0},
};

static const struct soc_column dead_columns[] = {
    {"TIME", "timestamp", TIME_WIDTH},
    {"ID", "id", ID_WIDTH},
    {"FROM", "from", ID_WIDTH},
    {"TO", "to", ID_WIDTH},
    {"TYPE", "type", 24},
    {"TRIES", "attempt", 8},
    {"REASON", "reason", TEXT_WIDTH},
    {"PAYLOAD", "payload", TEXT_WIDTH},
    {NULL, NULL, 0},
};

static const struct soc_column activity_columns[] = {
    {"TIME", "time", TIME_WIDTH},
    {"AGENT", "agent", ID_WIDTH},
    {"EVENT", "event", 24},
    {"TYPE", "type", 24},
    {"MESSAGE", "message_id", ID_WIDTH},
    {"TASK", "task_id", ID_WIDTH},
    {"DETAIL", "detail", TEXT_WIDTH},
    {NULL, NULL, 0},
};

static const struct soc_column inbox_columns[] = {
    {"ID", "id", ID_WIDTH},
    {"AGENT", "agent", ID_WIDTH},
    {"PRIORITY", "priority", 8},
    {"OVERDUE", "overdue", 8},
    {"TITLE", "title", TEXT_WIDTH},
    {"BODY", "body", TEXT_WIDTH},
    {"OPTIONS", "options", TEXT_WIDTH},
    {"DEADLINE", "deadline", TIME_WIDTH},
    {"CREATED", "created_at", TIME_WIDTH},
    {NULL, NULL, 0},
};

static const struct soc_column task_columns[] = {
    {"TASK", "task_id", ID_WIDTH},       {"STATE", "state", 10},
    {"AGENT", "agent", ID_WIDTH},        {"ASSIGNER", "assigner", ID_WIDTH},
    {"PRIORITY", "priority", 8},         {"TRIES", "tries", 8},
    {"OPENED", "opened_at", TIME_WIDTH}, {"STARTED", "started_at", TIME_WIDTH},
    {"ENDED", "ended_at", TIME_WIDTH},   {"DEADLINE", "deadline", TIME_WIDTH},
    {"REASON", "reason", TEXT_WIDTH},    {NULL, NULL, 0},
};

static const struct soc_column wait_columns[] = {
    {"AGENT", "agent", ID_WIDTH},
    {"KIND", "kind", 16},
    {"WAITS FOR", "waits_for", TEXT_WIDTH},
    {"TYPE", "type", 24},
    {"SINCE", "since", TIME_WIDTH},
    {"DEADLINE", "deadline", TIME_WIDTH},
    {"CORRELATION", "correlation_id", ID_WIDTH},
    {NULL, NULL, 0},
};

static const struct soc_column usage_columns[] = {
    {"AGENT", "agent", ID_WIDTH},
    {"TASK", "task_id", ID_WIDTH},
    {"MODEL", "model", 32},
    {"CALLS", "calls", 12},
    {"TOKENS IN", "input_tokens", 12},
    {"TOKENS OUT", "output_tokens", 12},
    {"DOLLARS", "cost", 16},
    {NULL, NULL, 0},
};

static const struct soc_column policy_columns[] = {
    {"KIND", "kind", 20}, {"NAME", "name", ID_WIDTH},           {"VERSION", "version", 12},
    {"HASH", "hash", 16}, {"SETTINGS", "settings", TEXT_WIDTH}, {"FILE", "path", 200},
    {NULL, NULL, 0},
};

static void look_at_agents(struct soc_host *host, const struct soc_query *query,
                           struct soc_buf *out)
{
    soc_look_agents(host, query, out);
}

static void look_at_inbox(struct soc_host *host, const struct soc_query *query, struct soc_buf *out)
{
    soc_human_look(host, query, out);
}

static void look_at_waits(struct soc_host *host, const struct soc_query *query, struct soc_buf *out)
{
    (void)query;
    soc_look_waits(host, out);
}

static void look_at_policies(struct soc_host *host, const struct soc_query *query,
                             struct soc_buf *out)
{
    (void)query;
    soc_buf_put_slice(out, soc_policies_recorded(host));
}

static void look_at_stats(struct soc_host *host, const struct soc_query *query, struct soc_buf *out)
{
    (void)query;
    soc_buf_put_byte(out, '[');
    soc_look_stats(host, out);
    soc_buf_put_byte(out, ']');
}

static void look_at_registries(struct soc_host *host, const struct soc_query *query,
                               struct soc_buf *out)
{
    (void)query;
    soc_buf_put_byte(out, '[');
    soc_look_registries(host, out);
    soc_buf_put_byte(out, ']');
}

/* Reports agents and waits as of the same moment. */
static void look_at_graph(struct soc_host *host, const struct soc_query *query, struct soc_buf *out)
{
    (void)query;
    soc_buf_put_text(out, "[{\"agents\":");
    soc_look_agents(host, NULL, out);
    soc_buf_put_text(out, ",\"waits\":");
    soc_look_waits(host, out);
    soc_buf_put_text(out, "}]");
}

/* Lends the value of a row of the `meta` table. */
static struct soc_slice find_meta(struct soc_slice rows, const char *name)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, rows);
    while (soc_json_next(&walk))
        if (soc_slice_equal(soc_json_plain_string(soc_json_member(walk.value, "name")),
                            soc_slice_text(name)))
            return soc_json_member(walk.value, "value");
    return (struct soc_slice){0};
}

/* Reads the totals that end every batch: key, time, output, sent, then outcomes. */
static void recall_stats(struct soc_slice meta, struct soc_buf *out)
{
    static const char *const names[] = {NULL,      NULL,   NULL,      "sent",     "processed",
                                        "expired", "dead", "dropped", "cancelled"};
    int64_t numbers[9] = {0};
    struct soc_buf cursor = {0};
    struct soc_json_walk walk;
    soc_json_string(find_meta(meta, "cursor"), &cursor);
    if (soc_json_check(soc_buf_slice(&cursor), NULL) == SOC_OK) {
        soc_json_walk(&walk, soc_buf_slice(&cursor));
        for (int i = 0; i < 9 && soc_json_next(&walk); i++)
            soc_json_integer(walk.value, &numbers[i]);
    }
    soc_buf_fini(&cursor);
    int64_t pending = numbers[3];
    soc_buf_put_text(out, "[{");
    for (int i = 3; i < 9; i++) {
        if (i > 3)
            pending -= numbers[i];
        soc_json_put_name(out, names[i]);
        soc_json_put_integer(out, numbers[i]);
    }
    soc_json_put_name(out, "pending");
    soc_json_put_integer(out, pending);
    soc_json_put_name(out, "now");
    soc_time_put_json(out, numbers[1]);
    soc_buf_put_text(out, "}]");
}

static void recall_policies(struct soc_slice meta, struct soc_buf *out)
{
    struct soc_buf list = {0};
    soc_json_string(find_meta(meta, "policies"), &list);
    if (soc_json_check(soc_buf_slice(&list), NULL) == SOC_OK)
        soc_buf_put_slice(out, soc_buf_slice(&list));
    else
        soc_buf_put_text(out, "[]");
    soc_buf_fini(&list);
}

static const struct soc_subject subjects[] = {
    {.name = "agents",
     .summary = "agents; with status and queue while the society runs",
     .filters = SOC_FILTER_AGENT | SOC_FILTER_TIME | SOC_FILTER_LIMIT,
     .is_stored = true,
     .is_of_living = true,
     .look = look_at_agents,
     .columns = agent_columns},
    {.name = "contacts",
     .summary = "who knows whom, in which role, since when and how",
     .filters = SOC_FILTER_AGENT | SOC_FILTER_TIME | SOC_FILTER_LIMIT,
     .is_stored = true,
     .is_of_living = true,
     .columns = contact_columns},
    {.name = "messages",
     .summary = "all messages with their status; for an agent, including broadcasts it reads",
     .filters = SOC_FILTER_ALL,
     .is_stored = true,
     .columns = message_columns},
    {.name = "tasks",
     .summary = "tasks with their owner and state; --type takes a type or a state",
     .filters = SOC_FILTER_ALL,
     .is_stored = true,
     .as_type = "state",
     .columns = task_columns},
    {.name = "inbox",
     .summary = "items waiting for your decision",
     .filters = SOC_FILTER_ALL & ~SOC_FILTER_TYPE,
     .is_stored = true,
     .look = look_at_inbox,
     .columns = inbox_columns},
    {.name = "dead_letters",
     .summary = "messages that could not be delivered or handled, with the reason",
     .filters = SOC_FILTER_LETTERS,
     .is_stored = true,
     .columns = dead_columns},
    {.name = "activity",
     .summary = "the activity log, in order",
     .filters = SOC_FILTER_ALL,
     .is_stored = true,
     .columns = activity_columns},
    {.name = "waits",
     .summary = "who waits for whom, since when and until when",
     .look = look_at_waits,
     .columns = wait_columns},
    {.name = "usage",
     .summary = "model calls, tokens and cost by agent, task and model",
     .filters = SOC_FILTER_AGENT | SOC_FILTER_TASK | SOC_FILTER_LIMIT,
     .is_stored = true,
     .columns = usage_columns},
    {.name = "policies",
     .summary = "the policies in force, or last in force",
     .look = look_at_policies,
     .recall = recall_policies,
     .columns = policy_columns},
    {.name = "stats",
     .summary = "counts of messages, agents and turns",
     .look = look_at_stats,
     .recall = recall_stats},
    {.name = "roles", .filters = SOC_FILTER_TIME | SOC_FILTER_LIMIT, .is_stored = true},
    {.name = "registries", .look = look_at_registries},
    {.name = "graph", .look = look_at_graph},
};

#define SUBJECT_COUNT (sizeof(subjects) / sizeof(subjects[0]))

const struct soc_subject *soc_subjects_at(size_t index)
{
    if (index >= SUBJECT_COUNT)
        return NULL;
    assert(subjects[index].is_stored || subjects[index].look != NULL);
    return &subjects[index];
}

const struct soc_subject *soc_subjects_find(struct soc_slice name)
{
    const struct soc_subject *subject;
    for (size_t i = 0; (subject = soc_subjects_at(i)) != NULL; i++)
        if (soc_slice_equal(name, soc_slice_text(subject->name)))
            return subject;
    return NULL;
}

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "bridge/control/client.h"
#include "env/clock.h"
#include "main/args.h"
#include "main/command.h"
#include "main/output.h"
#include "main/stopped.h"

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

enum filter {
    FILTER_AGENT = 1,
    FILTER_TASK = 2,
    FILTER_TYPE = 4,
    FILTER_CORRELATION = 8,
    FILTER_TIME = 16,
    FILTER_LIMIT = 32,
    FILTER_ALL = 63,
};

/* What can be looked at; `op` as the socket and the store call it. */
static const struct subject {
    const char *name;
    const char *op;
    const struct soc_column *columns; /* NULL: members one by one */
    unsigned filters;                 /* those that mean something for it */
} subjects[] = {
    {"agents", "agents", agent_columns, FILTER_AGENT | FILTER_TIME | FILTER_LIMIT},
    {"contacts", "contacts", contact_columns, FILTER_AGENT | FILTER_TIME | FILTER_LIMIT},
    {"messages", "messages", message_columns, FILTER_ALL},
    {"inbox", "inbox", inbox_columns, FILTER_ALL & ~FILTER_TYPE},
    {"dead-letters", "dead_letters", dead_columns, FILTER_ALL},
    {"activity", "activity", activity_columns, FILTER_ALL},
    {"tasks", "tasks", task_columns, FILTER_ALL},
    {"waits", "waits", wait_columns, 0},
    {"usage", "usage", usage_columns, FILTER_AGENT | FILTER_TASK | FILTER_LIMIT},
    {"policies", "policies", policy_columns, 0},
    {"stats", "stats", NULL, 0},
};

struct inspect {
    struct soc_args args;
    const struct subject *subject;
    const char *state;
    const char *agent;
    const char *task;
    const char *type;
    const char *correlation;
    const char *since;
    const char *until;
    int64_t since_ms;
    int64_t until_ms;
    int64_t limit;
    bool is_json;
};

static void put_request(const struct inspect *inspect, struct soc_buf *out)
{
    soc_buf_put_text(out, "{\"id\":1");
    soc_json_put_text_member(out, "op", soc_slice_text(inspect->subject->op));
    soc_json_put_text_member(out, "agent", soc_slice_text(inspect->agent));
    soc_json_put_text_member(out, "task", soc_slice_text(inspect->task));
    soc_json_put_text_member(out, "type", soc_slice_text(inspect->type));
    soc_json_put_text_member(out, "correlation_id", soc_slice_text(inspect->correlation));
    soc_json_put_name(out, "since");
    soc_json_put_integer(out, inspect->since_ms);
    soc_json_put_name(out, "until");
    soc_json_put_integer(out, inspect->until_ms);
    soc_json_put_name(out, "limit");
    soc_json_put_integer(out, inspect->limit);
    soc_buf_put_byte(out, '}');
}

static int print_rows(const struct inspect *inspect, struct soc_slice rows)
{
    if (inspect->is_json)
        soc_output_lines(rows);
    else if (inspect->subject->columns == NULL)
        soc_output_members(rows);
    else
        soc_output_table(rows, inspect->subject->columns);
    return SOC_EXIT_DONE;
}

static int inspect_running(const struct inspect *inspect, struct soc_control_client *client)
{
    struct soc_detail detail = {0};
    struct soc_buf request = {0};
    struct soc_buf answer = {0};
    put_request(inspect, &request);
    int code;
    int rc = soc_control_client_ask(client, soc_buf_slice(&request), &answer, &detail);
    struct soc_slice rows = soc_json_member(soc_buf_slice(&answer), "ok");
    if (rc < 0) {
        code = soc_complain(SOC_EXIT_FAILED, "%s", detail.text);
    } else if (rows.data == NULL) {
        struct soc_buf text = {0};
        soc_json_string(soc_json_member(soc_buf_slice(&answer), "message"), &text);
        code = soc_complain(SOC_EXIT_FAILED, "%s", soc_buf_text(&text));
        soc_buf_fini(&text);
    } else {
        code = print_rows(inspect, rows);
    }
    soc_buf_fini(&request);
    soc_buf_fini(&answer);
    return code;
}

static int inspect_stopped(const struct inspect *inspect)
{
    struct soc_detail detail = {0};
    struct soc_buf rows = {0};
    struct soc_query query = {
        .what = inspect->subject->op,
        .agent = soc_slice_text(inspect->agent),
        .task = soc_slice_text(inspect->task),
        .type = soc_slice_text(inspect->type),
        .correlation_id = soc_slice_text(inspect->correlation),
        .since_ms = inspect->since_ms,
        .until_ms = inspect->until_ms,
        .limit = inspect->limit,
    };
    int rc = soc_stopped_query(inspect->state, &query, &rows, &detail);
    int code;
    if (rc == SOC_ENOFILE)
        code = soc_complain(SOC_EXIT_FAILED, "there is no society in %s; --state DIR names another",
                            inspect->state);
    else if (rc < 0)
        code = soc_complain(soc_exit_of(rc), "%s", detail.text);
    else
        code = print_rows(inspect, soc_buf_slice(&rows));
    soc_buf_fini(&rows);
    return code;
}

static int inspect_state(const struct inspect *inspect)
{
    struct soc_detail detail = {0};
    struct soc_control_client *client;
    int rc = soc_control_client_open(&client, inspect->state, &detail);
    if (rc == SOC_ENOFILE)
        return inspect_stopped(inspect);
    if (rc < 0)
        return soc_complain(SOC_EXIT_FAILED, "%s", detail.text);
    int code = inspect_running(inspect, client);
    soc_control_client_close(client);
    return code;
}

static int read_time(const char *name, const char *text, int64_t *time_ms)
{
    if (text == NULL || soc_time_parse(soc_slice_text(text), time_ms))
        return SOC_ARGS_GO;
    return soc_complain(SOC_EXIT_USAGE,
                        "inspect: --%s is a time like 2026-01-05T12:00:00Z, not '%s'", name, text);
}

/* A filter that is passed over would let all the rows look like those that were asked for. */
static int check_filters(const struct inspect *inspect)
{
    const struct {
        const char *name;
        bool is_given;
        unsigned filter;
    } given[] = {
        {"agent", inspect->agent != NULL, FILTER_AGENT},
        {"task", inspect->task != NULL, FILTER_TASK},
        {"type", inspect->type != NULL, FILTER_TYPE},
        {"correlation", inspect->correlation != NULL, FILTER_CORRELATION},
        {"since", inspect->since != NULL, FILTER_TIME},
        {"until", inspect->until != NULL, FILTER_TIME},
        {"limit", inspect->limit != 0, FILTER_LIMIT},
    };
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
        if (given[i].is_given && (inspect->subject->filters & given[i].filter) == 0)
            return soc_complain(SOC_EXIT_USAGE, "inspect: %s cannot be filtered by --%s",
                                inspect->subject->name, given[i].name);
    return SOC_ARGS_GO;
}

static int choose_subject(struct inspect *inspect)
{
    const char *name = inspect->args.words.items[0];
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
        if (strcmp(subjects[i].name, name) == 0)
            inspect->subject = &subjects[i];
    if (inspect->subject == NULL)
        return soc_complain(
            SOC_EXIT_USAGE,
            "inspect: agents, contacts, messages, tasks, inbox, dead-letters, activity, waits, "
            "usage, policies or stats, not '%s'",
            name);
    int code = check_filters(inspect);
    if (code == SOC_ARGS_GO)
        code = read_time("since", inspect->since, &inspect->since_ms);
    return code == SOC_ARGS_GO ? read_time("until", inspect->until, &inspect->until_ms) : code;
}

int soc_cmd_inspect(int argc, char **argv)
{
    struct inspect inspect = {
        .args = {.command = "inspect"}, .state = ".society", .limit = INT64_MAX};
    const struct soc_option options[] = {
        {"state", SOC_OPTION_TEXT, &inspect.state},
        {"agent", SOC_OPTION_TEXT, &inspect.agent},
        {"task", SOC_OPTION_TEXT, &inspect.task},
        {"type", SOC_OPTION_TEXT, &inspect.type},
        {"correlation", SOC_OPTION_TEXT, &inspect.correlation},
        {"since", SOC_OPTION_TEXT, &inspect.since},
        {"until", SOC_OPTION_TEXT, &inspect.until},
        {"limit", SOC_OPTION_NUMBER, &inspect.limit},
        {"json", SOC_OPTION_FLAG, &inspect.is_json},
        {NULL, SOC_OPTION_FLAG, NULL},
    };
    int code = soc_args_parse(&inspect.args, argc, argv, options, 1, 1);
    if (code == SOC_ARGS_GO && inspect.limit < 1)
        code = soc_complain(SOC_EXIT_USAGE, "inspect: --limit needs 1 or more");
    if (inspect.limit == INT64_MAX)
        inspect.limit = 0; /* all */
    if (code == SOC_ARGS_GO)
        code = choose_subject(&inspect);
    if (code == SOC_ARGS_GO)
        code = inspect_state(&inspect);
    soc_text_list_fini(&inspect.args.words);
    return code;
}

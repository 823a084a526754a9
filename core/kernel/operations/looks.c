#include "kernel/operations/looks.h"

#include "base/json.h"
#include "env/clock.h"
#include "kernel/look.h"
#include "kernel/operations/agent_pages.h"
#include "kernel/operations/follow.h"
#include "kernel/operations/given.h"
#include "kernel/operations/message_params.h"

#define TEXT_WIDTH SOC_LOOKS_TEXT_WIDTH
#define ID_WIDTH   SOC_LOOKS_ID_WIDTH
#define TIME_WIDTH SOC_LOOKS_TIME_WIDTH

/* ---- columns for people ---- */

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
    {"STATUS", "status", 12},
    {"PAYLOAD", "payload", TEXT_WIDTH},
    {NULL, NULL, 0},
};

static const struct soc_column dead_columns[] = {
    {"TIME", "timestamp", TIME_WIDTH},
    {"ID", "id", ID_WIDTH},
    {"FROM", "from", ID_WIDTH},
    {"TO", "to", ID_WIDTH},
    {"TYPE", "type", 24},
    {"TRIES", "tries", 8},
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

static const struct soc_column wait_columns[] = {
    {"AGENT", "agent", ID_WIDTH},           {"KIND", "kind", 16},
    {"WAITS FOR", "waits_for", TEXT_WIDTH}, {"TYPE", "type", 24},
    {"RECEIVER", "receiver", 10},           {"SINCE", "since", TIME_WIDTH},
    {"DEADLINE", "deadline", TIME_WIDTH},   {"CORRELATION", "correlation_id", ID_WIDTH},
    {"WHERE", "where", TEXT_WIDTH},         {NULL, NULL, 0},
};

/* ---- members of answers ---- */

const struct soc_param soc_looks_agent_members[] = {
    {.name = "id", .is_needed = true, .summary = "its id"},
    {.name = "role", .kind = SOC_PARAM_OBJECT, .is_needed = true, .summary = "`id` and `name`"},
    {.name = "parent", .summary = "who spawned or adopted it"},
    {.name = "status", .summary = "what it does, or did when the society stopped"},
    {.name = "external", .kind = SOC_PARAM_FLAG, .summary = "it lives outside"},
    {.name = "isolated", .kind = SOC_PARAM_FLAG, .summary = "it runs in a worker process"},
    {.name = "last_heartbeat", .kind = SOC_PARAM_TIME, .summary = "when it was last heard of"},
    {.name = "queue_length", .kind = SOC_PARAM_INTEGER, .summary = "messages in its mailbox"},
    {.name = "contacts", .kind = SOC_PARAM_INTEGER, .summary = "how many agents it knows"},
    {.name = "children", .kind = SOC_PARAM_INTEGER, .summary = "how many live children it has"},
    {.name = "created_at",
     .kind = SOC_PARAM_TIME,
     .summary = "when it was spawned; absent of an agent elsewhere"},
    {.name = "ending_at", .kind = SOC_PARAM_TIME, .summary = "since when it takes no mail"},
    {.name = "ended_at", .kind = SOC_PARAM_TIME, .summary = "when it ended"},
    {.name = "end_reason", .summary = "why it ended"},
    {.name = "brief", .kind = SOC_PARAM_JSON, .summary = "its Task Brief"},
    {.name = "state", .kind = SOC_PARAM_JSON, .summary = "its durable state"},
    {.name = NULL},
};

static const struct soc_param contact_members[] = {
    {.name = "owner", .is_needed = true, .summary = "the agent whose contact it is"},
    {.name = "id", .is_needed = true, .summary = "the contact"},
    {.name = "role", .is_needed = true, .summary = "the name of its role"},
    {.name = "source", .is_needed = true, .summary = "how the contact came about"},
    {.name = "interfaceSpec", .kind = SOC_PARAM_JSON, .summary = "what it takes and gives"},
    {.name = "introducedBy", .summary = "who introduced it"},
    {.name = "via", .kind = SOC_PARAM_LIST, .summary = "the agents the introduction went by"},
    {.name = "reason", .summary = "why it was introduced"},
    {.name = "usageHint", .summary = "what to ask it for"},
    {.name = "addedAt", .kind = SOC_PARAM_TIME, .is_needed = true, .summary = "since when"},
    {.name = NULL},
};

static const struct soc_param activity_members[] = {
    {.name = "line", .kind = SOC_PARAM_INTEGER, .is_needed = true, .summary = "its number"},
    {.name = "time", .kind = SOC_PARAM_TIME, .is_needed = true, .summary = "when"},
    {.name = "event", .is_needed = true, .summary = "what happened"},
    {.name = "agent", .is_needed = true, .summary = "the agent it concerns; `system`: the host"},
    {.name = "other", .summary = "the second agent it concerns"},
    {.name = "type", .summary = "the type of its message"},
    {.name = "message_id", .kind = SOC_PARAM_ID, .summary = "its message"},
    {.name = "task_id", .summary = "its task"},
    {.name = "correlation_id", .summary = "its chain"},
    {.name = "detail", .summary = "more about it; an object is given as JSON text"},
    {.name = NULL},
};

static const struct soc_param wait_members[] = {
    {.name = "agent", .is_needed = true, .summary = "the waiting agent"},
    {.name = "kind", .is_needed = true, .summary = "in which call"},
    {.name = "waits_for",
     .kind = SOC_PARAM_LIST,
     .is_needed = true,
     .summary = "the agents it waits for"},
    {.name = "type", .summary = "for mail of this type"},
    {.name = "receiver", .summary = "how the receiver of a request stands"},
    {.name = "correlation_id", .summary = "the chain it waits in"},
    {.name = "message_id", .kind = SOC_PARAM_ID, .summary = "the message to be answered"},
    {.name = "checkpoint_id", .summary = "the checkpoint to end"},
    {.name = "item_id", .summary = "the inbox item to be decided"},
    {.name = "since", .kind = SOC_PARAM_TIME, .summary = "since when"},
    {.name = "deadline", .kind = SOC_PARAM_TIME, .summary = "until when"},
    {.name = "where", .summary = "file and line of the script where it waits, while it runs"},
    {.name = NULL},
};

#define COUNT(what, sentence)                                                                      \
    {                                                                                              \
        .name = what, .kind = SOC_PARAM_INTEGER, .is_needed = true, .summary = sentence            \
    }

static const struct soc_param stats_members[] = {
    COUNT("sent", "messages sent so far"),
    COUNT("taken", "messages taken from other hosts"),
    COUNT("pending", "not ended yet"),
    COUNT("processed", "handled"),
    COUNT("expired", "not handled in time"),
    COUNT("dead", "could not be delivered or handled"),
    COUNT("dropped", "given up by a person"),
    COUNT("cancelled", "ended with their task"),
    COUNT("handed_over", "durable on the host of their receiver"),
    {.name = "agents", .kind = SOC_PARAM_INTEGER, .summary = "living agents, while it runs"},
    {.name = "waiting", .kind = SOC_PARAM_INTEGER, .summary = "agents that wait, while it runs"},
    {.name = "turns", .kind = SOC_PARAM_INTEGER, .summary = "turns since the start"},
    {.name = "activations", .kind = SOC_PARAM_INTEGER, .summary = "activations since the start"},
    {.name = "now", .kind = SOC_PARAM_TIME, .is_needed = true, .summary = "its time"},
    {.name = NULL},
};

static const struct soc_param role_members[] = {
    {.name = "id", .is_needed = true, .summary = "its id"},
    {.name = "name", .summary = "its name"},
    {.name = "prompt", .summary = "what its agents are told"},
    {.name = "behaviour", .summary = "the behaviour of its agents"},
    {.name = "interface_spec", .kind = SOC_PARAM_JSON, .summary = "what its agents take and give"},
    {.name = "creator", .summary = "the agent that created it"},
    {.name = "created_at", .kind = SOC_PARAM_TIME, .summary = "when"},
    {.name = NULL},
};

static const struct soc_param registries_members[] = {
    {.name = "contactRegistries",
     .kind = SOC_PARAM_OBJECT,
     .is_needed = true,
     .summary = "contacts of every agent by its id"},
    {.name = NULL},
};

static const struct soc_param graph_members[] = {
    {.name = "agents",
     .kind = SOC_PARAM_LIST,
     .is_needed = true,
     .summary = "what `agents` answers"},
    {.name = "waits", .kind = SOC_PARAM_LIST, .is_needed = true, .summary = "what `waits` answers"},
    {.name = NULL},
};

/* ---- from memory ---- */

static void look_at_agents(struct soc_host *host, const struct soc_query *query,
                           struct soc_buf *out)
{
    soc_look_agents(host, query, out);
}

static void look_at_waits(struct soc_host *host, const struct soc_query *query, struct soc_buf *out)
{
    (void)query;
    soc_look_waits(host, out);
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

struct soc_slice soc_looks_find_meta(struct soc_slice rows, const char *name)
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
    static const char *const names[] = {NULL,        NULL,          NULL,   "sent",
                                        "processed", "expired",     "dead", "dropped",
                                        "cancelled", "handed_over", "taken"};
    enum { NUMBERS = 11, TAKEN = 10 };
    int64_t numbers[NUMBERS] = {0};
    struct soc_buf cursor = {0};
    struct soc_json_walk walk;
    soc_json_string(soc_looks_find_meta(meta, "cursor"), &cursor);
    if (soc_json_check(soc_buf_slice(&cursor), NULL) == SOC_OK) {
        soc_json_walk(&walk, soc_buf_slice(&cursor));
        for (int i = 0; i < NUMBERS && soc_json_next(&walk); i++)
            soc_json_integer(walk.value, &numbers[i]);
    }
    struct soc_calendar calendar;
    cursor.length = 0;
    soc_json_string(soc_looks_find_meta(meta, "clock"), &cursor);
    soc_calendar_read(&calendar, soc_buf_slice(&cursor));
    soc_buf_fini(&cursor);
    int64_t pending = numbers[3] + numbers[TAKEN];
    soc_buf_put_text(out, "[{");
    for (int i = 3; i < NUMBERS; i++) {
        if (i > 3 && i < TAKEN)
            pending -= numbers[i];
        soc_json_put_name(out, names[i]);
        soc_json_put_integer(out, numbers[i]);
    }
    soc_json_put_name(out, "pending");
    soc_json_put_integer(out, pending);
    soc_json_put_name(out, "now");
    soc_time_put_json(out, soc_calendar_date(&calendar, numbers[1]));
    soc_buf_put_text(out, "}]");
}

/* ---- the operations ---- */

#define LOOK(name_)  .name = name_, .scope = SOC_SCOPE_READ, .run = soc_given_look
#define FILTERS(set) .params = soc_view_filters, .takes = (set)

const struct soc_operation soc_looks[] = {
    {LOOK("agents"), .summary = "agents; of a stopped society also those that have ended",
     FILTERS(SOC_FILTER_AGENT | SOC_FILTER_TIME | SOC_FILTER_PAGE),
     .answer = soc_looks_agent_members,
     .view = &(const struct soc_view){.is_stored = true,
                                      .is_of_living = true,
                                      .look = look_at_agents,
                                      .page = soc_agent_pages_agents,
                                      .columns = agent_columns}},
    {LOOK("contacts"), .summary = "who knows whom, in which role, since when and how",
     .is_for_agents = true, FILTERS(SOC_FILTER_AGENT | SOC_FILTER_TIME | SOC_FILTER_PAGE),
     .answer = contact_members,
     .view = &(const struct soc_view){.is_stored = true,
                                      .is_of_living = true,
                                      .page = soc_agent_pages_contacts,
                                      .columns = contact_columns}},
    {LOOK("messages"),
     .summary = "all messages with their status; for an agent, including broadcasts it reads",
     .is_for_agents = true, FILTERS(SOC_FILTER_ALL), .answer = soc_message_members,
     .tells = SOC_MESSAGE_PARAMS_ROW,
     .view = &(const struct soc_view){.is_stored = true, .columns = message_columns}},
    {LOOK("dead_letters"),
     .summary = "messages that could not be delivered or handled, with the reason",
     FILTERS(SOC_FILTER_LETTERS), .answer = soc_message_members, .tells = SOC_MESSAGE_PARAMS_LETTER,
     .view = &(const struct soc_view){.is_stored = true, .columns = dead_columns}},
    {.name = "activity",
     .scope = SOC_SCOPE_READ,
     .run = soc_follow_look,
     .summary = "the activity log, in order",
     FILTERS(SOC_FILTER_ALL | SOC_FILTER_WAIT),
     .answer = activity_members,
     .view = &(const struct soc_view){.is_stored = true, .columns = activity_columns}},
    {LOOK("waits"), .summary = "who waits for whom, since when and until when",
     FILTERS(SOC_FILTER_PAGE), .answer = wait_members,
     .view = &(const struct soc_view){.look = look_at_waits,
                                      .page = soc_agent_pages_waits,
                                      .columns = wait_columns}},
    {LOOK("stats"), .summary = "counts of messages, agents and turns", .answer = stats_members,
     .view = &(const struct soc_view){.look = look_at_stats, .recall = recall_stats}},
    {LOOK("roles"), .summary = "the roles agents can have",
     FILTERS(SOC_FILTER_TIME | SOC_FILTER_PAGE), .answer = role_members,
     .view = &(const struct soc_view){.is_hidden = true, .is_stored = true}},
    {LOOK("registries"), .summary = "the contacts of all agents in one object",
     .answer = registries_members,
     .view = &(const struct soc_view){.is_hidden = true, .look = look_at_registries}},
    {LOOK("graph"), .summary = "agents and waits as of the same moment", .answer = graph_members,
     .view = &(const struct soc_view){.is_hidden = true, .look = look_at_graph}},
    {.name = NULL},
};

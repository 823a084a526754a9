#include "kernel/operations/agent_looks.h"

#include "base/json.h"
#include "base/limits.h"
#include "kernel/look.h"
#include "kernel/operations/given.h"
#include "kernel/operations/looks.h"
#include "kernel/operations/tree.h"
#include "kernel/operations/why.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/state.h"

#define DEPTH_MAX 1000

static const struct soc_param tree_params[] = {
    {.name = "root", .most = SOC_KEY_BYTES_MAX, .summary = "the agent to begin with; else all"},
    {.name = "depth",
     .kind = SOC_PARAM_INTEGER,
     .most = DEPTH_MAX,
     .summary = "how many levels below it; all of them by default"},
    {.name = NULL},
};

static const struct soc_param tree_members[] = {
    {.name = "id", .is_needed = true, .summary = "its id"},
    {.name = "role", .kind = SOC_PARAM_OBJECT, .is_needed = true, .summary = "`id` and `name`"},
    {.name = "parent", .summary = "who spawned or adopted it"},
    {.name = "depth",
     .kind = SOC_PARAM_INTEGER,
     .is_needed = true,
     .summary = "how far below the first; parents come before their children"},
    {.name = "status", .is_needed = true, .summary = "what it does"},
    {.name = "queue_length",
     .kind = SOC_PARAM_INTEGER,
     .is_needed = true,
     .summary = "messages in its mailbox"},
    {.name = "children",
     .kind = SOC_PARAM_INTEGER,
     .is_needed = true,
     .summary = "how many live children it has"},
    {.name = "families",
     .kind = SOC_PARAM_LIST,
     .summary = "instead of more than 50 children: `{ role, status, count }`"},
    {.name = "below",
     .kind = SOC_PARAM_LIST,
     .summary = "agents under it that are neither listed nor in `families`: `{ status, count }`"},
    {.name = "more",
     .kind = SOC_PARAM_INTEGER,
     .summary = "children left out because the answer is too long"},
    {.name = NULL},
};

static const struct soc_param why_members[] = {
    {.name = "agent", .is_needed = true, .summary = "an agent of the chain; the first is asked"},
    {.name = "status", .is_needed = true, .summary = "what it does"},
    {.name = "kind", .summary = "in which call it waits"},
    {.name = "waits_for",
     .kind = SOC_PARAM_LIST,
     .summary = "the agents it waits for; the first is next in the chain"},
    {.name = "type", .summary = "for mail of this type"},
    {.name = "receiver", .summary = "how the receiver of a request stands"},
    {.name = "correlation_id", .summary = "the chain it waits in"},
    {.name = "message_id", .kind = SOC_PARAM_ID, .summary = "the message to be answered"},
    {.name = "checkpoint_id", .summary = "the checkpoint to end"},
    {.name = "item_id", .summary = "the inbox item to be decided"},
    {.name = "since", .kind = SOC_PARAM_TIME, .summary = "since when"},
    {.name = "deadline", .kind = SOC_PARAM_TIME, .summary = "until when"},
    {.name = "where", .summary = "file and line of the script where it waits, while it runs"},
    {.name = "end", .choices = soc_why_ends, .summary = "where the chain ends; of the last"},
    {.name = "ended_by",
     .kind = SOC_PARAM_LIST,
     .is_needed = true,
     .summary = "operations that would end it, each `op` with its parameters"},
    {.name = NULL},
};

static void answer_ended(int rc, struct soc_slice rows, void *user)
{
    struct soc_call *call = user;
    if (rc < 0)
        soc_call_fail(call, rc, NULL);
    else if (soc_slice_equal(rows, SOC_SLICE("[]")))
        soc_call_fail(call, SOC_ENOAGENT, NULL);
    else
        soc_call_answer(call, rows);
}

/* One that has ended is only in the tables. */
static void look_at_agent(struct soc_given *given)
{
    struct soc_host *host = given->society->host;
    struct soc_slice id = soc_given_text(given, "agent");
    const struct soc_agent *agent = soc_registry_find_known(host, id);
    struct soc_buf list = {0};
    if (!soc_given_may_see(given, id))
        return;
    if (agent == NULL) {
        struct soc_query query = {.what = "agents", .agent = id};
        soc_look_query(host, &query, answer_ended, given->call);
        return;
    }
    soc_buf_put_byte(&list, '[');
    soc_look_agent(host, agent, &list);
    soc_buf_put_byte(&list, ']');
    soc_given_answer_when_durable(given, &list);
}

static void look_at_tree(struct soc_given *given)
{
    struct soc_host *host = given->society->host;
    struct soc_slice id = soc_given_text(given, "root");
    const struct soc_agent *root = id.data == NULL ? NULL : soc_registry_find_known(host, id);
    struct soc_buf list = {0};
    if (id.data != NULL && root == NULL) {
        soc_refuse(&list, SOC_ENOAGENT, "no live agent has that id", "agentId", id);
        soc_given_refuse(given, soc_buf_slice(&list));
        soc_buf_fini(&list);
        return;
    }
    soc_tree_put(host, root, soc_given_integer(given, "depth", DEPTH_MAX), &list);
    soc_given_answer_when_durable(given, &list);
}

static void look_at_why(struct soc_given *given)
{
    const struct soc_agent *agent = soc_given_agent(given);
    struct soc_buf list = {0};
    if (agent == NULL)
        return;
    soc_why_put(given->society->host, agent, &list);
    soc_given_answer_when_durable(given, &list);
}

static const struct soc_param context_members[] = {
    {.name = "agent", .is_needed = true, .summary = "its id"},
    {.name = "brief_text", .summary = "its Task Brief, formatted"},
    {.name = "context", .is_needed = true, .summary = "what a model is told before anything else"},
    {.name = "language", .summary = "the language of that, if the policy names it"},
    {.name = NULL},
};

static void look_at_context(struct soc_given *given)
{
    struct soc_host *host = given->society->host;
    const struct soc_agent *agent = soc_given_agent(given);
    struct soc_buf list = {0};
    if (agent == NULL)
        return;
    soc_buf_put_text(&list, "[{");
    soc_json_put_text_member(&list, "agent", soc_agent_id(agent));
    if (host->hooks.put_context != NULL &&
        host->hooks.put_context(host->hooks.user, agent, &list)) {
        soc_buf_put_text(&list, "}]");
        soc_given_answer_when_durable(given, &list);
    } else {
        soc_call_fail(given->call, SOC_EREFUSED, "no policy can word the agent's context");
    }
    soc_buf_fini(&list);
}

static const struct soc_param one_agent[] = {
    {.name = "agent",
     .most = SOC_KEY_BYTES_MAX,
     .is_needed = true,
     .summary = "its id; it may have ended"},
    {.name = NULL},
};

#define LOOK(name_) .name = name_, .scope = SOC_SCOPE_READ

const struct soc_operation soc_agent_looks[] = {
    {LOOK("agent"), .summary = "one agent, alive or ended", .is_for_agents = true,
     .params = one_agent, .answer = soc_looks_agent_members, .run = look_at_agent},
    {LOOK("context"), .needs_running = true,
     .summary = "what the model of an agent is told: role, brief, contacts, rules",
     .params = soc_operation_agent, .answer = context_members, .run = look_at_context},
    {LOOK("tree"), .needs_running = true,
     .summary = "agents with those below them, each parent before its children",
     .params = tree_params, .answer = tree_members, .run = look_at_tree},
    {LOOK("why"), .needs_running = true,
     .summary = "why an agent waits: the chain of waits to what really holds it up",
     .params = soc_operation_agent, .answer = why_members, .run = look_at_why},
    {.name = NULL},
};

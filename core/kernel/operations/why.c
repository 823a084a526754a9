#include "kernel/operations/why.h"

#include "base/json.h"
#include "env/ids.h"
#include "kernel/look.h"
#include "kernel/mail/requests.h"
#include "kernel/state.h"
#include "kernel/status.h"
#include "kernel/turns/wait.h"

const char *const soc_why_ends[] = {
#define E(tag, name) name,
    SOC_WHY_END_MAP(E)
#undef E
        NULL,
};

enum end {
#define E(tag, name) END_##tag,
    SOC_WHY_END_MAP(E)
#undef E
        GOES_ON, /* with the next agent */
};

/* The agents of the chain so far. */
struct chain {
    const struct soc_agent *agents[SOC_WHY_STEPS_MAX];
    size_t count;
};

static bool has(const struct chain *chain, const struct soc_agent *agent)
{
    for (size_t i = 0; i < chain->count; i++)
        if (chain->agents[i] == agent)
            return true;
    return false;
}

static enum end end_of_call(const struct soc_activation *activation)
{
    uint32_t count = activation->effects_count;
    bool is_chat = count > 0 && activation->effects[count - 1].kind == SOC_EFFECT_CHAT;
    return is_chat ? END_MODEL : END_SERVER;
}

/* Where the wait of an activation ends, if not with `*next`. */
static enum end end_of_wait(const struct soc_host *host, const struct soc_activation *activation,
                            const struct chain *chain, const struct soc_agent **next)
{
    switch (activation->wait.kind) {
    case SOC_WAIT_SLEEP:
        return END_SLEEP;
    case SOC_WAIT_HUMAN:
        return END_PERSON;
    case SOC_WAIT_CALL:
        return end_of_call(activation);
    case SOC_WAIT_REPLY:
    case SOC_WAIT_RECEIVE:
    case SOC_WAIT_TASK:
    case SOC_WAIT_ACK:
    case SOC_WAIT_BARRIER:
        break;
    default:
        return END_HOST;
    }
    *next = soc_wait_target(host, activation->agent, 0);
    if (*next == NULL)
        return activation->wait.kind == SOC_WAIT_RECEIVE ? END_SILENCE : END_HOST;
    return has(chain, *next) || chain->count == SOC_WHY_STEPS_MAX ? END_CYCLE : GOES_ON;
}

/* Where the chain ends that has come to its last agent. */
static enum end end_of(const struct soc_host *host, const struct chain *chain,
                       const struct soc_agent **next)
{
    const struct soc_agent *agent = chain->agents[chain->count - 1];
    const struct soc_activation *activation = agent->activation;
    bool is_awaited = chain->count > 1;
    if (agent->hold & SOC_HOLD_FAILED)
        return END_FAILED;
    if (agent->hold & SOC_HOLD_PAUSED)
        return END_PAUSED;
    if (agent->is_external)
        return is_awaited || soc_mailbox_count(&agent->mailbox) > 0 ? END_OUTSIDE : END_IDLE;
    if (is_awaited && agent == host->registry.user)
        return END_PERSON;
    if (activation == NULL && soc_mailbox_count(&agent->mailbox) > 0)
        return agent->role->is_runnable ? END_WORKING : END_ABSENT;
    if (activation == NULL)
        return agent->is_ready ? END_WORKING : is_awaited ? END_SILENCE : END_IDLE;
    if (activation->state == SOC_ACTIVATION_READY || activation->is_stalled)
        return END_WORKING;
    if (activation->state == SOC_ACTIVATION_BACKOFF)
        return END_RETRY;
    return end_of_wait(host, activation, chain, next);
}

/* Begins an operation in the list `ended_by`. */
static void begin_remedy(struct soc_buf *out, const char *op)
{
    if (out->data[out->length - 1] != '[')
        soc_buf_put_byte(out, ',');
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "op", soc_slice_text(op));
}

static void put_remedy(struct soc_buf *out, const char *op, const char *name,
                       struct soc_slice value)
{
    begin_remedy(out, op);
    soc_json_put_text_member(out, name, value);
    soc_buf_put_byte(out, '}');
}

/* Appends what would end the wait of an activation. */
static void put_wait_remedies(const struct soc_host *host, const struct soc_activation *activation,
                              enum end end, struct soc_buf *out)
{
    const struct soc_wait *wait = &activation->wait;
    char item[SOC_ITEM_ID_BYTES];
    char id[SOC_MESSAGE_ID_BYTES];
    bool is_waiting = activation->state == SOC_ACTIVATION_WAITING;
    if (is_waiting && wait->kind == SOC_WAIT_HUMAN) {
        soc_item_id_format(item, wait->request_ms, wait->request_key);
        put_remedy(out, "decide", "item_id", soc_slice(item, sizeof(item)));
    }
    if (is_waiting && wait->kind == SOC_WAIT_RECEIVE && end == END_SILENCE) {
        begin_remedy(out, "send");
        soc_json_put_text_member(out, "to", soc_agent_id(activation->agent));
        soc_json_put_text_member(out, "type", soc_symbol_slice(wait->type));
        soc_buf_put_byte(out, '}');
    }
    const struct soc_request *request = is_waiting && wait->kind == SOC_WAIT_REPLY
                                            ? soc_request_find(host, wait->request_key)
                                            : NULL;
    if (request != NULL && request->is_dead) {
        soc_message_id_format(id, wait->request_ms, wait->request_key);
        put_remedy(out, "redeliver", "message_id", soc_slice(id, sizeof(id)));
    }
    struct soc_slice task = {0};
    if (activation->message != NULL)
        task = soc_message_text(activation->message, SOC_TEXT_TASK_ID);
    if (task.data != NULL)
        put_remedy(out, "cancel", "task", task);
}

static void put_step(const struct soc_host *host, const struct soc_agent *agent, enum end end,
                     struct soc_buf *out)
{
    const struct soc_activation *activation = agent->activation;
    bool is_waiting = activation != NULL && activation->state != SOC_ACTIVATION_READY;
    if (out->data[out->length - 1] != '[')
        soc_buf_put_byte(out, ',');
    if (is_waiting) {
        soc_look_wait(host, activation, out);
        out->length--; /* more members follow */
    } else {
        soc_buf_put_byte(out, '{');
        soc_json_put_text_member(out, "agent", soc_agent_id(agent));
    }
    if (end != GOES_ON)
        soc_json_put_text_member(out, "end", soc_slice_text(soc_why_ends[end]));
    soc_json_put_name(out, "ended_by");
    soc_buf_put_byte(out, '[');
    if (end == END_PAUSED || end == END_FAILED)
        put_remedy(out, "resume", "agent", soc_agent_id(agent));
    if (is_waiting)
        put_wait_remedies(host, activation, end, out);
    soc_buf_put_byte(out, ']');
    soc_json_put_text_member(out, "status", soc_slice_text(soc_look_status(host, agent)));
    soc_buf_put_byte(out, '}');
}

void soc_why_put(struct soc_host *host, const struct soc_agent *agent, struct soc_buf *out)
{
    struct chain chain = {.count = 0};
    enum end end = GOES_ON;
    soc_buf_put_byte(out, '[');
    while (end == GOES_ON) {
        const struct soc_agent *next = NULL;
        chain.agents[chain.count++] = agent;
        end = end_of(host, &chain, &next);
        put_step(host, agent, end, out);
        agent = next;
    }
    soc_buf_put_byte(out, ']');
}

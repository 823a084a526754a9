#include "kernel/turns/wait.h"

#include <assert.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/mail/envelope.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "model/delivery/ack.h"

/* By enum soc_wait_kind; part of the journal's format. */
static const char *const wait_names[] = {"none", "reply",      "receive", "sleep", "look", "human",
                                         "task", "checkpoint", "call",    "ack",   "order"};

_Static_assert(sizeof(wait_names) / sizeof(wait_names[0]) == SOC_WAIT_COUNT,
               "every kind of wait needs a name");

void soc_wait_note(struct soc_host *host, struct soc_agent *agent)
{
    assert(agent != NULL);
    soc_buf_put(&host->waits.changed, &agent, sizeof(agent));
}

const struct soc_wait_ops *soc_wait_ops_of(const struct soc_host *host,
                                           const struct soc_activation *activation)
{
    assert(activation->wait.kind < SOC_WAIT_COUNT);
    return host->parts.waits[activation->wait.kind];
}

struct soc_agent *soc_wait_target(const struct soc_host *host, const struct soc_agent *agent,
                                  size_t index)
{
    const struct soc_activation *activation = agent->activation;
    if (activation == NULL || activation->state != SOC_ACTIVATION_WAITING)
        return NULL;
    const struct soc_wait_ops *ops = soc_wait_ops_of(host, activation);
    if (ops != NULL && ops->target != NULL)
        return ops->target(host, activation, index);
    return index > 0 ? NULL : activation->wait.on;
}

void soc_wait_put_targets(const struct soc_host *host, const struct soc_agent *agent,
                          struct soc_buf *out)
{
    const struct soc_agent *target;
    soc_buf_put_byte(out, '[');
    for (size_t i = 0; (target = soc_wait_target(host, agent, i)) != NULL; i++) {
        if (i > 0)
            soc_buf_put_byte(out, ',');
        soc_json_put_string(out, soc_agent_id(target));
    }
    soc_buf_put_byte(out, ']');
}

struct soc_slice soc_wait_chain(const struct soc_host *host,
                                const struct soc_activation *activation,
                                char id[SOC_MESSAGE_ID_BYTES])
{
    const struct soc_wait_ops *ops = soc_wait_ops_of(host, activation);
    if (ops != NULL && ops->chain != NULL)
        return ops->chain(host, activation, id);
    return soc_envelope_chain(activation->message, id);
}

const char *soc_wait_name(const struct soc_activation *activation)
{
    if (activation->is_stalled)
        return "script";
    return activation->state == SOC_ACTIVATION_BACKOFF ? "retry"
                                                       : wait_names[activation->wait.kind];
}

void soc_wait_put_json(struct soc_buf *out, const struct soc_wait *wait)
{
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "for", soc_slice_text(wait_names[wait->kind]));
    if (wait->on != NULL)
        soc_json_put_text_member(out, "from", soc_agent_id(wait->on));
    soc_json_put_text_member(out, "type", soc_symbol_slice(wait->type));
    soc_json_put_text_member(out, "correlation_id", soc_slice_text(wait->correlation_id));
    soc_json_put_name(out, "request");
    soc_json_put_integer(out, (int64_t)wait->request_key);
    soc_json_put_name(out, "request_ms");
    soc_json_put_integer(out, wait->request_ms);
    soc_json_put_name(out, "deadline_ms");
    soc_json_put_integer(out, wait->deadline_ms);
    soc_json_put_name(out, "timeout_ms");
    soc_json_put_integer(out, wait->timeout_ms);
    soc_json_put_name(out, "since_ms");
    soc_json_put_integer(out, wait->since_ms);
    soc_json_put_name(out, "number");
    soc_json_put_integer(out, (int64_t)wait->number);
    if (wait->span != 0) {
        soc_json_put_name(out, "span");
        soc_json_put_integer(out, (int64_t)wait->span);
    }
    if (wait->ack != SOC_ACK_NONE)
        soc_json_put_text_member(out, "ack", soc_slice_text(soc_ack_name(wait->ack)));
    if (wait->call != NULL) {
        soc_json_put_name(out, "is_interruptible");
        soc_buf_put_text(out, wait->is_interruptible ? "true" : "false");
        soc_json_put_name(out, "call");
        soc_buf_put_text(out, wait->call);
    }
    soc_buf_put_byte(out, '}');
}

/* Reads one member; `*known` counts the required ones. */
static void read_member(struct soc_host *host, const struct soc_json_walk *member,
                        struct soc_wait *wait, int *known)
{
    struct soc_slice name = member->name;
    struct soc_slice text = soc_json_plain_string(member->value);
    int64_t number = 0;
    bool is_number = soc_json_integer(member->value, &number);
    if (soc_slice_equal(name, SOC_SLICE("for"))) {
        for (int i = SOC_WAIT_REPLY; i < SOC_WAIT_COUNT; i++)
            if (soc_slice_equal(text, soc_slice_text(wait_names[i])))
                wait->kind = (enum soc_wait_kind)i;
    } else if (soc_slice_equal(name, SOC_SLICE("from"))) {
        wait->on = soc_registry_need(host, text);
    } else if (soc_slice_equal(name, SOC_SLICE("type"))) {
        wait->type = soc_intern(&host->types.table, text);
    } else if (soc_slice_equal(name, SOC_SLICE("correlation_id"))) {
        struct soc_buf correlation = {0};
        soc_json_string(member->value, &correlation);
        soc_buf_text(&correlation);
        wait->correlation_id = correlation.data;
    } else if (soc_slice_equal(name, SOC_SLICE("call"))) {
        wait->call = soc_copy_text(member->value.data, member->value.length);
    } else if (soc_slice_equal(name, SOC_SLICE("ack"))) {
        wait->ack = (uint8_t)soc_ack_parse(text);
    } else if (soc_slice_equal(name, SOC_SLICE("is_interruptible"))) {
        wait->is_interruptible = soc_slice_equal(member->value, SOC_SLICE("true"));
    } else if (soc_slice_equal(name, SOC_SLICE("since_ms"))) {
        wait->since_ms = number;
    } else if (soc_slice_equal(name, SOC_SLICE("number"))) {
        wait->number = (uint64_t)number;
    } else if (soc_slice_equal(name, SOC_SLICE("span"))) {
        wait->span = (uint64_t)number;
    } else if (soc_slice_equal(name, SOC_SLICE("request"))) {
        wait->request_key = (uint64_t)number;
        *known += is_number;
    } else if (soc_slice_equal(name, SOC_SLICE("request_ms"))) {
        wait->request_ms = number;
        *known += is_number;
    } else if (soc_slice_equal(name, SOC_SLICE("deadline_ms"))) {
        wait->deadline_ms = number;
        *known += is_number;
    } else if (soc_slice_equal(name, SOC_SLICE("timeout_ms"))) {
        wait->timeout_ms = number;
        *known += is_number;
    }
}

bool soc_wait_parse(struct soc_host *host, struct soc_slice json, struct soc_wait *wait)
{
    struct soc_json_walk walk;
    int known = 0;
    *wait = (struct soc_wait){0};
    soc_json_walk(&walk, json);
    while (soc_json_next(&walk))
        read_member(host, &walk, wait, &known);
    if (wait->number >= host->waits.next)
        host->waits.next = wait->number + 1;
    return known == 4 && wait->kind != SOC_WAIT_NONE &&
           (wait->kind == SOC_WAIT_CALL) == (wait->call != NULL) &&
           (wait->kind == SOC_WAIT_ACK) == (wait->ack != SOC_ACK_NONE);
}

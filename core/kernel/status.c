#include "kernel/status.h"

#include <assert.h>

#include "base/json.h"
#include "env/ids.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "kernel/turns/wait.h"

enum soc_status soc_status_of(const struct soc_host *host, const struct soc_agent *agent)
{
    if (agent->is_ended)
        return SOC_STATUS_STOPPED;
    if (agent->hold & SOC_HOLD_FAILED)
        return SOC_STATUS_FAILED;
    if (agent->hold & SOC_HOLD_PAUSED)
        return SOC_STATUS_PAUSED;
    if (agent->is_unresponsive)
        return SOC_STATUS_UNRESPONSIVE;
    return agent->is_ending ? SOC_STATUS_ENDING : soc_status_of_work(host, agent);
}

enum soc_status soc_status_of_work(const struct soc_host *host, const struct soc_agent *agent)
{
    const struct soc_activation *activation = agent->activation;
    if (agent->is_external)
        return soc_mailbox_count(&agent->mailbox) > 0 ? SOC_STATUS_WORKING : SOC_STATUS_IDLE;
    if (activation == NULL)
        return agent->is_ready && agent->role->is_runnable ? SOC_STATUS_WORKING : SOC_STATUS_IDLE;
    if (activation->state != SOC_ACTIVATION_WAITING || activation->wait.kind == SOC_WAIT_SLEEP ||
        activation->wait.kind == SOC_WAIT_LOOK || activation->wait.kind == SOC_WAIT_CALL ||
        activation->wait.kind == SOC_WAIT_ORDER)
        return SOC_STATUS_WORKING;
    const struct soc_agent *target;
    for (size_t i = 0; (target = soc_wait_target(host, agent, i)) != NULL; i++)
        if (target == host->registry.user)
            return SOC_STATUS_BLOCKED_USER;
    return SOC_STATUS_BLOCKED_INTERNAL;
}

static bool holds(const struct soc_activation *activation, uint64_t key)
{
    const struct soc_message *message;
    if (activation == NULL)
        return false;
    if (activation->message != NULL && activation->message->key == key)
        return true;
    for (message = activation->taken.first; message != NULL; message = message->next)
        if (message->key == key)
            return true;
    return false;
}

const char *soc_status_of_receiver(const struct soc_host *host, const struct soc_agent *agent,
                                   uint64_t key, bool is_finished)
{
    if (agent->is_external)
        return "outside";
    if (is_finished)
        return "finished";
    if (agent->hold & SOC_HOLD_FAILED)
        return "failed";
    if (agent->hold & SOC_HOLD_PAUSED)
        return "paused";
    if (!holds(agent->activation, key))
        return "queued";
    return soc_status_of_work(host, agent) == SOC_STATUS_WORKING ? "working" : "blocked";
}

const char *soc_status_name(enum soc_status status)
{
    static const char *const names[] = {
#define S(tag, name) name,
        SOC_STATUS_MAP(S)
#undef S
    };
    assert(status < sizeof(names) / sizeof(names[0]));
    return names[status];
}

static bool is_blocked(enum soc_status status)
{
    return status == SOC_STATUS_BLOCKED_INTERNAL || status == SOC_STATUS_BLOCKED_USER;
}

/* Appends since when and until when an activation waits, for mail of which type, and for the
 * answer to which message. */
static void put_terms(const struct soc_host *host, const struct soc_activation *activation,
                      struct soc_buf *detail)
{
    const struct soc_wait *wait = &activation->wait;
    char id[SOC_MESSAGE_ID_BYTES];
    if (soc_heap_has(&activation->timer)) {
        soc_json_put_name(detail, "deadline");
        soc_time_put_json(detail, soc_clock_date_of(&host->clock, activation->timer.due_ms));
    }
    if (wait->kind == SOC_WAIT_REPLY || wait->kind == SOC_WAIT_TASK || wait->kind == SOC_WAIT_ACK) {
        soc_message_id_format(id, wait->request_ms, wait->request_key);
        soc_json_put_text_member(detail, "message_id", soc_slice(id, sizeof(id)));
    }
    /* The line is written a moment later. */
    if (wait->since_ms != 0) {
        soc_json_put_name(detail, "since");
        soc_time_put_json(detail, soc_clock_date_of(&host->clock, wait->since_ms));
    }
    soc_json_put_text_member(detail, "type", soc_symbol_slice(wait->type));
}

static void log_change(struct soc_host *host, const char *event,
                       const struct soc_activation *activation, enum soc_status from,
                       enum soc_status to)
{
    struct soc_buf detail = {0};
    char id[SOC_MESSAGE_ID_BYTES];
    soc_buf_put_byte(&detail, '{');
    if (is_blocked(to))
        put_terms(host, activation, &detail);
    soc_json_put_text_member(&detail, "from", soc_slice_text(soc_status_name(from)));
    soc_json_put_text_member(&detail, "kind", soc_slice_text(soc_wait_name(activation)));
    soc_json_put_text_member(&detail, "to", soc_slice_text(soc_status_name(to)));
    soc_json_put_name(&detail, "waits_for");
    soc_wait_put_targets(host, activation->agent, &detail);
    soc_buf_put_byte(&detail, '}');
    soc_trace_event_of(host, SOC_LOG_DEBUG, event, activation->agent,
                       soc_wait_chain(host, activation, id), soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

void soc_status_log_blocked(struct soc_host *host, const struct soc_agent *agent)
{
    struct soc_activation *activation = agent->activation;
    enum soc_status now = soc_status_of_work(host, agent);
    if (activation == NULL || !is_blocked(now) || activation->logged_status == now)
        return;
    bool was_blocked = is_blocked((enum soc_status)activation->logged_status);
    log_change(host, "blocked", activation,
               was_blocked ? (enum soc_status)activation->logged_status : SOC_STATUS_WORKING, now);
    activation->logged_status = (uint8_t)now;
}

void soc_status_log_unblocked(struct soc_host *host, struct soc_activation *activation)
{
    enum soc_status logged = (enum soc_status)activation->logged_status;
    activation->logged_status = SOC_STATUS_IDLE;
    if (is_blocked(logged))
        log_change(host, "unblocked", activation, logged, SOC_STATUS_WORKING);
}

#include "kernel/turns/handling.h"

#include <assert.h>

#include "kernel/mail/router.h"
#include "kernel/state.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/waiting.h"

struct soc_activation *soc_handling_new(struct soc_host *host, struct soc_agent *agent)
{
    assert(agent->activation == NULL);
    struct soc_activation *activation =
        host->pool.count > 0 ? host->pool.items[--host->pool.count] : soc_activation_new();
    activation->agent = agent;
    agent->activation = activation;
    return activation;
}

void soc_handling_release(struct soc_host *host, struct soc_activation *activation)
{
    assert(activation->agent->activation == activation);
    assert(activation->message == NULL && activation->taken.count == 0);
    if (activation->script != NULL)
        host->hooks.drop(host->hooks.user, activation);
    activation->agent->activation = NULL;
    SOC_PARTS_TELL(host, released, host, activation->agent);
    soc_activation_reset(activation);
    if (host->pool.count < (int)(sizeof(host->pool.items) / sizeof(host->pool.items[0])))
        host->pool.items[host->pool.count++] = activation;
    else
        soc_activation_free(activation);
}

void soc_handling_end(struct soc_host *host, struct soc_activation *activation,
                      enum soc_outcome outcome, struct soc_slice reason)
{
    struct soc_agent *agent = activation->agent;
    assert(activation->state == SOC_ACTIVATION_READY && !soc_heap_has(&activation->timer));
    SOC_PARTS_TELL(host, handled, host, activation, outcome, reason);
    if (activation->is_stored) {
        struct soc_record record = {
            .type = SOC_RECORD_ACTIVATION_END,
            .activation_end = {.agent = soc_agent_id(agent)},
        };
        soc_batch_put(host, &record);
    }
    struct soc_message *message = activation->message;
    activation->message = NULL;
    struct soc_message_list taken = activation->taken;
    activation->taken = (struct soc_message_list){0};
    soc_handling_release(host, activation);
    if (message != NULL)
        soc_router_finish(host, message, outcome, reason);
    while ((message = soc_message_list_pop(&taken)) != NULL)
        soc_router_finish(host, message, outcome, reason);
}

void soc_handling_abandon(struct soc_host *host, struct soc_activation *activation,
                          enum soc_outcome outcome, struct soc_slice reason)
{
    assert(!host->turn.is_open || host->turn.activation != activation);
    if (host->parts.watches_effects)
        SOC_PARTS_TELL(host, run_ended, host, activation, "waits", (struct soc_slice){0});
    if (activation->state == SOC_ACTIVATION_WAITING)
        SOC_PARTS_TELL(host, wait_ended, host, activation, (struct soc_slice){0});
    soc_waiting_cancel(host, activation);
    soc_handling_end(host, activation, outcome, reason);
}

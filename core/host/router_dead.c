/* Dead letters: sent again, or dropped. */
#include "host/refusal.h"
#include "host/router.h"
#include "host/state.h"

static int refuse_unknown(struct soc_buf *error)
{
    return soc_refuse(error, SOC_ENOMESSAGE, "no dead letter has that id", NULL,
                      (struct soc_slice){0});
}

int soc_router_redeliver(struct soc_host *host, uint64_t key, struct soc_buf *error)
{
    struct soc_message *message = soc_map_find_number(&host->dead, key);
    if (message == NULL)
        return refuse_unknown(error);
    if (message->to != NULL && message->to->is_ended)
        return soc_refuse(error, SOC_ESTOPPED, NULL, "agentId", soc_agent_id(message->to));
    soc_map_take_number(&host->dead, key);
    soc_router_again(host, message, soc_host_now(host));
    return SOC_OK;
}

int soc_router_drop(struct soc_host *host, uint64_t key, struct soc_buf *error)
{
    struct soc_message *message = soc_map_take_number(&host->dead, key);
    if (message == NULL)
        return refuse_unknown(error);
    host->totals.outcome[message->outcome]--;
    soc_router_finish(host, message, SOC_OUTCOME_DROPPED, SOC_SLICE("{\"error\":\"dropped\"}"));
    return SOC_OK;
}

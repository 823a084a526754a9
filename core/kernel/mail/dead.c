#include "kernel/mail/dead.h"

#include <assert.h>

#include "env/ids.h"
#include "kernel/mail/router.h"
#include "kernel/refusal.h"
#include "kernel/state.h"

static int refuse_unknown(struct soc_buf *error)
{
    return soc_refuse(error, SOC_ENOMESSAGE, "no dead letter has that id", NULL,
                      (struct soc_slice){0});
}

static struct soc_message *find(const struct soc_host *host, struct soc_slice id)
{
    uint64_t key;
    struct soc_message *message = NULL;
    if (soc_message_id_parse(id, &key))
        message = soc_map_find_number(&host->dead, key);
    return message != NULL && soc_message_id_is(id, message->time_ms, key) ? message : NULL;
}

int soc_dead_redeliver(struct soc_host *host, struct soc_slice id, struct soc_buf *error)
{
    struct soc_message *message = find(host, id);
    if (message == NULL)
        return refuse_unknown(error);
    if (message->to != NULL && message->to->is_ended)
        return soc_refuse(error, SOC_ESTOPPED, NULL, "agentId", soc_agent_id(message->to));
    soc_map_take_number(&host->dead, message->key);
    soc_router_again(host, message, soc_host_now(host));
    return SOC_OK;
}

int soc_dead_drop(struct soc_host *host, struct soc_slice id, struct soc_buf *error)
{
    struct soc_message *message = find(host, id);
    if (message == NULL)
        return refuse_unknown(error);
    soc_map_take_number(&host->dead, message->key);
    assert(message->outcome == SOC_OUTCOME_DEAD || message->outcome == SOC_OUTCOME_EXPIRED);
    host->totals.outcome[message->outcome]--;
    soc_router_finish(host, message, SOC_OUTCOME_DROPPED, SOC_SLICE("{\"error\":\"dropped\"}"));
    return SOC_OK;
}

#include "model/group/broadcast.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

struct soc_broadcast *soc_broadcast_new(struct soc_message *message)
{
    assert(message->to == NULL);
    struct soc_broadcast *broadcast = soc_alloc_zero(sizeof(*broadcast));
    broadcast->message = message;
    return broadcast;
}

void soc_broadcast_free(struct soc_broadcast *broadcast)
{
    if (broadcast == NULL)
        return;
    soc_map_fini(&broadcast->settled);
    free(broadcast);
}

bool soc_broadcast_is_for(const struct soc_broadcast *broadcast, const struct soc_agent *agent)
{
    return agent->news < broadcast->message->key && agent != broadcast->message->from &&
           !agent->is_ended &&
           (broadcast->settled.count == 0 ||
            soc_map_find(&broadcast->settled, soc_agent_id(agent)) == NULL);
}

void soc_broadcast_settle(struct soc_broadcast *broadcast, struct soc_agent *agent)
{
    soc_map_put(&broadcast->settled, soc_agent_id(agent), agent);
}

bool soc_broadcast_done(struct soc_broadcast *broadcast)
{
    assert(broadcast->left > 0);
    return --broadcast->left == 0;
}

struct soc_message_draft soc_broadcast_draft(const struct soc_broadcast *broadcast,
                                             struct soc_agent *reader)
{
    const struct soc_message *message = broadcast->message;
    struct soc_message_draft draft = {
        .key = message->key,
        .time_ms = message->time_ms,
        .from = message->from,
        .to = reader,
        .type = message->type,
        .reply_to = message->reply_to,
        .reply_to_ms = message->reply_to_ms,
        .cause = message->cause,
        .expires_ms = message->expires_ms,
        .deliver_at_ms = message->deliver_at_ms,
        .sent_date_ms = message->sent_date_ms,
        .deliver_date_ms = message->deliver_date_ms,
        .deadline_ms = message->deadline_ms,
        .priority = message->priority,
        .flags = message->flags,
        .attempt = message->attempt,
        .hops = message->hops,
        .idle_hops = message->idle_hops,
        .payload = soc_message_payload(message),
    };
    for (int i = 0; i < SOC_TEXT_COUNT; i++)
        draft.texts[i] = soc_message_text(message, (enum soc_message_text)i);
    return draft;
}

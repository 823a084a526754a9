#include "kernel/mail/asked.h"

#include "kernel/mail/send.h"
#include "kernel/registry.h"
#include "kernel/state.h"

bool soc_asked_find(struct soc_host *host, const struct soc_agent *to, struct soc_slice id,
                    struct soc_asked *asked)
{
    for (size_t i = 0; host->parts.calls.find_asked[i] != NULL; i++)
        if (host->parts.calls.find_asked[i](host, to, id, asked))
            return true;
    return false;
}

void soc_asked_address(const struct soc_asked *asked, struct soc_send *send)
{
    send->answers_key = asked->key;
    send->answers_ms = asked->time_ms;
    send->is_late = true; /* nobody waits on this host */
    send->to = soc_agent_id(asked->from);
    send->texts[SOC_TEXT_FOREIGN_REPLY] = asked->id;
    if (send->texts[SOC_TEXT_CORRELATION_ID].data == NULL)
        send->texts[SOC_TEXT_CORRELATION_ID] = asked->chain;
}

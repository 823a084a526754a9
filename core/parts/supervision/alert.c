#include "parts/supervision/alert.h"

#include <assert.h>

#include "base/json.h"
#include "kernel/mail/router.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "kernel/turns/commit.h"
#include "kernel/turns/turn.h"

static struct soc_agent *find_ancestor(const struct soc_host *host, const struct soc_agent *agent)
{
    struct soc_agent *above = agent->parent;
    while (above != NULL && (above->is_ended || above->is_ending))
        above = above->parent;
    return above == NULL ? host->registry.user : above;
}

void soc_alert_parent(struct soc_host *host, const struct soc_agent *agent, const char *type,
                      struct soc_slice members, struct soc_slice chain)
{
    struct soc_message *message;
    struct soc_buf payload = {0};
    struct soc_buf error = {0};
    assert(!host->turn.is_open);
    soc_buf_put_byte(&payload, '{');
    soc_json_put_text_member(&payload, "agent", soc_agent_id(agent));
    soc_json_put_text_member(&payload, "alert_type", soc_slice_text(type));
    if (members.length > 0) {
        soc_buf_put_byte(&payload, ',');
        soc_buf_put_slice(&payload, members);
    }
    soc_buf_put_byte(&payload, '}');
    struct soc_send send = {
        .to = soc_agent_id(find_ancestor(host, agent)),
        .type = SOC_SLICE("alert"),
        .payload = soc_buf_slice(&payload),
        .priority = SOC_PRIORITY_HIGH,
        .has_priority = true,
        .is_bare = true,
    };
    send.texts[SOC_TEXT_CORRELATION_ID] = chain;
    soc_turn_begin(host, NULL, NULL);
    int rc = soc_router_send(host, NULL, &send, &message, &error);
    soc_commit_turn(host);
    if (rc < 0)
        soc_trace_event(host, SOC_LOG_WARN, "alert_failed", agent, soc_buf_slice(&error));
    soc_buf_fini(&payload);
    soc_buf_fini(&error);
}

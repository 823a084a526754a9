#include "kernel/registry.h"

#include <assert.h>

#include "kernel/state.h"

struct soc_role *soc_registry_find_role(struct soc_host *host, struct soc_slice id)
{
    return soc_map_find(&host->registry.roles, id);
}

struct soc_role *soc_registry_each_role(struct soc_host *host, size_t *cursor)
{
    return soc_map_each(&host->registry.roles, cursor);
}

struct soc_agent *soc_registry_find(struct soc_host *host, struct soc_slice id)
{
    struct soc_agent *agent = soc_map_find(&host->registry.agents, id);
    return agent == NULL || agent->is_ended ? NULL : agent;
}

struct soc_agent *soc_registry_find_any(struct soc_host *host, struct soc_slice id)
{
    return soc_map_find(&host->registry.agents, id);
}

struct soc_agent *soc_registry_need(struct soc_host *host, struct soc_slice id)
{
    if (soc_slice_equal(id, SOC_SLICE("system")))
        return NULL;
    struct soc_agent *agent = soc_map_find(&host->registry.agents, id);
    if (agent == NULL) {
        struct soc_role *unknown = soc_map_find(&host->registry.roles, SOC_SLICE("unknown"));
        assert(unknown != NULL); /* soc_host_new adds it */
        agent = soc_agent_new(id, unknown, NULL, 0);
        agent->is_ended = true;
        soc_map_put(&host->registry.agents, soc_agent_id(agent), agent);
    }
    return agent;
}

struct soc_agent *soc_registry_receiver(struct soc_host *host, struct soc_slice id)
{
    const char *orchestrator = host->registry.orchestrator;
    if (soc_slice_equal(id, SOC_SLICE("orchestrator")))
        id = orchestrator == NULL ? SOC_SLICE("root") : soc_slice_text(orchestrator);
    return soc_map_find(&host->registry.agents, id);
}

struct soc_agent *soc_registry_each(struct soc_host *host, size_t *cursor)
{
    struct soc_agent *agent = soc_map_each(&host->registry.agents, cursor);
    while (agent != NULL && agent->is_ended)
        agent = soc_map_each(&host->registry.agents, cursor);
    return agent;
}

struct soc_agent *soc_registry_user(struct soc_host *host)
{
    return host->registry.user;
}

struct soc_agent *soc_registry_root(struct soc_host *host)
{
    return host->registry.root;
}

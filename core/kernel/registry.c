#include "kernel/registry.h"

#include <assert.h>

#include "base/limits.h"
#include "kernel/state.h"
#include "store/record.h"

struct soc_role *soc_registry_find_role(struct soc_host *host, struct soc_slice id)
{
    return soc_map_find(&host->registry.roles, id);
}

struct soc_role *soc_registry_each_role(struct soc_host *host, size_t *cursor)
{
    return soc_map_each(&host->registry.roles, cursor);
}

struct soc_role *soc_registry_add_role(struct soc_host *host, struct soc_slice id,
                                       struct soc_slice name)
{
    struct soc_role *role = soc_role_new(id, name);
    soc_map_put(&host->registry.roles, soc_slice_text(role->id), role);
    return role;
}

void soc_registry_fill_role(struct soc_role *role, const struct soc_record_role *r)
{
    soc_text_set(&role->name, r->name);
    soc_text_set(&role->prompt, r->prompt.data == NULL ? SOC_SLICE("") : r->prompt);
    soc_text_set(&role->interface_spec, r->interface_spec);
    soc_text_set(&role->behaviour, r->behaviour);
    role->is_external =
        r->behaviour.data != NULL && soc_slice_equal(r->behaviour, SOC_SLICE("external"));
}

struct soc_agent *soc_registry_add(struct soc_host *host, const struct soc_record_agent *r,
                                   struct soc_role *role, struct soc_agent *parent)
{
    struct soc_agent *agent = soc_agent_new(r->id, role, parent, (int64_t)r->time_ms);
    if (r->brief.data != NULL)
        soc_agent_set_brief(agent, r->brief);
    agent->since = r->since;
    agent->news = r->since == 0 ? 0 : r->since - 1;
    agent->is_external = role->is_external || r->is_external;
    soc_map_put(&host->registry.agents, soc_agent_id(agent), agent);
    host->registry.alive++;
    if (parent != NULL) {
        parent->children++;
        parent->births++;
    } else if (soc_slice_equal(r->id, SOC_SLICE("user"))) {
        host->registry.user = agent;
    } else if (soc_slice_equal(r->id, SOC_SLICE("root"))) {
        host->registry.root = agent;
    }
    return agent;
}

void soc_registry_set_ending(struct soc_agent *agent, struct soc_slice reason)
{
    agent->is_ending = true;
    soc_text_set(&agent->end_reason, reason);
}

void soc_registry_set_parent(struct soc_agent *agent, struct soc_agent *parent)
{
    assert(parent != NULL && parent != agent);
    if (agent->parent != NULL)
        agent->parent->children--;
    agent->parent = parent;
    parent->children++;
}

void soc_registry_end(struct soc_host *host, struct soc_agent *agent)
{
    assert(host->registry.alive > 0);
    agent->is_ended = true;
    host->registry.alive--;
    if (agent->parent != NULL)
        agent->parent->children--;
    soc_agent_shrink(agent);
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

int64_t soc_registry_reply_timeout(const struct soc_agent *to, int64_t timeout_ms)
{
    if (timeout_ms >= 0)
        return timeout_ms;
    return to == NULL || to->role->reply_timeout_ms == 0 ? SOC_REQUEST_TIMEOUT_MS
                                                         : to->role->reply_timeout_ms;
}

uint64_t soc_registry_count(const struct soc_host *host)
{
    return host->registry.alive;
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

#include "model/agent.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

struct soc_agent *soc_agent_new(struct soc_slice id, struct soc_role *role,
                                struct soc_agent *parent, int64_t created_ms)
{
    assert(id.length > 0 && id.length <= SOC_ADDRESS_BYTES_MAX);
    struct soc_agent *agent = soc_alloc_zero(sizeof(*agent) + id.length + 1);
    agent->role = role;
    agent->parent = parent;
    agent->created_ms = created_ms;
    agent->id_length = (uint8_t)id.length;
    memcpy(agent->id, id.data, id.length);
    return agent;
}

void soc_agent_shrink(struct soc_agent *agent)
{
    soc_contacts_fini(&agent->contacts);
    free(agent->brief);
    free(agent->state);
    free(agent->end_reason);
    agent->brief = agent->state = agent->end_reason = NULL;
    agent->brief_length = agent->state_length = 0;
}

void soc_agent_free(struct soc_agent *agent)
{
    if (agent == NULL)
        return;
    soc_agent_shrink(agent);
    free(agent);
}

void soc_agent_prefetch(const struct soc_agent *agent)
{
    for (size_t at = 0; at <= sizeof(*agent); at += SOC_CACHE_LINE_BYTES)
        __builtin_prefetch((const char *)agent + at, 1);
}

void soc_agent_prefetch_contacts(const struct soc_agent *agent)
{
    if (agent->contacts.items == NULL)
        return;
    __builtin_prefetch(agent->contacts.items);
    __builtin_prefetch((const char *)agent->contacts.items + SOC_CACHE_LINE_BYTES);
}

struct soc_slice soc_agent_id(const struct soc_agent *agent)
{
    return soc_slice(agent->id, agent->id_length);
}

void soc_agent_set_brief(struct soc_agent *agent, struct soc_slice json)
{
    soc_text_set(&agent->brief, json);
    agent->brief_length = (uint32_t)json.length;
}

void soc_agent_set_state(struct soc_agent *agent, struct soc_slice json)
{
    soc_text_set(&agent->state, json);
    agent->state_length = (uint32_t)json.length;
}

struct soc_role *soc_role_new(struct soc_slice id, struct soc_slice name)
{
    struct soc_role *role = soc_alloc_zero(sizeof(*role));
    role->id = soc_copy_text(id.data, id.length);
    role->name = soc_copy_text(name.data, name.length);
    role->prompt = soc_copy_text("", 0);
    return role;
}

void soc_role_free(struct soc_role *role)
{
    if (role == NULL)
        return;
    free(role->id);
    free(role->name);
    free(role->prompt);
    free(role->interface_spec);
    free(role->grants);
    free(role->creator);
    free(role->behaviour);
    free(role);
}

void soc_text_set(char **place, struct soc_slice text)
{
    char *copy = text.data == NULL ? NULL : soc_copy_text(text.data, text.length);
    free(*place);
    *place = copy;
}

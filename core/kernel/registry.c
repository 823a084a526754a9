#include "kernel/registry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"
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
    soc_text_set(&role->creator, r->creator);
    role->is_isolated = r->is_isolated != 0;
    role->is_external =
        r->behaviour.data != NULL && soc_slice_equal(r->behaviour, SOC_SLICE("external"));
}

/* Records of roles that are older than their flag are known by the creator. */
bool soc_registry_is_isolated(struct soc_host *host, const struct soc_role *role)
{
    const struct soc_agent *creator =
        role->creator == NULL ? NULL : soc_registry_find_any(host, soc_slice_text(role->creator));
    return role->is_isolated || (creator != NULL && creator->isolation != 0);
}

bool soc_registry_isolates(struct soc_host *host, const struct soc_agent *agent)
{
    return agent->isolation != 0 || soc_registry_is_isolated(host, agent->role);
}

struct soc_agent *soc_registry_add(struct soc_host *host, const struct soc_record_agent *r,
                                   struct soc_role *role, struct soc_agent *parent)
{
    struct soc_agent *agent = soc_agent_new(r->id, role, parent, (int64_t)r->time_ms);
    if (r->brief.data != NULL)
        soc_agent_set_brief(agent, r->brief);
    agent->number = ++host->registry.births;
    agent->since = r->since;
    agent->news = r->since == 0 ? 0 : r->since - 1;
    agent->is_external = role->is_external || r->is_external;
    agent->isolation = (uint8_t)r->is_isolated;
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

void soc_registry_set_host(struct soc_host *host, struct soc_slice name)
{
    soc_text_set(&host->registry.host_name, name);
}

void soc_registry_add_peer(struct soc_host *host, struct soc_slice name)
{
    if (soc_map_find(&host->registry.peers, name) == NULL) {
        struct soc_registry_peer *peer = soc_alloc_zero(sizeof(*peer));
        peer->name = soc_copy_text(name.data, name.length);
        soc_map_put(&host->registry.peers, soc_slice_text(peer->name), peer);
    }
}

void soc_registry_drop_peers(struct soc_host *host)
{
    struct soc_registry_peer *peer;
    for (size_t cursor = 0; (peer = soc_map_each(&host->registry.peers, &cursor)) != NULL;) {
        free(peer->name);
        free(peer);
    }
    soc_map_fini(&host->registry.peers);
}

/* Lends the joined host that an address names; NULL: there is none. */
static struct soc_registry_peer *peer_of(const struct soc_host *host, struct soc_slice address)
{
    struct soc_slice agent;
    struct soc_slice name;
    return soc_id_divide(address, &agent, &name) ? soc_map_find(&host->registry.peers, name) : NULL;
}

void soc_registry_set_silent(struct soc_host *host, struct soc_slice name, bool is_silent)
{
    struct soc_registry_peer *peer = soc_map_find(&host->registry.peers, name);
    struct soc_agent *proxy;
    peer->is_silent = is_silent;
    for (size_t cursor = 0; (proxy = soc_registry_each_remote(host, &cursor)) != NULL;)
        if (peer_of(host, soc_agent_id(proxy)) == peer)
            proxy->is_unresponsive = is_silent;
}

static bool is_own_host(const struct soc_host *host, struct soc_slice name)
{
    const char *own = host->registry.host_name;
    return own != NULL && soc_slice_equal(name, soc_slice_text(own));
}

bool soc_registry_is_astray(const struct soc_host *host, struct soc_slice id)
{
    struct soc_slice agent;
    struct soc_slice name;
    return soc_id_divide(id, &agent, &name) && !is_own_host(host, name) &&
           soc_map_find(&host->registry.peers, name) == NULL;
}

bool soc_registry_is_all(const struct soc_agent *agent)
{
    return agent->is_remote && agent->id_length > 4 && memcmp(agent->id, "All@", 4) == 0;
}

struct soc_agent *soc_registry_need_remote(struct soc_host *host, struct soc_slice id)
{
    struct soc_agent *agent = soc_map_find(&host->registry.remotes, id);
    if (agent != NULL)
        return agent;
    struct soc_role *unknown = soc_map_find(&host->registry.roles, SOC_SLICE("unknown"));
    assert(unknown != NULL); /* soc_host_new adds it */
    agent = soc_agent_new(id, unknown, NULL, 0);
    const struct soc_registry_peer *peer = peer_of(host, id);
    agent->is_external = agent->is_remote = true;
    agent->is_unresponsive = peer != NULL && peer->is_silent;
    agent->rank = ++host->registry.named;
    soc_map_put(&host->registry.remotes, soc_agent_id(agent), agent);
    return agent;
}

/* The key of such a role is owned by it, as its behaviour, which it has none of. */
struct soc_role *soc_registry_remote_role(struct soc_host *host, struct soc_slice id,
                                          struct soc_slice name)
{
    struct soc_buf key = {0};
    soc_buf_put_slice(&key, name);
    soc_buf_put_byte(&key, '\n');
    soc_buf_put_slice(&key, id);
    struct soc_role *role = soc_map_find(&host->registry.remote_roles, soc_buf_slice(&key));
    if (role == NULL) {
        role = soc_role_new(id, name);
        role->is_external = true;
        soc_text_set(&role->behaviour, soc_buf_slice(&key));
        soc_map_put(&host->registry.remote_roles, soc_slice_text(role->behaviour), role);
    }
    soc_buf_fini(&key);
    return role;
}

struct soc_agent *soc_registry_each_remote(struct soc_host *host, size_t *cursor)
{
    return soc_map_each(&host->registry.remotes, cursor);
}

/* Lends the agent of any id or address; NULL: there is none, or its host is not joined. */
static struct soc_agent *find_anywhere(struct soc_host *host, struct soc_slice id)
{
    struct soc_agent *agent = soc_map_find(&host->registry.agents, id);
    struct soc_slice local;
    struct soc_slice name;
    if (agent != NULL || !soc_id_divide(id, &local, &name))
        return agent;
    if (is_own_host(host, name))
        return soc_map_find(&host->registry.agents, local);
    return soc_map_find(&host->registry.peers, name) == NULL ? NULL
                                                             : soc_registry_need_remote(host, id);
}

struct soc_agent *soc_registry_find(struct soc_host *host, struct soc_slice id)
{
    struct soc_agent *agent = find_anywhere(host, id);
    return agent == NULL || agent->is_ended ? NULL : agent;
}

struct soc_agent *soc_registry_find_known(struct soc_host *host, struct soc_slice id)
{
    struct soc_slice local;
    struct soc_slice name;
    bool is_elsewhere = soc_id_divide(id, &local, &name) && !is_own_host(host, name);
    return is_elsewhere ? soc_map_find(&host->registry.remotes, id) : soc_registry_find(host, id);
}

struct soc_agent *soc_registry_find_any(struct soc_host *host, struct soc_slice id)
{
    return find_anywhere(host, id);
}

struct soc_agent *soc_registry_need(struct soc_host *host, struct soc_slice id)
{
    if (soc_slice_equal(id, SOC_SLICE("system")))
        return NULL;
    struct soc_agent *agent = soc_map_find(&host->registry.agents, id);
    if (agent == NULL && memchr(id.data, '@', id.length) != NULL)
        return soc_registry_need_remote(host, id);
    if (agent == NULL) {
        struct soc_role *unknown = soc_map_find(&host->registry.roles, SOC_SLICE("unknown"));
        assert(unknown != NULL); /* soc_host_new adds it */
        agent = soc_agent_new(id, unknown, NULL, 0);
        agent->is_ended = true;
        agent->number = host->registry.births;
        agent->rank = ++host->registry.named;
        soc_map_put(&host->registry.agents, soc_agent_id(agent), agent);
    }
    return agent;
}

struct soc_agent *soc_registry_find_stored(struct soc_host *host, struct soc_slice id)
{
    struct soc_agent *agent = soc_map_find(&host->registry.agents, id);
    if (agent == NULL && id.length > 0 && memchr(id.data, '@', id.length) != NULL)
        return soc_registry_need_remote(host, id);
    return agent;
}

struct soc_agent *soc_registry_receiver(struct soc_host *host, struct soc_slice id)
{
    const char *orchestrator = host->registry.orchestrator;
    if (soc_slice_equal(id, SOC_SLICE("orchestrator")))
        id = orchestrator == NULL ? SOC_SLICE("root") : soc_slice_text(orchestrator);
    return find_anywhere(host, id);
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

void soc_registry_fini(struct soc_host *host)
{
    struct soc_registry *registry = &host->registry;
    size_t cursor = 0;
    void *item;
    while ((item = soc_map_each(&registry->remotes, &cursor)) != NULL)
        soc_agent_free(item);
    soc_map_fini(&registry->remotes);
    soc_registry_drop_peers(host);
    for (cursor = 0; (item = soc_map_each(&registry->roles, &cursor)) != NULL;)
        soc_role_free(item);
    soc_map_fini(&registry->roles);
    for (cursor = 0; (item = soc_map_each(&registry->remote_roles, &cursor)) != NULL;)
        soc_role_free(item);
    soc_map_fini(&registry->remote_roles);
    free(registry->host_name);
    free(registry->orchestrator);
}

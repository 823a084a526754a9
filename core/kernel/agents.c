#include "kernel/agents.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/refusal.h"
#include "kernel/router.h"
#include "kernel/schedule.h"
#include "kernel/state.h"
#include "kernel/turn.h"
#include "parts/group/news.h"

static int check_role(const struct soc_role_draft *draft, struct soc_buf *error)
{
    if (!soc_id_is_valid(draft->id))
        return soc_refuse(error, SOC_EBADID, NULL, "roleId", draft->id);
    if (soc_slice_equal(draft->id, SOC_SLICE("user")) ||
        soc_slice_equal(draft->id, SOC_SLICE("root")) ||
        soc_slice_equal(draft->id, SOC_SLICE("unknown")))
        return soc_refuse(error, SOC_EEXISTS, "that role is the host's own", "roleId", draft->id);
    if (draft->name.length == 0)
        return soc_refuse(error, SOC_EINVAL, "a role needs a name", "roleId", draft->id);
    return SOC_OK;
}

static void fill_role(struct soc_role *role, const struct soc_role_draft *draft)
{
    soc_text_set(&role->name, draft->name);
    soc_text_set(&role->prompt, draft->prompt.data == NULL ? SOC_SLICE("") : draft->prompt);
    soc_text_set(&role->interface_spec, draft->interface_spec);
    soc_text_set(&role->behaviour, draft->behaviour);
    role->is_external = draft->is_external;
    role->is_declared = true;
}

struct soc_role *soc_agents_find_role(struct soc_host *host, struct soc_slice id)
{
    return soc_map_find(&host->roles, id);
}

struct soc_role *soc_agents_each_role(struct soc_host *host, size_t *cursor)
{
    return soc_map_each(&host->roles, cursor);
}

void soc_agents_set_runnable(struct soc_host *host, struct soc_role *role)
{
    if (role->is_runnable)
        return;
    role->is_runnable = true;
    size_t cursor = 0;
    struct soc_agent *agent;
    while ((agent = soc_map_each(&host->agents, &cursor)) != NULL)
        if (agent->role == role &&
            (agent->activation != NULL || soc_mailbox_count(&agent->mailbox) > 0 ||
             soc_news_has(host, agent)))
            soc_schedule_ready(host, agent);
}

static struct soc_role *add_role(struct soc_host *host, const struct soc_role_draft *draft)
{
    struct soc_role *role = soc_role_new(draft->id, draft->name);
    soc_map_put(&host->roles, soc_slice_text(role->id), role);
    return role;
}

static void store_role(struct soc_host *host, struct soc_role *role)
{
    if (!role->is_of_script || role->is_stored)
        return;
    struct soc_record record = {.type = SOC_RECORD_ROLE};
    record.role = (struct soc_record_role){
        .time_ms = (uint64_t)soc_host_now(host),
        .id = soc_slice_text(role->id),
        .name = soc_slice_text(role->name),
        .prompt = soc_slice_text(role->prompt),
        .interface_spec = soc_slice_text(role->interface_spec),
    };
    soc_batch_put(host, &record);
    role->is_stored = true;
}

int soc_agents_define_role(struct soc_host *host, const struct soc_role_draft *draft,
                           bool is_runnable, struct soc_buf *error)
{
    int rc = check_role(draft, error);
    if (rc < 0)
        return rc;
    struct soc_role *role = soc_agents_find_role(host, draft->id);
    if (role == NULL)
        role = add_role(host, draft);
    fill_role(role, draft);
    role->is_of_script = true;
    role->is_stored = false;
    if (host->journal != NULL)
        store_role(host, role);
    if (is_runnable)
        soc_agents_set_runnable(host, role);
    return SOC_OK;
}

void soc_agents_store_roles(struct soc_host *host)
{
    size_t cursor = 0;
    struct soc_role *role;
    while ((role = soc_agents_each_role(host, &cursor)) != NULL)
        store_role(host, role);
}

int soc_agents_create_role(struct soc_host *host, const struct soc_role_draft *draft,
                           bool is_runnable, struct soc_role **out, struct soc_buf *error)
{
    int rc = check_role(draft, error);
    if (rc < 0)
        return rc;
    const struct soc_role *old = soc_agents_find_role(host, draft->id);
    if (old != NULL)
        return soc_refuse(error, SOC_EEXISTS, "a role with that id exists", "roleId", draft->id);
    struct soc_role *role = add_role(host, draft);
    fill_role(role, draft);
    role->is_runnable = is_runnable;
    soc_turn_note(host, (struct soc_undo){.kind = SOC_UNDO_ROLE, .role = role});
    struct soc_record record = {.type = SOC_RECORD_ROLE};
    record.role = (struct soc_record_role){
        .time_ms = (uint64_t)soc_host_now(host),
        .id = draft->id,
        .name = draft->name,
        .prompt = draft->prompt,
        .behaviour = draft->behaviour,
        .interface_spec = draft->interface_spec,
        .creator = soc_sender_id(host->turn.agent),
    };
    soc_batch_put(host, &record);
    *out = role;
    return SOC_OK;
}

struct soc_agent *soc_agents_find(struct soc_host *host, struct soc_slice id)
{
    struct soc_agent *agent = soc_map_find(&host->agents, id);
    return agent == NULL || agent->is_ended ? NULL : agent;
}

struct soc_agent *soc_agents_find_any(struct soc_host *host, struct soc_slice id)
{
    return soc_map_find(&host->agents, id);
}

struct soc_agent *soc_agents_need(struct soc_host *host, struct soc_slice id)
{
    if (soc_slice_equal(id, SOC_SLICE("system")))
        return NULL;
    struct soc_agent *agent = soc_map_find(&host->agents, id);
    if (agent == NULL) {
        agent = soc_agent_new(id, soc_map_find(&host->roles, SOC_SLICE("unknown")), NULL, 0);
        agent->is_ended = true;
        soc_map_put(&host->agents, soc_agent_id(agent), agent);
    }
    return agent;
}

struct soc_agent *soc_agents_each(struct soc_host *host, size_t *cursor)
{
    struct soc_agent *agent = soc_map_each(&host->agents, cursor);
    while (agent != NULL && agent->is_ended)
        agent = soc_map_each(&host->agents, cursor);
    return agent;
}

struct soc_agent *soc_agents_user(struct soc_host *host)
{
    return host->user;
}

struct soc_agent *soc_agents_root(struct soc_host *host)
{
    return host->root;
}

/* An id of our own: the role's id and a number that is used once for ever. */
static struct soc_slice make_id(struct soc_host *host, const struct soc_role *role,
                                char out[SOC_ID_BYTES_MAX + 1])
{
    do {
        snprintf(out, SOC_ID_BYTES_MAX + 1, "%.40s_%llu", role->id,
                 (unsigned long long)host->next_key++);
    } while (soc_map_find(&host->agents, soc_slice_text(out)) != NULL);
    return soc_slice_text(out);
}

/* Names that stand for somebody: the host, whoever is the orchestrator, everybody. */
static bool is_reserved(struct soc_slice id)
{
    return soc_slice_equal(id, SOC_SLICE("system")) ||
           soc_slice_equal(id, SOC_SLICE("orchestrator")) || soc_slice_equal(id, SOC_SLICE("All"));
}

static int check_new_id(struct soc_host *host, struct soc_slice id, struct soc_buf *error)
{
    if (!soc_id_is_valid(id))
        return soc_refuse(error, SOC_EBADID, NULL, "agentId", id);
    if (is_reserved(id))
        return soc_refuse(error, SOC_EEXISTS, "that id is reserved; give the agent another",
                          "agentId", id);
    if (soc_map_find(&host->agents, id) != NULL)
        return soc_refuse(error, SOC_EEXISTS, "an agent with that id exists or existed", "agentId",
                          id);
    return SOC_OK;
}

/* Reads the text of a JSON member into a new string; NULL if there is none. */
static char *copy_member(struct soc_slice json, const char *name, bool is_json)
{
    struct soc_slice value = soc_json_member(json, name);
    if (value.data == NULL)
        return NULL;
    if (is_json)
        return soc_copy_text(value.data, value.length);
    struct soc_buf text = {0};
    if (!soc_json_string(value, &text)) {
        soc_buf_fini(&text);
        return NULL;
    }
    soc_buf_text(&text);
    return text.data;
}

static struct soc_contact_extra *read_extra(struct soc_slice entry)
{
    struct soc_contact_extra *extra = soc_alloc_zero(sizeof(*extra));
    extra->role = copy_member(entry, "role", false);
    extra->interface_spec = copy_member(entry, "interfaceSpec", true);
    return extra;
}

/* What nobody has said of a contact's services its role says. */
static void fill_spec(struct soc_contact_extra *extra, const struct soc_agent *peer)
{
    if (extra->interface_spec == NULL)
        soc_text_set(&extra->interface_spec, soc_slice_text(peer->role->interface_spec));
}

/* The brief's collaborators become contacts of the child; the parent must be
 * allowed to write to each. */
static int add_collaborators(struct soc_host *host, struct soc_agent *child, struct soc_slice brief,
                             struct soc_buf *error)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, soc_json_member(brief, "collaborators"));
    while (soc_json_next(&walk)) {
        struct soc_slice id = soc_json_plain_string(soc_json_member(walk.value, "agentId"));
        struct soc_agent *peer = id.data == NULL ? NULL : soc_agents_find(host, id);
        if (peer == NULL || peer == child) /* who is being born is not there yet */
            return soc_refuse(error, SOC_ENOAGENT, "a collaborator does not exist", "agentId", id);
        int rc = soc_router_may_send(host, child->parent, peer, error);
        if (rc < 0)
            return rc;
        struct soc_contact_extra *extra = read_extra(walk.value);
        extra->reason = copy_member(walk.value, "description", false);
        fill_spec(extra, peer);
        soc_turn_put_contact(host, child, peer, SOC_SOURCE_PRESET, soc_host_now(host), extra);
    }
    return SOC_OK;
}

static struct soc_agent *give_birth(struct soc_host *host, struct soc_role *role,
                                    struct soc_slice id, const struct soc_spawn *spawn)
{
    struct soc_agent *parent = host->turn.agent;
    int64_t now_ms = soc_host_now(host);
    struct soc_agent *child = soc_agent_new(id, role, parent, now_ms);
    child->since = host->next_key;
    child->news = child->since - 1;
    child->is_external = role->is_external || spawn->is_external;
    if (spawn->brief.data != NULL)
        soc_agent_set_brief(child, spawn->brief);
    soc_map_put(&host->agents, soc_agent_id(child), child);
    host->agents_alive++;
    parent->children++;
    parent->births++;
    soc_turn_note(host, (struct soc_undo){.kind = SOC_UNDO_AGENT, .agent = child});
    struct soc_record record = {.type = SOC_RECORD_AGENT};
    record.agent = (struct soc_record_agent){
        .time_ms = (uint64_t)now_ms,
        .id = soc_agent_id(child),
        .role = soc_slice_text(role->id),
        .parent = soc_agent_id(parent),
        .brief = spawn->brief,
        .since = child->since,
        .is_external = spawn->is_external,
    };
    soc_batch_put(host, &record);
    /* Parent and child know each other by this record; no contact record. */
    soc_contacts_put(&child->contacts, parent, SOC_SOURCE_PARENT, now_ms, NULL);
    soc_turn_note(host,
                  (struct soc_undo){.kind = SOC_UNDO_CONTACT, .agent = parent, .peer = child});
    soc_contacts_put(&parent->contacts, child, SOC_SOURCE_CHILD, now_ms, NULL);
    return child;
}

int soc_agents_spawn(struct soc_host *host, const struct soc_spawn *spawn, struct soc_agent **out,
                     struct soc_buf *error)
{
    struct soc_role *role = soc_agents_find_role(host, spawn->role);
    if (role == NULL || !role->is_declared)
        return soc_refuse(error, SOC_ENOROLE, NULL, "roleId", spawn->role);
    int rc = spawn->id.data == NULL ? SOC_OK : check_new_id(host, spawn->id, error);
    if (rc == SOC_OK && spawn->id.data != NULL && (role->is_external || spawn->is_external) &&
        !soc_id_is_for_outside(spawn->id))
        rc = soc_refuse(error, SOC_EBADID,
                        "the id of an agent that lives outside must not end with .out: its file "
                        "would be another's; give it another id",
                        "agentId", spawn->id);
    if (rc == SOC_OK)
        rc = soc_guard_spawn(host, error);
    if (rc < 0)
        return rc;
    struct soc_turn_mark mark = soc_turn_mark(host);
    char made[SOC_ID_BYTES_MAX + 1];
    struct soc_slice id = spawn->id.data != NULL ? spawn->id : make_id(host, role, made);
    struct soc_agent *child = give_birth(host, role, id, spawn);
    rc = add_collaborators(host, child, spawn->brief, error);
    if (rc < 0) {
        soc_turn_return(host, mark);
        return rc;
    }
    *out = child;
    return SOC_OK;
}

static int read_contact_id(struct soc_host *host, struct soc_slice id, struct soc_agent **peer,
                           struct soc_buf *answer)
{
    *peer = soc_agents_find(host, id);
    if (*peer == NULL)
        return soc_refuse(answer, SOC_ENOAGENT, NULL, "agentId", id);
    return SOC_OK;
}

/* What the entry does not say is kept from the one that was there. */
static void keep_old(struct soc_contact_extra *extra, const struct soc_contact_extra *old)
{
    if (old == NULL)
        return;
    if (extra->role == NULL)
        soc_text_set(&extra->role, soc_slice_text(old->role));
    if (extra->interface_spec == NULL)
        soc_text_set(&extra->interface_spec, soc_slice_text(old->interface_spec));
    soc_text_set(&extra->introduced_by, soc_slice_text(old->introduced_by));
    soc_text_set(&extra->via, soc_slice_text(old->via));
    soc_text_set(&extra->reason, soc_slice_text(old->reason));
}

int soc_agents_add_contact(struct soc_host *host, struct soc_slice entry, struct soc_agent **peer,
                           struct soc_buf *error)
{
    struct soc_agent *agent = host->turn.agent;
    struct soc_slice id = soc_json_plain_string(soc_json_member(entry, "id"));
    int rc = read_contact_id(host, id, peer, error);
    if (rc < 0)
        return rc;
    const struct soc_contact *known = soc_contacts_find(&agent->contacts, *peer);
    if (known == NULL && agent != host->user && agent != host->root) {
        rc = soc_router_may_send(host, agent, *peer, error);
        if (rc < 0)
            return rc;
    }
    enum soc_source source = known == NULL ? SOC_SOURCE_MANUAL : known->source;
    int64_t added_ms = known == NULL ? soc_host_now(host) : known->added_ms;
    struct soc_contact_extra *extra = read_extra(entry);
    keep_old(extra, known == NULL ? NULL : known->extra);
    fill_spec(extra, *peer);
    soc_turn_put_contact(host, agent, *peer, source, added_ms, extra);
    return SOC_OK;
}

int soc_agents_remove_contact(struct soc_host *host, struct soc_slice id, struct soc_buf *answer)
{
    struct soc_agent *agent = host->turn.agent;
    struct soc_agent *peer = soc_agents_find_any(host, id);
    if (peer == NULL)
        return soc_refuse(answer, SOC_ENOAGENT, NULL, "agentId", id);
    const struct soc_contact *known = soc_contacts_find(&agent->contacts, peer);
    if (known == NULL)
        return soc_refuse(answer, SOC_ENOCONTACT, "there is no such contact", "to", id);
    if (known->source <= SOC_SOURCE_CHILD && !peer->is_ended)
        return soc_refuse(answer, SOC_EFORBIDDEN,
                          "a parent, a child and user or root cannot be forgotten", "to", id);
    soc_turn_remove_contact(host, agent, peer);
    return SOC_OK;
}

void soc_agents_policy_changed(struct soc_host *host)
{
    host->policy_generation++;
}

void soc_agents_set_orchestrator(struct soc_host *host, struct soc_slice id)
{
    const struct soc_witness *witness = host->options.witness;
    soc_text_set(&host->orchestrator, id);
    if (witness != NULL)
        witness->headed(witness->user, id);
}

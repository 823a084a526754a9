#include "kernel/agents.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/ready.h"
#include "kernel/turns/turn.h"

static int check_role(const struct soc_role_draft *draft, struct soc_buf *error)
{
    if (!soc_id_is_valid(draft->id))
        return soc_refuse(error, SOC_EBADID, NULL, "roleId", draft->id);
    if (soc_slice_equal(draft->id, SOC_SLICE("user")) ||
        soc_slice_equal(draft->id, SOC_SLICE("root")) ||
        soc_slice_equal(draft->id, SOC_SLICE("unknown")))
        return soc_refuse(error, SOC_EEXISTS, "that role id is reserved for the host", "roleId",
                          draft->id);
    if (draft->name.length == 0)
        return soc_refuse(error, SOC_EINVAL, "a role needs a name", "roleId", draft->id);
    return SOC_OK;
}

/* Returns the record of a role that `creator` creates; absent: the script declares it. */
static struct soc_record_role record_of(struct soc_host *host, const struct soc_role_draft *draft,
                                        struct soc_slice creator)
{
    return (struct soc_record_role){
        .time_ms = (uint64_t)soc_host_now(host),
        .id = draft->id,
        .name = draft->name,
        .prompt = draft->prompt,
        .behaviour = draft->behaviour,
        .interface_spec = draft->interface_spec,
        .creator = creator,
        .is_isolated = draft->is_isolated,
    };
}

void soc_agents_set_runnable(struct soc_host *host, struct soc_role *role)
{
    if (role->is_runnable)
        return;
    role->is_runnable = true;
    size_t cursor = 0;
    struct soc_agent *agent;
    while ((agent = soc_map_each(&host->registry.agents, &cursor)) != NULL)
        if (agent->role == role &&
            (agent->activation != NULL || soc_mailbox_count(&agent->mailbox) > 0 ||
             soc_host_has_news(host, agent)))
            soc_ready_add(host, agent);
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
        .is_isolated = role->is_isolated,
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
    struct soc_role *role = soc_registry_find_role(host, draft->id);
    if (role == NULL)
        role = soc_registry_add_role(host, draft->id, draft->name);
    struct soc_record_role record = record_of(host, draft, (struct soc_slice){0});
    soc_registry_fill_role(role, &record);
    role->reply_timeout_ms = draft->reply_timeout_ms;
    soc_text_set(&role->grants, draft->grants);
    role->is_external = draft->is_external; /* the record of a script's role has no behaviour */
    role->is_declared = true;
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
    while ((role = soc_registry_each_role(host, &cursor)) != NULL)
        store_role(host, role);
}

static void roll_back_role(struct soc_host *host, struct soc_undo *undo)
{
    struct soc_role *role = undo->data;
    soc_map_take(&host->registry.roles, soc_slice_text(role->id));
    soc_role_free(role);
}

int soc_agents_create_role(struct soc_host *host, const struct soc_role_draft *draft,
                           bool is_runnable, struct soc_role **out, struct soc_buf *error)
{
    int rc = check_role(draft, error);
    if (rc < 0)
        return rc;
    const struct soc_role *old = soc_registry_find_role(host, draft->id);
    if (old != NULL)
        return soc_refuse(error, SOC_EEXISTS, "a role with that id exists", "roleId", draft->id);
    struct soc_record record = {.type = SOC_RECORD_ROLE};
    record.role = record_of(host, draft, soc_sender_id(host->turn.agent));
    record.role.is_isolated = soc_registry_isolates(host, host->turn.agent);
    soc_batch_put(host, &record);
    struct soc_role *role = soc_registry_add_role(host, draft->id, draft->name);
    soc_registry_fill_role(role, &record.role);
    role->is_declared = true;
    role->is_runnable = is_runnable;
    role->reply_timeout_ms = draft->reply_timeout_ms;
    static const struct soc_undo_ops ops = {.roll_back = roll_back_role};
    soc_turn_note(host, (struct soc_undo){.ops = &ops, .data = role});
    *out = role;
    return SOC_OK;
}

/* Generates an id: the role's id and a number that is never used again. */
static struct soc_slice make_id(struct soc_host *host, const struct soc_role *role,
                                char out[SOC_ID_BYTES_MAX + 1])
{
    do {
        snprintf(out, SOC_ID_BYTES_MAX + 1, "%.40s_%llu", role->id,
                 (unsigned long long)host->next_key++);
    } while (soc_map_find(&host->registry.agents, soc_slice_text(out)) != NULL);
    return soc_slice_text(out);
}

/* Names with a fixed meaning: the host, the orchestrator, everybody. */
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
        return soc_refuse(error, SOC_EEXISTS, "that id is reserved; choose another", "agentId", id);
    if (soc_map_find(&host->registry.agents, id) != NULL)
        return soc_refuse(error, SOC_EEXISTS, "an agent with that id exists or existed", "agentId",
                          id);
    return SOC_OK;
}

static void roll_back_spawn(struct soc_host *host, struct soc_undo *undo)
{
    struct soc_agent *agent = undo->agent;
    assert(agent->number == host->registry.births);
    host->registry.births--;
    soc_map_take(&host->registry.agents, soc_agent_id(agent));
    agent->parent->children--;
    agent->parent->births--;
    host->registry.alive--;
    soc_agent_free(agent);
}

static void commit_spawn(struct soc_host *host, struct soc_undo *undo)
{
    struct soc_agent *agent = undo->agent;
    struct soc_buf detail = {0};
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "parent", soc_agent_id(agent->parent));
    soc_json_put_text_member(&detail, "role", soc_slice_text(agent->role->id));
    soc_buf_put_byte(&detail, '}');
    soc_trace(host, "spawn", agent, soc_buf_slice(&detail), "spawned by %s as %s",
              agent->parent->id, agent->role->id);
    soc_buf_fini(&detail);
    SOC_PARTS_TELL(host, agent_born, host, agent);
}

static struct soc_agent *add_child(struct soc_host *host, struct soc_role *role,
                                   struct soc_slice id, const struct soc_spawn *spawn)
{
    struct soc_agent *parent = host->turn.agent;
    assert(parent != NULL && !parent->is_ended);
    assert(soc_map_find(&host->registry.agents, id) == NULL);
    bool is_isolated = spawn->is_isolated || soc_registry_isolates(host, parent) ||
                       soc_registry_is_isolated(host, role);
    struct soc_record record = {.type = SOC_RECORD_AGENT};
    record.agent = (struct soc_record_agent){
        .time_ms = (uint64_t)soc_host_now(host),
        .id = id,
        .role = soc_slice_text(role->id),
        .parent = soc_agent_id(parent),
        .brief = spawn->brief,
        .since = host->next_key,
        .is_external = spawn->is_external,
        .is_isolated = is_isolated ? SOC_ISOLATED | spawn->denied : 0,
    };
    soc_batch_put(host, &record);
    struct soc_agent *child = soc_registry_add(host, &record.agent, role, parent);
    static const struct soc_undo_ops ops = {.roll_back = roll_back_spawn, .commit = commit_spawn};
    soc_turn_note(host, (struct soc_undo){.ops = &ops, .agent = child});
    return child;
}

int soc_agents_spawn(struct soc_host *host, const struct soc_spawn *spawn, struct soc_agent **out,
                     struct soc_buf *error)
{
    struct soc_role *role = soc_registry_find_role(host, spawn->role);
    if (role == NULL || !role->is_declared)
        return soc_refuse(error, SOC_ENOROLE, NULL, "roleId", spawn->role);
    assert(host->turn.is_open);
    int rc = spawn->id.data == NULL ? SOC_OK : check_new_id(host, spawn->id, error);
    if (rc == SOC_OK && spawn->id.data != NULL && (role->is_external || spawn->is_external) &&
        !soc_id_is_for_outside(spawn->id))
        rc = soc_refuse(error, SOC_EBADID,
                        "the id of an outside agent must not end with .out: its file name would "
                        "clash with another agent's; choose another id",
                        "agentId", spawn->id);
    for (size_t i = 0; rc == SOC_OK && host->parts.calls.may_spawn[i] != NULL; i++)
        rc = host->parts.calls.may_spawn[i](host, error);
    if (rc < 0)
        return rc;
    struct soc_turn_mark mark = soc_turn_mark(host);
    char made[SOC_ID_BYTES_MAX + 1];
    struct soc_slice id = spawn->id.data != NULL ? spawn->id : make_id(host, role, made);
    struct soc_agent *child = add_child(host, role, id, spawn);
    for (size_t i = 0; rc == SOC_OK && host->parts.calls.birth[i] != NULL; i++)
        rc = host->parts.calls.birth[i](host, child, error);
    if (rc < 0) {
        soc_turn_rollback_to(host, mark);
        return rc;
    }
    *out = child;
    return SOC_OK;
}

void soc_agents_set_orchestrator(struct soc_host *host, struct soc_slice id)
{
    const struct soc_witness *witness = host->options.witness;
    soc_text_set(&host->registry.orchestrator, id);
    if (witness != NULL)
        witness->headed(witness->user, id);
}

void soc_agents_create_first(struct soc_host *host)
{
    static const char *const ids[] = {"user", "root"};
    struct soc_record records[2];
    assert(host->registry.user == NULL && host->registry.root == NULL);
    for (int i = 0; i < 2; i++) {
        struct soc_slice id = soc_slice_text(ids[i]);
        struct soc_role *role = soc_registry_find_role(host, id);
        assert(role != NULL);
        records[i] = (struct soc_record){.type = SOC_RECORD_AGENT};
        records[i].agent = (struct soc_record_agent){
            .time_ms = (uint64_t)soc_host_now(host), .id = id, .role = id};
        soc_batch_put(host, &records[i]);
        soc_registry_add(host, &records[i].agent, role, NULL);
    }
    /* The parts see these two as they would during recovery. */
    for (int i = 0; i < 2; i++)
        SOC_PARTS_TELL(host, restore, host, &records[i]);
}

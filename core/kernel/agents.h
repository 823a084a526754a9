/* Agents: defining roles and spawning agents.
 *
 * Lookups are in registry.h, termination in ending.h. Unless a comment says
 * otherwise, functions that change something need an open turn, and a refusal puts
 * its error object into `error`. The registry owns the roles and agents.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_AGENTS_H
#define SOC_KERNEL_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

struct soc_agent;
struct soc_host;
struct soc_role;

/* What a role is created from. All is lent. */
struct soc_role_draft {
    struct soc_slice id;
    struct soc_slice name;
    struct soc_slice prompt;
    struct soc_slice interface_spec; /* JSON object, or absent */
    struct soc_slice behaviour;      /* name of a behaviour; for roles created in a turn */
    bool is_external;                /* its agents live outside */
    bool is_isolated;                /* its agents run in worker processes */
    struct soc_slice grants;         /* JSON: what these may reach; absent: nothing more */
    int64_t reply_timeout_ms;        /* how long requests to them wait; 0: as to others */
};

/* Defines a role of the script; works outside turns. A second definition replaces
 * the first. `is_runnable`: the script layer has a behaviour for it. */
int soc_agents_define_role(struct soc_host *host, const struct soc_role_draft *draft,
                           bool is_runnable, struct soc_buf *error);

/* Records the script's roles where the journal does not have them yet, so that they
 * can be inspected while no script runs. Call it once, when the state is loaded. */
void soc_agents_store_roles(struct soc_host *host);

/* Creates a role inside the turn and records it. SOC_EEXISTS, SOC_EBADID. */
int soc_agents_create_role(struct soc_host *host, const struct soc_role_draft *draft,
                           bool is_runnable, struct soc_role **out, struct soc_buf *error);

/* Marks the role as runnable and makes its agents with work ready. Inside or outside turns. */
void soc_agents_set_runnable(struct soc_host *host, struct soc_role *role);

/* What an agent is spawned from. All is lent. */
struct soc_spawn {
    struct soc_slice role;
    struct soc_slice id;    /* absent: generated from the role */
    struct soc_slice brief; /* JSON, checked by the briefs policy */
    bool is_external;       /* it lives outside even if its role does not */
    bool is_isolated;       /* in a worker process, even if its role and parent are not */
    uint8_t denied;         /* bits of enum soc_isolation that are set if it is isolated */
};

/* Spawns a child of the running agent. A failed spawn leaves no trace in the turn. */
int soc_agents_spawn(struct soc_host *host, const struct soc_spawn *spawn, struct soc_agent **out,
                     struct soc_buf *error);

/* Sets the agent that the alias `orchestrator` stands for. Default: `root`. */
void soc_agents_set_orchestrator(struct soc_host *host, struct soc_slice id);

/* Creates `user` and `root` in a new state. */
void soc_agents_create_first(struct soc_host *host);

#endif

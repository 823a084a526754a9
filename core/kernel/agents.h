/* Agents: roles and births.
 *
 * The functions that change something work inside the open turn and answer with
 * an error object in `error` when they refuse.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_AGENTS_H
#define SOC_KERNEL_AGENTS_H

#include "base/buf.h"
#include "base/slice.h"

struct soc_agent;
struct soc_host;
struct soc_role;

/* What a role is made of. */
struct soc_role_draft {
    struct soc_slice id;
    struct soc_slice name;
    struct soc_slice prompt;
    struct soc_slice interface_spec; /* JSON object, or absent */
    struct soc_slice behaviour;      /* a name; for roles made inside a turn */
    bool is_external;                /* its agents live outside */
};

/* Defines a role of the script, outside any turn; a second definition replaces
 * the first. `is_runnable`: the script layer can run it. */
int soc_agents_define_role(struct soc_host *host, const struct soc_role_draft *draft,
                           bool is_runnable, struct soc_buf *error);

/* Writes down what the script calls its roles, where the journal does not have it:
 * for those who look while no script runs. Once the state is loaded. */
void soc_agents_store_roles(struct soc_host *host);

/* Creates a role inside the turn, as its record. SOC_EEXISTS, SOC_EBADID. */
int soc_agents_create_role(struct soc_host *host, const struct soc_role_draft *draft,
                           bool is_runnable, struct soc_role **out, struct soc_buf *error);

/* Says that the script layer can now run the role. */
void soc_agents_set_runnable(struct soc_host *host, struct soc_role *role);

/* Who is to be born. */
struct soc_spawn {
    struct soc_slice role;
    struct soc_slice id;    /* absent: made from the role */
    struct soc_slice brief; /* JSON, checked by the briefs policy */
    bool is_external;       /* it lives outside, whatever its role says */
};

/* Gives birth to a child of the running agent. */
int soc_agents_spawn(struct soc_host *host, const struct soc_spawn *spawn, struct soc_agent **out,
                     struct soc_buf *error);

/* Says whom `orchestrator` means as a receiver: an id; `root` at first. */
void soc_agents_set_orchestrator(struct soc_host *host, struct soc_slice id);

/* Makes `user` and `root`, for a new state. */
void soc_agents_create_first(struct soc_host *host);

#endif

/* Agents: roles, births and acquaintances.
 *
 * The functions that change something work inside the open turn and answer with
 * an error object in `error` when they refuse.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_AGENTS_H
#define SOC_KERNEL_AGENTS_H

#include "base/buf.h"
#include "kernel/host.h"

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

/* Lends a role, or NULL. */
struct soc_role *soc_agents_find_role(struct soc_host *host, struct soc_slice id);

/* Lends the next role and moves `*cursor` (0 to begin), or NULL. */
struct soc_role *soc_agents_each_role(struct soc_host *host, size_t *cursor);

/* Says that the script layer can now run the role. */
void soc_agents_set_runnable(struct soc_host *host, struct soc_role *role);

/* Lends an agent that is alive, or NULL. */
struct soc_agent *soc_agents_find(struct soc_host *host, struct soc_slice id);

/* The same, or one that has ended. */
struct soc_agent *soc_agents_find_any(struct soc_host *host, struct soc_slice id);

/* The same at a start, for who is named by what is stored: a tombstone stands for one
 * that ended so long ago that it is not loaded. NULL for `system`. */
struct soc_agent *soc_agents_need(struct soc_host *host, struct soc_slice id);

/* Lends the next agent that is alive, in order of birth, and moves `*cursor` (0 to
 * begin), or NULL. */
struct soc_agent *soc_agents_each(struct soc_host *host, size_t *cursor);

/* Lends `user` and `root`. */
struct soc_agent *soc_agents_user(struct soc_host *host);
struct soc_agent *soc_agents_root(struct soc_host *host);

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

/* Adds or enriches a contact of the running agent from a JSON entry
 * { id, role?, interfaceSpec? }; `*peer` is whom it names. */
int soc_agents_add_contact(struct soc_host *host, struct soc_slice entry, struct soc_agent **peer,
                           struct soc_buf *error);

/* Forgets a contact of the running agent. */
int soc_agents_remove_contact(struct soc_host *host, struct soc_slice id, struct soc_buf *error);

/* Says whom `orchestrator` means as a receiver: an id; `root` at first. */
void soc_agents_set_orchestrator(struct soc_host *host, struct soc_slice id);

/* Tells scripts' verdicts apart: call when the contacts policy has changed. */
void soc_agents_policy_changed(struct soc_host *host);

#endif

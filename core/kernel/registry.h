/* Registry: which agents and roles there are.
 *
 * Lookups only; agents.h makes roles and agents, ending.h ends them.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_REGISTRY_H
#define SOC_KERNEL_REGISTRY_H

#include <stddef.h>

#include "base/slice.h"

struct soc_agent;
struct soc_host;
struct soc_role;

/* Lends a role, or NULL. */
struct soc_role *soc_registry_find_role(struct soc_host *host, struct soc_slice id);

/* Lends the next role and moves `*cursor` (0 to begin), or NULL. */
struct soc_role *soc_registry_each_role(struct soc_host *host, size_t *cursor);

/* Lends an agent that is alive, or NULL. */
struct soc_agent *soc_registry_find(struct soc_host *host, struct soc_slice id);

/* The same, or one that has ended. */
struct soc_agent *soc_registry_find_any(struct soc_host *host, struct soc_slice id);

/* The same at a start, for an agent that stored records name: a tombstone stands for one
 * that ended so long ago that it is not loaded. NULL for `system`. */
struct soc_agent *soc_registry_need(struct soc_host *host, struct soc_slice id);

/* Lends the agent that a receiver's name means, the alias `orchestrator` included, or
 * NULL. */
struct soc_agent *soc_registry_receiver(struct soc_host *host, struct soc_slice id);

/* Lends the next agent that is alive, in order of birth, and moves `*cursor` (0 to
 * begin), or NULL. */
struct soc_agent *soc_registry_each(struct soc_host *host, size_t *cursor);

/* Lends `user` and `root`. */
struct soc_agent *soc_registry_user(struct soc_host *host);
struct soc_agent *soc_registry_root(struct soc_host *host);

#endif

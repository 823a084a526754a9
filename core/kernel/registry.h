/* Registry: looks up agents and roles.
 *
 * The registry owns all roles and agents; an agent that has ended stays as a
 * tombstone. agents.h creates them, ending.h ends agents.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_REGISTRY_H
#define SOC_KERNEL_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct soc_agent;
struct soc_host;
struct soc_record_agent;
struct soc_record_role;
struct soc_role;

/* Lends a role, or NULL. */
struct soc_role *soc_registry_find_role(struct soc_host *host, struct soc_slice id);

/* Lends the next role and advances `*cursor` (start at 0), or NULL after the last. */
struct soc_role *soc_registry_each_role(struct soc_host *host, size_t *cursor);

/* What a record changes here. Live code and recovery both call these functions, so that an
 * agent is the same after a restart. */

/* Adds an undeclared role; lends it. */
struct soc_role *soc_registry_add_role(struct soc_host *host, struct soc_slice id,
                                       struct soc_slice name);

/* Sets the texts of a role, and whether its agents live outside or in worker processes. */
void soc_registry_fill_role(struct soc_role *role, const struct soc_record_role *r);

/* Tells whether agents of the role run in worker processes: the script says so, or an agent
 * that does itself has declared it. */
bool soc_registry_is_isolated(struct soc_host *host, const struct soc_role *role);

/* Tells whether an agent runs in a worker process, and with it whatever it brings about: it was
 * born so, or its role is isolated by now. */
bool soc_registry_isolates(struct soc_host *host, const struct soc_agent *agent);

/* Adds a new agent; lends it. `parent` is NULL for user and root. */
struct soc_agent *soc_registry_add(struct soc_host *host, const struct soc_record_agent *r,
                                   struct soc_role *role, struct soc_agent *parent);

/* Marks an agent that accepts no more messages. `reason` may be absent. */
void soc_registry_set_ending(struct soc_agent *agent, struct soc_slice reason);

/* Gives an agent a new parent. */
void soc_registry_set_parent(struct soc_agent *agent, struct soc_agent *parent);

/* Turns an agent into a tombstone. */
void soc_registry_end(struct soc_host *host, struct soc_agent *agent);

/* Lends a live agent, or NULL. */
struct soc_agent *soc_registry_find(struct soc_host *host, struct soc_slice id);

/* The same for looks, which must make no proxy: of the agents on other hosts it finds those
 * that something has named before. */
struct soc_agent *soc_registry_find_known(struct soc_host *host, struct soc_slice id);

/* Lends a live or ended agent, or NULL. */
struct soc_agent *soc_registry_find_any(struct soc_host *host, struct soc_slice id);

/* For recovery: lends the agent that a stored record names. Creates a tombstone for one
 * that ended so long ago that it is not loaded. NULL for `system`. */
struct soc_agent *soc_registry_need(struct soc_host *host, struct soc_slice id);

/* For recovery: lends the agent of this host that a stored record names, or the proxy of an
 * address, whether its host is joined yet or not; NULL: it ended long ago, or there is none. */
struct soc_agent *soc_registry_find_stored(struct soc_host *host, struct soc_slice id);

/* Agents elsewhere. `agent@host` names one; here it is a proxy: an external agent with neither
 * birth nor parent, whose mailbox holds what its host has not been handed yet. Proxies are made
 * when they are first named, and no walk over the agents finds them. */

/* Sets the name of this host and those of the hosts it is joined to; and forgets the latter. */
void soc_registry_set_host(struct soc_host *host, struct soc_slice name);
void soc_registry_add_peer(struct soc_host *host, struct soc_slice name);
void soc_registry_drop_peers(struct soc_host *host);

/* The host of that name, which is joined, is silent or is heard again: all proxies of its agents,
 * and those made meanwhile, show `unresponsive`, or no longer. */
void soc_registry_set_silent(struct soc_host *host, struct soc_slice name, bool is_silent);

/* Tells whether `id` is an address of an agent on a host that is not joined. */
bool soc_registry_is_astray(const struct soc_host *host, struct soc_slice id);

/* Tells whether the proxy stands for all agents of its host: `All@host`. */
bool soc_registry_is_all(const struct soc_agent *agent);

/* Lends the proxy of an address, making it, whether its host is joined or not. */
struct soc_agent *soc_registry_need_remote(struct soc_host *host, struct soc_slice id);

/* Lends the role that another host says one of its agents has. */
struct soc_role *soc_registry_remote_role(struct soc_host *host, struct soc_slice id,
                                          struct soc_slice name);

/* Lends the next proxy, oldest first, and advances `*cursor` (start at 0), or NULL. */
struct soc_agent *soc_registry_each_remote(struct soc_host *host, size_t *cursor);

/* Lends the agent a receiver's name refers to, resolving `orchestrator`, or NULL. The
 * agent may have ended. */
struct soc_agent *soc_registry_receiver(struct soc_host *host, struct soc_slice id);

/* How long a request to `to` (NULL: nobody) waits: `timeout_ms`, or if that is negative as
 * the role of `to` says. */
int64_t soc_registry_reply_timeout(const struct soc_agent *to, int64_t timeout_ms);

/* Frees roles, proxies and names; the agents are freed before. */
void soc_registry_fini(struct soc_host *host);

/* Returns the number of live agents. */
uint64_t soc_registry_count(const struct soc_host *host);

/* Lends the next live agent, oldest first, and advances `*cursor` (start at 0), or NULL
 * after the last. */
struct soc_agent *soc_registry_each(struct soc_host *host, size_t *cursor);

/* Lends `user` and `root`. */
struct soc_agent *soc_registry_user(struct soc_host *host);
struct soc_agent *soc_registry_root(struct soc_host *host);

#endif

/* Look: what is so right now, as JSON, computed from the facts.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_LOOK_H
#define SOC_KERNEL_LOOK_H

#include "base/buf.h"
#include "store/journal.h"
#include "store/store.h"

struct soc_activation;
struct soc_agent;
struct soc_contact;
struct soc_host;
struct soc_wait_ops;

/* Lends the name of the agent's status (status.h). */
const char *soc_look_status(const struct soc_host *host, const struct soc_agent *agent);

/* Appends one agent as an object: id, role, parent, status, queue_length, … */
void soc_look_agent(const struct soc_host *host, const struct soc_agent *agent,
                    struct soc_buf *out);

/* Appends a list of the agents alive, in order of birth: all of them, or those that `agent`,
 * times and `limit` of `query` leave. */
void soc_look_agents(const struct soc_host *host, const struct soc_query *query,
                     struct soc_buf *out);

/* Appends one contact as an object; what its entry does not say of its services its
 * role says. */
void soc_look_contact(const struct soc_contact *contact, struct soc_buf *out);

/* Appends the list of an agent's contacts, in order of acquaintance. */
void soc_look_contacts(const struct soc_agent *agent, struct soc_buf *out);

/* Appends { "contactRegistries": { id: contacts } } of all agents alive, in order of
 * birth. */
void soc_look_registries(const struct soc_host *host, struct soc_buf *out);

/* Appends a list of who waits for whom, and why. */
void soc_look_waits(const struct soc_host *host, struct soc_buf *out);

/* Appends an object of counts; sent = processed + pending + expired + dead +
 * dropped + cancelled. */
void soc_look_stats(struct soc_host *host, struct soc_buf *out);

/* Asks the tables behind the journal (store.h), behind everything done so far. */
void soc_look_query(struct soc_host *host, const struct soc_query *query, soc_query_cb *cb,
                    void *user);

/* The same for the running agent: the effect begun last waits for the rows, and for room
 * if the disk is full. If the disk fails no answer comes: the next start asks anew. */
void soc_look_ask(struct soc_host *host, const struct soc_query *query);

/* Forgets the question of a turn that is rolled back. */
void soc_look_forget(struct soc_activation *activation);

/* Sends the question of a turn that has been committed on its way. */
void soc_look_sent(struct soc_host *host, struct soc_activation *activation);

/* What an activation that waits for rows does. */
extern const struct soc_wait_ops soc_look_wait_ops;

#endif

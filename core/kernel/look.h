/* Look: the current state of a society as JSON.
 *
 * Everything is computed from the live state on request; nothing is cached. Queries
 * of the past go to the tables behind the journal. Results are appended to `out`.
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

/* Returns the number of messages that wait for the agent, broadcasts included. */
uint64_t soc_look_queued(const struct soc_host *host, const struct soc_agent *agent);

/* Appends one agent as an object: id, role, parent, status, queue_length, … */
void soc_look_agent(const struct soc_host *host, const struct soc_agent *agent,
                    struct soc_buf *out);

/* Appends a list of the live agents in the order they were spawned, filtered by `agent`,
 * times and `limit` of `query`; NULL: all. A limit keeps the newest. */
void soc_look_agents(const struct soc_host *host, const struct soc_query *query,
                     struct soc_buf *out);

/* Appends one contact as an object. Its role supplies the interface if the entry has
 * none. */
void soc_look_contact(const struct soc_host *host, const struct soc_contact *contact,
                      struct soc_buf *out);

/* Appends the list of an agent's contacts, oldest first. */
void soc_look_contacts(const struct soc_host *host, const struct soc_agent *agent,
                       struct soc_buf *out);

/* Appends { "contactRegistries": { id: contacts } } of all live agents, oldest first. */
void soc_look_registries(const struct soc_host *host, struct soc_buf *out);

/* Appends what an activation waits for as an object: agent, kind, waits_for, … */
void soc_look_wait(const struct soc_host *host, const struct soc_activation *activation,
                   struct soc_buf *out);

/* Appends a list of the waits: who waits for whom, and for what. */
void soc_look_waits(const struct soc_host *host, struct soc_buf *out);

/* Appends an object of counts; sent = processed + pending + expired + dead +
 * dropped + cancelled. */
void soc_look_stats(struct soc_host *host, struct soc_buf *out);

/* Queries the tables behind the journal (store.h); sees everything done so far. */
void soc_look_query(struct soc_host *host, const struct soc_query *query, soc_query_cb *cb,
                    void *user);

/* The same for a list or a page of it as a door asks for it: it sees everything that is
 * durable and waits for nothing else. */
void soc_look_page(struct soc_host *host, const struct soc_query *query, soc_page_cb *cb,
                   void *user);

/* Nobody waits for the queries of `user` any more (journal.h). */
void soc_look_drop(struct soc_host *host, const void *user);

/* Returns the last line of the activity log that is durable. */
uint64_t soc_look_last_line(const struct soc_host *host);

/* The same for the running agent: its current effect waits for the rows, also while the
 * disk is full. If the disk fails, the next start repeats the query. */
void soc_look_ask(struct soc_host *host, const struct soc_query *query);

/* How an activation waits for rows. */
extern const struct soc_wait_ops soc_look_wait_ops;

#endif

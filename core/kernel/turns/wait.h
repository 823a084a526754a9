/* Wait: what an activation waits for, as names, JSON and edges of the wait-for graph.
 *
 * waiting.h begins waits and ends them.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_WAIT_H
#define SOC_KERNEL_TURNS_WAIT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/limits.h"
#include "model/activation.h"

struct soc_agent;
struct soc_host;
struct soc_wait_ops;

/* Has `agent` looked at for cycles (deadlock.h): it may wait for somebody else than
 * before. */
void soc_wait_note(struct soc_host *host, struct soc_agent *agent);

/* Lends what its kind of wait does, or NULL. */
const struct soc_wait_ops *soc_wait_ops_of(const struct soc_host *host,
                                           const struct soc_activation *activation);

/* Lends target number `index`, from 0, of the agents that `agent` waits for; NULL
 * behind the last. It waits for nobody if it sleeps, receives from anybody, or if
 * the host is at its request. */
struct soc_agent *soc_wait_target(const struct soc_host *host, const struct soc_agent *agent,
                                  size_t index);

/* Appends the list of the ids that `agent` waits for. */
void soc_wait_put_targets(const struct soc_host *host, const struct soc_agent *agent,
                          struct soc_buf *out);

/* Lends the correlation id of the chain that the waiting activation belongs to;
 * `id` is room for it. Absent for `main` unless it waits for a reply. */
struct soc_slice soc_wait_chain(const struct soc_host *host,
                                const struct soc_activation *activation,
                                char id[SOC_MESSAGE_ID_BYTES]);

/* Lends the name of what the activation waits for: reply, receive, sleep, look, human,
 * task, checkpoint, call, or retry after a turn that raised. */
const char *soc_wait_name(const struct soc_activation *activation);

/* Appends the wait as JSON, and reads it back; false if it is damaged. */
void soc_wait_put_json(struct soc_buf *out, const struct soc_wait *wait);
bool soc_wait_parse(struct soc_host *host, struct soc_slice json, struct soc_wait *wait);

#endif

/* Wait: describes waits, as names, JSON and edges of the wait-for graph.
 *
 * waiting.h starts and ends them; parts define kinds of waits (part.h).
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

/* Notes that `agent` may wait for somebody else than before: it is checked for cycles at
 * the end of the step (deadlock.h). */
void soc_wait_note(struct soc_host *host, struct soc_agent *agent);

/* Lends the operations of its kind of wait, or NULL. */
const struct soc_wait_ops *soc_wait_ops_of(const struct soc_host *host,
                                           const struct soc_activation *activation);

/* Lends target `index` (from 0) of the agents that `agent` waits for; NULL after the
 * last. There is none while it sleeps, receives from anybody, or while the host itself
 * works on its request. */
struct soc_agent *soc_wait_target(const struct soc_host *host, const struct soc_agent *agent,
                                  size_t index);

/* Appends the list of the ids that `agent` waits for. */
void soc_wait_put_targets(const struct soc_host *host, const struct soc_agent *agent,
                          struct soc_buf *out);

/* Lends the correlation id of the waiting activation's chain, formatted into `id` if need
 * be. Absent for `main` unless it waits for a reply. */
struct soc_slice soc_wait_chain(const struct soc_host *host,
                                const struct soc_activation *activation,
                                char id[SOC_MESSAGE_ID_BYTES]);

/* Lends the kind of wait: reply, receive, sleep, look, human, task, checkpoint, call, ack,
 * order, or retry during the back-off after a turn that raised. */
const char *soc_wait_name(const struct soc_activation *activation);

/* Appends the wait as JSON, for the journal, and reads it back; false if it is damaged. */
void soc_wait_put_json(struct soc_buf *out, const struct soc_wait *wait);
bool soc_wait_parse(struct soc_host *host, struct soc_slice json, struct soc_wait *wait);

#endif

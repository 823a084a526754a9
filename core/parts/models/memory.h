/* Memory: the conversations of agents, one append-only log each.
 *
 * Entries are JSON, numbered from 1, and never change: a repeated run can ask for the
 * same entries by number, so no effect needs a copy of them. Entries appended by a turn
 * are rolled back with it.
 *
 * The latest SOC_MEMORY_BYTES_MAX of a long conversation stay in memory; the tables
 * hold all of it. Entries are dropped when an activation ends, never during one: it may
 * run again, and would ask for the same entries.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_MODELS_MEMORY_H
#define SOC_PARTS_MODELS_MEMORY_H

#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "store/record.h"

struct soc_agent;
struct soc_host;

/* Appends an entry for the running agent and returns its number; 0 if the agent has too
 * many. */
uint64_t soc_memory_append(struct soc_host *host, struct soc_slice entry);

/* Returns the number of the agent's last entry, counting those dropped. */
uint64_t soc_memory_count(const struct soc_host *host, const struct soc_agent *agent);

/* Returns the number of the first of the latest entries that fit into `bytes_max`, as
 * far as they are in memory; 1 if there are none. */
uint64_t soc_memory_first(const struct soc_host *host, const struct soc_agent *agent,
                          size_t bytes_max);

/* Appends entries `first` to `last`, inclusive, to `out`, separated by commas. They
 * must be in memory. */
void soc_memory_put(const struct soc_host *host, const struct soc_agent *agent, uint64_t first,
                    uint64_t last, struct soc_buf *out);

/* The agent's activation has ended: drops old entries. */
void soc_memory_trim(struct soc_host *host, const struct soc_agent *agent);

/* Recovery: restores an entry; those from the tables have no time. */
void soc_memory_restore(struct soc_host *host, const struct soc_record_memory *record);

/* Recovery: trims all agents without an activation. */
void soc_memory_settle(struct soc_host *host);

/* In a replay: makes `entry` the running agent's last one, with this number. Otherwise
 * does nothing, because the entry is already there. */
void soc_memory_repeat(struct soc_host *host, uint64_t number, struct soc_slice entry);

/* Copies the conversation of an agent into the memory of another host, a replay's. */
void soc_memory_copy(struct soc_host *to, const struct soc_host *from,
                     const struct soc_agent *agent);

/* The agent has terminated: only the tables keep its conversation. */
void soc_memory_forget(struct soc_host *host, const struct soc_agent *agent);

/* Frees all conversations. */
void soc_memory_free(struct soc_host *host);

#endif

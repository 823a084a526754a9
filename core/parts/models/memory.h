/* Memory: the conversations of agents, an append-only log of each.
 *
 * An entry is JSON, numbered from 1, and never changes: whoever is run again can be
 * given the same entries by their numbers, so no effect needs to hold a copy of them.
 * What a turn appends goes with it if it is taken back.
 *
 * Of a long conversation the latest SOC_MEMORY_BYTES_MAX are kept; the tables hold all of
 * it. Entries go when an activation ends, never while one is under way: it may be run
 * again, and asks for the same ones then.
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
 * much of them. */
uint64_t soc_memory_append(struct soc_host *host, struct soc_slice entry);

/* Returns how many entries the agent has had, which is the number of the last. */
uint64_t soc_memory_count(const struct soc_host *host, const struct soc_agent *agent);

/* Returns the number of the first of the latest entries that have `bytes_max` together, as
 * far as they are kept; 1 if there are none. */
uint64_t soc_memory_first(const struct soc_host *host, const struct soc_agent *agent,
                          size_t bytes_max);

/* Appends entries `first` to `last`, both included, to `out` with commas between. They
 * must be kept. */
void soc_memory_put(const struct soc_host *host, const struct soc_agent *agent, uint64_t first,
                    uint64_t last, struct soc_buf *out);

/* schedule.c: the agent's activation has ended. */
void soc_memory_trim(struct soc_host *host, const struct soc_agent *agent);

/* At a start: an entry as its record has it; of the tables without a time. */
void soc_memory_restore(struct soc_host *host, const struct soc_record_memory *record);

/* The same of all agents that have none. */
void soc_memory_settle(struct soc_host *host);

/* In a replay: the running agent's entry `number` is this one, and its last. Else nothing
 * happens: entries are there already. */
void soc_memory_repeat(struct soc_host *host, uint64_t number, struct soc_slice entry);

/* ending.c and recover.c: the agent has ended; only the tables remember. */
void soc_memory_forget(struct soc_host *host, const struct soc_agent *agent);

/* Frees it. */
void soc_memory_free(struct soc_host *host);

#endif

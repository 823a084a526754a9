/* Usage: what models were asked, by whom and for which task, and what it may cost.
 *
 * Kept by agent, task and model, durable with the answer that it belongs to. Bounds on
 * tokens and cost are asked before each call: for the agent, the task and the society.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_MODELS_USAGE_H
#define SOC_PARTS_MODELS_USAGE_H

#include <stdint.h>

#include "base/buf.h"
#include "parts/models/amounts.h"
#include "store/record.h"

struct soc_agent;
struct soc_host;

/* Adds what one answer took and records it. `task` absent: for none. */
void soc_usage_add(struct soc_host *host, const struct soc_agent *agent, struct soc_slice task,
                   struct soc_slice model, struct soc_usage used);

/* Tells whether one more call is within bounds: SOC_OK; or SOC_EBUDGET with `error`,
 * which says whose bound it is and how far it was used. */
int soc_usage_check(struct soc_host *host, const struct soc_agent *agent, struct soc_slice task,
                    struct soc_buf *error);

/* Appends the bounds that a call of the agent for the task is under, and how far each is
 * used: a list of { cost_micros, cost_micros_max, id?, of, tokens, tokens_max }. */
void soc_usage_look_room(const struct soc_host *host, const struct soc_agent *agent,
                         struct soc_slice task, struct soc_buf *out);

/* Sets the bounds. */
void soc_usage_set_bounds(struct soc_host *host, const struct soc_usage_bounds *bounds);

/* What an agent has used so far, and everybody. */
struct soc_usage soc_usage_of(const struct soc_host *host, const struct soc_agent *agent);
struct soc_usage soc_usage_total(const struct soc_host *host);

/* Appends the list of rows: { agent, calls, cost, input_tokens, model, output_tokens,
 * task_id? }, those of an agent or a task only if they are given. */
void soc_usage_look(const struct soc_host *host, struct soc_slice agent, struct soc_slice task,
                    struct soc_buf *out);

/* At a start: a row as its record has it. */
void soc_usage_restore(struct soc_host *host, const struct soc_record_usage *record);

/* Frees it. */
void soc_usage_free(struct soc_host *host);

#endif

/* Usage: model usage by agent, task and model, and its limits.
 *
 * Usage is durable with the answer it belongs to. Limits on tokens and cost are checked
 * before each call: for the agent, the task and the society.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_MODELS_USAGE_H
#define SOC_PARTS_MODELS_USAGE_H

#include <stdint.h>

#include "base/buf.h"
#include "parts/models/amounts.h"
#include "store/record.h"

struct soc_agent;
struct soc_host;

/* Adds the usage of one answer and records it. `task` absent: none. */
void soc_usage_add(struct soc_host *host, const struct soc_agent *agent, struct soc_slice task,
                   struct soc_slice model, struct soc_usage used);

/* Tells whether one more call is within the limits: SOC_OK; or SOC_EBUDGET with
 * `error`, which names the limit and how much of it is used. */
int soc_usage_check(struct soc_host *host, const struct soc_agent *agent, struct soc_slice task,
                    struct soc_buf *error);

/* Appends the limits that apply to a call of the agent for the task, and the usage of
 * each: a list of { cost_micros, cost_micros_max, id?, of, tokens, tokens_max }. */
void soc_usage_look_room(const struct soc_host *host, const struct soc_agent *agent,
                         struct soc_slice task, struct soc_buf *out);

/* Sets the limits. */
void soc_usage_set_bounds(struct soc_host *host, const struct soc_usage_bounds *bounds);

/* Returns the usage of an agent so far, and of the whole society. */
struct soc_usage soc_usage_of(const struct soc_host *host, const struct soc_agent *agent);
struct soc_usage soc_usage_total(const struct soc_host *host);

/* Appends the rows { agent, calls, cost, input_tokens, model, output_tokens, task_id?
 * }, limited to an agent or a task if given. */
void soc_usage_look(const struct soc_host *host, struct soc_slice agent, struct soc_slice task,
                    struct soc_buf *out);

/* Appends the rows { id?, left, limit, of, used, what } of the limits: of each agent and
 * task that has used some, and of the society. `left` is 0 where a limit was passed. */
void soc_usage_look_budgets(const struct soc_host *host, struct soc_buf *out);

/* Appends calls, tokens and cost in words: "1 call, 1100 tokens, $0.0035". */
void soc_usage_put_words(struct soc_buf *out, const struct soc_usage *used);

/* Recovery: restores a row from its record. */
void soc_usage_restore(struct soc_host *host, const struct soc_record_usage *record);

/* Frees all usage. */
void soc_usage_free(struct soc_host *host);

#endif

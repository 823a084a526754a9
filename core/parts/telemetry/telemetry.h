/* Telemetry: what the society did, as spans for OpenTelemetry.
 *
 * Spans: an activation (`invoke_agent ROLE`), inside it each tool (`execute_tool NAME`), and
 * inside either each wait for somebody else (`chat MODEL`, `request ROLE`, `http METHOD`, …). A
 * message carries the span that sent it as its traceparent, so the activation that handles it
 * continues the trace; a message without one begins a trace.
 *
 * A span is handed to the listener once the batch that ends it is durable. Ids are hashes of
 * the message, the agent and the index of the effect under a key of the state directory: what
 * is done again after a crash has the same ids. Contents of messages, prompts, tools and errors
 * are left out unless asked for.
 *
 * The part is an observer: only soc_part_table_observed has it. Without it, all functions here
 * do nothing.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_TELEMETRY_TELEMETRY_H
#define SOC_PARTS_TELEMETRY_TELEMETRY_H

#include <stdbool.h>

#include "base/slice.h"
#include "parts/telemetry/traceparent.h"

struct soc_activation;
struct soc_host;

/* Receives one span, an object of OTLP in JSON; lent. */
typedef void soc_telemetry_cb(void *user, struct soc_slice span);

/* Sets the listener and which traces it gets; NULL: nobody listens. */
void soc_telemetry_listen(struct soc_host *host, const struct soc_trace_sampler *sampler,
                          soc_telemetry_cb *cb, void *user);

/* Includes or leaves out the contents. */
void soc_telemetry_set_content(struct soc_host *host, bool has_content);

/* Notes the provider and the model that the running call of the activation uses, unless it
 * names its own; each may be absent. */
void soc_telemetry_note_model(struct soc_host *host, const struct soc_activation *activation,
                              struct soc_slice provider, struct soc_slice model);

/* Brackets a tool of the running activation; one at a time. `id` is the model's id of the
 * call, `arguments` and `result` are text; each may be absent. `is_failed`: it gave an error. */
void soc_telemetry_begin_tool(struct soc_host *host, struct soc_slice name, struct soc_slice id,
                              struct soc_slice arguments);
void soc_telemetry_end_tool(struct soc_host *host, struct soc_slice result, bool is_failed);

#endif

/* Trace: what happens, as lines for people (the log) and rows of the activity.
 *
 * Messages and births have records of their own; other events are recorded here.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TRACE_H
#define SOC_KERNEL_TRACE_H

#include "env/log.h"
#include "model/message.h"

struct soc_agent;
struct soc_host;

/* Logs one line about a message at level info: from, to, type, payload. */
void soc_trace_message(struct soc_host *host, const char *event, const struct soc_message *message);

/* Logs one line about an agent at level info. */
void soc_trace(struct soc_host *host, const char *event, const struct soc_agent *agent,
               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Logs one line at `level` and records it as an event of the activity log.
 * `detail` is JSON. */
void soc_trace_event(struct soc_host *host, enum soc_log_level level, const char *event,
                     const struct soc_agent *agent, struct soc_slice detail);

/* The same with the correlation id of the chain it belongs to. */
void soc_trace_event_of(struct soc_host *host, enum soc_log_level level, const char *event,
                        const struct soc_agent *agent, struct soc_slice correlation_id,
                        struct soc_slice detail);

/* The same with the chain and the task of `message`; NULL: as soc_trace_event. */
void soc_trace_event_about(struct soc_host *host, enum soc_log_level level, const char *event,
                           const struct soc_agent *agent, const struct soc_message *message,
                           struct soc_slice detail);

/* Records an event of the host itself, without a line of the log. It stays even if
 * the turn under way is taken back: it happened all the same. */
void soc_trace_keep(struct soc_host *host, const char *event, struct soc_slice detail);

#endif

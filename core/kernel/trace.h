/* Trace: writes the log (lines for people) and the activity log (rows in the store).
 *
 * Messages and spawns have records of their own; all other events go through here.
 * Event names are part of the API.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TRACE_H
#define SOC_KERNEL_TRACE_H

#include "env/log.h"
#include "model/message.h"

struct soc_agent;
struct soc_host;

/* Logs a message at level info: for people from, to, type and payload, else all members; a long
 * payload is cut. */
void soc_trace_message(struct soc_host *host, const char *event, const struct soc_message *message);

/* The same of a message that became a dead letter, with the code of `reason`. */
void soc_trace_dead(struct soc_host *host, const struct soc_message *message,
                    struct soc_slice reason);

/* Logs a line about an agent at level info: for people the sentence, else `detail`, a JSON
 * object; absent: the sentence as well. */
void soc_trace(struct soc_host *host, const char *event, const struct soc_agent *agent,
               struct soc_slice detail, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Logs a line at `level` and records it as an event of the activity log. `detail` is a
 * JSON object. */
void soc_trace_event(struct soc_host *host, enum soc_log_level level, const char *event,
                     const struct soc_agent *agent, struct soc_slice detail);

/* The same with an explicit correlation id. */
void soc_trace_event_of(struct soc_host *host, enum soc_log_level level, const char *event,
                        const struct soc_agent *agent, struct soc_slice correlation_id,
                        struct soc_slice detail);

/* The same about `message`: with its correlation id and task, and as a part of its life.
 * NULL: as soc_trace_event. */
void soc_trace_event_about(struct soc_host *host, enum soc_log_level level, const char *event,
                           const struct soc_agent *agent, const struct soc_message *message,
                           struct soc_slice detail);

/* Records an event of the host without a log line. It survives a rollback of the open
 * turn, because it happened regardless. */
void soc_trace_keep(struct soc_host *host, const char *event, struct soc_slice detail);

#endif

/* Alert: notifies the ancestors of an agent about it.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_SUPERVISION_ALERT_H
#define SOC_PARTS_SUPERVISION_ALERT_H

#include "base/slice.h"

struct soc_agent;
struct soc_host;

/* Sends an `alert` of this type about `agent` from `system` to its nearest living
 * ancestor, or to the person for root. `members` are further members of the payload,
 * without braces; `chain` is the correlation id of the cause, or absent. Must be called
 * outside any turn. */
void soc_alert_parent(struct soc_host *host, const struct soc_agent *agent, const char *type,
                      struct soc_slice members, struct soc_slice chain);

#endif

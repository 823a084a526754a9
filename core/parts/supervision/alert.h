/* Alert: what the host tells those above an agent about it.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_SUPERVISION_ALERT_H
#define SOC_PARTS_SUPERVISION_ALERT_H

#include "base/slice.h"

struct soc_agent;
struct soc_host;

/* Sends an `alert` of this type about `agent` from `system` to its nearest ancestor
 * that goes on; to the person for root. `members` are further members of the payload
 * without braces, `chain` is the correlation id of what led to it or absent. Outside
 * any turn. */
void soc_alert_parent(struct soc_host *host, const struct soc_agent *agent, const char *type,
                      struct soc_slice members, struct soc_slice chain);

#endif

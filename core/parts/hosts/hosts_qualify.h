/* Hosts, qualify: ids of agents in payloads, as they leave this host.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HOSTS_HOSTS_QUALIFY_H
#define SOC_PARTS_HOSTS_HOSTS_QUALIFY_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

struct soc_record_message;

/* Appends the payload with `@name` added to the bare ids it names agents by: the target of an
 * introduction and `via`, whom consent is asked for, and the collaborators of a brief. Payloads
 * of other types are never touched. False: it names none, and nothing is appended. */
bool soc_hosts_qualify(const struct soc_record_message *r, struct soc_slice name,
                       struct soc_buf *out);

#endif

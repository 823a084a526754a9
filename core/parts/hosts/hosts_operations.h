/* Hosts, operations: what can be asked of the links to other hosts.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HOSTS_HOSTS_OPERATIONS_H
#define SOC_PARTS_HOSTS_HOSTS_OPERATIONS_H

#include "kernel/operations/operation.h"

/* links, link_reset; ends with a NULL name. */
extern const struct soc_operation soc_hosts_operations[];

#endif

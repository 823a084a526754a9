/* Outside operations: the mail of an agent outside, for callers that speak as it.
 *
 * `mail` lists what is pending for the agent and durable, in the order in which it came, and
 * can wait for something new. It ends nothing: a message stays until `ack` says that it was
 * processed, so a client that dies with a message in its hands finds it again. `after` leaves
 * out what came up to that message while that one is pending; one that has ended leaves
 * nothing out.
 * Layer: parts. Thread: any. */
#ifndef SOC_PARTS_OUTSIDE_OUTSIDE_OPERATIONS_H
#define SOC_PARTS_OUTSIDE_OUTSIDE_OPERATIONS_H

#include "kernel/operations/operation.h"

/* The list, terminated by a NULL name. */
extern const struct soc_operation soc_outside_operations[];

#endif

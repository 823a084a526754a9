/* Replay operations: `society replay` of a running society, asked from outside.
 *
 * Layer: parts. Thread: any. */
#ifndef SOC_PARTS_HISTORY_REPLAY_OPERATIONS_H
#define SOC_PARTS_HISTORY_REPLAY_OPERATIONS_H

#include "kernel/operations/operation.h"

/* The list, terminated by a NULL name. */
extern const struct soc_operation soc_replay_operations[];

#endif

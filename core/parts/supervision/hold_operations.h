/* Hold operations: pause and resume, asked from outside.
 *
 * Layer: parts. Thread: any. */
#ifndef SOC_PARTS_SUPERVISION_HOLD_OPERATIONS_H
#define SOC_PARTS_SUPERVISION_HOLD_OPERATIONS_H

#include "kernel/operations/operation.h"

/* The list, terminated by a NULL name. */
extern const struct soc_operation soc_hold_operations[];

#endif

/* Tasks operations: tasks seen and cancelled from outside.
 *
 * Layer: parts. Thread: any. */
#ifndef SOC_PARTS_TASKS_TASKS_OPERATIONS_H
#define SOC_PARTS_TASKS_TASKS_OPERATIONS_H

#include "kernel/operations/operation.h"

/* The list, terminated by a NULL name. */
extern const struct soc_operation soc_tasks_operations[];

#endif

/* At: the operation that shows a society as it was at a line of the activity log.
 *
 * The reader goes through the log up to that line (store/tables/past.h), so nothing that is
 * asked here holds up a commit.
 * Layer: kernel. Thread: any. */
#ifndef SOC_KERNEL_OPERATIONS_AT_H
#define SOC_KERNEL_OPERATIONS_AT_H

#include "kernel/operations/operation.h"

/* The list, terminated by a NULL name. */
extern const struct soc_operation soc_at_looks[];

#endif

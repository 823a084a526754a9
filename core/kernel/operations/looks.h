/* Looks: the read operations of the kernel.
 *
 * Layer: kernel. Thread: any. */
#ifndef SOC_KERNEL_OPERATIONS_LOOKS_H
#define SOC_KERNEL_OPERATIONS_LOOKS_H

#include "kernel/operations/operation.h"

/* The members of an agent. */
extern const struct soc_param soc_looks_agent_members[];

/* The list, terminated by a NULL name. */
extern const struct soc_operation soc_looks[];

/* Widths of columns, for every view. */
#define SOC_LOOKS_TEXT_WIDTH 60
#define SOC_LOOKS_ID_WIDTH   64
#define SOC_LOOKS_TIME_WIDTH 24

/* Lends the value of a row of the `meta` table, for `recall`. */
struct soc_slice soc_looks_find_meta(struct soc_slice rows, const char *name);

#endif

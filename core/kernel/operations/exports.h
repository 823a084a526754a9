/* Exports: the operations that give a society in the format of another program.
 *
 * Layer: kernel. Thread: any. */
#ifndef SOC_KERNEL_OPERATIONS_EXPORTS_H
#define SOC_KERNEL_OPERATIONS_EXPORTS_H

#include "kernel/operations/operation.h"

/* The list, terminated by a NULL name. */
extern const struct soc_operation soc_exports[];

#endif

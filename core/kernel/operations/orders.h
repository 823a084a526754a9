/* Orders: the operations of the kernel that change something.
 *
 * Layer: kernel. Thread: any. */
#ifndef SOC_KERNEL_OPERATIONS_ORDERS_H
#define SOC_KERNEL_OPERATIONS_ORDERS_H

#include "kernel/operations/operation.h"

/* The list, terminated by a NULL name. */
extern const struct soc_operation soc_orders[];

#endif

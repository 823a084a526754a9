/* Catalogue: every operation of a society, those of the kernel first, then those of the
 * parts in the order of their table.
 *
 * Layer: kernel. Thread: any. */
#ifndef SOC_KERNEL_OPERATIONS_CATALOGUE_H
#define SOC_KERNEL_OPERATIONS_CATALOGUE_H

#include "kernel/operations/operation.h"

struct soc_part;

/* Lends operation number `index` of a society with these parts (NULL after the last);
 * NULL past the last operation. */
const struct soc_operation *soc_catalogue_at(const struct soc_part *const *parts, size_t index);

/* Finds an operation by name. NULL if there is none. */
const struct soc_operation *soc_catalogue_find(const struct soc_part *const *parts,
                                               struct soc_slice name);

#endif

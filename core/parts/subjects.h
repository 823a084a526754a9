/* Subjects: what a society can be inspected for.
 *
 * These are the read operations of kernel and parts (kernel/operations/operation.h). `society
 * inspect` with its help and completion, and the filters of society.messages and its
 * siblings derive from them.
 * Layer: parts. Thread: any. */
#ifndef SOC_PARTS_SUBJECTS_H
#define SOC_PARTS_SUBJECTS_H

#include "kernel/operations/operation.h"

/* Returns read operation number `index`, or NULL past the last one. */
const struct soc_operation *soc_subjects_at(size_t index);

/* Finds a read operation by name. NULL if there is none. */
const struct soc_operation *soc_subjects_find(struct soc_slice name);

#endif

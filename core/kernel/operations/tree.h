/* Tree: agents with those below them, as rows.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_OPERATIONS_TREE_H
#define SOC_KERNEL_OPERATIONS_TREE_H

#include <stdint.h>

#include "base/buf.h"

struct soc_agent;
struct soc_host;

#define SOC_TREE_CHILDREN_MAX 50    /* larger families are counted instead */
#define SOC_TREE_ROWS_MAX     10000 /* agents in one answer */

/* Appends a list of rows { id, role, parent?, depth, status, queue_length, children,
 * families?, more? }, parents before their children and siblings in order of birth: `root`
 * and what is below it down to `depth_max`; NULL: everybody. Of a large family `families`
 * has the numbers by role and status. */
void soc_tree_put(const struct soc_host *host, const struct soc_agent *root, int64_t depth_max,
                  struct soc_buf *out);

#endif

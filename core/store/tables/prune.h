/* Prune: removes what is older than the retention of a society, and gives space back.
 *
 * The activity log is removed from its front, a block of lines (lines.h) at a time, with the
 * rows that hold these lines: events, ended messages and ended tasks; then the history of
 * the same age and conversations of agents that have ended. What is live stays, however old:
 * pending messages, what a pending reply answers, open tasks with their messages. Such a row
 * is looked at again from time to time and removed when it is no longer live. The last block
 * and the message with the highest key always stay, since numbers go on from there.
 *
 * Lines that go are first fed to a past, which is stored as the edge (snapshots.h): so what
 * the society was can still be told for every line that is left.
 *
 * A step is bounded, but for the first one that removes lines after a start: it reads the whole
 * edge. The store does one after each fold and when it is idle.
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_TABLES_PRUNE_H
#define SOC_STORE_TABLES_PRUNE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"
#include "store/tables/database.h"
#include "store/tables/past.h"

/* How far removing has come. Zeroed: at the beginning. */
struct soc_prune {
    int64_t swept_key;     /* rows that were live are looked at again from here */
    int64_t swept_agent;   /* and the conversations of ended agents */
    bool has_more;         /* the last step has left something to do */
    struct soc_past *edge; /* owned; as of the line before the first; NULL: not read yet */
    bool is_edge_lost;     /* an older program has removed lines without one */
};

/* Frees what it owns. */
void soc_prune_fini(struct soc_prune *prune);

/* Removes up to about `lines_max` lines and what belongs to them, in one transaction, then
 * gives some free space back to the file system. `backlog`: bytes of the journal, which do
 * not count. SOC_EDISKFULL: nothing was removed. */
int soc_prune_step(struct soc_prune *prune, struct soc_database *database,
                   const struct soc_retention *retention, uint64_t backlog, uint64_t lines_max,
                   struct soc_detail *detail);

#endif

/* History state: what the part `history` keeps, for its own files only.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HISTORY_HISTORY_STATE_H
#define SOC_PARTS_HISTORY_HISTORY_STATE_H

#include "kernel/state.h"
#include "parts/table.h"

struct soc_history;
struct soc_replay;

/* Whether history is kept, or replayed. */
struct soc_history_state {
    struct soc_history *kept;  /* owned; NULL: none is kept */
    struct soc_replay *replay; /* lent; NULL: this is no replay */
};

/* Lends it. */
static inline struct soc_history_state *soc_history_state(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_HISTORY);
}

#endif

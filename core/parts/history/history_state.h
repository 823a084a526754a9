/* History state: private to the part `history`.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HISTORY_HISTORY_STATE_H
#define SOC_PARTS_HISTORY_HISTORY_STATE_H

#include "kernel/state.h"
#include "parts/table.h"

struct soc_history;
struct soc_replay;

/* Whether history is being recorded, or replayed. */
struct soc_history_state {
    struct soc_history *kept;  /* owned; NULL: not recording */
    struct soc_replay *replay; /* lent; NULL: not replaying */
    uint64_t script;           /* hash of the scripts of the last run; 0: unknown */
};

/* Reads back which script the state was last run with. */
int soc_history_restore(struct soc_host *host, const struct soc_record *record);

/* Lends the part's state. */
static inline struct soc_history_state *soc_history_state(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_HISTORY);
}

#endif

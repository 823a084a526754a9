/* Supervision state: private to the part `supervision`.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_SUPERVISION_SUPERVISION_STATE_H
#define SOC_PARTS_SUPERVISION_SUPERVISION_STATE_H

#include "kernel/state.h"
#include "parts/supervision/guard_kinds.h"
#include "parts/table.h"

/* Limits, and the agents that reached them or failed. */
struct soc_supervision_state {
    uint32_t guards[SOC_GUARD_COUNT]; /* limits */
    struct soc_buf meetings;          /* agents that reached a limit, to be reported */
    struct soc_map failures;          /* address of an agent -> when its turns raised, owned */
};

/* Lends the part's state. */
static inline struct soc_supervision_state *soc_supervision_state(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_SUPERVISION);
}

#endif

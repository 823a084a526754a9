/* Supervision state: what the part `supervision` keeps, for its own files only.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_SUPERVISION_SUPERVISION_STATE_H
#define SOC_PARTS_SUPERVISION_SUPERVISION_STATE_H

#include "kernel/state.h"
#include "parts/supervision/guard_kinds.h"
#include "parts/table.h"

/* Limits, and who ran into them or failed. */
struct soc_supervision_state {
    uint32_t guards[SOC_GUARD_COUNT]; /* limits */
    struct soc_buf meetings;          /* who ran into one and is to be reported */
    struct soc_map failures;          /* address of an agent -> when its turns raised, owned */
};

/* Lends it. */
static inline struct soc_supervision_state *soc_supervision_state(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_SUPERVISION);
}

#endif

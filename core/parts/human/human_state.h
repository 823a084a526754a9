/* Human state: what the part `human` keeps, for its own files only.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HUMAN_HUMAN_STATE_H
#define SOC_PARTS_HUMAN_HUMAN_STATE_H

#include "kernel/state.h"
#include "model/inbox.h"
#include "parts/table.h"

/* What waits for the person, and for the gatekeeper. */
struct soc_human_state {
    struct soc_inbox inbox;
    struct soc_message_list intake; /* input that came while no gatekeeper was there; owned */
};

/* Lends it. */
static inline struct soc_human_state *soc_human_state(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_HUMAN);
}

#endif

/* Group state: what the part `group` keeps, for its own files only.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_GROUP_GROUP_STATE_H
#define SOC_PARTS_GROUP_GROUP_STATE_H

#include "kernel/state.h"
#include "parts/table.h"

/* Broadcasts and checkpoints that are not over. */
struct soc_group_state {
    struct soc_map barriers;   /* key -> soc_barrier, owned */
    struct soc_map broadcasts; /* key -> soc_broadcast, owned */
    struct soc_map hearing;    /* at a start: agent -> key of the broadcast it handles */
    struct soc_buf heard;      /* at a start: broadcasts that activations took */
    const struct soc_symbol *checkpoint_request;
    const struct soc_symbol *checkpoint_response;
};

/* Lends it. */
static inline struct soc_group_state *soc_group_state(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_GROUP);
}

#endif
